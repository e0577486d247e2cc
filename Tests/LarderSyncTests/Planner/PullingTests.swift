import Larder
import Testing

@testable import LarderSync

/// Pages, positions and sweeps.
struct PullingTests {
    private let planner = SyncPlanner(SyncRules(idPath: ["id"], source: "s"))

    private func page(_ next: String? = nil, position: String? = nil, epoch: String? = nil) -> PulledPage {
        PulledPage(records: [], next: next, position: position, epoch: epoch)
    }

    private func moment() -> SyncMoment { SyncMoment(now: 1, sequence: 10, newKey: { "k" }) }

    @Test func positionIsThatOfTheFirstPage() throws {
        var (state, moment, effects) = (PullState(source: "s", position: "1"), moment(), SyncEffects())
        planner.beginPull(&state, at: &moment)
        planner.turn(page("c", position: "5"), &state)
        #expect(state.position == "1")
        planner.turn(page(position: "9"), &state)
        planner.endPull(&state, .nothing, at: &moment, &effects)
        #expect(state.position == "5")
        #expect(state.run == nil)
    }

    @Test func positionOfALaterPageIsNotTakenOverRowsThatWereLeftOut() throws {
        var (state, moment, effects) = (PullState(source: "s", position: "1"), moment(), SyncEffects())
        planner.beginPull(&state, at: &moment)
        planner.turn(page("c"), &state)
        planner.turn(page(position: "9"), &state, staleRows: 1)
        planner.endPull(&state, .nothing, at: &moment, &effects)
        #expect(state.position == "1")
    }

    @Test func pullWithoutPagesBeginsAgain() {
        var (state, moment) = (PullState(source: "s", position: "1"), moment())
        planner.beginPull(&state, at: &moment)
        let began = state.run?.began ?? 0
        moment.sequence += 5
        planner.beginPull(&state, at: &moment)
        #expect(state.run?.began ?? 0 > began + 5)
        planner.turn(page("c"), &state)
        let next = state.run
        planner.beginPull(&state, at: &moment)
        #expect(state.run == next)
    }

    @Test func otherSourceAndEditionBeginAnew() {
        for (source, edition) in [("other", 1), ("s", 2)] {
            var (state, moment) = (PullState(source: source, position: "1"), moment())
            planner.beginPull(&state, edition: edition, at: &moment)
            #expect(state.run?.isFull == true)
            #expect(state.position == nil)
        }
    }

    @Test(arguments: [1, 2, 3, 7])
    func circleOfCursorsIsRefused(_ length: Int) {
        var (state, moment) = (PullState(source: "s", position: "1"), moment())
        planner.beginPull(&state, at: &moment)
        var pages = 0
        while pages < 50 {
            let page = page("c\(pages % length)")
            if (try? planner.check(page, state)) == nil { break }
            planner.turn(page, &state)
            pages += 1
        }
        #expect(pages < 4 * length + 2)
    }

    @Test func otherEpochIsRefusedInTheMiddle() {
        var (state, moment) = (PullState(source: "s", position: "1", epoch: "1"), moment())
        planner.beginPull(&state, at: &moment)
        #expect(throws: PullRefusal.epochChanged) { try planner.check(page(epoch: "2"), state) }
        planner.positionExpired(&state)
        planner.beginPull(&state, at: &moment)
        #expect(throws: Never.self) { try planner.check(page(epoch: "2"), state) }
    }

    @Test func temporaryIDOfTheServiceIsRefused() {
        let state = PullState(run: PullRun(began: 1, isFull: false))
        let page = PulledPage(records: [], deleted: [TemporaryID.make { 1 }])
        #expect(throws: PullRefusal.temporaryID) { try planner.check(page, state) }
    }

    @Test func olderPageDoesNotReplaceAnAnswer() throws {
        var sample = try PlannerSample(#"{"id":"r","a":1}"#)
        var state = PullState()
        sample.planner.beginPull(&state, at: &sample.moment)
        try sample.set("a", "2")
        try sample.answer(.accepted(JSONText(text: #"{"id":"r","a":2}"#)))
        try sample.pull(#"{"id":"r","a":1}"#, state: state)
        #expect(sample.shown == #"{"id":"r","a":2}"#)
        #expect(sample.effects.staleRows == 1)
        try sample.pull(nil, state: state)
        #expect(sample.shown == #"{"id":"r","a":2}"#)
        #expect(sample.effects.staleRows == 2)
    }

    @Test(arguments: [("2", 2), ("3", 3), ("1", 2)])
    func olderVersionIsIgnored(_ version: String, _ expected: Int) throws {
        var sample = try PlannerSample(#"{"id":"r","rev":2}"#) {
            $0.versionPath = ["rev"]
            $0.versionsIncrease = true
        }
        try sample.pull(#"{"id":"r","rev":\#(version)}"#)
        #expect(sample.row.base?["rev"]?.integer == Int64(expected))
    }

    // MARK: Sweeps

    private func sweep(_ missing: Int, of all: Int, twice: Int = 0, suspected: Int64? = nil) -> SyncPlanner.Sweep {
        let state = PullState(run: PullRun(began: 1, isFull: true), generation: 3, suspected: suspected)
        return planner.sweep(state, missing: missing, missingTwice: twice, of: all)
    }

    @Test func guardNeedsASecondAnswerThatAgrees() {
        #expect(sweep(0, of: 100) == .nothing)
        #expect(sweep(50, of: 100) == .delete(before: 3))
        #expect(sweep(51, of: 100) == .suspicious)
        #expect(sweep(51, of: 100, twice: 51, suspected: 2) == .delete(before: 2))
        #expect(sweep(51, of: 100, twice: 0, suspected: 2) == .suspicious)
        #expect(sweep(19, of: 19) == .delete(before: 3))
    }

    @Test func secondSuspicionReplacesTheFirst() {
        var (moment, effects) = (moment(), SyncEffects())
        var state = PullState(run: PullRun(began: 1, isFull: true), generation: 3, suspected: 2)
        planner.endPull(&state, .suspicious, at: &moment, &effects)
        #expect(state.suspected == 3)
    }

    @Test func acceptedWriteStaysWhenAFullPullMissesItsRecord() throws {
        var sample = try PlannerSample(#"{"id":"r","a":1}"#)
        try sample.set("a", "2")
        try sample.answer(.accepted(nil))
        var state = PullState(source: "s")
        sample.planner.beginPull(&state, isFull: true, at: &sample.moment)
        sample.planner.fold(&sample.row, state)
        #expect(sample.shown == #"{"id":"r","a":2}"#)
        #expect(sample.row.writes.count == 1)
    }
}
