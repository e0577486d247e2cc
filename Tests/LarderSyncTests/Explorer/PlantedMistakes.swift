import Larder

@testable import LarderSync

/// A mistake that a planner or its caller could have, and the complaint of other systems' users that it stands for.
struct PlantedMistake: Sendable {
    var name: String
    /// The complaint: a row of table B2 of the design.
    var complaint: String
    /// The promises that it breaks.
    var breaks: Set<String>
    /// The small world in which it is found.
    var world: String
    var plant: @Sendable (inout PlannerUnderTest) -> Void

    init(
        _ name: String, _ complaint: String, breaks: Set<String>, in world: String,
        _ plant: @escaping @Sendable (inout PlannerUnderTest) -> Void
    ) {
        (self.name, self.complaint, self.breaks, self.world, self.plant) = (name, complaint, breaks, world, plant)
    }

    static let all = waits + losses + repeats + sights + names + pulls + order

    private static let neverTriedAgain = "a failed upload is never tried again until the next write"
    private static let blocked = "one bad write blocks everything"

    static let waits = [
        PlantedMistake("no answer leaves a write as sent", neverTriedAgain, breaks: ["I15"], in: "same field, versions")
        { planner in
            let settle = planner.settle
            planner.settle = { if $0 != .unknown { settle($0, $1, &$2, &$3, &$4) } }
        },
        PlantedMistake("a crash leaves a write as sent", neverTriedAgain, breaks: ["I15"], in: "same field, versions") {
            planner in
            planner.reopen = { _ in }
        },
        PlantedMistake("a busy service is never asked again", neverTriedAgain, breaks: ["I15"], in: "busy service") {
            planner in
            let settle = planner.settle
            planner.settle = { outcome, number, row, moment, effects in
                settle(outcome, number, &row, &moment, &effects)
                guard case .later = outcome, let place = row.writes.firstIndex(where: { $0.number == number }) else {
                    return
                }
                row.writes[place].status = .conflict
                row.writes[place].next = .max
            }
            let next = planner.nextStep
            planner.nextStep = { row, rows, now in
                row.first?.next == .max ? .wait(row.first?.number ?? 0, until: .max) : next(row, rows, now)
            }
        },
        PlantedMistake("a refused write is sent for ever", blocked, breaks: ["I10"], in: "refused change") { planner in
            let settle = planner.settle
            planner.settle = { outcome, number, row, moment, effects in
                if case .rejected = outcome {
                    settle(.unknown, number, &row, &moment, &effects)
                } else {
                    settle(outcome, number, &row, &moment, &effects)
                }
            }
        },
        PlantedMistake(
            "a write that failed holds up other records", blocked, breaks: ["I6", "I15"], in: "two records, tried again"
        ) { planner in
            let next = planner.nextStep
            planner.nextStep = { row, rows, now in
                let isHeldUp = rows.contains { $0.number != row.number && ($0.first?.tries ?? 0) > 0 }
                return isHeldUp && row.first != nil ? .rest : next(row, rows, now)
            }
        },
        PlantedMistake(
            "writes wait for a record that was refused", blocked, breaks: ["I15"], in: "reference to a refused create"
        ) {
            $0.callerMistakes = [.dependentsOfRejectedCreateStay]
        },
    ]

    private static let lost = "writes are lost"

    static let losses = [
        PlantedMistake("a busy service drops the write", lost, breaks: ["I2"], in: "busy service") { planner in
            let settle = planner.settle
            planner.settle = { outcome, number, row, moment, effects in
                if case .later = outcome { row.writes.removeAll { $0.number == number } }
                settle(outcome, number, &row, &moment, &effects)
            }
        },
        PlantedMistake("an answer drops later writes", lost, breaks: ["I2", "I9"], in: "edit while sent") { planner in
            let settle = planner.settle
            planner.settle = { outcome, number, row, moment, effects in
                settle(outcome, number, &row, &moment, &effects)
                if case .accepted = outcome { row.writes = [] }
            }
        },
        PlantedMistake(
            "a pulled record replaces the waiting writes", lost, breaks: ["I2"], in: "same field, no versions"
        ) { planner in
            let merge = planner.merge
            planner.merge = { pulled, row, state, moment, effects in
                row.writes = []
                merge(pulled, &row, state, &moment, &effects)
            }
        },
        PlantedMistake("a create and its delete are counted as one", lost, breaks: ["I2"], in: "create and delete") {
            planner in
            let write = planner.write
            planner.write = { intent, row, number, moment, effects throws(WriteRefusal) in
                let result = try write(intent, &row, number, &moment, &effects)
                if effects.books.merged > 1 { effects.books.merged = 1 }
                return result
            }
        },
        PlantedMistake(
            "a logout deletes the writes", "logout deletes what was not sent", breaks: ["I2", "I9"],
            in: "signed out in between"
        ) {
            $0.callerMistakes = [.logoutDeletesWrites]
        },
        PlantedMistake(
            "another edition deletes the writes", "a reset deletes what was not sent", breaks: ["I2", "I9"],
            in: "another edition"
        ) {
            $0.callerMistakes = [.editionDeletesWrites]
        },
        PlantedMistake(
            "a sweep has no guard", "a purge deletes everything", breaks: ["I12"], in: "empty answer to a full pull"
        ) { planner in
            planner.sweep = { state, missing, _, _ in missing > 0 ? .delete(before: state.generation) : .nothing }
        },
        PlantedMistake(
            "a refused write has no letter", "rejected, and nobody can know", breaks: ["I2"], in: "refused change"
        ) { planner in
            let settle = planner.settle
            planner.settle = { outcome, number, row, moment, effects in
                settle(outcome, number, &row, &moment, &effects)
                effects.letters = []
            }
        },
        PlantedMistake(
            "a conflict drops a write without an event", "conflicted, and nobody can know", breaks: ["I2", "I9"],
            in: "server wins"
        ) { planner in
            let settle = planner.settle
            planner.settle = { outcome, number, row, moment, effects in
                settle(outcome, number, &row, &moment, &effects)
                if case .conflict = outcome { (effects.events, effects.letters) = ([], []) }
            }
        },
    ]

