/// Named texts of a request or an answer, such as the header fields of HTTP.
///
/// ```swift
/// var fields: Fields = ["Accept-Language": "pt-BR"]
/// fields["accept-language"]  // pt-BR
/// ```
///
/// Names are compared without regard to case, and are kept in lower case. A name may have several values, whose order
/// is kept. The order of different names does not matter. All names and values, with 32 bytes for each field, have at most
/// 64 KB: a field for which there is no room is left out.
///
/// Values may be secret, so descriptions and dumps show only the names.
public struct Fields: Hashable, Sendable {
    /// One name with one value.
    public struct Field: Hashable, Sendable {
        /// The name, in lower case.
        public let name: String
        /// The value.
        public let value: String

        /// Returns whether both have the same name and the same bytes as their value. Equivalent texts of Unicode are
        /// different values.
        public static func == (left: Field, right: Field) -> Bool {
            left.name == right.name && left.value.utf8.elementsEqual(right.value.utf8)
        }

        /// Hashes the name.
        public func hash(into hasher: inout Hasher) { hasher.combine(name) }

        /// Creates a field.
        ///
        /// Returns nil if the name is empty or contains a character that HTTP does not allow in names. Also returns nil
        /// if the value contains CR, LF or NUL. So a field can never be mistaken for two.
        public init?(_ name: String, _ value: String) {
            guard !name.isEmpty, name.utf8.allSatisfy(Self.isNameByte), value.utf8.allSatisfy(Self.isValueByte) else {
                return nil
            }
            self.name = name.utf8.contains(where: Self.isUppercase) ? name.lowercased() : name
            self.value = value
        }

        private static func isNameByte(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
            }
        }

        fileprivate static func isUppercase(_ byte: UInt8) -> Bool { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte }

        private static func isValueByte(_ byte: UInt8) -> Bool { byte != 0 && byte != 10 && byte != 13 }

        /// The size of the name and the value in UTF-8, and a fixed overhead, in bytes.
        var size: Int { name.utf8.count + value.utf8.count + 32 }
    }

    /// The largest ``size``, in bytes.
    static let capacity = 65_536

    /// The fields, sorted by name.
    private var sorted: [Field] = []
    /// The size of all fields, in bytes.
    private(set) var size = 0

    /// Creates an empty collection of fields.
    public init() {}

    /// The value of a name, the first one if there are several; nil if there is none.
    ///
    /// Setting it replaces all values of the name. A value or name that ``Field/init(_:_:)`` refuses is left out.
    public subscript(name: String) -> String? {
        get { sorted.first { Self.isEqual($0.name, name) }?.value }
        set {
            remove(name)
            if let newValue, let field = Field(name, newValue) { add(field) }
        }
    }

    /// Returns all values of a name, in the order in which they were added.
    public func all(_ name: String) -> [String] {
        sorted.filter { Self.isEqual($0.name, name) }.map(\.value)
    }

    /// Adds a field after those with the same name.
    public mutating func add(_ field: Field) {
        guard size + field.size <= Self.capacity else { return }
        size += field.size
        sorted.insert(field, at: sorted.firstIndex { $0.name > field.name } ?? sorted.count)
    }

    private mutating func remove(_ name: String) {
        sorted.removeAll { Self.isEqual($0.name, name) }
        size = sorted.reduce(0) { $0 + $1.size }
    }

    private static func isEqual(_ name: String, _ other: String) -> Bool {
        // Names contain only ASCII.
        name == other
            || name.utf8.count == other.utf8.count
                && name.utf8.elementsEqual(other.utf8.lazy.map { Field.isUppercase($0) ? $0 | 32 : $0 })
    }
}

extension Fields: ExpressibleByDictionaryLiteral {
    /// Creates fields with these names and values. A name or value that ``Field/init(_:_:)`` refuses is left out.
    public init(dictionaryLiteral fields: (String, String)...) {
        for (name, value) in fields {
            if let field = Field(name, value) { add(field) }
        }
    }
}

extension Fields: RandomAccessCollection {
    /// The position of the first field.
    public var startIndex: Int { 0 }

    /// The position after the last field.
    public var endIndex: Int { sorted.count }

    /// The field at a position. Fields are sorted by name.
    public subscript(position: Int) -> Field { sorted[position] }
}

extension Fields: ShownByDescription {
    /// The names of the fields: `accept-language, x-trace`.
    public var description: String { map(\.name).joined(separator: ", ") }
}

extension Fields.Field: ShownByDescription {
    /// The name.
    public var description: String { name }
}
