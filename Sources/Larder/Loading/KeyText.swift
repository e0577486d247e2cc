extension Key {
    /// The key that is spelled so; nil if none is.
    init?(text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
        guard let names = parts.first?.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false),
            names.count <= 2
        else { return nil }
        var parameters: [String: String] = [:]
        for pair in parts.dropFirst().joined().split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: true) {
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
        self.init(resource: resource, scope: scope, parameters: parameters)
        if self.text != text { return nil }
    }
}
