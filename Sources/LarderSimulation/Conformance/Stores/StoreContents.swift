import LarderFoundation
import LarderSystem
import Larder

/// Checks of a store's entries after writes and removals.
extension StoreConformance {
    static func entry(_ text: String, _ metadata: Metadata = Metadata()) -> Entry { Entry(Data(text.utf8), metadata) }

    /// Returns several kinds of metadata, all of them recent.
    private static func metadata(at now: Timestamp) -> [Metadata] {
        let earlier = now - .nanoseconds(1_234_567)
        return [
            Metadata(fetchedAt: earlier),
            Metadata(
                fetchedAt: earlier, validatedAt: now, askedAt: earlier - .nanoseconds(1), initialAge: .nanoseconds(1),
                etag: "\"e\u{0301}1\"", lastModified: "Mon, 5 Jan 2026",
                contentType: "text/plain; charset=utf-8", status: 203,
                fields: ["Link": "<a>; rel=\"next\"", "vary": "*", "Vary": "ä"], variesBy: ["accept", "*"],
                tags: ["a,b", "a", "\n", "", "ä"],
                notes: ["a": .number(.min), "ä/😀": .text("e\u{0301}"), "b": .bytes([0, 255, 10])], spread: 0.123_456_789
            ),
            Metadata(
                fetchedAt: now, etag: "", lastModified: "", contentType: "",
                notes: ["a": .number(0), "b": .text(""), "c": .bytes([])]),
        ]
    }

    func checkEntries(_ findings: inout BrokenPromises) {
        let payloads = [Data(), Data([0]), Data((0...255).map { UInt8($0) }), Data("text, {}".utf8)]
        check("entries of several kinds are written and read", findings: &findings) { trial in
            let now = trial.world.now
            for (number, payload) in payloads.enumerated() {
                for (kind, metadata) in Self.metadata(at: now).enumerated() {
                    try await trial.write(Entry(payload, metadata), for: TestedPlugin.key(["id": "\(number)-\(kind)"]))
                }
            }
            try await trial.compare(.readsWrites)
        }
        check("an entry is written again and again", findings: &findings) { trial in
            let key = TestedPlugin.key(["id": "1"])
            let all = Self.metadata(at: trial.world.now)
            for text in ["a long first one", "second", ""] {
                for metadata in all.reversed() {
                    try await trial.write(Self.entry(text, metadata), for: key, .replaces)
                }
            }
            var revalidated = Self.entry("third", all[1])
            try await trial.write(revalidated, for: key, .replaces)
            revalidated.metadata.validatedAt = trial.world.now + .seconds(1)
            revalidated.metadata.tags = []
            try await trial.write(revalidated, for: key, .replaces)
            try await trial.compare(.replaces)
        }
    }

    // MARK: Keys

    /// Keys that are easily confused.
    private static var odd: [Key] {
        let texts = [
            "", "1", "01", "1 ", "a", "A", "a/b", "a\\b", "../a", "..", ".", "a%2Fb", "a=b&c=d", "a\u{0}b", "é",
            "e\u{0301}", "a?b@c", "*", "%", String(repeating: "x", count: 300), String(repeating: "x", count: 301),
        ]
        var keys = texts.map { TestedPlugin.key(["id": $0]) }
        for scope in ["", "a", "A", "b", "a b", "../a", "é", "e\u{0301}"] {
            keys.append(TestedPlugin.key(["id": "1"], scope: scope))
        }
        keys += [
            TestedPlugin.key(), TestedPlugin.key(scope: "a"), TestedPlugin.key(["a": "b", "c": "d"]),
            TestedPlugin.key(["a": "b&c=d"]),
            TestedPlugin.key(["id": "1", "page": "2"]), TestedPlugin.key(["page": "1", "id": "2"]),
        ]
        return keys
    }

