/// A value of a policy file that knows where it stands.
public struct Node: Sendable {
    /// What the value is.
    public enum Content: Sendable {
        /// `null`.
        case null
        /// `true` or `false`.
        case bool(Bool)
        /// A number, and how it is written.
        case number(Double, text: String)
        /// A string.
        case string(String)
        /// A list.
        case list([Node])
        /// An object, its members in order.
        case object([Member])
    }

    /// A member of an object.
    public struct Member: Sendable {
        /// Its name.
        public var name: String
        /// Where the name stands.
        public var place: Place
        /// Its value.
        public var value: Node
    }

    /// What the value is.
    public var content: Content
    /// Where it begins.
    public var place: Place
    /// A string as it is written, if something in it came from the environment. This, and not the content, is shown.
    public var written: String?

    /// A value that stands at `place`.
    public init(_ content: Content, at place: Place, written: String? = nil) {
        self.content = content
        self.place = place
        self.written = written
    }

    /// The value of the member called `name`, if this is an object that has one.
    public subscript(name: String) -> Node? {
        guard case .object(let members) = content else { return nil }
        // By index: each member that is looked at would be copied otherwise.
        return members.indices.first { members[$0].name == name }.map { members[$0].value }
    }

    /// The members, if this is an object.
    public var members: [Member]? {
        if case .object(let members) = content { members } else { nil }
    }

    /// The text, if this is a string.
    public var string: String? {
        if case .string(let text) = content { text } else { nil }
    }

    /// What this is, in a word or two: `a string`, `the number 5`.
    public var inWords: String {
        switch content {
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .number(_, let text): "the number \(text.prefix(32))"
        case .string(let text): text.isEmpty ? "an empty string" : "a string"
        case .list: "a list"
        case .object: "an object"
        }
    }

    /// Whether something in it came from the environment.
    var isFilled: Bool {
        switch content {
        case .string: written != nil
        case .list(let items): items.contains(where: \.isFilled)
        case .object(let members): members.contains { $0.value.isFilled }
        default: false
        }
    }

    /// The same value with everything the environment gave: for use, never for showing.
    public var json: JSON { json { $0.string ?? "" } }

    /// The same value as it is written, `${NAME}` and all: for showing.
    public var shown: JSON { json { $0.written ?? $0.string ?? "" } }

    private func json(_ text: (Node) -> String) -> JSON {
        switch content {
        case .null: .null
        case .bool(let value): .bool(value)
        // A whole number keeps its digits: not every one of 64 bits is a Double.
        case .number(let value, let digits): Int(digits).map { .int($0) } ?? .number(value)
        case .string: .string(text(self))
        case .list(let items): .list(items.map { $0.json(text) })
        case .object(let members): .object(members.map { JSON.Member($0.name, $0.value.json(text)) })
        }
    }
}

/// The text of a file that is being read, under the name by which messages call it.
public final class SourceText: Sendable {
    /// The name in messages: the path as it was given.
    public let name: String
    /// The bytes.
    public let bytes: [UInt8]

    /// A text called `name`.
    public init(name: String, bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
    }
}

/// A place in a source text.
public struct Place: Sendable {
    /// The text.
    public var source: SourceText
    /// The byte at which it is.
    public var offset: Int

    /// A place in `source`.
    public init(_ source: SourceText, offset: Int) {
        self.source = source
        self.offset = offset
    }

    static func == (one: Place, other: Place) -> Bool {
        one.source === other.source && one.offset == other.offset
    }

    /// The line, from 1.
    public var line: Int {
        source.bytes.prefix(offset).reduce(1) { $1 == UInt8(ascii: "\n") ? $0 + 1 : $0 }
    }

    /// The column in characters, from 1.
    public var column: Int {
        let start = source.bytes.prefix(offset).lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        return String(decoding: source.bytes[start..<min(offset, source.bytes.count)], as: UTF8.self).count + 1
    }

    /// The line it stands on, without its end.
    public var lineText: String {
        let start = source.bytes.prefix(offset).lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        let end = source.bytes[start...].firstIndex { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
        return String(decoding: source.bytes[start..<(end ?? source.bytes.count)], as: UTF8.self)
    }
}
