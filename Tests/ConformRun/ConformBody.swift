import LarderFoundation
import Larder

extension RowObject {
    /// The payload of an entry or an answer: `value`, or the bytes that `value_is` describes. Nil if there is neither.
    mutating func body() throws(Unsupported) -> Data? {
        let text = try text("value")
        guard let description = try self.text("value_is") else { return text.map { Data($0.utf8) } }
        guard text == nil else { throw Unsupported("\(path("value_is")) beside value") }
        guard let bytes = Data(described: description) else {
            throw Unsupported(
                "\(path("value_is")) \(description.quoted), not such as \"256 bytes, byte i has value i\"")
        }
        return bytes
    }

    /// The header fields under `key`.
    mutating func headers(_ key: String) throws(Unsupported) -> [ConformRow.Header] {
        var headers: [ConformRow.Header] = []
        for (name, text) in try namedTexts(key) {
            if let text { headers.append(ConformRow.Header(name: name, value: text)) }
        }
        return headers
    }

    /// The failures of stores, by their names.
    mutating func storeErrors(in tiers: [ConformRow.Tier]) throws(Unsupported) -> [String: Int64] {
        var errors: [String: Int64] = [:]
        for (name, number) in try namedNumbers("store_errors") {
            try check(name, isOf: tiers)
            errors[name] = number
        }
        return errors
    }

    /// Checks that `name` is the name of a store.
    func check(_ name: String, isOf tiers: [ConformRow.Tier]) throws(Unsupported) {
        guard tiers.contains(where: { $0.name == name }) else {
            throw Unsupported("\(place) speaks of the store \(name.quoted), which is not there")
        }
    }
}

extension Data {
    /// The largest number of bytes that a description can stand for.
    private static let mostDescribed = 64_000_000

    /// Creates the bytes of a description such as `256 bytes, byte i has value i` or `100 bytes, each has value 7`. A
    /// value is the rest of a division by 256. Without a word about values, all are 0. Returns nil if the description
    /// is not understood.
    init?(described description: String) {
        let words = description.split { " ,:".contains($0) }.map { $0.lowercased() }
        guard words.count >= 2, words[1] == "bytes" || words[1] == "byte", let count = Int(words[0]),
            0...Self.mostDescribed ~= count
        else { return nil }
        let values = words.dropFirst(2).filter {
            !["has", "have", "is", "with", "the", "of", "each", "every"].contains($0)
        }
        let value: (Int) -> Int
        switch values.joined(separator: " ") {
        case "": value = { _ in 0 }
        case "byte i value i", "byte i i", "byte i value i mod 256", "byte i i mod 256", "byte i value i % 256":
            value = { $0 }
        default:
            let last = values.last ?? ""
            guard values.dropLast().allSatisfy({ ["all", "byte", "bytes", "value"].contains($0) }) else { return nil }
            guard let number = last.hasPrefix("zero") ? 0 : Int(last) else { return nil }
            value = { _ in number }
        }
        self = Data((0..<count).map { UInt8(truncatingIfNeeded: value($0)) })
    }
}