    func checkKeys(_ findings: inout BrokenPromises) {
        check("entries under similar keys", findings: &findings) { trial in
            for (number, key) in Self.odd.enumerated() {
                try await trial.write(Self.entry("\(number)", Metadata(fetchedAt: trial.world.now)), for: key, .keys)
            }
            try await trial.compare(.keys)
            for key in Self.odd.prefix(5) { try await trial.remove(.key(key)) }
            try await trial.compare(.keys)
            let outside = try Disk.list(trial.surroundings.path).map(\.name).filter { $0 != "cache" }
            trial.expect(
                outside.isEmpty, promise: .keys, expected: "no file outside its own folder", got: "\(outside.count)")
        }
    }

    // MARK: Removals

    func checkRemovals(_ findings: inout BrokenPromises) {
        let selections: [(String, Selection)] = [
            ("a key", .key(TestedPlugin.key(["id": "2"], scope: "a"))),
            ("a key without an account", .key(TestedPlugin.key(["id": "2"]))),
            ("an account", .scope("a")), ("the entries without an account", .scope(nil)),
            ("an account with an empty name", .scope("")),
            ("an account that has nothing", .scope("z")), ("a tag", .tag("t")), ("a tag that no entry has", .tag("z")),
            ("everything", .all),
        ]
        for (what, selection) in selections {
            check("entries of several accounts and tags, of which \(what) is removed", findings: &findings) { trial in
                try await trial.fill()
                let before = trial.model
                try await trial.remove(selection)
                try await trial.compare(.removes)
                for key in before.keys where trial.model[key] == nil {
                    let found = trial.store.peek(key) { _ in true }
                    trial.expect(
                        found == nil, promise: .removes, expected: "no peeked entry", got: found?.inWords ?? "")
                }
                try await trial.remove(selection)
                try await trial.compare(.removes)
            }
        }
    }
}

extension StoreConformance {
    func checkExpiring(_ findings: inout BrokenPromises) {
        check("some entries are expired, and one of them is written again", findings: &findings) { trial in
            try await trial.fill()
            let keys = trial.model.keys.sorted { $0.text < $1.text }
            let expired = Set(keys.enumerated().filter { $0.offset % 3 == 0 }.map(\.element))
            for key in expired { try await trial.expire(.key(key)) }
            try await trial.expire(.key(TestedPlugin.key(["id": "none"])))
            try await trial.compare(.expires)
            for key in keys {
                trial.checkUses(try await trial.store.read(key)?.entry, isExpired: expired.contains(key))
                let entry = trial.store.peek(key) { _ in true }
                trial.checkUses(entry, isExpired: expired.contains(key))
            }
            if trial.traits.isForeign {
                try await trial.restart()
                try await trial.compare(.expires)
            }
            guard let key = expired.min(by: { $0.text < $1.text }) else { return }
            try await trial.expire(.key(key))
            try await trial.write(Self.entry("newer", Metadata(fetchedAt: trial.world.now)), for: key, .expires)
            trial.checkUses(try await trial.store.read(key)?.entry, isExpired: false)
            try await trial.compare(.expires)
        }
    }
}

extension StoreTrial {
    /// Checks the uses that an entry is permitted for.
    mutating func checkUses(_ entry: Entry?, isExpired: Bool) {
        guard let entry else { return }
        let uses = Validators([]).permit(entry.metadata, for: TestedPlugin.request, at: world.now).uses
        let isPlain = uses.contains(.fresh) || uses.contains(.whileRevalidating)
        expect(
            isPlain != isExpired, promise: .expires,
            expected: isExpired ? "an entry that is not fresh" : "a fresh entry", got: "\(uses)")
        expect(
            uses.contains(.onError), promise: .expires, expected: "an entry for when the origin fails", got: "\(uses)")
    }

    /// Writes entries of several accounts with several tags.
    mutating func fill() async throws {
        let tags = [[], ["t"], ["T", "tt"], ["a", "t"], [""]]
        for scope in [nil, "", "a", "A", "ab"] {
            for (number, tags) in tags.enumerated() {
                let metadata = Metadata(fetchedAt: world.now, tags: tags)
                let entry = StoreConformance.entry("\(scope ?? "nobody") \(number)", metadata)
                try await write(entry, for: TestedPlugin.key(["id": "\(number)"], scope: scope))
            }
        }
    }
}
