/// A JSON value to write, such as a schema or a dump. Members keep their order.
public indirect enum JSON: Sendable, Hashable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A whole number.
    case int(Int)
    /// A number. Infinity and NaN, which JSON cannot express, are written as `null`.
    case number(Double)
    /// A string.
    case string(String)
    /// A list.
    case list([JSON])
    /// An object.
    case object([Member])

    /// One member of an object.
    public struct Member: Sendable, Hashable {
        /// The name.
        public var name: String
        /// The value.
        public var value: JSON

        /// Creates a member.
        public init(_ name: String, _ value: JSON) {
            self.name = name
            self.value = value
        }
    }

    /// Returns the value as JSON text, indented by two spaces or on a single line. Lists that contain no list or object
    /// stay on one line.
    public func text(indented: Bool = true) -> String {
        var text = ""
        write(to: &text, indent: indented ? "\n" : nil)
        return text
    }

    private func write(to text: inout String, indent: String?) {
        switch self {
        case .null: text += "null"
        case .bool(let value): text += value ? "true" : "false"
        case .int(let value): text += String(value)
        case .number(let value):
            if !value.isFinite {
                text += "null"
            } else if let whole = Int(exactly: value) {
                text += String(whole)
            } else {
                text += "\(value)"
            }
        case .string(let value): Self.write(value, to: &text)
        case .list(let items):
            let inner = items.contains(where: \.isStructure) ? indent.map { $0 + "  " } : nil
            Self.write(items, open: "[", close: "]", to: &text, inner: inner, indent: indent) {
                $0.write(to: &$1, indent: inner)
            }
        case .object(let members):
            let inner = indent.map { $0 + "  " }
            Self.write(members, open: "{", close: "}", to: &text, inner: inner, indent: indent) { member, text in
                Self.write(member.name, to: &text)
                text += indent == nil ? ":" : ": "
                member.value.write(to: &text, indent: inner)
            }
        }
    }

    private static func write<Item>(
        _ items: [Item], open: String, close: String, to text: inout String, inner: String?, indent: String?,
        item: (Item, inout String) -> Void
    ) {
        text += open
        for (index, element) in items.enumerated() {
            if index > 0 { text += inner == nil && indent != nil ? ", " : "," }
            text += inner ?? ""
            item(element, &text)
        }
        if !items.isEmpty, inner != nil { text += indent ?? "" }
        text += close
    }

    private static func write(_ string: String, to text: inout String) {
        text += "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case _ where scalar.isControl:
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }

    private var isStructure: Bool {
        switch self {
        case .list, .object: true
        default: false
        }
    }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// Creates a string.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Creates `true` or `false`.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Creates a whole number.
    public init(integerLiteral value: Int) { self = .int(value) }
    /// Creates a list.
    public init(arrayLiteral elements: JSON...) { self = .list(elements) }
    /// Creates an object whose members are in the order of the literal.
    public init(dictionaryLiteral elements: (String, JSON)...) {
        self = .object(elements.map { Member($0.0, $0.1) })
    }
}
