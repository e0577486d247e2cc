import LarderFoundation
import LarderSystem

/// The fields by which the answers for one key vary, and the keys of their variants.
///
/// The store keeps it as a marker, an entry without a payload under the key itself. Each answer is kept under a key of
/// its own, which depends on the request's values of these fields and on a random text. If the marker is lost, another
/// random text makes the older variants unreachable, so that a variant from before a clearing is never found.
struct Variation: Hashable, Sendable {
    /// The names of the fields, sorted and in lower case.
    let names: [String]
    /// A random text.
    let generation: String

    /// The name that says that an answer matches no other request.
    private static let matchesNoOther = "*"
    /// The number of fields by which the answers for one key may vary.
    private static let capacity = 32
    private static let note = NoteKey<String>("larder.variation")

    /// Returns the names of fields by which an answer varies, sorted, in lower case and without duplicates. Returns nil
    /// if the answer matches no other request. This is so if one of the names is `*` or impossible for a field, or if
    /// there are too many.
    static func normalized(_ names: [String]) -> [String]? {
        if names.isEmpty { return [] }
        let isUsable = names.allSatisfy { $0 != matchesNoOther && Fields.Field($0, "") != nil }
        let all = Set(names.map { $0.lowercased() })
        return isUsable && all.count <= capacity ? all.sorted() : nil
    }

    /// Returns a variation by these fields, too. Returns nil if there are too many.
    func adding(_ names: [String]) -> Variation? {
        let all = Set(self.names).union(names)
        return all.count > Self.capacity ? nil : Variation(names: all.sorted(), generation: generation)
    }

    // MARK: Keys

    /// Returns the values of the fields that are sent for a request, as an unambiguous text.
    func values(of request: Request) -> String {
        names.map { name in
            request.values(of: name, orOf: request.addedFields).map { "\($0.utf8.count):\($0)" }.joined()
        }.joined(separator: ";")
    }

    /// Returns the key of the variant for these values.
    func key(of base: Key, for values: String) -> Key {
        let text = ([generation] + names).joined(separator: " ") + "\n" + values
        return base.variant(String(SHA256.hex(text.utf8).prefix(32)))
    }

    // MARK: The marker

    /// Returns whether an entry with this metadata and this size of the payload is a marker.
    static func isMarker(_ metadata: Metadata, size: Int) -> Bool { size == 0 && metadata[note] != nil }

    /// Reads a marker. Returns nil for any other entry.
    init?(marker entry: Entry) {
        guard entry.payload.size == 0, let generation = entry.metadata[Self.note] else { return nil }
        names = Self.normalized(entry.metadata.variesBy) ?? []
        self.generation = generation
    }

    init(names: [String], generation: String) {
        self.names = names
        self.generation = generation
    }

    /// Returns the marker that says how the answers vary.
    func marker(at now: Timestamp) -> Entry {
        var marker = Entry(Data(), Metadata(fetchedAt: now))
        marker.metadata.variesBy = names
        marker.metadata[Self.note] = generation
        return marker
    }
}

extension Request {
    /// Returns the values of a field that are sent: those of the request, or else those that the origin adds.
    fileprivate func values(of name: String, orOf addedFields: Fields) -> [String] {
        let own = fields.all(name)
        return own.isEmpty ? addedFields.all(name) : own
    }

    /// Returns whether an answer to `other` that varies by these fields answers this request, too. The fields that the
    /// origin adds to `other` would be added to this request.
    func matches(_ other: Request, by names: [String]) -> Bool {
        if names.isEmpty || details === other.details || fields == other.fields { return true }
        return Variation.normalized(names)?.allSatisfy { name in
            values(of: name, orOf: other.addedFields).elementsEqual(other.values(of: name, orOf: other.addedFields)) {
                $0.utf8.elementsEqual($1.utf8)
            }
        } ?? false
    }
}
