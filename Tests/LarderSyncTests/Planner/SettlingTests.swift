import Larder
import Testing

@testable import LarderSync

/// The ends of writes when their outcomes are known.
struct SettlingTests {
    private func record(_ text: String) throws -> JSONText { try JSONText(text: text) }

    @Test func waitsOfManyWritesDiffer() {
        let rule = BackoffRule(jitter: 0.2)
        let waits = (0..<1_000).map { rule.wait(after: 1, key: "key-\($0)") }
        #expect(waits.allSatisfy { (800...1_200).contains($0) })
        let early = waits.count { $0 < 1_000 }
        #expect((400...600).contains(early) && Set(waits).count > 200)
        #expect(rule.wait(after: 3, key: "a") == rule.wait(after: 3, key: "a"))
        #expect(BackoffRule().wait(after: 2, key: "a") == 2_000)
    }

    @Test func acceptedWriteWithoutRecordIsShownUntilAPullBringsIt() throws {
        var sample = try PlannerSample(#"{"id":"r","a":1}"#)
        try sample.set("a", "2")
        try sample.answer(.accepted(nil))
        #expect(sample.shown == #"{"id":"r","a":2}"#)
        #expect(sample.planner.nextStep(of: sample.row, at: 0) == .rest)
        try sample.pull(#"{"id":"r","a":2,"at":7}"#)
        #expect(sample.row.writes.isEmpty)
        #expect(sample.shown == #"{"id":"r","a":2,"at":7}"#)
    }

    @Test func acceptedWriteBecomesTheBaseWhenAPullDoesNotBringIt() throws {
        var sample = try PlannerSample(#"{"id":"r","a":1}"#)
        try sample.set("a", "2")
        try sample.answer(.accepted(nil))
        sample.endPullWithoutRecord()
        #expect(sample.row.base?.text == #"{"id":"r","a":2}"#)
        #expect(sample.row.writes.isEmpty)
    }

    @Test func answerToAnotherTryDoesNotReplaceANewerPulledRecord() throws {
        var sample = try PlannerSample(#"{"id":"r","a":1}"#)
        try sample.set("a", "2")
        try sample.answer(.unknown)
        // The first try had reached the service, and then somebody else changed the record.
        try sample.pull(#"{"id":"r","a":3}"#)
        try sample.answer(.accepted(record(#"{"id":"r","a":2}"#)))
        sample.endPullWithoutRecord()
        #expect(sample.shown == #"{"id":"r","a":3}"#)
    }

    @Test func recordThatWasDeletedBeforeALateAnswerIsGone() throws {
        var sample = try PlannerSample(#"{"id":"r","a":1}"#)
        try sample.set("a", "2")
        try sample.answer(.unknown)
        try sample.pull(nil)
        #expect(sample.shown == #"{"id":"r","a":2}"#)
        try sample.answer(.accepted(record(#"{"id":"r","a":2}"#)))
        sample.endPullWithoutRecord()
        #expect(sample.row.isGone)
    }

    @Test func repeatedTryHasTheSameKeyAndContent() throws {
        var sample = try PlannerSample(#"{"id":"r","a":1}"#)
        try sample.set("a", "2")
        let key = sample.row.writes[0].key
        for outcome in [WriteOutcome.unknown, .later(5_000), .signedOut] {
            try sample.answer(outcome)
            #expect(sample.row.writes[0].key == key)
            #expect(sample.row.writes[0].status == .open)
        }
        #expect(sample.row.writes[0].next == sample.moment.now + SyncPlanner.signedOutWait)
        #expect(sample.effects.repeated == 2)
    }

    @Test func onlyTheServiceMakesAChangeWaitLongerThanTheApp() throws {
        var sample = try PlannerSample(#"{"id":"r","a":1}"#)
        try sample.set("a", "2")
        for (outcome, isWoken) in [
            (WriteOutcome.unknown, true), (.later(5_000), false), (.later(nil), true), (.signedOut, true),
        ] {
            try sample.answer(outcome)
            let next = sample.row.writes[0].next
            sample.planner.wake(&sample.row.writes[0], at: sample.moment.now)
            #expect(sample.row.writes[0].next == (isWoken ? sample.moment.now : next))
        }
    }

    @Test func refusedContentGetsAnotherKey() throws {
        var sample = try PlannerSample(#"{"id":"r","rev":1,"a":1}"#) { $0.versionPath = ["rev"] }
        try sample.set("a", "2")
        let key = sample.row.writes[0].key
        try sample.answer(.conflict(record(#"{"id":"r","rev":2,"a":1,"b":1}"#)))
        #expect(sample.row.writes[0].key != key)
        #expect(sample.row.version?.text == "2")
    }

    @Test func versionOfAnAnswerWithoutRecordIsTheNextPrecondition() throws {
        var sample = try PlannerSample(#"{"id":"r","rev":1,"a":1}"#) { $0.versionPath = ["rev"] }
        try sample.set("a", "2")
        try sample.answer(.accepted(nil, version: record("2")))
        #expect(sample.row.version?.text == "2")
    }

    @Test func conflictsEndWithAQuestion() throws {
        var sample = try PlannerSample(#"{"id":"r","a":1}"#) { $0.conflict = ClientWins() }
        try sample.set("a", "2")
        for round in 0...SyncPlanner.mostRounds {
            try sample.answer(.conflict(record(#"{"id":"r","a":\#(round + 10)}"#)))
        }
        #expect(sample.planner.nextStep(of: sample.row, at: .max / 4) == .ask(1))
    }

    @Test func deletionThatAnAcceptedChangeHidesEndsTheWrite() throws {
        var sample = try PlannerSample(#"{"id":"r","a":1}"#)
        try sample.set("a", "2")
        try sample.answer(.accepted(nil))
        try sample.set("a", "3")
        try sample.answer(.conflictWithDeletion)
        #expect(sample.row.isGone)
        #expect(sample.effects.letters.map(\.reason) == [.overtaken])
    }

    @Test func createThatExistsWithItsContentIsAccepted() throws {
        var sample = try PlannerSample(nil)
        try sample.create(#"{"id":"r","a":1}"#)
        try sample.answer(.unknown)
        try sample.answer(.conflictWithoutRecord)
        let found = try record(#"{"id":"r","a":1,"rev":1}"#)
        sample.planner.found(found, for: 1, in: &sample.row, at: &sample.moment, &sample.effects)
        #expect(sample.effects.books == Books(made: 1, accepted: 1))
        #expect(sample.row.base == found)
    }

    @Test func temporaryIDIsNeverLookedUp() throws {
        var sample = try PlannerSample(nil, id: TemporaryID.make { 1 }) { $0.ids = .server }
        try sample.create(#"{"a":1}"#)
        try sample.answer(.conflictWithoutRecord)
        #expect(sample.effects.letters.map(\.reason) == [.rejected])
    }

    @Test func waitUnderAWrongClockEnds() throws {
        var sample = try PlannerSample(#"{"id":"r","a":1}"#)
        sample.moment.now = 400_000_000_000
        try sample.set("a", "2")
        try sample.answer(.later(1_000))
        #expect(sample.planner.nextStep(of: sample.row, at: 1_000_000) == .send(1))
    }

    // MARK: Rejected

    @Test func rejectedChangeIsRevertedAndLaterOnesStay() throws {
        var sample = try PlannerSample(#"{"id":"r","a":1,"b":1}"#)
        try sample.set("a", "2")
        try sample.send()
        try sample.set("b", "2")
        try sample.settle(.rejected(status: 422))
        #expect(sample.shown == #"{"id":"r","a":1,"b":2}"#)
        #expect(sample.effects.letters.map(\.reason) == [.rejected])
        #expect(sample.planner.nextStep(of: sample.row, at: .max / 4) == .send(2))
    }

    @Test func rejectedCreateTakesItsChangesWithIt() throws {
        let id = TemporaryID.make { 1 }
        var sample = try PlannerSample(nil, id: id) { $0.ids = .server }
        try sample.create(#"{"a":1}"#)
        try sample.send()
        try sample.set("a", "2")
        try sample.settle(.rejected(status: 422))
        #expect(sample.effects.letters.map(\.reason) == [.rejected, .needsRejected])
        #expect(sample.effects.gone == [id])
        var other = try PlannerSample(#"{"id":"o"}"#, id: "o")
        try other.set("ref", "\"\(id)\"")
        other.planner.giveUpNeeding([id], in: &other.row, at: &other.moment, &other.effects)
        #expect(other.effects.letters.map(\.reason) == [.needsRejected])
        #expect(other.shown == #"{"id":"o"}"#)
    }

    @Test func keptRejectionStaysUntilTheServiceChangesTheRecord() throws {
        var sample = try PlannerSample(#"{"id":"r","a":1}"#) { $0.onReject = .keep }
        try sample.set("a", "2")
        try sample.answer(.rejected(status: 422))
        try sample.pull(#"{"id":"r","a":1}"#)
        #expect(sample.shown == #"{"id":"r","a":2}"#)
        try sample.pull(#"{"id":"r","a":3}"#)
        #expect(sample.shown == #"{"id":"r","a":3}"#)
    }

    @Test func nextChangeTakesUpWhatWasRejected() throws {
        var sample = try PlannerSample(#"{"id":"r","a":1,"b":1}"#) { $0.onReject = .keep }
        try sample.set("a", "2")
        try sample.answer(.rejected(status: 422))
        try sample.set("b", "2")
        #expect(sample.shown == #"{"id":"r","a":2,"b":2}"#)
    }

    @Test func rejectedCreateIsMadeAgainByAChangeAndForgottenByADelete() throws {
        var sample = try PlannerSample(nil) { $0.onReject = .keep }
        try sample.create(#"{"id":"r","a":1}"#)
        try sample.answer(.rejected(status: 422))
        try sample.set("a", "2")
        #expect(sample.kinds == [.create])
        try sample.answer(.rejected(status: 422))
        try sample.write(.delete)
        #expect(sample.row.isGone)
        #expect(sample.effects.books.unaccounted == 0)
    }
}
