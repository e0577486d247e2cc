import Larder

/// A part of `larder store`: its operands, its options and its help come from this one declaration.
enum StoreSubcommand: String, CaseIterable {
    case ls, get, rm, expire, pin, unpin, clear, verify, stats

    /// Whether a KEY or DIGEST follows the resource.
    enum EntryOperand { case none, optional, required }

    var entryOperand: EntryOperand {
        switch self {
        case .get, .rm, .pin, .unpin: .required
        case .expire: .optional
        case .ls, .clear, .verify, .stats: .none
        }
    }

    /// Whether a resource must be named.
    var needsResource: Bool { self != .stats }

    /// The options besides those of every subcommand.
    var options: Set<String> {
        switch self {
        case .ls: ["keys"]
        case .get: ["keys", "payload", "output"]
        case .expire, .clear: Set(Self.selecting)
        case .rm, .pin, .unpin, .verify, .stats: []
        }
    }

    /// The options that select several entries.
    static let selecting = ["scope", "no-scope", "tag", "all"]

    /// The options that only some subcommands have.
    static let ownOptions = Set(allCases.flatMap(\.options))

    var usage: String {
        let resource = needsResource ? "RESOURCE" : "[RESOURCE]"
        return switch entryOperand {
        case .none: "\(rawValue) \(resource)"
        case .optional: "\(rawValue) \(resource) [KEY|DIGEST]"
        case .required: "\(rawValue) \(resource) KEY|DIGEST"
        }
    }

    /// A line of help for each subcommand.
    static var list: String {
        let width = allCases.map(\.usage.count).max() ?? 0
        return allCases.map { "  \($0.usage.padded(to: width))  \($0.summary)" }.joined(separator: "\n")
    }

    var summary: String {
        switch self {
        case .ls: "Lists the entries: age, size, freshness, pins and digest of the key"
        case .get: "Shows the facts about an entry, and its payload if it is asked for"
        case .rm: "Removes an entry"
        case .expire: "Marks entries as out of date, so that they are shown only when the origin fails"
        case .pin: "Keeps an entry from being evicted"
        case .unpin: "Lets an entry be evicted again"
        case .clear: "Removes entries of an account or with a tag, or all of them"
        case .verify: "Reads every entry and removes the damaged ones"
        case .stats: "Shows the number and size of the entries"
        }
    }
}
