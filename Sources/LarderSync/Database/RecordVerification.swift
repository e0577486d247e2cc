import Larder
import LarderSystem

extension RecordDatabase {
    /// Checks the whole file: its structure, and the seal of each row.
    ///
    /// Reading notices damage where it meets it. A record that is missing in a damaged index is only noticed here.
    ///
    /// - Returns: whether the file is sound. If it is not, the next change sets it aside and begins a new one with all rows that
    ///   are sound.
    /// - Throws: an error if the file cannot be read at all.
    func verify() throws -> Bool {
        do {
            try file.reading { connection in
                try connection.checkIntegrity()
                try connection.snapshot { try Self.checkRows(connection) }
            }
            return true
        } catch let failure as SQLiteFailure where failure == .damaged { return false }
    }

    /// - Throws: ``SQLiteFailure/damaged`` if a row has another seal than its contents.
    private static func checkRows(_ connection: SQLiteConnection) throws {
        _ = try TableFacts.all(connection)
        try connection.each("SELECT \(KeptRow.columns) FROM records") { row in
            _ = try KeptRow(reading: row)
            return true
        }
        try connection.each("SELECT \(KeptWrite.columns) FROM outbox") { row in
            _ = try KeptWrite(reading: row)
            return true
        }
        try connection.each("SELECT t, at, seal, letter FROM letters") { row in
            let seal = Seal.of(row.text(3), numbers: row.integer(0), row.integer(1))
            if seal != row.integer(2) { throw SQLiteFailure.damaged }
            return true
        }
    }
}