    private static let twice = "applied twice after a lost answer or a reload"

    static let repeats = [
        PlantedMistake("another try has a new key", twice, breaks: ["I3"], in: "same field, no versions") { planner in
            let settle = planner.settle
            planner.settle = { outcome, number, row, moment, effects in
                settle(outcome, number, &row, &moment, &effects)
                guard outcome == .unknown, let place = row.writes.firstIndex(where: { $0.number == number }) else {
                    return
                }
                row.writes[place].key = moment.newKey()
            }
        },
        PlantedMistake("a changed content keeps its key", twice, breaks: ["I4"], in: "server wins") { planner in
            let settle = planner.settle
            planner.settle = { outcome, number, row, moment, effects in
                let key = row.writes.first { $0.number == number }?.key
                settle(outcome, number, &row, &moment, &effects)
                guard let key, let place = row.writes.firstIndex(where: { $0.number == number }) else { return }
                row.writes[place].key = key
            }
        },
        PlantedMistake("a claim is lost in a crash", twice, breaks: ["I2", "I4"], in: "edit while sent") {
            $0.callerMistakes = [.claimIsNotDurable]
        },
        PlantedMistake(
            "an edit changes a write that is being sent", "edits while a push is under way",
            breaks: ["I4", "I2", "I9"], in: "edit while sent"
        ) { planner in
            let write = planner.write
            planner.write = { intent, row, number, moment, effects throws(WriteRefusal) in
                guard let last = row.writes.last, last.isFrozen, last.isPending else {
                    return try write(intent, &row, number, &moment, &effects)
                }
                row.writes[row.writes.count - 1].status = .open
                row.writes[row.writes.count - 1].wasSent = false
                let result = try write(intent, &row, number, &moment, &effects)
                if let place = row.writes.firstIndex(where: { $0.number == last.number }) {
                    (row.writes[place].status, row.writes[place].wasSent) = (last.status, last.wasSent)
                }
                return result
            }
        },
        PlantedMistake(
            "a delete cancels a create that was sent", "edits while a push is under way", breaks: ["I2"],
            in: "create and delete"
        ) { planner in
            let write = planner.write
            planner.write = { intent, row, number, moment, effects throws(WriteRefusal) in
                let pending = row.writes.filter(\.isPending).count
                guard intent == .delete, row.writes.first?.kind == .create else {
                    return try write(intent, &row, number, &moment, &effects)
                }
                row.writes = []
                effects.books = Books(made: 1, merged: pending + 1, pending: -pending)
                return true
            }
        },
    ]

    private static let flicker = "flicker: an own edit disappears after it was accepted"

