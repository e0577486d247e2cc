extension URLTemplate {
    /// The reason why a text is not a template. It quotes only names of variables.
    struct Mistake: Error, Hashable {
        let message: String
        var expected: String?
    }

    /// Reads a template.
    init(_ text: String) throws(Mistake) {
        var parts: [Part] = []
        var rest = Substring(text)
        while let start = rest.firstIndex(where: { $0 == "{" || $0 == "}" }) {
            guard rest[start] == "{" else { throw Mistake(message: "there is a '}' without its '{'") }
            try Self.add(rest[..<start], to: &parts)
            guard let end = rest[start...].firstIndex(of: "}") else {
                throw Mistake(message: "there is a '{' without its '}'")
            }
            parts.append(try Self.expression(rest[rest.index(after: start)..<end]))
            rest = rest[rest.index(after: end)...]
        }
        try Self.add(rest, to: &parts)
        self.text = text
        self.parts = parts
    }

    /// Adds text. Characters that are not ASCII are percent-encoded.
    private static func add(_ text: Substring, to parts: inout [Part]) throws(Mistake) {
        if text.isEmpty { return }
        let bytes = Array(text.utf8)
        for (place, byte) in bytes.enumerated() where byte < 0x80 {
            let isAllowed =
                isUnreserved(byte) || isReserved(byte) || Self.byte(encodedAt: place, in: bytes) != nil
            if !isAllowed {
                throw Mistake(
                    message: "it contains a character that URLs do not allow",
                    expected: "percent-encoded characters, such as %20 for a space")
            }
        }
        parts.append(.text(encoded(String(text), keepsReserved: true)))
    }

    private static func expression(_ text: Substring) throws(Mistake) -> Part {
        guard let first = text.first else { throw Mistake(message: "there is nothing between '{' and '}'") }
        let kind = first == "{" ? nil : Operator(rawValue: first)
        if kind == nil, "=,!@|$(*:".contains(first) || first == "{" {
            throw Mistake(message: "an expression begins with a character that has no meaning", expected: operators)
        }
        let names = (kind == nil ? text : text.dropFirst()).split(separator: ",", omittingEmptySubsequences: false)
        for name in names {
            if name.hasSuffix("*") || name.contains(":") {
                throw Mistake(
                    message: "'*' and ':' after the name of a variable are not supported", expected: operators)
            }
            guard isName(name) else {
                throw Mistake(
                    message: "this is not the name of a variable",
                    expected: "letters, digits and '_', with dots between them")
            }
        }
        return .expression(kind ?? .simple, names.map(String.init))
    }

    private static let operators = "a name, or a list of names, after one of + # . / ; ? & or none of them"

    /// Whether a text can be the name of a variable.
    private static func isName(_ name: Substring) -> Bool {
        let bytes = Array(name.utf8)
        if bytes.isEmpty || bytes.first == UInt8(ascii: ".") || bytes.last == UInt8(ascii: ".") { return false }
        var place = 0
        while place < bytes.count {
            let byte = bytes[place]
            if Self.byte(encodedAt: place, in: bytes) != nil {
                place += 3
            } else if isLetterOrDigit(byte) || byte == UInt8(ascii: "_") {
                place += 1
            } else if byte == UInt8(ascii: "."), bytes[place - 1] != byte {
                place += 1
            } else {
                return false
            }
        }
        return true
    }
}
