import Larder

/// Reads the members of a JSON object one by one. Members that nobody asked for are errors in the end.
struct ObjectReader {
    private let kind: SignedFile.Kind
    /// The JSON path of the object.
    let path: String
    private var members: [JSON.Member]

    /// Begins with the object of a whole file.
    init(_ file: SignedFile) throws(EditionError) {
        let root: JSON
        guard file.payload.first(where: { !" \t\r\n".utf8.contains($0) }) == UInt8(ascii: "{") else {
            throw EditionError(.badFile, "\(file.kind.inWords) cannot be read: it is no JSON object")
        }
        do throws(Problem) {
            root = try JSON(reading: file.payload, called: file.kind.noun)
        } catch {
            throw EditionError(.badFile, "\(file.kind.inWords) cannot be read: \(error.description)")
        }
        try self.init(root, of: file.kind, path: "$")
        guard try text("format") == file.kind.rawValue else {
            throw wrong("format", "expected \"\(file.kind.rawValue)\"")
        }
    }

    init(_ value: JSON, of kind: SignedFile.Kind, path: String) throws(EditionError) {
        (self.kind, self.path) = (kind, path)
        guard case .object(let members) = value else {
            throw EditionError(.badFile, "\(kind.inWords) cannot be read: expected an object [at \(path)]")
        }
        self.members = members
    }

    /// Returns a mistake in a member.
    func wrong(_ name: String, _ reason: String) -> EditionError {
        EditionError(.badFile, "\(kind.inWords) cannot be read: \(reason) [at \(path).\(Self.shown(name))]")
    }

    /// A name of a member for messages. Only short plain names are shown, because the file may come from anybody.
    static func shown(_ name: String) -> String {
        !name.isEmpty && name.utf8.count <= 64 && name.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) ? name : "…"
    }

    // MARK: Members

    /// Returns a member that may be missing.
    mutating func optional(_ name: String) -> JSON? {
        guard let index = members.firstIndex(where: { $0.name == name }) else { return nil }
        return members.remove(at: index).value
    }

    private mutating func required(_ name: String) throws(EditionError) -> JSON {
        guard let value = optional(name) else { throw wrong(name, "this key is missing") }
        return value
    }

    /// Returns a text of at most `most` bytes.
    mutating func text(_ name: String, atMost most: Int = 100) throws(EditionError) -> String {
        try text(try required(name), name, atMost: most)
    }

    private func text(_ value: JSON, _ name: String, atMost most: Int) throws(EditionError) -> String {
        guard case .string(let text) = value, text.utf8.count <= most else {
            throw wrong(name, "expected a text of at most \(most) bytes")
        }
        return text
    }

    /// Returns a text of at most `most` bytes; nil if it is missing.
    mutating func optionalText(_ name: String, atMost most: Int) throws(EditionError) -> String? {
        guard let value = optional(name) else { return nil }
        return try text(value, name, atMost: most)
    }

    /// Returns a plain name: see ``PlainName``.
    mutating func plainName(_ name: String) throws(EditionError) -> String {
        try plainName(try required(name), name)
    }

    /// Returns a plain name; nil if it is missing.
    mutating func optionalPlainName(_ name: String) throws(EditionError) -> String? {
        guard let value = optional(name) else { return nil }
        return try plainName(value, name)
    }

    private func plainName(_ value: JSON, _ name: String) throws(EditionError) -> String {
        guard case .string(let text) = value, PlainName.isValid(text) else {
            throw wrong(name, "expected \(PlainName.expectation)")
        }
        return text
    }

    /// Returns a list of plain names, at least one and at most 64; nil if it is missing.
    mutating func optionalPlainNames(_ name: String) throws(EditionError) -> [String]? {
        guard let value = optional(name) else { return nil }
        guard case .list(let items) = value, (1...64).contains(items.count) else {
            throw wrong(name, "expected a list of 1 to 64 names")
        }
        return try items.map { item throws(EditionError) in try plainName(item, name) }
    }

    /// Returns a whole number from 1 that every reader of JSON can hold.
    mutating func count(_ name: String) throws(EditionError) -> Int {
        guard case .int(let number) = try required(name), CountRange.all.contains(number) else {
            throw wrong(name, "expected a whole number from 1 to \(CountRange.all.upperBound)")
        }
        return number
    }

    /// Returns `sha256:` and 64 hexadecimal digits.
    mutating func digest(_ name: String) throws(EditionError) -> String {
        guard case .string(let text) = try required(name), Digest.isValid(text) else {
            throw wrong(name, "expected \(Digest.expectation)")
        }
        return text
    }

    /// Returns true or false; false if it is missing.
    mutating func flag(_ name: String) throws(EditionError) -> Bool {
        guard let value = optional(name) else { return false }
        guard case .bool(let flag) = value else { throw wrong(name, "expected true or false") }
        return flag
    }

    /// Returns a time in UTC.
    mutating func time(_ name: String) throws(EditionError) -> Timestamp {
        guard case .string(let text) = try required(name), let time = Timestamp(utc: text) else {
            throw wrong(name, "expected a time such as \"2027-01-31T00:00:00Z\"")
        }
        return time
    }

    /// Returns a share: `0.05` or `"5%"`.
    mutating func share(_ name: String, default fallback: Double) throws(EditionError) -> Double {
        guard let value = optional(name) else { return fallback }
        guard let share = Share.read(value) else { throw wrong(name, "expected \(Share.expectation)") }
        return share
    }

    /// Returns a list of at most `most` items.
    mutating func list(_ name: String, atMost most: Int) throws(EditionError) -> [JSON] {
        guard case .list(let items) = try required(name), items.count <= most else {
            throw wrong(name, "expected a list of at most \(most)")
        }
        return items
    }

    /// Returns the members of an object, at most `most`.
    mutating func object(_ name: String, atMost most: Int) throws(EditionError) -> [JSON.Member] {
        try Self.members(of: try required(name), atMost: most, or: wrong(name, "expected an object of at most \(most)"))
    }

    private static func members(
        of value: JSON, atMost most: Int, or error: @autoclosure () -> EditionError
    ) throws(EditionError) -> [JSON.Member] {
        guard case .object(let members) = value, members.count <= most else { throw error() }
        return members
    }

    /// Returns a reader of an inner object; nil if it is missing.
    mutating func inner(_ name: String) throws(EditionError) -> ObjectReader? {
        guard let value = optional(name) else { return nil }
        return try ObjectReader(value, of: kind, path: "\(path).\(name)")
    }

    /// Checks that every member was asked for. Names that begin with `x-` are free.
    func end() throws(EditionError) {
        guard let member = members.first(where: { !$0.name.hasPrefix("x-") }) else { return }
        throw wrong(member.name, "this key is unknown")
    }
}
