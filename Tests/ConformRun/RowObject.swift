import Larder

/// The reason why a row cannot be played.
struct Unsupported: Error, Hashable {
    let reason: String

    init(_ reason: String) {
        self.reason = reason
    }
}

/// The members of an object in a scenario file. A member that no code reads makes the row unsupported, because it might
/// matter.
struct RowObject {
    /// The latest time in a row, about thirty years.
    private static let lastMoment: Int64 = 1_000_000_000_000

    private let name: String
    private let members: [Node.Member]
    private var asked: Set<String> = []

    /// Creates the members of `node`. Messages name it `name`.
    init(_ node: Node, _ name: String) throws(Unsupported) {
        guard let members = node.members else { throw Unsupported("\(name) is \(node.inWords), not an object") }
        self.name = name
        self.members = members
    }

    /// The value of `key`; nil if it is missing or `null`.
    mutating func node(_ key: String) -> Node? {
        guard let node = given(key) else { return nil }
        if case .null = node.content { return nil }
        return node
    }

    /// The value of `key`, which can be `null`.
    mutating func given(_ key: String) -> Node? {
        asked.insert(key)
        return members.first { $0.name == key }?.value
    }

    /// Marks members as read that have no effect.
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

    /// A whole number within limits. A number beyond 64 bits counts as the largest number.
    mutating func number(_ key: String, in range: ClosedRange<Int64> = 0 ... .max) throws(Unsupported) -> Int64? {
        guard let node = node(key) else { return nil }
        return try number(node, key, in: range)
    }

    private func number(_ node: Node, _ key: String, in range: ClosedRange<Int64>) throws(Unsupported) -> Int64 {
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

    /// A duration, in milliseconds.
    mutating func duration(_ key: String, from least: Int64 = 0) throws(Unsupported) -> Duration? {
        try number(key, in: least ... .max).map { .milliseconds($0) }
    }

    /// The object under `key`; nil if it is missing or `null`.
    mutating func object(_ key: String) throws(Unsupported) -> RowObject? {
        guard let node = node(key) else { return nil }
        return try RowObject(node, path(key))
    }

    mutating func bool(_ key: String) throws(Unsupported) -> Bool? {
        guard let node = node(key) else { return nil }
        guard case .bool(let value) = node.content else { throw wrong(key, node, "true or false") }
        return value
    }

    /// The texts of an object such as `headers`, by name. A text is nil if it is `null`.
    mutating func namedTexts(_ key: String) throws(Unsupported) -> [(name: String, text: String?)] {
        guard var object = try object(key) else { return [] }
        var texts: [(name: String, text: String?)] = []
        for member in object.members { texts.append((member.name, try object.text(member.name))) }
        return texts
    }

    /// The whole numbers of an object such as `store_errors`, by name.
    mutating func namedNumbers(_ key: String) throws(Unsupported) -> [(name: String, number: Int64)] {
        guard var object = try object(key) else { return [] }
        var numbers: [(name: String, number: Int64)] = []
        for member in object.members {
            numbers.append((member.name, try object.required(member.name.shown, object.number(member.name))))
        }
        return numbers
    }

    /// A lifetime. A negative lifetime counts as 0.
    mutating func lifetime() throws(Unsupported) -> Duration? {
        try duration("ttl_ms", from: .min).map { max(.zero, $0) }
    }

    /// A moment, in milliseconds.
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

    mutating func numbers(_ key: String, in range: ClosedRange<Int64>) throws(Unsupported) -> [Int64]? {
        guard let items = try list(key) else { return nil }
        var numbers: [Int64] = []
        for item in items { numbers.append(try number(item, key, in: range)) }
        return numbers
    }

    /// Checks that a member is off. `reason` says what is not supported.
    mutating func mustBeOff(_ key: String, _ reason: String) throws(Unsupported) {
        guard let node = node(key) else { return }
        if case .bool(false) = node.content { return }
        throw Unsupported("\(path(key)): \(reason)")
    }

    /// The value of a required key.
    func required<Value>(_ key: String, _ value: Value?) throws(Unsupported) -> Value {
        guard let value else { throw Unsupported("\(path(key)) is missing") }
        return value
    }

    /// Checks that every member was read. Any object may have a note.
    func finish() throws(Unsupported) {
        guard let unknown = members.first(where: { $0.name != "note" && !asked.contains($0.name) }) else { return }
        throw Unsupported("parameter \(path(unknown.name.shown))")
    }

    /// The name of the object in messages.
    var place: String { name.split(separator: ".").first.map(String.init) ?? "the row" }

    /// The names of the members.
    var names: [String] { members.map(\.name) }

    /// The name of a member in messages.
    func path(_ key: String) -> String { name.isEmpty ? key : "\(name).\(key)" }

    private func wrong(_ key: String, _ node: Node, _ expected: String) -> Unsupported {
        Unsupported("\(path(key)) is \(node.inWords), not \(expected)")
    }
}

extension String {
    /// The text in quotes, shortened and safe to print.
    var quoted: String { JSON.string(shown).text() }

    /// The beginning of the text, without characters that a terminal could take as a command.
    var shown: String {
        let scalars = unicodeScalars.prefix(64).map { $0.properties.generalCategory == .control ? "?" : $0 }
        return String(String.UnicodeScalarView(scalars))
    }
}
