import Larder
import Testing

@testable import LarderSync

/// Changes whose first try got no answer, and which the service refuses after a pull has brought others' changes.
struct RefusedTryTests {
    private static let theirs = #"{"id":"r","rev":2,"a":1,"b":9,"t":2000000}"#

    /// A record under last write wins, where the others' change is the later one.
    private func sample() throws -> PlannerSample {
        try PlannerSample(#"{"id":"r","rev":1,"a":1,"b":1,"t":5}"#) {
            $0.versionPath = ["rev"]
            $0.stamp = StampPlace(path: ["t"], format: .milliseconds)
            $0.conflict = LastWriteWins(isAboutRecords: true)
        }
    }

    /// Tries a change in vain, pulls the others' record, and has the next try refused.
    ///
    /// - Parameter isTold: whether the refusal tells the record, so that it need not be looked up.
    private func refuse(_ sample: inout PlannerSample, isTold: Bool) throws {
        let theirs = try JSONText(text: Self.theirs)
        try sample.answer(.unknown)
        try sample.pull(Self.theirs)
        try sample.answer(isTold ? .conflict(theirs) : .conflictWithoutRecord)
        if !isTold { sample.planner.found(theirs, for: 1, in: &sample.row, at: &sample.moment, &sample.effects) }
    }

    @Test(arguments: [true, false])
    func laterEditElsewhereLeavesALetter(_ isTold: Bool) throws {
        for isDeletion in [true, false] {
            var sample = try sample()
            if isDeletion { try sample.write(.delete) } else { try sample.set("a", "2") }
            try refuse(&sample, isTold: isTold)
            #expect(sample.row.writes.isEmpty && sample.shown == Self.theirs)
            #expect(sample.effects.letters.map(\.reason) == [.overtaken])
            #expect(sample.effects.books.unaccounted == 0)
        }
    }

    @Test(arguments: [true, false])
    func appIsAskedAboutBothSides(_ isTold: Bool) throws {
        for isDeletion in [true, false] {
            var sample = try sample()
            sample.rules.conflict = AskApp()
            if isDeletion { try sample.write(.delete) } else { try sample.set("b", "2") }
            try refuse(&sample, isTold: isTold)
            #expect(sample.row.writes.first?.status == .conflict)
        }
    }

    @Test func changeOfAnotherFieldIsSentOnTheNewVersion() throws {
        var sample = try sample()
        sample.rules.conflict = MergeFields()
        try sample.set("a", "2")
        try refuse(&sample, isTold: true)
        try sample.send()
        #expect(sample.row.writes[0].sentVersion?.text == "2")
        #expect(sample.planner.shown(sample.row)?["b"]?.text == "9")
        #expect(sample.effects.conflicts == 0)
    }

    @Test func laterWriteIsMadeOnThePulledRecord() throws {
        var sample = try sample()
        try sample.set("a", "2")
        try sample.answer(.unknown)
        try sample.pull(Self.theirs)
        sample.moment.now = 3_000_000
        try sample.set("b", "10")
        try sample.answer(.conflict(JSONText(text: Self.theirs)))
        // The second one was made on both, and is the latest of the whole record.
        #expect(sample.effects.letters.map(\.write.number) == [1])
        let shown = sample.planner.shown(sample.row)
        #expect(shown?["b"]?.text == "10" && shown?["a"]?.text == "2")
    }

    @Test func ownTryThatAPullHasBroughtLeavesNoLetter() throws {
        var sample = try sample()
        try sample.set("a", "2")
        try sample.answer(.unknown)
        let stamp = sample.row.writes[0].stamp
        let record = #"{"id":"r","rev":2,"a":2,"b":1,"t":\#(stamp)}"#
        try sample.pull(record)
        try sample.answer(.conflict(JSONText(text: record)))
        #expect(sample.row.writes.isEmpty && sample.shown == record)
        #expect(sample.effects.letters.isEmpty && sample.effects.conflicts == 0)
        #expect(sample.effects.books == Books(made: 1, overtaken: 1))
    }

    @Test func anotherTryTellsTheVersionOfTheFirst() throws {
        var sample = try sample()
        try sample.set("a", "2")
        try sample.answer(.unknown)
        try sample.pull(Self.theirs)
        try sample.send()
        let write = sample.row.writes[0]
        #expect(write.sentVersion?.text == "1" && sample.row.version?.text == "2")
        #expect(QueuedWrite(number: write.number, write.text) == write)
        #expect(write.baseMayHaveIt)
    }

    @Test func answerToARepeatedCreateTellsItsVersion() throws {
        var sample = try PlannerSample(nil) { $0.versionPath = ["rev"] }
        try sample.create(#"{"id":"r","a":1}"#)
        try sample.answer(.unknown)
        try sample.answer(.accepted(JSONText(text: #"{"id":"r","rev":1,"a":1}"#)))
        try sample.set("a", "2")
        try sample.send()
        #expect(sample.row.writes.last?.sentVersion?.text == "1")
    }
}
