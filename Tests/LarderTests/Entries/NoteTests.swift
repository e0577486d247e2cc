import LarderFoundation
import Larder
import Testing

@testable import LarderCore
@testable import LarderPlugins

@Suite struct NoteTests {
    @Test func valuesOfEachTypeAreNotedAndRead() {
        func reads<Value: NoteValue & Equatable>(_ values: Value...) -> Bool {
            values.allSatisfy { value in
                var metadata = Metadata()
                metadata[NoteKey("a")] = value
                return metadata[NoteKey<Value>("a")] == value
            }
        }
        #expect(reads(Int.min, 0, Int.max))
        #expect(reads(UInt64.min, UInt64.max))
        #expect(reads(Timestamp(nanoseconds: -1)))
        #expect(reads("", "é😀"))
        #expect(reads([] as [UInt8], [0, 255]))
    }

    @Test func noteOfAnotherTypeOrNameIsNone() {
        let metadata = Metadata(notes: ["a": .text("1")])
        #expect(metadata[NoteKey<Int>("a")] == nil && metadata[NoteKey<[UInt8]>("a")] == nil)
        #expect(metadata[NoteKey<String>("b")] == nil && metadata[NoteKey<String>("a")] == "1")
    }

    @Test func orderOfNotesDoesNotMatterAndRemovedNotesLeaveNoTrace() {
        let (one, other) = (NoteKey<Int>("one"), NoteKey<String>("other"))
        var (metadata, reversed) = (Metadata(), Metadata())
        metadata[one] = 1
        metadata[other] = "b"
        reversed[other] = "b"
        reversed[one] = 1
        #expect(metadata == reversed && metadata.notes == ["one": .number(1), "other": .text("b")])
        metadata[one] = nil
        #expect(metadata[other] == "b")
        metadata[other] = nil
        #expect(metadata == Metadata() && metadata.notes == [:])
    }

    @Test func notesAndTheirNamesCountInTheWeightOfAnEntry() {
        let bare = Entry(Data()).weight
        let notes: [String: Note] = ["number": .number(1), "text": .text("é"), "bytes": .bytes([1, 2, 3])]
        #expect(Entry(Data(), Metadata(notes: notes)).weight == bare + 6 + 8 + 4 + 2 + 5 + 3)
    }

    @Test func notesOfValidatorsDoNotMeet() throws {
        var entry = Entry(Data("a".utf8), Metadata(notes: ["elsewhere": .number(5)]))
        _ = try ChecksumValidator().admit(&entry, from: .origin, for: Request("feed"))
        _ = try EntryVersion(version: 3).admit(&entry, from: .origin, for: Request("feed"))
        #expect(entry.metadata[.entryVersion] == 3 && entry.metadata.notes.count == 3)
        _ = try ChecksumValidator().admit(&entry, from: .store, for: Request("feed"))
        #expect(
            EntryVersion(version: 3).permit(entry.metadata, for: Request("feed"), at: Timestamp(seconds: 0))
                == Permissions(.all))
    }
}
