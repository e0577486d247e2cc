import Larder
import LarderSimulation
import Testing

@testable import LarderSync

/// Conflicts about which the app decides.
@Suite struct RecordConflictsTests {
    private static let asking =
        #"{ "resource": "notes", "origin": "service", "records": { "id": "/id", "conflict": "ask" } }"#

    @Test func conflictsWaitForTheAppAndEndAsItDecides() throws {
        for decision in [ConflictDecision<Note>.mine, .theirs, .merged(Note(id: "a", title: "both"))] {
            try RecordsApp.run(Self.asking) { _, pantry, notes in
                try await notes.pull([#"{"id":"a","title":"x","price":1.50}"#])
                try await notes.update("a") { $0.title = "mine" }
                try await notes.pull([#"{"id":"a","title":"theirs","price":1.50}"#])
                #expect(try await notes.get("a").record?.state == .conflict)
                let conflict = try #require(try await notes.conflicts().first)
                #expect(conflict.mine?.title == "mine" && conflict.theirs?.title == "theirs")
                #expect(try await notes.resolve("a", with: decision))
                #expect(try await notes.conflicts().isEmpty)
                let record = try #require(try await notes.get("a").record)
                let price = try await pantry.records("notes").get("a").record?.value["price"]
                #expect(try price == JSONText("1.50".utf8))
                switch decision {
                case .mine: #expect(record.value.title == "mine" && record.state == .pending)
                case .theirs: #expect(record.value.title == "theirs" && record.state == .synced)
                case .merged: #expect(record.value.title == "both" && record.state == .pending)
                }
                #expect(try await notes.books().unaccounted == 0)
            }
        }
    }

    @Test func deletionInConflictIsListedAndEndsAsTheAppDecides() throws {
        for decision in [ConflictDecision<Note>.mine, .theirs, .merged(Note(id: "a", title: "both"))] {
            try RecordsApp.run(Self.asking) { _, pantry, notes in
                try await notes.pull([#"{"id":"a","title":"x","price":1.50}"#, #"{"id":"b","title":"x"}"#])
                try await notes.delete("a")
                try await notes.delete("b")
                try await notes.pull([#"{"id":"a","title":"theirs","price":1.50}"#, #"{"id":"b","title":"x"}"#])
                #expect(try await notes.get("a") == .absent)
                let conflicts = try await notes.conflicts()
                #expect(conflicts.map(\.id) == ["a"])
                #expect(conflicts.first?.mine == nil && conflicts.first?.theirs?.title == "theirs")
                #expect(try await notes.resolve("a", with: decision))
                #expect(try await notes.conflicts().isEmpty)
                let (lookup, kind) = (try await notes.get("a"), try await notes.row("a")?.writes.first?.kind)
                switch decision {
                case .mine: #expect(lookup == .absent && kind == .delete)
                case .theirs: #expect(lookup.record?.value.title == "theirs" && lookup.record?.state == .synced)
                case .merged:
                    #expect(lookup.record?.value.title == "both" && kind == .update)
                    let price = try await pantry.records("notes").get("a").record?.value["price"]
                    #expect(try price == JSONText("1.50".utf8))
                }
                #expect(try await notes.books().unaccounted == 0)
            }
        }
    }
}
