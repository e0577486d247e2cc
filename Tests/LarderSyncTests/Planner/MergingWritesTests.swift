import Larder
import Testing

@testable import LarderSync

/// Changes of one record that were never sent become one.
struct MergingWritesTests {
    @Test func createAndChangeAreOneCreate() throws {
        var sample = try PlannerSample(nil)
        try sample.create(#"{"id":"r","a":1}"#)
        try sample.set("a", "2")
        #expect(sample.kinds == [.create])
        #expect(sample.row.writes[0].content?.text == #"{"id":"r","a":2}"#)
        #expect(sample.effects.books == Books(made: 2, merged: 1, pending: 1))
    }

    @Test func createAndDeleteAreNothing() throws {
        var sample = try PlannerSample(nil)
        try sample.create(#"{"id":"r","a":1}"#)
        try sample.write(.delete)
        #expect(sample.row.isGone)
        #expect(sample.effects.books == Books(made: 2, merged: 2))
    }

    @Test func changesAreOneWithTheOldestValueBefore() throws {
        var sample = try PlannerSample(#"{"id":"r","a":1}"#)
        try sample.set("a", "2")
        try sample.set("a", "3")
        try sample.set("b", "4")
        #expect(sample.row.writes.count == 1)
        #expect(sample.row.writes[0].patch[["a"]]?.before?.text == "1")
        #expect(sample.row.writes[0].patch[["a"]]?.after?.text == "3")
        #expect(sample.row.writes[0].patch[["b"]]?.before == nil)
    }

    @Test func changeThatIsUndoneByHandIsNothing() throws {
        var sample = try PlannerSample(#"{"id":"r","a":1}"#)
        try sample.set("a", "2")
        try sample.set("a", "1")
        #expect(sample.row.writes.isEmpty)
        #expect(sample.effects.books.unaccounted == 0)
    }

    @Test func changeAndDeleteAreOneDelete() throws {
        var sample = try PlannerSample(#"{"id":"r","a":1}"#)
        try sample.set("a", "2")
        try sample.write(.delete)
        #expect(sample.kinds == [.delete])
        #expect(sample.shown == nil)
    }

    @Test func deleteAndCreateReplaceTheRecord() throws {
        var sample = try PlannerSample(#"{"id":"r","a":1,"b":2}"#)
        try sample.write(.delete)
        try sample.create(#"{"id":"r","a":3}"#)
        #expect(sample.kinds == [.update])
        #expect(sample.shown == #"{"id":"r","a":3}"#)
    }

    @Test func sentWriteIsNotChanged() throws {
        var sample = try PlannerSample(#"{"id":"r","a":1}"#)
        try sample.set("a", "2")
        try sample.send()
        let sent = sample.row.writes[0]
        try sample.set("a", "3")
        try sample.settle(.unknown)
        try sample.write(.delete)
        #expect(sample.row.writes[0].patch == sent.patch)
        #expect(sample.row.writes[0].key == sent.key)
        #expect(sample.kinds == [.update, .delete])
    }

    @Test func withoutMergingEachChangeIsAWrite() throws {
        var sample = try PlannerSample(nil) { $0.merges = false }
        try sample.create(#"{"id":"r","a":1}"#)
        try sample.set("a", "2")
        try sample.write(.delete)
        #expect(sample.kinds == [.create, .update, .delete])
    }

    @Test func changesInsideAndAroundAPlaceAreOne() throws {
        var sample = try PlannerSample(#"{"id":"r","o":{"a":1,"b":1}}"#)
        let inner = try JSONText(text: #"{"id":"r","o":{"a":2,"b":1}}"#)
        try sample.write(.put(inner))
        #expect(sample.row.writes[0].patch.changes.map(\.path) == [["o", "a"]])
        try sample.set("o", "null")
        #expect(sample.row.writes[0].patch[["o"]]?.before?.text == #"{"a":1,"b":1}"#)
        #expect(sample.row.writes[0].patch.changes.count == 1)
    }

    @Test func fieldsThatTheAppDoesNotKnowStay() throws {
        var sample = try PlannerSample(#"{"id":"r","a":1,"unknown":1.50,"none":null}"#)
        let (old, new) = (try JSONText(text: #"{"id":"r","a":1}"#), try JSONText(text: #"{"id":"r","a":2}"#))
        try sample.write(.update(from: old, to: new))
        #expect(sample.shown == #"{"id":"r","a":2,"unknown":1.50,"none":null}"#)
    }

    @Test func changeWhileTheRecordIsNotKnownBecomesACreate() throws {
        var sample = try PlannerSample(#"{"id":"r","a":1}"#)
        try sample.set("a", "2")
        sample.planner.forgetBase(&sample.row)
        try sample.create(#"{"id":"r","a":3}"#)
        #expect(sample.kinds == [.create])
    }

    @Test func recordsThatReferToEachOtherAreBothMade() throws {
        let (first, second) = (TemporaryID.make { 1 }, TemporaryID.make { 2 })
        var sample = try PlannerSample(nil, id: first) { $0.ids = .server }
        try sample.create(#"{"a":1}"#)
        try sample.set("next", "\"\(second)\"")
        #expect(sample.kinds == [.create, .update])
        #expect(sample.planner.nextStep(of: sample.row, at: .max / 4) == .send(1))
        try sample.write(.delete)
        #expect(sample.row.isGone)
        #expect(sample.effects.books == Books(made: 3, merged: 3))
    }

    @Test func serviceNamesNewRecords() throws {
        var sample = try PlannerSample(nil) { $0.ids = .server }
        #expect(throws: WriteRefusal.noRecord) { try sample.create(#"{"a":1}"#) }
    }
}
