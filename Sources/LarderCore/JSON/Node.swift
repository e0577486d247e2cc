/// A JSON value of a policy file, with its position in the file.
public struct Node: Sendable {
    /// The kind and the contents of a value.
    public enum Content: Sendable {
        /// `null`.
        case null
        /// `true` or `false`.
        case bool(Bool)
        /// A number, and its text in the file.
        case number(Double, text: String)
        /// A string.
        case string(String)
        /// A list.
        case list([Node])
        /// An object. Its members are in the order of the file.
        case object([Member])
    }

    /// A member of an object.
    public struct Member: Sendable {
        /// The name.
        public var name: String
        /// The position of the name.
        public var position: SourcePosition
        /// The value.
        public var value: Node
    }

    /// The kind and the contents of the value.
    public var content: Content
    /// The position at which the value begins.
    public var position: SourcePosition
    /// The text of a string in the file, if a part of its value came from the environment. Messages show this text and
    /// not the content.
    public var written: String?

    /// Creates a value at `position`.
    package init(_ content: Content, at position: SourcePosition, written: String? = nil) {
        self.content = content
        self.position = position
        self.written = written
    }

    /// Returns the value of the member called `name`. Returns nil if there is none, or if this is not an object.
    package subscript(name: String) -> Node? {
        guard case .object(let members) = content else { return nil }
        // The search is by index, because a search by element copies each member.
        return members.indices.first { members[$0].name == name }.map { members[$0].value }
    }

    /// The members; nil if this is not an object.
    public var members: [Member]? {
        if case .object(let members) = content { members } else { nil }
    }

    /// The text; nil if this is not a string.
    public var string: String? {
        if case .string(let text) = content { text } else { nil }
    }

    /// A short description for messages, such as `a string` or `the number 5`.
    package var inWords: String {
        switch content {
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .number(_, let text): "the number \(text.prefix(32))"
        case .string(let text): text.isEmpty ? "an empty string" : "a string"
        case .list: "a list"
        case .object: "an object"
        }
    }

    /// Whether any part of the value came from the environment.
    var isFilled: Bool {
        switch content {
        case .string: written != nil
        case .list(let items): items.contains(where: \.isFilled)
        case .object(let members): members.contains { $0.value.isFilled }
        default: false
        }
    }

    /// The value, with the values of environment variables. Never print it.
    public var json: JSON { json { $0.string ?? "" } }

    /// The value as the file has it, with `${NAME}` for environment variables.
    package var shown: JSON { shown(hiding: []) }

    /// The value as the file has it, with `${NAME}` for environment variables and `•••` in place of the texts at some
    /// positions.
    func shown(hiding secrets: [SourcePosition]) -> JSON {
        json { node in secrets.contains { $0 == node.position } ? "•••" : node.written ?? node.string ?? "" }
    }

    private func json(_ text: (Node) -> String) -> JSON {
        switch content {
        case .null: .null
        case .bool(let value): .bool(value)
        // Whole numbers are read from their text, because a Double cannot hold every 64-bit number.
        case .number(let value, let digits): Int(digits).map { .int($0) } ?? .number(value)
        case .string: .string(text(self))
        case .list(let items): .list(items.map { $0.json(text) })
        case .object(let members): .object(members.map { JSON.Member($0.name, $0.value.json(text)) })
        }
    }
}
