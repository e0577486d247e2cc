import Larder
import Testing

@testable import LarderSync

/// Changes that were made for another source than that of the policy.
struct OtherSourceTests {
    private func sample() throws -> PlannerSample {
        var sample = try PlannerSample(#"{"id":"r","rev":1,"a":1,"b":1}"#) { $0.versionPath = ["rev"] }
        try sample.set("a", "2")
        sample.rules.source = "other"
        return sample
    }

    private func pull(_ text: String?, into sample: inout PlannerSample) throws {
        try sample.pull(text, state: PullState(source: sample.rules.source))
    }

    @Test(arguments: [nil, #"{"id":"r","rev":7,"a":5,"b":5}"#])
    func pullOfAnotherSourceLeavesThemAsTheyAre(_ record: String?) throws {
        var sample = try sample()
        let write = sample.row.writes[0]
        try pull(record, into: &sample)
        #expect(sample.row.writes.map(\.patch) == [write.patch] && sample.row.writes[0].status == .open)
        #expect(sample.effects.letters.isEmpty && sample.effects.conflicts == 0)
        #expect(sample.planner.shown(sample.row)?["a"]?.text == "2")
        #expect(sample.planner.nextStep(of: sample.row, at: .max / 4) == .otherSource(1))

        // The policy names their own source again.
        sample.rules.source = "s"
        try pull(#"{"id":"r","rev":2,"a":1,"b":3}"#, into: &sample)
        #expect(sample.shown == #"{"id":"r","rev":2,"a":2,"b":3}"#)
        try sample.send()
        #expect(sample.row.writes[0].sentVersion?.text == "2")
    }

    @Test func changeBehindOneOfTheSourceDoesNotHinderItsEnd() throws {
        var sample = try sample()
        sample.rules.merges = false
        try sample.write(.delete)
        try #require(sample.row.writes.count == 2)
        sample.row.writes[1].source = "other"
        sample.rules.source = "s"
        // The service has deleted the record, and says so to the first change.
        try sample.answer(.conflictWithDeletion)
        #expect(sample.effects.letters.map(\.write.number) == [1])
        #expect(sample.row.writes.map(\.number) == [2])
        #expect(sample.planner.nextStep(of: sample.row, at: .max / 4) == .otherSource(2))
        sample.rules.source = "other"
        try sample.answer(.accepted(nil))
        sample.endPullWithoutRecord()
        #expect(sample.row.isGone && sample.effects.books.unaccounted == 0)
    }

    @Test func releasedChangeTellsNothingOfItsFormerSource() throws {
        var sample = try sample()
        sample.rules.source = "s"
        try sample.answer(.unknown)
        sample.rules.source = "other"
        try pull(#"{"id":"r","rev":1,"a":1,"b":8}"#, into: &sample)
        sample.row.writes[0].source = "other"
        sample.row.writes[0].forgetTries()
        try pull(#"{"id":"r","rev":9,"a":1,"b":9}"#, into: &sample)
        try sample.send()
        #expect(sample.row.writes[0].sentVersion?.text == "9")
    }
}
