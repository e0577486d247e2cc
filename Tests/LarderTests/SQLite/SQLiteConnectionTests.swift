import Foundation
import Testing

@testable import LarderSystem

/// The binding of SQLite, without a store.
@Suite struct SQLiteConnectionTests {
    private let folder: Folder
    private let connection: SQLiteConnection

    init() throws {
        folder = try Folder()
        let path = folder.url.appending(path: "a.sqlite").path
        try Disk.create(path, with: UnsafeRawBufferPointer(start: nil, count: 0))
        connection = try SQLiteConnection(path)
        try connection.run("CREATE TABLE t(id INTEGER PRIMARY KEY, v)")
    }

    private func stored(_ value: SQLiteValue) throws -> (type: String, row: Int64) {
        try connection.run("INSERT INTO t(v) VALUES(?)", value)
        let row = connection.lastRow
        let type = try connection.first("SELECT typeof(v) FROM t WHERE id=?", .integer(row)) { $0.text(0) }
        return (try #require(type), row)
    }

    private func read<Result>(_ row: Int64, _ read: (SQLiteStatement) -> Result) throws -> Result {
        try #require(try connection.first("SELECT v FROM t WHERE id=?", .integer(row), read: read))
    }

    @Test(arguments: ["", "a", "a\0b", "Škoda 🚗", String(repeating: "long", count: 5_000)])
    func textIsReadAsItWasWritten(_ text: String) throws {
        let (type, row) = try stored(.text(text))
        #expect(type == "text")
        #expect(try read(row) { $0.text(0) } == text)
        #expect(try read(row) { $0.optionalText(0) } == text)
        let (other, again) = try stored(.utf8(Array(text.utf8)))
        #expect(other == "text")
        #expect(try read(again) { $0.bytes(0) } == Array(text.utf8))
    }

    @Test(arguments: [0, -0.1, .pi, .infinity, .leastNonzeroMagnitude, .greatestFiniteMagnitude])
    func numberIsReadAsItWasWritten(_ number: Double) throws {
        let (type, row) = try stored(.double(number))
        #expect(type == "real")
        #expect(try read(row) { $0.optionalDouble(0) } == number)
    }

    @Test func bytesAreReadAsTheyWereWritten() throws {
        for bytes in [[], [0], [1, 0, 255]] as [[UInt8]] {
            let (type, row) = try stored(.bytes(bytes))
            #expect(type == "blob")
            #expect(try read(row) { $0.optionalBytes(0) } == bytes)
            #expect(try read(row) { $0.withBytes(0) { Array($0) } } == bytes)
            #expect(try read(row) { $0.optionalData(0) } == Data(bytes))
        }
    }

    @Test func nullAndNotANumberAreReadAsNil() throws {
        for value in [.null, .double(.nan), SQLiteValue(nil as Int64?), SQLiteValue(nil as String?)] {
            let (type, row) = try stored(value)
            #expect(type == "null")
            #expect(try read(row) { $0.isNull(0) })
            #expect(try read(row) { $0.optionalInteger(0) } == nil)
            #expect(try read(row) { $0.optionalDouble(0) } == nil)
            #expect(try read(row) { $0.optionalText(0) } == nil)
            #expect(try read(row) { $0.optionalBytes(0) } == nil)
            #expect(try read(row) { $0.text(0) } == "")
        }
    }

    @Test func textThatIsNotUTF8IsReadWithReplacements() throws {
        try connection.run("INSERT INTO t(v) VALUES(CAST(x'61FF62' AS TEXT))")
        #expect(try read(connection.lastRow) { $0.text(0) } == "a\u{FFFD}b")
    }

    @Test func columnThatIsNotThereIsNull() throws {
        let (_, row) = try stored(.integer(1))
        #expect(try read(row) { $0.optionalText(7) } == nil)
        #expect(try read(row) { $0.optionalInteger(-1) } == nil)
    }

    @Test func changesAndLastRowTellTheLastStatement() throws {
        for number in 1...5 { try connection.run("INSERT INTO t(v) VALUES(?)", .integer(number)) }
        #expect(connection.lastRow == 5)
        try connection.run("UPDATE t SET v=0 WHERE v > ?", .integer(2))
        #expect(connection.changes == 3)
        try connection.run("DELETE FROM t WHERE v=?", .integer(9))
        #expect(connection.changes == 0)
    }

    @Test func statementsThatOnlyLookAlikeAreTwo() throws {
        for text in ["\u{E9}", "e\u{301}", "a\u{301}\u{323}", "a\u{323}\u{301}"] {
            let read = try connection.first("SELECT '\(text)' WHERE 1=?", .integer(1)) { $0.bytes(0) }
            #expect(read == Array(text.utf8))
        }
    }

    @Test func transactionThatFailsChangesNothing() throws {
        struct Stop: Error {}
        #expect(throws: Stop.self) {
            try connection.transaction {
                #expect(connection.isInTransaction)
                try connection.run("INSERT INTO t(v) VALUES(?)", .integer(1))
                throw Stop()
            }
        }
        #expect(!connection.isInTransaction)
        #expect(try connection.first("SELECT count(*) FROM t") { $0.integer(0) } == 0)
    }

