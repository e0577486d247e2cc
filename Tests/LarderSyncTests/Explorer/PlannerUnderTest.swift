import Larder

@testable import LarderSync

/// A planner as the model of the system calls it. Each part can be replaced by one with a mistake.
struct PlannerUnderTest: Sendable {
    let planner: SyncPlanner
    /// The mistakes that only a caller of the planner can make.
    var callerMistakes: Set<CallerMistake> = []

    var write:
        @Sendable (RecordIntent, inout RecordRow, Int64, inout SyncMoment, inout SyncEffects) throws(WriteRefusal) ->
            Bool
    var nextStep: @Sendable (RecordRow, [RecordRow], Int64) -> NextStep
    var claim: @Sendable (inout QueuedWrite, JSONText?, inout SyncEffects) -> Void
    var reopen: @Sendable (inout QueuedWrite) -> Void
    var settle: @Sendable (WriteOutcome, Int64, inout RecordRow, inout SyncMoment, inout SyncEffects) -> Void
    var found: @Sendable (JSONText?, Int64, inout RecordRow, inout SyncMoment, inout SyncEffects) -> Void
    var rename: @Sendable (SyncEffects.Renaming, inout RecordRow) -> Void
    var absorb: @Sendable (RecordRow, inout RecordRow, inout SyncMoment, inout SyncEffects) -> Void
    var beginPull: @Sendable (inout PullState, Int, inout SyncMoment) -> Void
    var check: @Sendable (PulledPage, PullState) throws(PullRefusal) -> Void
    var turn: @Sendable (PulledPage, inout PullState, Int) -> Void
    var merge: @Sendable (PulledRecord, inout RecordRow, PullState, inout SyncMoment, inout SyncEffects) -> Void
    var mergeDeletion: @Sendable (inout RecordRow, PullState, inout SyncMoment, inout SyncEffects) -> Void
    var fold: @Sendable (inout RecordRow, PullState) -> Void
    var sweep: @Sendable (PullState, _ missing: Int, _ missingTwice: Int, _ all: Int) -> SyncPlanner.Sweep
    var endPull: @Sendable (inout PullState, SyncPlanner.Sweep, inout SyncMoment, inout SyncEffects) -> Void

    /// A mistake in the order of what is kept, or in what is kept at all.
    enum CallerMistake: Sendable, CaseIterable {
        /// A claim is lost in a crash.
        case claimIsNotDurable
        /// The position of a page is kept in a transaction before its rows.
        case positionIsKeptBeforeRows
        /// Other records keep the temporary id of a record that the service has named.
        case namesStayInOtherRecords
        /// Writes that need a record that will never be named are not given up.
        case dependentsOfRejectedCreateStay
        /// A logout deletes the writes, too.
        case logoutDeletesWrites
        /// A write that is older than the edition of the policy is deleted.
        case editionDeletesWrites
    }

    init(_ planner: SyncPlanner) {
        self.planner = planner
        write = { intent, row, number, moment, effects throws(WriteRefusal) in
            try planner.write(intent, to: &row, number: number, at: &moment, &effects)
        }
        nextStep = { row, _, now in planner.nextStep(of: row, at: now) }
        claim = { planner.claim(&$0, at: $1, &$2) }
        reopen = { planner.reopen(&$0) }
        settle = { planner.settle($0, of: $1, in: &$2, at: &$3, &$4) }
        found = { planner.found($0, for: $1, in: &$2, at: &$3, &$4) }
        rename = { _ = planner.rename($0, in: &$1) }
        absorb = { planner.absorb($0, into: &$1, at: &$2, &$3) }
        beginPull = { planner.beginPull(&$0, edition: $1, at: &$2) }
        check = { page, state throws(PullRefusal) in try planner.check(page, state) }
        turn = { planner.turn($0, &$1, staleRows: $2) }
        merge = { planner.merge($0, into: &$1, $2, at: &$3, &$4) }
        mergeDeletion = { planner.mergeDeletion(into: &$0, $1, at: &$2, &$3) }
        fold = { planner.fold(&$0, $1) }
        sweep = { planner.sweep($0, missing: $1, missingTwice: $2, of: $3) }
        endPull = { planner.endPull(&$0, $1, at: &$2, &$3) }
    }
}
