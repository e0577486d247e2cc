import LarderSystem

extension Metadata {
    /// The facts that hits do not read.
    struct Details: Hashable {
        /// The time of ``Metadata/fetchedAt``, if the payload was validated since; nil otherwise.
        var fetchedAt: Timestamp?
        /// The length of ``Metadata/initialAge`` in nanoseconds.
        var initialAge: Int64 = 0
        var etag: String?
        var lastModified: String?
        var contentType: String?
        var status: Int?
        var fields = Fields()
        var variesBy: [String] = []
        var tags: [String] = []
        /// The mark of ``Metadata/source``.
        var source: UInt64?
        /// The notes, sorted by name. There are few of them, so that a linear search is faster than hashing.
        var notes: [NamedNote] = []
        /// The notes of kinds that only a later version knows, sorted by name.
        var laterNotes: [LaterNote] = []
        /// The facts that only a later version knows, in the order in which they were read.
        var laterFacts: [LaterFact] = []

        /// The size of all texts, fields and notes, in bytes.
        var size: Int {
            let texts = [etag, lastModified, contentType].compactMap { $0 } + tags + variesBy
            return texts.reduce(0) { $0 + $1.utf8.count } + fields.size
                + notes.reduce(0) { $0 + $1.name.utf8.count + $1.note.size }
                + laterNotes.reduce(0) { $0 + $1.name.utf8.count + $1.value.count }
                + laterFacts.reduce(0) { $0 + $1.value.count }
        }
    }

    /// A note and its name.
    struct NamedNote: Hashable {
        let name: String
        let note: Note
    }

    /// A note of a kind that only a later version knows.
    struct LaterNote: Hashable {
        let name: String
        let kind: UInt8
        let value: [UInt8]
    }

    /// A fact that only a later version knows, as a field of an encoded entry.
    struct LaterFact: Hashable {
        let number: UInt8
        let value: [UInt8]
    }

    /// Holds the details behind a single reference. Hits copy metadata, and each further reference would slow them
    /// down.
    ///
    /// `@unchecked Sendable`: the content never changes, and the superclass has no state.
    @usableFromInline final class DetailsBox: HeldFacts, Hashable, @unchecked Sendable {
        let content: Details

        init(_ content: Details) { self.content = content }

        @usableFromInline static func == (left: DetailsBox, right: DetailsBox) -> Bool {
            left === right || left.content == right.content
        }

        @usableFromInline func hash(into hasher: inout Hasher) { hasher.combine(content) }
    }
}

// MARK: Notes

extension Metadata.Details {
    /// Returns the notes whose names can be kept, sorted by name.
    static func sorted(_ notes: [String: Note]) -> [Metadata.NamedNote] {
        notes.filter { 1...255 ~= $0.key.utf8.count }
            .map { Metadata.NamedNote(name: $0.key, note: $0.value) }.sorted { $0.name < $1.name }
    }

    /// Replaces all notes. A note of a later kind is kept unless there is a new note with its name.
    mutating func setNotes(_ notes: [String: Note]) {
        self.notes = Self.sorted(notes)
        laterNotes.removeAll { notes[$0.name] != nil }
    }

    mutating func set(_ note: Note?, named name: String) {
        notes.removeAll { $0.name == name }
        laterNotes.removeAll { $0.name == name }
        guard let note, 1...255 ~= name.utf8.count else { return }
        notes.insert(
            Metadata.NamedNote(name: name, note: note), at: notes.firstIndex { $0.name > name } ?? notes.count)
    }
}
