extension HTTPURL {
    /// Returns the parameters with which this is the URL of an address. Returns nil if there are none, or if they cannot
    /// be told from the address.
    func parameters(of address: HTTPAddress) -> [String: String]? {
        guard address.server == server else { return nil }
        var matching = URLTemplateMatching(address.target)
        guard matching.read(path), let expanded = try? expanded(with: matching.values) else { return nil }
        // A value can be read in several ways. Only those count that lead back to the address.
        return HTTPAddress(expanded).map { Self.isEqual($0.target, address.target) } == true ? matching.values : nil
    }

    /// Whether two texts are equal but for the case of percent-encoded bytes.
    private static func isEqual(_ text: String, _ other: String) -> Bool { normalized(text) == normalized(other) }

    private static func normalized(_ text: String) -> [UInt8] {
        var bytes = Array(text.utf8)
        for place in bytes.indices where URLTemplate.isEncoded(bytes, at: place) {
            for digit in [place + 1, place + 2] where bytes[digit] >= UInt8(ascii: "a") { bytes[digit] -= 32 }
        }
        return bytes
    }
}

/// Reads the values of variables from a URL, from its path on.
private struct URLTemplateMatching {
    private(set) var values: [String: String] = [:]
    private var rest: Substring

    init(_ target: String) { rest = target[...] }

    /// Reads the parts of a template.
    ///
    /// - Returns: whether the URL has this form.
    mutating func read(_ parts: [URLTemplate.Part]) -> Bool {
        for (place, part) in parts.enumerated() {
            switch part {
            case .text(let text):
                guard rest.hasPrefix(text) else { return false }
                rest.removeFirst(text.count)
            case .expression(let kind, let names):
                let next: URLTemplate.Part? = place + 1 < parts.count ? parts[place + 1] : nil
                guard read(kind, names, before: next) else { return false }
            }
        }
        return rest.isEmpty
    }

    private mutating func read(_ kind: URLTemplate.Operator, _ names: [String], before next: URLTemplate.Part?) -> Bool
    {
        switch kind {
        case .simple, .segment: readList(kind, names, before: next)
        case .reserved: read(rest.prefix { $0 != "?" }, as: names[0])
        case .query, .furtherQuery: readQuery(kind, names)
        case .fragment, .label, .pathParameter: false
        }
    }

    private mutating func readList(
        _ kind: URLTemplate.Operator, _ names: [String], before next: URLTemplate.Part?
    ) -> Bool {
        for (place, name) in names.enumerated() {
            let separator = kind == .segment ? "/" : place == 0 ? "" : ","
            guard rest.hasPrefix(separator) else { return true }
            rest.removeFirst(separator.count)
            guard read(value(before: next), as: name) else { return false }
        }
        return true
    }

    private mutating func readQuery(_ kind: URLTemplate.Operator, _ names: [String]) -> Bool {
        var mark = kind == .query ? "?" : "&"
        for name in names where rest.hasPrefix(mark + name + "=") {
            rest.removeFirst(mark.count + name.count + 1)
            guard read(value(before: nil), as: name) else { return false }
            mark = "&"
        }
        return true
    }

    /// Returns the longest text that can be a value. A value does not contain the text that follows it in the template.
    private func value(before next: URLTemplate.Part?) -> Substring {
        let longest = rest.prefix { $0.utf8.allSatisfy { URLTemplate.isUnreserved($0) || $0 == UInt8(ascii: "%") } }
        guard case .text(let text) = next else { return longest }
        let start = text.prefix { $0.utf8.allSatisfy(URLTemplate.isUnreserved) }
        if start.isEmpty { return longest }
        return longest.indices.first { longest[$0...].hasPrefix(start) }.map { longest[..<$0] } ?? longest
    }

    /// Takes an encoded value from the rest.
    private mutating func read(_ encoded: Substring, as name: String) -> Bool {
        var bytes: [UInt8] = []
        let all = Array(encoded.utf8)
        var place = 0
        while place < all.count {
            let isEncoded = URLTemplate.isEncoded(all, at: place)
            let digits = isEncoded ? String(decoding: all[(place + 1)...(place + 2)], as: UTF8.self) : ""
            bytes.append(UInt8(digits, radix: 16) ?? all[place])
            place += isEncoded ? 3 : 1
        }
        guard let value = String(validating: bytes, as: UTF8.self) else { return false }
        values[name] = value
        rest = rest[encoded.endIndex...]
        return true
    }
}
