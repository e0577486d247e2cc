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
                JSON.joined(
                    ["digest": .string(entry.digest)], keyMember(entry.key),
                    try state(of: entry.metadata, entry.key, resource),
                    ["size": .int(entry.size), "pinned": .bool(entry.isPinned)])
            }
            let json: JSON = ["resource": .string(resource.name), "entries": .list(list)]
            terminal.print(json.text())
            return true
        }
        if entries.isEmpty {
            terminal.note("\(resource.name): no entries")
            return true
        }
        let now = terminal.now()
        let hasPins = entries.contains(where: \.isPinned)
        var rows = [["digest", "freshness"] + (hasPins ? ["pinned"] : []) + ["age", "size"]]
        for entry in entries {
            rows.append(
                [String(entry.digest.prefix(Self.digits)), try freshness(of: entry.metadata, entry.key, resource)]
                    + (hasPins ? [entry.isPinned ? "yes" : "no"] : [])
                    + [Optional(entry.metadata.age(at: now)).aged, UInt64(max(0, entry.size)).weight])
        }
        let keys = ["key"] + entries.map { $0.key.map { Self.text(of: $0) } ?? "–" }
        for (line, key) in zip(Table(rows, left: hasPins ? 3 : 2).lines, keys) {
            terminal.print(call.arguments.has("keys") ? line + "  " + key : line)
        }
        return true
    }

    /// Shows the facts about an entry, and writes its payload where it is wanted.
    func show(_ resource: Resource<Data>) async throws -> Bool {
        let output = try call.arguments.output(besides: [call.cache.path], policies: call.policies)
        let key = try await key(in: resource)
        guard let found = try await resource.copy(under: key) else {
            throw CommandFailure("\(resource.name): the entry is gone")
        }
        let payload = found.entry.payload.bytes
        if let output {
            do {
                try Disk.put(output, Array(payload))
            } catch {
                throw CommandFailure("the payload cannot be written: \(error)")
            }
        }
        let facts = try facts(found, key: key, resource: resource)
        if call.isJSON {
            terminal.print(facts.text())
            return true
        }
        let isPayload = call.arguments.has("payload")
        let members = facts.members ?? []
        let width = members.map(\.name.count).max() ?? 0
        for fact in members {
            let name = fact.name == "age_ms" ? "age" : fact.name
            let line = name.padded(to: width) + "  " + Self.text(fact)
            if isPayload { terminal.note(line) } else { terminal.print(line) }
        }
        if isPayload { terminal.write(payload) }
        return true
    }

    // MARK: Facts

    /// Returns the facts about an entry as JSON.
    private func facts(_ found: Found, key: Key, resource: Resource<Data>) throws -> JSON {
        let metadata = found.entry.metadata
        return .joined(
            ["resource": .string(resource.name), "digest": .string(key.digest)], keyMember(key),
            ["tier": .string(found.tier)], try state(of: metadata, key, resource),
            .present([
                "size": .int(found.entry.payload.bytes.count), "fetched": .string(metadata.fetchedAt.spelledToSecond),
                "validated": metadata.validatedAt.map { .string($0.spelledToSecond) },
                "status": metadata.status.map(JSON.int),
                "etag": metadata.etag.map(JSON.string), "lastModified": metadata.lastModified.map(JSON.string),
                "contentType": metadata.contentType.map(JSON.string),
                "tags": metadata.tags.isEmpty ? nil : .list(metadata.tags.map { .string($0) }),
            ]))
    }

    /// Returns age and freshness, as members of an entry's JSON.
    private func state(of metadata: Metadata, _ key: Key?, _ resource: Resource<Data>) throws -> JSON {
        [
            "freshness": .string(try freshness(of: metadata, key, resource)), "expired": .bool(metadata.isExpired),
            "age_ms": Optional(metadata.age(at: terminal.now())).milliseconds,
        ]
    }

    private func keyMember(_ key: Key?) -> JSON {
        call.arguments.has("keys") ? ["key": key.map { .string($0.text) } ?? .null] : [:]
    }

    /// `fresh`, `stale` for an entry that may still be shown, or `too old`; `other source` if the policy has another source
    /// than the entry, which is then never shown.
    private func freshness(of metadata: Metadata, _ key: Key?, _ resource: Resource<Data>) throws -> String {
        if let source = pantry.policy(of: resource.name)?.source, !source.contains(metadata.source) {
            return "other source"
        }
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
