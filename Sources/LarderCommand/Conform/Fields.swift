import Larder

/// Why a row is not played here.
struct Unsupported: Error, Hashable {
    let reason: String

    init(_ reason: String) {
        self.reason = reason
    }
}

/// The members of an object in a scenario file. What is there and was not asked for is unsupported: it might matter.
struct Fields {
    /// Times in a row end here, after some thirty years.
    private static let lastMoment: Int64 = 1_000_000_000_000

    private let name: String
    private let members: [Node.Member]
    private var asked: Set<String> = []

    /// The members of `node`, which messages call `name`.
    init(_ node: Node, _ name: String) throws(Unsupported) {
        guard let members = node.members else { throw Unsupported("\(name) is \(node.inWords), not an object") }
        self.name = name
        self.members = members
    }

    /// What stands under `key`; nil if nothing does, or `null`.
    mutating func node(_ key: String) -> Node? {
        guard let node = given(key) else { return nil }
        if case .null = node.content { return nil }
        return node
    }

    /// What stands under `key`, `null` too.
    mutating func given(_ key: String) -> Node? {
        asked.insert(key)
        return members.first { $0.name == key }?.value
    }

    /// Takes note of members that need not be understood.
    mutating func pass(_ keys: String...) {
        asked.formUnion(keys)
    }

    mutating func text(_ key: String) throws(Unsupported) -> String? {
        guard let node = node(key) else { return nil }
        guard let text = node.string else { throw wrong(key, node, "a string") }
        return text
    }

    mutating func text(_ key: String, among words: [String]) throws(Unsupported) -> String? {
        guard let text = try text(key) else { return nil }
        guard words.contains(text) else { throw Unsupported("\(path(key)) \(text.quoted)") }
        return text
    }

    /// A whole number within limits. What is larger than 64 bits counts as the largest number there is.
    mutating func number(_ key: String, in range: ClosedRange<Int64> = 0 ... .max) throws(Unsupported) -> Int64? {
        guard let node = node(key) else { return nil }
        guard case .number(let value, let text) = node.content,
            let number = Int64(text) ?? Int64(exactly: value) ?? (value >= 0x1p63 ? .max : nil)
        else { throw wrong(key, node, "a whole number") }
        guard range.contains(number) else {
            throw Unsupported(
                "\(path(key)) is \(number), not from \(range.lowerBound)"
                    + (range.upperBound == .max ? "" : " to \(range.upperBound)"))
        }
        return number
    }

    /// A length of time, in milliseconds.
    mutating func duration(_ key: String, from least: Int64 = 0) throws(Unsupported) -> Duration? {
        try number(key, in: least ... .max).map { .milliseconds($0) }
    }

    /// A moment at which something happens, in milliseconds.
    mutating func moment(_ key: String) throws(Unsupported) -> Duration? {
        try number(key, in: 0...Self.lastMoment).map { .milliseconds($0) }
    }

    mutating func list(_ key: String) throws(Unsupported) -> [Node]? {
        guard let node = node(key) else { return nil }
        guard case .list(let items) = node.content else { throw wrong(key, node, "a list") }
        return items
    }

    mutating func texts(_ key: String) throws(Unsupported) -> [String]? {
        guard let items = try list(key) else { return nil }
        var texts: [String] = []
        for item in items {
            guard let text = item.string else { throw wrong(key, item, "a string") }
            texts.append(text)
        }
        return texts
    }

    /// Members that are fine as long as they are off.
    mutating func mustBeOff(_ keys: String...) throws(Unsupported) {
        for key in keys {
            guard let node = node(key) else { continue }
            guard case .bool(false) = node.content else { throw Unsupported("parameter \(path(key))") }
        }
    }

    /// What stands under a key that must be there.
    func required<Value>(_ key: String, _ value: Value?) throws(Unsupported) -> Value {
        guard let value else { throw Unsupported("\(path(key)) is missing") }
        return value
    }

    /// Says what nobody asked for.
    func finish() throws(Unsupported) {
        guard let unknown = members.first(where: { !asked.contains($0.name) }) else { return }
        throw Unsupported("parameter \(path(unknown.name.shown))")
    }

    private func path(_ key: String) -> String { name.isEmpty ? key : "\(name).\(key)" }

    private func wrong(_ key: String, _ node: Node, _ expected: String) -> Unsupported {
        Unsupported("\(path(key)) is \(node.inWords), not \(expected)")
    }
}

extension String {
    /// The text in quotes, safe to print and not too long.
    var quoted: String { JSON.string(shown).text() }

    /// The beginning of the text without what a terminal might take as a command.
    var shown: String {
        let scalars = unicodeScalars.prefix(64).map { $0.properties.generalCategory == .control ? "?" : $0 }
        return String(String.UnicodeScalarView(scalars))
    }
}
