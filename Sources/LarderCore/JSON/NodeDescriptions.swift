// The descriptions and mirrors of JSON values with a position. Values from the environment are never shown:
// descriptions and mirrors have the text of the file, `${NAME}`.

extension Node: CustomStringConvertible, CustomReflectable {
    /// The value as JSON on one line, with `${NAME}` for environment variables.
    public var description: String { shown.text(indented: false) }

    /// The description and the position.
    public var customMirror: Mirror {
        Mirror(self, children: ["shown": description, "position": position], displayStyle: .struct)
    }
}

extension Node.Content: CustomStringConvertible, CustomReflectable {
    /// The value on one line, with `a string` for every string. Only ``Node`` knows whether a string came from the
    /// environment.
    public var description: String {
        switch self {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .number(_, let text): text
        case .string: "a string"
        case .list(let items): "[\(items.map(\.description).joined(separator: ","))]"
        case .object(let members): "{\(members.map(\.description).joined(separator: ","))}"
        }
    }

    /// The description alone.
    public var customMirror: Mirror {
        Mirror(self, children: ["shown": description], displayStyle: .enum)
    }
}

extension Node.Member: CustomStringConvertible {
    /// The name and the value, with `${NAME}` for environment variables.
    public var description: String { "\(JSON.string(name).text()):\(value)" }
}

extension SourceText: CustomStringConvertible, CustomReflectable {
    /// The name.
    package var description: String { name }

    /// The name, and the length in bytes.
    package var customMirror: Mirror { Mirror(self, children: ["name": name, "count": bytes.count]) }
}

extension SourcePosition: CustomStringConvertible {
    /// The file, the line and the column: `Policies/feed.json:3:12`.
    public var description: String { "\(source.name):\(line):\(column)" }
}
