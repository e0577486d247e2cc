public import LarderFoundation

/// A value in a statement.
public enum SQLiteValue: Sendable, Hashable {
    /// An integer.
    case integer(Int64)
    /// A number. SQLite takes one that is not a number for null.
    case double(Double)
    /// A text.
    case text(String)
    /// A text, as bytes of UTF-8. They are not checked.
    case utf8([UInt8])
    /// Bytes.
    case bytes([UInt8])
    /// Bytes.
    case data(Data)
    /// No value.
    case null

    /// An integer.
    public static func integer(_ number: Int) -> SQLiteValue { .integer(Int64(number)) }

    /// An integer, or null for nil.
    public init(_ number: Int64?) { self = number.map { .integer($0) } ?? .null }

    /// A number, or null for nil.
    public init(_ number: Double?) { self = number.map { .double($0) } ?? .null }

    /// A text, or null for nil.
    public init(_ text: String?) { self = text.map { .text($0) } ?? .null }

    /// Bytes, or null for nil.
    public init(_ bytes: [UInt8]?) { self = bytes.map { .bytes($0) } ?? .null }

    /// Bytes, or null for nil.
    public init(_ data: Data?) { self = data.map { .data($0) } ?? .null }
}

/// A prepared statement, and the row that it has reached.
///
/// It can be used only while the closure runs that it was given to. Columns are counted from 0. A value of another type is
/// converted as SQLite does it, and null gives 0, an empty text or no bytes. The methods whose names begin with `optional`
/// return nil for null.
public struct SQLiteStatement {
    let handle: SQLiteLibrary.Handle
    let library: SQLiteLibrary
    /// The number of values that the statement needs.
    let placeCount: Int

    init(_ handle: SQLiteLibrary.Handle, in library: SQLiteLibrary) {
        (self.handle, self.library) = (handle, library)
        placeCount = Int(library.placeCount(handle))
    }

    /// Returns whether a column of the row is null.
    public func isNull(_ column: Int) -> Bool { library.type(handle, Int32(clamping: column)) == 5 }

    /// Returns the integer in a column of the row.
    public func integer(_ column: Int) -> Int64 { library.integer(handle, Int32(clamping: column)) }

    /// Returns the number in a column of the row.
    public func double(_ column: Int) -> Double { library.double(handle, Int32(clamping: column)) }

    /// Returns the text in a column of the row. Bytes that are not UTF-8 are replaced by U+FFFD.
    public func text(_ column: Int) -> String {
        // The text must be asked for before its size: the call may convert the value, which changes its size.
        let start = library.text(handle, Int32(clamping: column))
        return String(decoding: UnsafeBufferPointer(start: start, count: size(column, of: start)), as: UTF8.self)
    }

    /// Returns the bytes in a column of the row.
    public func bytes(_ column: Int) -> [UInt8] { Array(buffer(column)) }

    /// Returns the bytes in a column of the row.
    public func data(_ column: Int) -> Data { Data(buffer(column)) }

    /// Returns the integer in a column of the row; nil for null.
    public func optionalInteger(_ column: Int) -> Int64? { isNull(column) ? nil : integer(column) }

    /// Returns the number in a column of the row; nil for null.
    public func optionalDouble(_ column: Int) -> Double? { isNull(column) ? nil : double(column) }

    /// Returns the text in a column of the row; nil for null.
    public func optionalText(_ column: Int) -> String? { isNull(column) ? nil : text(column) }

    /// Returns the bytes in a column of the row; nil for null.
    public func optionalBytes(_ column: Int) -> [UInt8]? { isNull(column) ? nil : bytes(column) }

    /// Returns the bytes in a column of the row; nil for null.
    public func optionalData(_ column: Int) -> Data? { isNull(column) ? nil : data(column) }

    /// Calls `body` with the bytes in a column of the row, without copying them. They must not be used after it returns.
    ///
    /// - Throws: the error of `body`.
    public func withBytes<Result, Failure: Error>(
        _ column: Int, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(buffer(column))
    }

    private func buffer(_ column: Int) -> UnsafeRawBufferPointer {
        // As with texts, the bytes must be asked for before their size.
        let start = library.bytes(handle, Int32(clamping: column))
        return UnsafeRawBufferPointer(start: start, count: size(column, of: start))
    }

    private func size(_ column: Int, of start: UnsafeRawPointer?) -> Int {
        start == nil ? 0 : Int(library.byteCount(handle, Int32(clamping: column)))
    }

    /// Ends a run of the statement. Its values, which may be large, are not kept.
    func reset() {
        _ = library.reset(handle)
        if placeCount > 0 { _ = library.forgetBindings(handle) }
    }

    /// Sets a value. Places are counted from 1.
    ///
    /// - Returns: the code of SQLite.
    func bind(_ value: SQLiteValue, at place: Int32) -> Int32 {
        func bind(_ bytes: UnsafeRawBufferPointer) -> Int32 {
            // Without an address, SQLite would take empty bytes for null.
            withUnsafeBytes(of: 0 as UInt8) { empty in
                library.bindBytes(
                    handle, place, bytes.baseAddress ?? empty.baseAddress, Int32(clamping: bytes.count), -1)
            }
        }
        func bindText(_ text: UnsafeBufferPointer<UInt8>) -> Int32 {
            withUnsafePointer(to: 0 as UInt8) { empty in
                library.bindText(handle, place, text.baseAddress ?? empty, Int32(clamping: text.count), -1)
            }
        }
        switch value {
        case .integer(let number): return library.bindInteger(handle, place, number)
        case .double(let number): return library.bindDouble(handle, place, number)
        case .text(var text): return text.withUTF8(bindText)
        case .utf8(let text): return text.withUnsafeBufferPointer(bindText)
        case .bytes(let bytes): return bytes.withUnsafeBytes(bind)
        case .data(let data): return data.withUnsafeBytes { bind($0) }
        case .null: return library.bindNull(handle, place)
        }
    }
}
