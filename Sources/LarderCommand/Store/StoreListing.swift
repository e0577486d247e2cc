import LarderFoundation
import Larder
import LarderReports
import LarderSystem

// Showing entries.
extension OpenStores {
    private static let digits = 16

    /// Lists the entries of a resource.
    func list(_ resource: Resource<Data>) async throws -> Bool {
        var entries: [ListedEntry] = []
        try await forEachEntry(of: resource) { entries.append($0) }
        if call.isJSON {
            let list = try entries.map { entry in
                JSON.object(
                    [JSON.Member("digest", .string(entry.digest))] + keyMember(entry.key)
                        + (try state(of: entry.metadata, entry.key, resource)) + [
                            JSON.Member("size", .int(entry.size))
                        ])
            }
            terminal.print(
                JSON.object([
                    JSON.Member("resource", .string(resource.name)), JSON.Member("entries", .list(list)),
                ]).text())
            return true
        }
        if entries.isEmpty {
            terminal.note("\(resource.name): no entries")
            return true
        }
        let now = terminal.now()
        var rows = [["digest", "freshness", "age", "size"]]
        for entry in entries {
            rows.append([
                String(entry.digest.prefix(Self.digits)), try freshness(of: entry.metadata, entry.key, resource),
                Optional(entry.metadata.age(at: now)).aged, UInt64(max(0, entry.size)).weight,
            ])
        }
        let keys = ["key"] + entries.map { $0.key.map { Self.text(of: $0) } ?? "–" }
        for (line, key) in zip(Table(rows, left: 2).lines, keys) {
            terminal.print(call.arguments.has("keys") ? line + "  " + key : line)
        }
        return true
    }

    /// Shows the facts about an entry, and writes its payload where it is wanted.
    func show(_ resource: Resource<Data>) async throws -> Bool {
        let key = try await key(in: resource)
        guard let found = try await resource.copy(under: key) else {
            throw StoreCommandFailure(description: "\(resource.name): the entry is gone")
        }
        let payload = found.entry.payload.bytes
        if let file = call.arguments.value(of: "output") {
            do {
                try Disk.put(file, Array(payload))
            } catch {
                throw StoreCommandFailure(description: "the payload cannot be written: \(error)")
            }
        }
        let facts = try facts(found, key: key, resource: resource)
        if call.isJSON {
            terminal.print(JSON.object(facts).text())
            return true
        }
        let isPayload = call.arguments.has("payload")
        let width = facts.map(\.name.count).max() ?? 0
        for fact in facts {
            let name = fact.name == "age_ms" ? "age" : fact.name
            let line = name.padded(to: width) + "  " + Self.text(fact)
            if isPayload { terminal.note(line) } else { terminal.print(line) }
        }
        if isPayload { terminal.write(payload) }
        return true
    }

    // MARK: Facts

    /// Returns the facts about an entry, as members of its JSON.
    private func facts(_ found: Found, key: Key, resource: Resource<Data>) throws -> [JSON.Member] {
        let metadata = found.entry.metadata
        var facts = [JSON.Member("resource", .string(resource.name)), JSON.Member("digest", .string(key.digest))]
        facts += keyMember(key)
        facts.append(JSON.Member("tier", .string(found.tier)))
        facts += try state(of: metadata, key, resource)
        facts.append(JSON.Member("size", .int(found.entry.payload.bytes.count)))
        func add(_ name: String, _ value: JSON?) { if let value { facts.append(JSON.Member(name, value)) } }
        add("fetched", .string(metadata.fetchedAt.spelled))
        add("validated", metadata.validatedAt.map { .string($0.spelled) })
        add("status", metadata.status.map { .int($0) })
        add("etag", metadata.etag.map { .string($0) })
        add("lastModified", metadata.lastModified.map { .string($0) })
        add("contentType", metadata.contentType.map { .string($0) })
        if !metadata.tags.isEmpty { add("tags", .list(metadata.tags.map { .string($0) })) }
        return facts
    }

    /// Returns age and freshness, as members of an entry's JSON.
    private func state(of metadata: Metadata, _ key: Key?, _ resource: Resource<Data>) throws -> [JSON.Member] {
        [
            JSON.Member("freshness", .string(try freshness(of: metadata, key, resource))),
            JSON.Member("expired", .bool(metadata.isExpired)),
            JSON.Member("age_ms", Optional(metadata.age(at: terminal.now())).milliseconds),
        ]
    }

    private func keyMember(_ key: Key?) -> [JSON.Member] {
        guard call.arguments.has("keys") else { return [] }
        return [JSON.Member("key", key.map { .string($0.text) } ?? .null)]
    }

    /// `fresh`, `stale` for an entry that may still be shown, or `too old`.
    private func freshness(of metadata: Metadata, _ key: Key?, _ resource: Resource<Data>) throws -> String {
        let permissions = try resource.permissions(of: metadata, scope: key?.scope, at: terminal.now())
        if permissions.allows(.fresh) { return "fresh" }
        return permissions.allows(.showing) ? "stale" : "too old"
    }

    /// The value of a fact, for people.
    private static func text(_ fact: JSON.Member) -> String {
        switch fact.value {
        case .string(let text): fact.name == "key" ? text : text.printable
        case .int(let number) where fact.name == "size": UInt64(max(0, number)).weight
        case .int(let number): "\(number)"
        case .number(let number) where fact.name == "age_ms": Optional(Duration.milliseconds(number)).aged
        case .list(let items):
            items.map { if case .string(let text) = $0 { text.printable } else { "" } }.joined(separator: ", ")
        case .bool(let flag): flag ? "yes" : "no"
        default: "–"
        }
    }

    /// The key, without characters that move a terminal's cursor.
    private static func text(of key: Key) -> String {
        String(String.UnicodeScalarView(key.text.unicodeScalars.map { $0.isPrintable ? $0 : "\u{FFFD}" }))
    }
}
