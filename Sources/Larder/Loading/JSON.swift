/// A JSON value to be written: schemas, dumps, explanations. Members keep their order.
public indirect enum JSON: Sendable, Hashable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A whole number.
    case int(Int)
    /// Any number; what JSON cannot express (infinity, not a number) is written as `null`.
    case number(Double)
    /// A string.
    case string(String)
    /// A list.
    case list([JSON])
    /// An object.
    case object([Member])

    /// One member of an object.
    public struct Member: Sendable, Hashable {
        /// Its name.
        public var name: String
        /// Its value.
        public var value: JSON

        /// A member.
        public init(_ name: String, _ value: JSON) {
            self.name = name
            self.value = value
        }
    }

    /// The value as JSON text, indented by two spaces or all on one line. Lists of plain values stay on one line.
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
            Self.write(items, "[", "]", to: &text, inner: inner, indent: indent) { $0.write(to: &$1, indent: inner) }
        case .object(let members):
            let inner = indent.map { $0 + "  " }
            Self.write(members, "{", "}", to: &text, inner: inner, indent: indent) { member, text in
                Self.write(member.name, to: &text)
                text += indent == nil ? ":" : ": "
                member.value.write(to: &text, indent: inner)
            }
        }
    }

    private static func write<Item>(
        _ items: [Item], _ open: String, _ close: String, to text: inout String, inner: String?, indent: String?,
        _ item: (Item, inout String) -> Void
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
            case "\0"..<" ", "\u{7F}", "\u{2028}", "\u{2029}":
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
    /// A string.
    public init(stringLiteral value: String) { self = .string(value) }
    /// `true` or `false`.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// A whole number.
    public init(integerLiteral value: Int) { self = .int(value) }
    /// A list.
    public init(arrayLiteral elements: JSON...) { self = .list(elements) }
    /// An object, its members in the order written.
    public init(dictionaryLiteral elements: (String, JSON)...) {
        self = .object(elements.map { Member($0.0, $0.1) })
    }
}