    static let sights = [
        PlantedMistake(
            "an accepted write vanishes before a pull has brought it", flicker, breaks: ["I9"],
            in: "answers without records"
        ) { planner in
            let settle = planner.settle
            planner.settle = { outcome, number, row, moment, effects in
                settle(outcome, number, &row, &moment, &effects)
                row.writes.removeAll { !$0.isPending }
            }
        },
        PlantedMistake("an older page replaces an answer", flicker, breaks: ["I9"], in: "pages of one time") {
            planner in
            let merge = planner.merge
            planner.merge = { pulled, row, state, moment, effects in
                row.answered = 0
                merge(pulled, &row, state, &moment, &effects)
            }
        },
        PlantedMistake(
            "the answer to another try replaces a newer pulled record", flicker, breaks: ["I9", "I10"],
            in: "same field, no versions"
        ) { planner in
            let settle = planner.settle
            planner.settle = { outcome, number, row, moment, effects in
                for place in row.writes.indices { row.writes[place].baseMayHaveIt = false }
                settle(outcome, number, &row, &moment, &effects)
            }
        },
        PlantedMistake(
            "a deletion hides what is being sent", flicker, breaks: ["I9", "I2", "I10"], in: "delete and edit"
        ) { planner in
            let merge = planner.mergeDeletion
            planner.mergeDeletion = { row, state, moment, effects in
                merge(&row, state, &moment, &effects)
                if row.isDeletedThere { row.base = nil }
            }
        },
        PlantedMistake(
            "a change has the time of a wrong clock", flicker, breaks: ["I11"], in: "last write wins, wrong clock"
        ) { planner in
            let write = planner.write
            planner.write = { intent, row, number, moment, effects throws(WriteRefusal) in
                let base = row.base
                row.base = base?.setting(["t"], to: JSONText(.int(0)))
                defer { row.base = base }
                return try write(intent, &row, number, &moment, &effects)
            }
        },
    ]

    private static let temporary = "temporary ids: duplicates, 404s, a map only in memory"

    static let names = [
        PlantedMistake("a temporary id leaves the device", temporary, breaks: ["I7"], in: "reference") { planner in
            let next = planner.nextStep
            planner.nextStep = { row, rows, now in
                if case .needs(let number, _) = next(row, rows, now) { .send(number) } else { next(row, rows, now) }
            }
        },
        PlantedMistake("other records keep a former id", temporary, breaks: ["I7", "I15"], in: "reference") {
            $0.callerMistakes = [.namesStayInOtherRecords]
        },
        PlantedMistake(
            "the service's name is not taken", temporary, breaks: ["I7", "I8", "I15", "I10"], in: "server ids"
        ) { planner in
            let settle = planner.settle
            planner.settle = { outcome, number, row, moment, effects in
                let (id, text) = (row.id, row.idText)
                settle(outcome, number, &row, &moment, &effects)
                (row.id, row.idText) = (id, text)
            }
        },
        PlantedMistake(
            "a pulled copy of a new record stays beside it", temporary, breaks: ["I2", "I8", "I9", "I10"],
            in: "server ids"
        ) { planner in
            planner.absorb = { _, _, _, _ in }
        },
    ]

    private static let missed = "delta pulls miss rows"

    static let pulls = [
        PlantedMistake("the position is kept before the rows", missed, breaks: ["I8"], in: "same field, no versions") {
            $0.callerMistakes = [.positionIsKeptBeforeRows]
        },
        PlantedMistake("the position is that of the last page", missed, breaks: ["I8"], in: "pages of one time") {
            planner in
            let turn = planner.turn
            planner.turn = { page, state, stale in
                turn(page, &state, stale)
                if let position = page.position { state.run?.candidate = position }
            }
        },
        PlantedMistake(
            "the position is made of the device's clock", missed, breaks: ["I8"], in: "same field, no versions"
        ) { planner in
            let end = planner.endPull
            planner.endPull = { state, sweep, moment, effects in
                end(&state, sweep, &moment, &effects)
                state.position = "\(moment.now)"
            }
        },
        PlantedMistake(
            "the position goes beyond rows that were left out", missed, breaks: ["I8"], in: "token, edited in between"
        ) { planner in
            let turn = planner.turn
            planner.turn = { page, state, _ in turn(page, &state, 0) }
        },
        PlantedMistake(
            "a cursor may come again", "endless loops of refetch", breaks: ["I16"], in: "cursor that leads back"
        ) { planner in
            planner.check = { _, _ throws(PullRefusal) in }
        },
        PlantedMistake(
            "a pull goes on after its last page", "endless loops of refetch", breaks: ["I16"],
            in: "same field, no versions"
        ) { planner in
            let end = planner.endPull
            planner.endPull = { state, sweep, moment, effects in
                let run = state.run
                end(&state, sweep, &moment, &effects)
                state.run = run
            }
        },
    ]

    static let order = [
        PlantedMistake(
            "the newest write is sent first", "the order changes during replay", breaks: ["I5"],
            in: "edit while sent, not merged"
        ) { planner in
            let next = planner.nextStep
            planner.nextStep = { row, rows, now in
                if case .send = next(row, rows, now), let last = row.writes.last {
                    .send(last.number)
                } else {
                    next(row, rows, now)
                }
            }
        },
        PlantedMistake(
            "writes are merged against the policy", "merging queued edits breaks services that check each step",
            breaks: ["merge"], in: "edit while sent, not merged"
        ) { planner in
            let rules = planner.planner.rules
            var merging = rules
            merging.merges = true
            let other = SyncPlanner(merging)
            planner.write = { intent, row, number, moment, effects throws(WriteRefusal) in
                try other.write(intent, to: &row, number: number, at: &moment, &effects)
            }
        },
    ]
}
