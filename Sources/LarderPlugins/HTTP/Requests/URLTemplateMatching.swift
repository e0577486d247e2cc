extension HTTPURL {
    /// The largest number of readings of a URL that are looked at.
    private static let mostReadings = 16
    /// The length up to which a URL is read, in bytes.
    private static let longest = 4_096

    /// Returns all parameters with which this is the URL of an address, whatever the order of the query. A value can often
    /// be read in several ways. Only those count that lead back to the address.
    func parameters(of address: HTTPAddress) -> [[String: String]] {
        guard address.server == server, address.target.utf8.count <= Self.longest else { return [] }
        let query = address.target.dropFirst(address.path.count + 1)
        guard let queryValues = queryValues(in: query) else { return [] }
        var reading = URLTemplateReading(most: Self.mostReadings)
        reading.read(pathParts[...], in: address.path, [:])
        let target = Self.comparable(address)
        return Set(reading.found.map { $0.merging(queryValues) { $1 } }).filter { values in
            (try? expanded(with: values)).flatMap(HTTPAddress.init).map(Self.comparable) == target
        }
    }

    /// Returns the values in a query; nil if it has an item that the template does not have.
    private func queryValues(in query: Substring) -> [String: String]? {
        var values: [String: String] = [:]
        var items = queryItems
        for text in query.split(separator: "&") {
            var found: [String: String]?
            let place = items.firstIndex { parts in
                var reading = URLTemplateReading(most: 1)
                reading.read(parts[...], in: text, [:])
                found = reading.found.first
                return found != nil
            }
            guard let place, let found else { return nil }
            items.remove(at: place)
            values.merge(found) { $1 }
        }
        return values
    }

    /// The parts of an address that are equal if the addresses are. The order of the query and the case of
    /// percent-encoded bytes do not matter.
    private static func comparable(_ address: HTTPAddress) -> [String] {
        let query = address.target.dropFirst(address.path.count).split { $0 == "?" || $0 == "&" }
        return [normalized(address.path)] + query.map(normalized).sorted()
    }

    private static func normalized(_ text: Substring) -> String {
        var bytes = Array(text.utf8)
        for place in bytes.indices where URLTemplate.byte(encodedAt: place, in: bytes) != nil {
            for digit in [place + 1, place + 2] where bytes[digit] >= UInt8(ascii: "a") { bytes[digit] -= 32 }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    // MARK: Template

    /// The parts before the query.
    private var pathParts: [URLTemplate.Part] {
        var parts: [URLTemplate.Part] = []
        for part in path {
            switch part {
            case .text(let text) where text.contains("?"): return parts + [.text(String(text.prefix { $0 != "?" }))]
            case .expression(.query, _): return parts
            default: parts.append(part)
            }
        }
        return parts
    }

    /// The items of the query, each a name with a value.
    private var queryItems: [[URLTemplate.Part]] {
        var items: [[URLTemplate.Part]] = []
        var isQuery = false
        for part in path {
            switch part {
            case .expression(let kind, let names) where kind == .query || kind == .furtherQuery:
                isQuery = true
                items += names.map { [.text($0 + "="), .expression(.simple, [$0])] }
            case .text(var text):
                if !isQuery, let mark = text.firstIndex(of: "?") {
                    isQuery = true
                    text = "&" + text[text.index(after: mark)...]
                }
                guard isQuery else { continue }
                let pieces = text.split(separator: "&", omittingEmptySubsequences: false)
                if let first = pieces.first, !first.isEmpty { items[items.count - 1].append(.text(String(first))) }
                items += pieces.dropFirst().map { $0.isEmpty ? [] : [.text(String($0))] }
            default: if isQuery { items[items.count - 1].append(part) }
            }
        }
        return items.filter { !$0.isEmpty }
    }
}

/// The ways to read the values of variables from a text.
private struct URLTemplateReading {
    /// The values of each reading, first those with the longest values.
    private(set) var found: [[String: String]] = []
    private let most: Int
    /// The number of steps that may still be taken. A template with many variables in a row has very many readings.
    private var steps = 1_000

    init(most: Int) { self.most = most }

    /// Reads the parts of a template in the whole of a text.
    mutating func read(_ parts: ArraySlice<URLTemplate.Part>, in rest: Substring, _ values: [String: String]) {
        guard steps > 0, found.count < most else { return }
        steps -= 1
        switch parts.first {
        case nil: if rest.isEmpty { found.append(values) }
        case .text(let text):
            if rest.hasPrefix(text) { read(parts.dropFirst(), in: rest.dropFirst(text.count), values) }
        case .expression(let kind, let names):
            read(names[...], of: kind, isFirst: true, parts: parts.dropFirst(), rest: rest, values: values)
        }
    }

    /// Reads the variables of an expression, and then the parts behind it. Each variable may be left out.
    private mutating func read(
        _ names: ArraySlice<String>, of kind: URLTemplate.Operator, isFirst: Bool,
        parts: ArraySlice<URLTemplate.Part>,
        rest: Substring, values: [String: String]
    ) {
        guard let name = names.first else { return read(parts, in: rest, values) }
        let others = names.dropFirst()
        let mark = (isFirst ? kind.prefix : kind.separator) + (kind.isNamed ? name : "")
        if rest.hasPrefix(mark) {
            var rest = rest.dropFirst(mark.count)
            if kind.isNamed, !rest.hasPrefix("=") {
                read(
                    others, of: kind, isFirst: false, parts: parts, rest: rest,
                    values: values.merging([name: ""]) { $1 })
            } else {
                if kind.isNamed { rest.removeFirst() }
                var value = rest.prefix { character in
                    character.utf8.allSatisfy {
                        URLTemplate.isUnreserved($0) || $0 == UInt8(ascii: "%")
                            || kind.keepsReserved && URLTemplate.isReserved($0)
                    }
                }
                while steps > 0, found.count < most {
                    steps -= 1
                    if let text = Self.decoded(value) {
                        let values = values.merging([name: text]) { $1 }
                        read(
                            others, of: kind, isFirst: false, parts: parts, rest: rest[value.endIndex...],
                            values: values)
                    }
                    if value.popLast() == nil { break }
                }
            }
        }
        read(others, of: kind, isFirst: isFirst, parts: parts, rest: rest, values: values)
    }

    /// Returns a value without its encoding; nil if it is not a text.
    private static func decoded(_ encoded: Substring) -> String? {
        let all = Array(encoded.utf8)
        var bytes: [UInt8] = []
        var place = 0
        while place < all.count {
            let decoded = URLTemplate.byte(encodedAt: place, in: all)
            bytes.append(decoded ?? all[place])
            place += decoded == nil ? 1 : 3
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
