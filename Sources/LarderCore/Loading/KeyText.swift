import LarderBase

extension Key {
    /// Creates the key with this ``text``. Returns nil if no key has this text.
    public init?(text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "?"), omittingEmptySubsequences: false)
        guard let names = parts.first?.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false),
            names.count <= 2, parts.count <= 3
        else { return nil }
        var parameters: [String: String] = [:]
        for pair in parts.dropFirst().first?.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: true) ?? []
        {
            let sides = pair.split(separator: UInt8(ascii: "="), omittingEmptySubsequences: false)
            guard sides.count == 2, let name = PercentEncoding.decoded(sides[0]),
                let value = PercentEncoding.decoded(sides[1])
            else {
                return nil
            }
            parameters[name] = value
        }
        guard let resource = PercentEncoding.decoded(names[0]) else { return nil }
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
        self.init(resource: resource, scope: scope, parameters: parameters, bodyDigest: others["body"])
        if let variant = others["variant"] { self = self.variant(variant) }
        if self.text != text { return nil }
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool { "0123456789abcdef".utf8.contains(byte) }
}
