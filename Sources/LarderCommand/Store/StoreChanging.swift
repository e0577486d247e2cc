import LarderFoundation
import Larder

// Removing, expiring and pinning entries.
extension OpenStores {
    /// Makes the change that the call names, and says what was done.
    func change(_ resource: Resource<Data>) async throws -> Bool {
        if let selection = call.selection { return try await change(resource, selection) }
        let key = try await key(in: resource)
        let done: String
        switch call.subcommand {
        case .rm:
            try await resource.clear(.key(key))
            done = "removed"
        case .expire:
            try await resource.expire(.key(key))
            done = "expired"
        case .unpin:
            try await resource.unpin(under: key)
            done = "unpinned"
        default:
            guard try await resource.pin(under: key) else {
                throw CommandFailure("\(resource.name): the entry is gone")
            }
            done = "pinned"
        }
        tell(resource, done: done, facts: ["digest": .string(key.digest)], text: key.digest)
        return true
    }

    private func change(_ resource: Resource<Data>, _ selection: Selection) async throws -> Bool {
        if call.subcommand == .expire {
            try await resource.expire(selection)
            tell(resource, done: "expired", facts: [:], text: "all entries\(Self.text(selection))")
            return true
        }
        var removed = 0
        try await forEachEntry(of: resource) { if Self.isSelected($0, by: selection) { removed += 1 } }
        try await resource.clear(selection)
        let left = try await resource.statistics().entries
        let facts: JSON = ["removed": .int(removed), "left": .int(left)]
        let text =
            removed == 0
            ? "nothing: no copy\(Self.text(selection)) was kept"
            : "\(counted(removed, one: "entry", many: "entries"))\(Self.text(selection))"
        tell(resource, done: "cleared", facts: facts, text: "\(text); \(left) left")
        return true
    }

    private static func isSelected(_ entry: ListedEntry, by selection: Selection) -> Bool {
        switch selection {
        case .all: true
        case .scope(let scope): entry.key?.scope == scope
        case .tag(let tag): entry.metadata.tags.contains(tag)
        case .key(let key): entry.key == key
        }
    }

    private func tell(_ resource: Resource<Data>, done: String, facts: JSON, text: String) {
        guard call.isJSON else { return terminal.print("\(resource.name): \(done) \(text)") }
        terminal.print(JSON.joined(["resource": .string(resource.name), "done": .string(done)], facts).text())
    }

    private static func text(_ selection: Selection) -> String {
        switch selection {
        case .key, .all: ""
        case .scope(let name?): " of account '\(name.printable)'"
        case .scope(nil): " of no account"
        case .tag(let tag): " with tag '\(tag.printable)'"
        }
    }
}
