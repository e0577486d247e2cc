/// A JSON value as it was written. Its bytes stay as they are: long numbers keep their digits, and members that nobody
/// here knows are passed on unchanged.
///
/// The text is checked once, when it is read. It is valid JSON (RFC 8259) without space around it, no object in it names a
/// member twice, and it is nested at most 128 levels deep.
///
/// Two texts are equal (`==`) if they have the same bytes. ``means(_:)`` compares what they mean.
public struct JSONText: Sendable, Hashable {
    /// The bytes, which are UTF-8.
    public let bytes: [UInt8]

    /// Checks a text.
    ///
    /// - Throws: ``Mistake`` if the bytes are not a JSON value that every reader understands in the same way.
    public init(_ bytes: some Collection<UInt8>) throws(Mistake) { try self.init(Array(bytes)) }

    /// Checks a text.
    ///
    /// - Throws: ``Mistake`` if the bytes are not a JSON value that every reader understands in the same way.
    public init(_ bytes: [UInt8]) throws(Mistake) {
        let range = try bytes.withUnsafeBufferPointer { buffer throws(Mistake) in
            var scanner = JSONScanner(buffer)
            return try scanner.checkedRange()
        }
        self.bytes = range.count == bytes.count ? bytes : Array(bytes[range])
    }

    /// Creates the text of a value. A number that JSON cannot express is `null`.
    public init(_ value: JSON) { bytes = Array(value.text(indented: false).utf8) }

    /// Creates a whole number.
    public init(integer number: Int64) { bytes = Array(String(number).utf8) }

    /// Creates a string.
    public init(string: String) {
        var output: [UInt8] = []
        output.reserveCapacity(string.utf8.count + 2)
        Self.write(string, to: &output)
        bytes = output
    }

    /// Creates a list.
    public init(list items: [JSONText]) {
        var output: [UInt8] = []
        output.reserveCapacity(items.reduce(2) { $0 + $1.bytes.count + 1 })
        Self.write(items, to: &output)
        bytes = output
    }

    /// Creates an object. No two members may have the same name.
    public init(object members: [(name: String, value: JSONText)]) {
        let size = members.reduce(2) { $0 + $1.name.utf8.count + $1.value.bytes.count + 4 }
        var object = Members(size: size)
        for (name, value) in members { object.add(name, value) }
        self.init(object: object)
    }

    /// Writes a list.
    static func write(_ items: [JSONText], to output: inout [UInt8]) {
        output.append(UInt8(ascii: "["))
        for (place, item) in items.enumerated() {
            if place > 0 { output.append(UInt8(ascii: ",")) }
            output += item.bytes
        }
        output.append(UInt8(ascii: "]"))
    }

    /// Writes a string with its quotes.
    static func write(_ string: String, to output: inout [UInt8]) {
        var string = string
        let (quote, escape) = (UInt8(ascii: "\""), UInt8(ascii: "\\"))
        let isPlain = string.withUTF8 { bytes in
            for byte in bytes where byte < 0x20 || byte > 0x7E || byte == quote || byte == escape { return false }
            output.append(quote)
            output += bytes
            output.append(quote)
            return true
        }
        if !isPlain { output += JSON.string(string).text(indented: false).utf8 }
    }

    /// Wraps bytes that are part of a checked text.
    init(checked bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }

    /// `null`.
    public static let null = JSONText(checked: "null".utf8)

    /// An object without members.
    public static let object = JSONText(checked: "{}".utf8)

    /// A mistake in the text: its kind, without any of the text.
    public struct Mistake: Error, Hashable, CustomStringConvertible {
        /// A description of the mistake.
        public let description: String
        /// The number of bytes before it.
        public let offset: Int
    }

    /// The kinds of values.
    public enum Kind: Sendable, Hashable {
        /// An object.
        case object
        /// A list.
        case list
        /// A string.
        case string
        /// A number.
        case number
        /// `true` or `false`.
        case bool
        /// `null`.
        case null
    }

    /// The kind of the value.
    public var kind: Kind {
        switch bytes.first {
        case UInt8(ascii: "{"): .object
        case UInt8(ascii: "["): .list
        case UInt8(ascii: "\""): .string
        case UInt8(ascii: "t"), UInt8(ascii: "f"): .bool
        case UInt8(ascii: "n"): .null
        default: .number
        }
    }

    /// The text; nil if this is not a string.
    public var string: String? {
        guard kind == .string else { return nil }
        return bytes.withUnsafeBufferPointer { JSONScanner.string(in: $0, 0..<$0.count) }
    }

    /// The nearest floating-point number; nil if this is not a number.
    public var number: Double? { kind == .number ? Double(String(decoding: bytes, as: UTF8.self)) : nil }

    /// The whole number; nil if this is none, or one that 64 bits cannot hold.
    public var integer: Int64? { kind == .number ? Int64(String(decoding: bytes, as: UTF8.self)) : nil }

    /// The truth value; nil if this is neither `true` nor `false`.
    public var bool: Bool? { kind == .bool ? bytes.first == UInt8(ascii: "t") : nil }

    /// The text of a string, or the digits of a number: the form in which an id is a name. Nil for any other value.
    public var name: String? {
        kind == .number ? String(decoding: bytes, as: UTF8.self) : string
    }

    /// The members of an object in their order; empty for any other value.
    public var members: [(name: String, value: JSONText)] {
        bytes.withUnsafeBufferPointer { buffer in
            var members: [(name: String, value: JSONText)] = []
            JSONScanner.eachMember(of: buffer) { name, value in
                members.append((JSONScanner.string(in: buffer, name), JSONText(checked: buffer[value])))
                return true
            }
            return members
        }
    }

    /// The items of a list in their order; empty for any other value.
    public var items: [JSONText] {
        bytes.withUnsafeBufferPointer { buffer in
            var items: [JSONText] = []
            JSONScanner.eachItem(of: buffer) { items.append(JSONText(checked: buffer[$0])) }
            return items
        }
    }

    /// Returns the value of a member; nil if there is none, or if this is not an object.
    public subscript(name: String) -> JSONText? {
        bytes.withUnsafeBufferPointer { buffer in
            JSONScanner.member(name, of: buffer).map { JSONText(checked: buffer[$0.value]) }
        }
    }

    /// Returns the value at a path of member names; nil if there is none. The empty path is this value.
    public subscript(path: [String]) -> JSONText? {
        var value = self
        for name in path {
            guard let next = value[name] else { return nil }
            value = next
        }
        return value
    }

    /// Returns the value to which a pointer leads, through objects and lists; nil if there is none.
    public subscript(pointer: JSONPointer) -> JSONText? {
        var value = self
        for step in pointer.steps {
            let next = value.kind == .list ? JSONPointer.place(step).flatMap { value.item($0) } : value[step]
            guard let next else { return nil }
            value = next
        }
        return value
    }

    private func item(_ place: Int) -> JSONText? {
        let items = items
        return items.indices.contains(place) ? items[place] : nil
    }
}
