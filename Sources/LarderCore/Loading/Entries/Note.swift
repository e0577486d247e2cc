public import LarderSystem

/// A fact that a plugin noted in an entry's metadata. Stores keep notes without knowing what they mean.
public enum Note: Hashable, Sendable {
    /// A whole number.
    case number(Int64)
    /// A text.
    case text(String)
    /// Bytes in a format of the plugin.
    case bytes([UInt8])

    /// The size of the note without its name, in bytes.
    var size: Int {
        switch self {
        case .number: MemoryLayout<Int64>.size
        case .text(let text): text.utf8.count
        case .bytes(let bytes): bytes.count
        }
    }
}

/// The name of a note in an entry's metadata, and the type of its value.
///
/// A plugin declares its keys. It notes facts when a payload arrives, and reads them when a copy is validated. For
/// example:
///
/// ```swift
/// extension NoteKey where Value == Int {
///     static var edition: NoteKey { NoteKey("com.example.edition") }
/// }
///
/// struct Edition: Validator {
///     let number: Int
///
///     func admit(_ entry: inout Entry, from arrival: Arrival, for request: Request) -> Admission {
///         if arrival.isNew { entry.metadata[.edition] = number }
///         return .keep
///     }
///
///     func permit(_ metadata: Metadata, for request: Request, at now: Timestamp) -> Permissions {
///         metadata[.edition] == number ? Permissions(.all) : Permissions(.all).refusing(.all, "another edition")
///     }
/// }
/// ```
///
/// Two plugins that use the same name read each other's notes. So use the name of the plugin as the name of its key, or
/// a name in reverse-DNS style.
public struct NoteKey<Value: NoteValue>: Hashable, Sendable {
    /// The name under which stores keep the note.
    @usableFromInline package let name: String

    /// Creates a key. The name must have 1 to 255 bytes in UTF-8.
    @inlinable
    public init(_ name: String) {
        precondition(1...255 ~= name.utf8.count, "the name of a note has 1 to 255 bytes")
        self.name = name
    }
}

/// A type whose values can be noted in an entry's metadata.
///
/// A type of your own can conform with the help of a type that conforms already:
///
/// ```swift
/// extension Quality: NoteValue {
///     var note: Note { rawValue.note }
///     init?(_ note: Note) {
///         guard let number = Int(note) else { return nil }
///         self.init(rawValue: number)
///     }
/// }
/// ```
public protocol NoteValue: Sendable {
    /// The note that stands for the value.
    var note: Note { get }

    /// Creates the value of a note. Returns nil if the note has another form. This is called on each read, so it should
    /// be quick.
    init?(_ note: Note)
}

extension Int: NoteValue {
    /// The number.
    @inlinable public var note: Note { .number(Int64(self)) }

    /// Creates a number from a note.
    @inlinable
    public init?(_ note: Note) {
        guard case .number(let number) = note else { return nil }
        self.init(exactly: number)
    }
}

extension UInt64: NoteValue {
    /// The number with the same bits.
    @inlinable public var note: Note { .number(Int64(bitPattern: self)) }

    /// Creates a number from the bits of a noted number.
    @inlinable
    public init?(_ note: Note) {
        guard case .number(let number) = note else { return nil }
        self.init(bitPattern: number)
    }
}

extension Timestamp: NoteValue {
    /// The nanoseconds since 1970.
    @inlinable public var note: Note { .number(nanoseconds) }

    /// Creates a time from a note.
    @inlinable
    public init?(_ note: Note) {
        guard case .number(let number) = note else { return nil }
        self.init(nanoseconds: number)
    }
}

extension String: NoteValue {
    /// The text.
    @inlinable public var note: Note { .text(self) }

    /// Creates a text from a note.
    @inlinable
    public init?(_ note: Note) {
        guard case .text(let text) = note else { return nil }
        self = text
    }
}

extension [UInt8]: NoteValue {
    /// The bytes.
    @inlinable public var note: Note { .bytes(self) }

    /// Creates bytes from a note.
    @inlinable
    public init?(_ note: Note) {
        guard case .bytes(let bytes) = note else { return nil }
        self = bytes
    }
}
