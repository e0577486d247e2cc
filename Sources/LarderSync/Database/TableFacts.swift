import Larder
import LarderSystem

/// The facts about a table: its name, its books, and the state of its pulls.
struct TableFacts: Hashable, Sendable {
    let table: RecordTable
    /// The number of the table.
    let number: Int64
    /// The number of its changes.
    var version: Int64 = 0
    var books = Books()
    /// The place of the id in its records, as JSON: other resources may have to change them without knowing their policy.
    var idPathText = "[]"
    /// The state of the pulls, as it is written.
    private(set) var pullText = ""

    /// The state of the pulls.
    var pull: PullState {
        get {
            guard !pullText.isEmpty, let text = try? JSONText(pullText.utf8) else { return PullState() }
            return PullState(text) ?? PullState()
        }
        set { pullText = newValue.text.shownText }
    }

    var booksText: String {
        [
            books.made, books.accepted, books.merged, books.overtaken, books.rejected, books.expired, books.discarded,
            books.pending,
        ].map { String($0) }.joined(separator: " ")
    }

    /// The place of the id in a record.
    var idPath: [String] {
        get { (try? JSONText(idPathText.utf8))?.items.compactMap(\.string) ?? [] }
        set { idPathText = JSONText(list: newValue.map { JSONText(string: $0) }).shownText }
    }

    var seal: Int64 {
        Seal.of(table.resource, table.scope, booksText, pullText, idPathText, numbers: number, version)
    }

    /// The seal of the row of the whole database.
    static func wholeSeal(_ number: Int64) -> Int64 { Seal.of(numbers: 0, number) }

    /// The columns that ``init(reading:)`` expects.
    static let columns = "n, resource, scope, number, books, pull, id_path, seal"

    /// The facts of a new table.
    init(_ table: RecordTable, number: Int64) { (self.table, self.number) = (table, number) }

    /// Reads the facts of a table.
    ///
    /// - Throws: ``SQLiteFailure/damaged`` if they are damaged.
    init(reading row: SQLiteStatement) throws {
        table = RecordTable(resource: row.text(1), scope: row.optionalText(2))
        (number, version) = (row.integer(0), row.integer(3))
        let numbers = row.text(4).split(separator: " ").compactMap { Int($0) }
        guard numbers.count == 8 else { throw SQLiteFailure.damaged }
        books = Books(
            made: numbers[0], accepted: numbers[1], merged: numbers[2], overtaken: numbers[3], rejected: numbers[4],
            expired: numbers[5], discarded: numbers[6], pending: numbers[7])
        (pullText, idPathText) = (row.text(5), row.text(6))
        if seal != row.integer(7) { throw SQLiteFailure.damaged }
    }

    /// Returns the facts of a table; nil if there is no such table.
    ///
    /// - Throws: ``SQLiteFailure/damaged`` if they are damaged. A table whose name is damaged is not taken for one that is
    ///   missing.
    static func read(_ table: RecordTable, _ connection: SQLiteConnection) throws -> TableFacts? {
        let found = try connection.first(
            "SELECT \(columns) FROM tables WHERE resource=? AND scope IS ? AND n>0", .text(table.resource),
            SQLiteValue(table.scope)
        ) { try TableFacts(reading: $0) }
        if found == nil { _ = try all(connection) }
        return found
    }

    /// Returns the facts of all tables.
    static func all(_ connection: SQLiteConnection) throws -> [TableFacts] {
        var all: [TableFacts] = []
        try connection.each("SELECT \(columns) FROM tables WHERE n>0 ORDER BY n") {
            all.append(try TableFacts(reading: $0))
            return true
        }
        return all
    }

    /// Writes the facts of a table that exists.
    func save(_ connection: SQLiteConnection) throws {
        try connection.run(
            "UPDATE tables SET number=?, books=?, pull=?, id_path=?, seal=? WHERE n=?", .integer(version),
            .text(booksText), .text(pullText), .text(idPathText), .integer(seal), .integer(number))
        if connection.changes != 1 { throw SQLiteFailure.damaged }
    }

    /// Writes the facts of a new table.
    func insert(_ connection: SQLiteConnection) throws {
        try connection.run(
            "INSERT INTO tables(\(Self.columns)) VALUES(?, ?, ?, ?, ?, ?, ?, ?)", .integer(number),
            .text(table.resource), SQLiteValue(table.scope), .integer(version), .text(booksText), .text(pullText),
            .text(idPathText), .integer(seal))
    }
}

extension JSONText {
    /// The text as a String.
    var shownText: String { String(decoding: bytes, as: UTF8.self) }
}

/// The checksum of a row: of its numbers and texts, in the order in which they are added.
struct Seal {
    private var words: [UInt64] = []

    init() { words.reserveCapacity(12) }

    mutating func add(_ number: Int64) { words.append(UInt64(bitPattern: number)) }

    /// Adds a text. A missing text is another one than an empty text.
    mutating func add(_ text: String?) {
        guard var text else { return words.append(1) }
        words.append(text.withUTF8 { Checksum.fast(of: UnsafeRawBufferPointer($0)) })
    }

    /// Adds a text, as bytes of UTF-8.
    mutating func add(_ text: [UInt8]?) {
        guard let text else { return words.append(1) }
        words.append(text.withUnsafeBytes { Checksum.fast(of: $0) })
    }

    var value: Int64 { Int64(bitPattern: words.withUnsafeBytes { Checksum.of($0) }) }

    /// Returns the seal of numbers and texts.
    static func of(_ texts: String?..., numbers: Int64...) -> Int64 {
        var seal = Seal()
        for number in numbers { seal.add(number) }
        for text in texts { seal.add(text) }
        return seal.value
    }
}
