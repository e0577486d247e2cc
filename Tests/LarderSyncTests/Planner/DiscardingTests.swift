import Larder
import Testing

@testable import LarderSync

/// Changes that the app drops.
@Suite struct DiscardingTests {
    private static func discard(_ place: Int, of sample: inout PlannerSample) -> Bool {
        let number = sample.row.writes[place].number
        return sample.planner.discard(number, of: &sample.row, at: &sample.moment, &sample.effects)
    }

    @Test(
        arguments: [nil, .later(), .later(5_000, status: 503), .signedOut, .unknown, .conflictWithoutRecord]
            as [WriteOutcome?])
    func waitingChangeIsDroppedWhateverItWaitsFor(_ outcome: WriteOutcome?) throws {
        var sample = try PlannerSample(#"{"id":"r","a":1,"b":1}"#)
        try sample.set("a", "2")
        if let outcome { try sample.answer(outcome) }
        #expect(Self.discard(0, of: &sample))
        #expect(sample.shown == #"{"id":"r","a":1,"b":1}"# && sample.row.writes.isEmpty)
        #expect(sample.effects.books == Books(made: 1, discarded: 1))
        #expect(sample.effects.letters.isEmpty)
    }

    @Test func changeInFlightOrAcceptedStays() throws {
        var sample = try PlannerSample(#"{"id":"r","a":1}"#)
        try sample.set("a", "2")
        try sample.send()
        let sending = sample.row
        #expect(!Self.discard(0, of: &sample))
        try sample.settle(.accepted(nil))
        #expect(!Self.discard(0, of: &sample))
        #expect(sending.writes.count == 1 && sample.shown == #"{"id":"r","a":2}"#)
        #expect(sample.effects.books == Books(made: 1, accepted: 1))
    }

    @Test func laterChangesGoOnWithoutIt() throws {
        var sample = try PlannerSample(#"{"id":"r","a":1,"b":1}"#)
        try sample.set("a", "2")
        try sample.answer(.unknown)
        try sample.set("b", "2")
        #expect(Self.discard(0, of: &sample))
        #expect(sample.shown == #"{"id":"r","a":1,"b":2}"# && sample.kinds == [.update])
        #expect(sample.effects.books == Books(made: 2, discarded: 1, pending: 1))
    }

    @Test func changesOfADroppedRecordGoWithItAndSoDoThoseThatNeedIt() throws {
        let id = "tmp-0123456789abcdefghjkmnpqrs"
        var sample = try PlannerSample(nil, id: id) { $0.ids = .server }
        try sample.create(#"{"a":1}"#)
        try sample.answer(.later())
        try sample.set("a", "2")
        #expect(Self.discard(0, of: &sample))
        #expect(sample.row.isGone && sample.effects.gone == [id])
        #expect(sample.effects.books == Books(made: 2, discarded: 2))
    }

    @Test func droppedChangeOfADeletedRecordEndsTheDeletion() throws {
        var sample = try PlannerSample(#"{"id":"r","a":1}"#)
        try sample.set("a", "2")
        try sample.answer(.unknown)
        try sample.pull(nil)
        #expect(sample.shown != nil)
        #expect(Self.discard(0, of: &sample))
        #expect(sample.shown == nil && sample.row.isGone)
        #expect(sample.effects.books == Books(made: 1, discarded: 1))
    }

    @Test func statusAndSignInAreThoseOfTheLastTry() throws {
        var sample = try PlannerSample(#"{"id":"r","a":1}"#)
        try sample.set("a", "2")
        for (outcome, status, isHeld) in [
            (WriteOutcome.later(status: 503), 503, false), (.signedOut, nil, true), (.unknown, nil, false),
        ] as [(WriteOutcome, Int?, Bool)] {
            try sample.send()
            #expect(sample.row.writes[0].lastStatus == nil && !sample.row.writes[0].isHeld)
            try sample.settle(outcome)
            #expect(sample.row.writes[0].lastStatus == status && sample.row.writes[0].isHeld == isHeld)
        }
    }
}
