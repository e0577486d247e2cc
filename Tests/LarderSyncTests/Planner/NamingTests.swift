import Larder
import Testing

@testable import LarderSync

/// Records that the service names.
struct NamingTests {
    private let id = TemporaryID.make { 1 }

    private func sample() throws -> PlannerSample { try PlannerSample(nil, id: id) { $0.ids = .server } }

    @Test func temporaryIDsAreFound() throws {
        #expect(TemporaryID.isOne(id))
        let text = try JSONText(text: #"{"a":"/x/\#(id)","\#(id)":"tmp-short","b":"tmp-tmp-\#(id)"}"#)
        #expect(TemporaryID.all(in: text) == [id])
    }

    @Test func nameTakesThePlaceOfTheTemporaryID() throws {
        var sample = try sample()
        try sample.create(#"{"a":1}"#)
        try sample.send()
        try sample.set("self", "\"\(id)\"")
        try sample.settle(.accepted(JSONText(text: #"{"id":7,"a":1}"#)))
        #expect(sample.row.id == "7")
        #expect(sample.row.idText.text == "7")
        #expect(sample.effects.renamed == [SyncEffects.Renaming(former: id, id: sample.row.idText)])
        #expect(sample.row.writes[0].patch[["self"]]?.after?.text == "7")
        #expect(sample.planner.nextStep(of: sample.row, at: .max / 4) == .send(2))
    }

    @Test func otherRecordsWaitForTheName() throws {
        var other = try PlannerSample(#"{"id":"o","votes":{}}"#, id: "o")
        let voted = try JSONText(text: #"{"id":"o","votes":{"\#(id)":1}}"#)
        try other.write(.put(voted))
        #expect(other.planner.nextStep(of: other.row, at: .max / 4) == .needs(1, [id]))
        let renaming = SyncEffects.Renaming(former: id, id: JSONText(string: "s7"))
        #expect(other.planner.rename(renaming, in: &other.row))
        #expect(other.planner.nextStep(of: other.row, at: .max / 4) == .send(1))
        #expect(other.row.writes[0].patch.changes.map(\.path) == [["votes", "s7"]])
    }

    @Test func newRecordThatContainsItsOwnIDIsMadeInTwoWrites() throws {
        var sample = try sample()
        try sample.create(#"{"a":1,"self":"\#(id)"}"#)
        #expect(sample.kinds == [.create, .update])
        #expect(sample.planner.nextStep(of: sample.row, at: .max / 4) == .send(1))
        #expect(sample.effects.books == Books(made: 2, pending: 2))
    }

    @Test func pulledCopyOfANewRecordIsAbsorbed() throws {
        var sample = try sample()
        try sample.create(#"{"a":1}"#)
        try sample.answer(.unknown)
        let pulled = try JSONText(text: #"{"id":"s1","a":2}"#)
        let other = RecordRow(number: 2, id: "s1", idText: JSONText(string: "s1"), base: pulled)
        try sample.answer(.accepted(JSONText(text: #"{"id":"s1","a":1}"#)))
        sample.planner.absorb(other, into: &sample.row, at: &sample.moment, &sample.effects)
        // The pulled record is newer than the answer, which was kept for the first try.
        #expect(sample.shown == pulled.text)
        #expect(sample.row.writes.isEmpty)
    }
}
