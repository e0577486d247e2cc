import LarderSystem

extension Key {
    /// Creates the key with this ``text``. Returns nil if no key has this text.
    public init?(text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "?"), omittingEmptySubsequences: false)
        guard let names = parts.first?.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false),
            names.count <= 2, parts.count <= 3, let resource = PercentEncoding.decoded(names[0]),
            let parameters = KeyParts.pairs(in: parts.dropFirst().first ?? text.utf8[text.endIndex...])
                .map(Parameters.sorted), Parameters.isUnique(parameters)
        else { return nil }
        var scope: String?
        if names.count == 2 {
            guard let name = PercentEncoding.decoded(names[1]) else { return nil }
            scope = name
        }
        var others: [String: String] = [:]
        for pair in parts.dropFirst(2).first?.split(separator: UInt8(ascii: "&")) ?? [] {
            let sides = pair.split(separator: UInt8(ascii: "="), omittingEmptySubsequences: false)
            guard sides.count == 2, sides[1].allSatisfy(Self.isHexadecimal) else { return nil }
            others[String(Substring(sides[0]))] = String(Substring(sides[1]))
        }
        self.init(
            resource: resource, scope: scope, parameters: Parameters(inOrder: parameters), bodyDigest: others["body"])
        if let variant = others["variant"] { self = self.variant(variant) }
        if self.text != text { return nil }
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool { "0123456789abcdef".utf8.contains(byte) }
}

/// Reads the parts of a key from its text.
enum KeyParts {
    /// The name of the resource in the text of a key.
    static func resource(of text: ShortKey) -> String {
        text.withBytes { decoded($0.prefix { $0 != UInt8(ascii: "@") && $0 != UInt8(ascii: "?") }) }
    }

    /// The scope in the text of a key.
    static func scope(of text: ShortKey) -> String? {
        text.withBytes { bytes in
            let names = bytes.prefix { $0 != UInt8(ascii: "?") }
            return names.firstIndex(of: UInt8(ascii: "@")).map { decoded(names[($0 + 1)...]) }
        }
    }

    /// The parameters in the text of a key.
    static func parameters(in text: String) -> Parameters {
        let parts = text.utf8.split(separator: UInt8(ascii: "?"), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count > 1 else { return [:] }
        return Parameters(inOrder: pairs(in: parts[1]) ?? [])
    }

    /// The names and values in a part of a text; nil if they are not valid.
    static func pairs(in text: Substring.UTF8View) -> [Parameters.Element]? {
        var pairs: [Parameters.Element] = []
        for pair in text.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: true) {
            let sides = pair.split(separator: UInt8(ascii: "="), omittingEmptySubsequences: false)
            guard sides.count == 2, let name = PercentEncoding.decoded(sides[0]),
                let value = PercentEncoding.decoded(sides[1])
            else { return nil }
            pairs.append((name, value))
        }
        return pairs
    }

    /// The text of a key is always valid, because a key writes it.
    private static func decoded(_ bytes: some Sequence<UInt8>) -> String { PercentEncoding.decoded(bytes) ?? "" }
}
