import LarderCore

/// A URL with variables, as RFC 6570 defines it up to level 3: `https://api.example.com/catalog/{id}{?page,size}`.
struct URLTemplate: Hashable, Sendable {
    /// A piece of a template.
    enum Part: Hashable, Sendable {
        /// Text that is part of every URL.
        case text(String)
        /// An expression in braces.
        case expression(Operator, [String])
    }

    /// The operator of an expression. It decides what stands before and between the values, and which characters are
    /// percent-encoded.
    enum Operator: Character, Sendable {
        case simple = "{"
        case reserved = "+"
        case fragment = "#"
        case label = "."
        case segment = "/"
        case pathParameter = ";"
        case query = "?"
        case furtherQuery = "&"

        /// The text before the first value.
        var prefix: String {
            switch self {
            case .simple, .reserved: ""
            default: String(rawValue)
            }
        }

        /// The text between two values.
        var separator: String {
            switch self {
            case .simple, .reserved, .fragment: ","
            case .query, .furtherQuery: "&"
            default: String(rawValue)
            }
        }

        /// Whether each value stands after its name.
        var isNamed: Bool { self == .pathParameter || self == .query || self == .furtherQuery }

        /// Whether the values may contain the characters that separate the parts of a URL.
        var keepsReserved: Bool { self == .reserved || self == .fragment }
    }

    /// The template as it is written.
    let text: String
    /// The pieces.
    let parts: [Part]

    /// The names of the variables, each once.
    var variables: [String] {
        var seen: Set<String> = []
        return parts.flatMap { part -> [String] in
            if case .expression(_, let names) = part { names } else { [] }
        }.filter { seen.insert($0).inserted }
    }

    /// Returns the URL with these values. A variable without a value is left out, as RFC 6570 says.
    func expanded(with values: [String: String]) -> String {
        parts.reduce(into: "") { $0 += Self.text(of: $1, values) }
    }

    /// Returns the text that stands in the place of a part.
    static func text(of part: Part, _ values: [String: String]) -> String {
        switch part {
        case .text(let text): return text
        case .expression(let kind, let names):
            let given = names.compactMap { name in values[name].map { (name, $0) } }
            if given.isEmpty { return "" }
            return kind.prefix
                + given.map { name, value in
                    let text = encoded(value, keepsReserved: kind.keepsReserved)
                    guard kind.isNamed else { return text }
                    return value.isEmpty && kind == .pathParameter ? name : name + "=" + text
                }.joined(separator: kind.separator)
        }
    }

    /// Returns a text in which every byte is percent-encoded that has a meaning in URLs or is not allowed in them.
    ///
    /// - Parameter keepsReserved: whether the characters that separate the parts of a URL, and bytes that are encoded
    ///   already, stay as they are.
    static func encoded(_ text: String, keepsReserved: Bool) -> String {
        if text.utf8.allSatisfy(isUnreserved) { return text }
        let bytes = Array(text.utf8)
        var result: [UInt8] = []
        for (place, byte) in bytes.enumerated() {
            let isKept =
                isUnreserved(byte)
                || keepsReserved && (isReserved(byte) || Self.byte(encodedAt: place, in: bytes) != nil)
            result += isKept ? [byte] : code(of: byte)
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Returns the bytes that stand for one, such as those of `%2F`.
    static func code(of byte: UInt8) -> [UInt8] {
        let digits = Array("0123456789ABCDEF".utf8)
        return [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }

    /// Returns the byte whose percent-encoded form begins at a place; nil if none begins there.
    static func byte(encodedAt place: Int, in bytes: [UInt8]) -> UInt8? {
        guard place + 2 < bytes.count, bytes[place] == UInt8(ascii: "%"), let high = digit(bytes[place + 1]),
            let low = digit(bytes[place + 2])
        else { return nil }
        return high << 4 | low
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        Character(Unicode.Scalar(byte)).hexDigitValue.map(UInt8.init)
    }

    static func isUnreserved(_ byte: UInt8) -> Bool { isLetterOrDigit(byte) || "-._~".utf8.contains(byte) }

    static func isReserved(_ byte: UInt8) -> Bool { ":/?#[]@!$&'()*+,;=".utf8.contains(byte) }

    static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}