    @Test func longValueIsRefusedInBothDirections() throws {
        try connection.run("INSERT INTO t(v) VALUES(zeroblob(3000))")
        let path = folder.url.appending(path: "a.sqlite").path
        let narrow = try SQLiteConnection(path, longestValue: 1_000)
        #expect(throws: SQLiteFailure.self) { try narrow.first("SELECT v FROM t") { $0.bytes(0) } }
        let failure = #expect(throws: SQLiteFailure.self) {
            try narrow.run("INSERT INTO t(v) VALUES(?)", .text(String(repeating: "a", count: 1_001)))
        }
        #expect(failure?.isTooLarge == true)
    }

    @Test func triggersAndViewsAreNotRun() throws {
        try connection.run(
            """
            CREATE TRIGGER x AFTER INSERT ON t BEGIN DELETE FROM t; END;
            CREATE VIEW w AS SELECT 1;
            """)
        try connection.run("INSERT INTO t(v) VALUES(?)", .integer(1))
        #expect(try connection.first("SELECT count(*) FROM t") { $0.integer(0) } == 1)
        #expect(throws: SQLiteFailure.self) { try connection.first("SELECT * FROM w") { $0.integer(0) } }
    }

    @Test func snapshotReadsOneState() throws {
        let path = folder.url.appending(path: "a.sqlite").path
        _ = try connection.first("PRAGMA journal_mode=WAL") { $0.text(0) }
        let reader = try SQLiteConnection(path, isReader: true)
        let count = { try reader.first("SELECT count(*) FROM t") { $0.integer(0) } }
        try reader.snapshot {
            #expect(try count() == 0)
            try connection.run("INSERT INTO t(v) VALUES(?)", .integer(1))
            #expect(try count() == 0)
        }
        #expect(try count() == 1)
        #expect(throws: SQLiteFailure.self) { try reader.run("DELETE FROM t", []) }
    }

    @Test func checkNoticesRowThatAnIndexLacks() throws {
        try connection.run("CREATE INDEX by_value ON t(v)")
        for number in 1...50 { try connection.run("INSERT INTO t(v) VALUES(?)", .integer(number)) }
        try connection.checkIntegrity()
        // The rows of an index of some values become those of an index of all.
        try connection.run("CREATE INDEX some ON t(v) WHERE v < 40")
        try connection.run("PRAGMA writable_schema=ON")
        try connection.run(
            """
            UPDATE sqlite_master SET rootpage=(SELECT rootpage FROM sqlite_master WHERE name='some') WHERE name='by_value';
            DELETE FROM sqlite_master WHERE name='some'
            """)
        let path = folder.url.appending(path: "a.sqlite").path
        let again = try SQLiteConnection(path)
        #expect(try again.first("SELECT 1 FROM t INDEXED BY by_value WHERE v=45") { _ in true } == nil)
        #expect(throws: SQLiteFailure.damaged) { try again.checkIntegrity() }
    }

    @Test func interruptEndsStatementThatRuns() throws {
        let sql = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"
        var rows = 0
        let failure = #expect(throws: SQLiteFailure.self) {
            try connection.each(sql) { _ in
                rows += 1
                if rows == 10 { connection.interrupt() }
                return true
            }
        }
        #expect(failure?.isInterrupted == true)
        #expect(rows == 10)
    }

    @Test func manyDifferentStatementsWorkInsideAndOutsideOfOthers() throws {
        for number in 0..<600 { #expect(try connection.first("SELECT \(number)") { $0.integer(0) } == Int64(number)) }
        for number in 1...3 { try connection.run("INSERT INTO t(v) VALUES(?)", .integer(number)) }
        var sum: Int64 = 0
        try connection.each("SELECT v FROM t") { row in
            for number in 0..<300 {
                let sql = "SELECT \(row.integer(0)) + \(number)"
                sum += try connection.first(sql) { $0.integer(0) } ?? 0
            }
            return true
        }
        #expect(sum == 6 * 300 + 3 * (299 * 300 / 2))
    }

    @Test func otherNumberOfValuesThanQuestionMarksIsRefused() throws {
        let sql = "INSERT INTO t(id, v) VALUES(?, ?)"
        try connection.run(sql, .integer(1), .text("former"))
        for values in [[], [.integer(2)], [.integer(2), .null, .null]] as [[SQLiteValue]] {
            let failure = #expect(throws: SQLiteFailure.self) { try connection.run(sql, values) }
            #expect(failure?.isDamaged == false)
        }
        #expect(try connection.first("SELECT count(*) FROM t") { $0.integer(0) } == 1)
    }

    @Test func valuesAreNotKeptAfterTheStatement() throws {
        let used = try #require(Self.usedMemory)
        let long = [UInt8](repeating: 1, count: 60_000_000)
        let before = used()
        for _ in 1...2 {
            #expect(try connection.first("SELECT length(?)", .bytes(long)) { $0.integer(0) } == 60_000_000)
        }
        #expect(used() - before < 30_000_000)
    }

    /// The function of SQLite that returns the bytes of memory that it uses.
    private static var usedMemory: (@convention(c) () -> Int64)? {
        for name in ["libsqlite3.so.0", "/usr/lib/libsqlite3.dylib"] {
            guard let library = dlopen(name, RTLD_NOW), let address = dlsym(library, "sqlite3_memory_used") else {
                continue
            }
            return unsafeBitCast(address, to: (@convention(c) () -> Int64).self)
        }
        return nil
    }

    @Test func failureBeforeAStatementRunsIsToldFromOneOfARow() throws {
        try connection.run("INSERT INTO t(v) VALUES('{')")
        let read = { (sql: String) in try connection.first(sql, .integer(1)) { $0.text(0) } }
        let deep = "SELECT " + String(repeating: "(", count: 5_000) + "?"
        #expect(throws: SQLiteFailure.self) { try read(deep) }
        for (sql, isOfStatement) in [
            (deep, true), ("SELECT x FROM t WHERE id=?", true),
            ("SELECT json_extract(v,'$.a') FROM t WHERE id=?", false),
        ] {
            let failure = #expect(throws: SQLiteFailure.self) { try read(sql) }
            #expect(failure?.isRefusal == true && failure?.isOfStatement == isOfStatement)
        }
    }
}
