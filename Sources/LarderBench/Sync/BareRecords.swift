import Larder
import LarderSimulation
import LarderSystem

/// The shortest program that keeps records in SQLite: one table, with the indexes that the policy of the benchmark declares.
/// If it queues changes, too, it has a second table for them.
///
/// `@unchecked Sendable`: the benchmark uses it from one task at a time.
final class BareRecords: @unchecked Sendable {
    private let connection: SQLiteConnection
    private let queuesChanges: Bool
    private var next = 0

    /// Creates a database in a folder.
    ///
    /// - Parameter queuesChanges: whether each new record is written a second time, as a change that a service must be told of.
    init(in folder: TemporaryFolder, queuesChanges: Bool = false, survivesPowerCuts: Bool = true) throws {
        self.queuesChanges = queuesChanges
        let path = folder.path + "/bare.sqlite"
        try Disk.create(path, with: UnsafeRawBufferPointer(start: nil, count: 0))
        connection = try SQLiteConnection(path)
        try connection.run("PRAGMA trusted_schema=ON")
        try connection.run("PRAGMA journal_mode=WAL")
        try connection.run(
            """
            CREATE TABLE records(n INTEGER PRIMARY KEY, id TEXT NOT NULL, body TEXT NOT NULL);
            CREATE UNIQUE INDEX by_id ON records(id);
            CREATE INDEX by_time ON records(json_extract(body, '$.updatedAt') DESC);
            CREATE INDEX by_owner ON records(json_extract(body, '$.owner'), json_extract(body, '$.title'));
            CREATE TABLE queue(n INTEGER PRIMARY KEY, record INTEGER NOT NULL, id TEXT NOT NULL, body TEXT NOT NULL);
            CREATE INDEX queue_by_record ON queue(record);
            """)
        try connection.survivePowerCuts(survivesPowerCuts)
    }

    /// Writes records, some of them in each transaction.
    func put(_ count: Int, inGroupsOf size: Int) throws {
        for start in stride(from: 0, to: count, by: size) {
            try connection.transaction {
                for _ in start..<min(count, start + size) {
                    next += 1
                    let (id, record) = (SyncBench.id(next), SyncBench.record(next).bytes)
                    try connection.run("INSERT INTO records(id, body) VALUES(?, ?)", .text(id), .utf8(record))
                    if !queuesChanges { continue }
                    try connection.run(
                        "INSERT INTO queue(record, id, body) VALUES(?, ?, ?)", .integer(connection.lastRow), .text(id),
                        .utf8(record))
                }
            }
            // As the database of records does.
            if connection.logPages > 4_000 { try connection.run("PRAGMA wal_checkpoint(TRUNCATE)") }
        }
    }

    /// Returns the latest records.
    func latest(_ count: Int) throws -> [JSONText] {
        var found: [JSONText] = []
        try connection.each(
            "SELECT body FROM records ORDER BY json_extract(body, '$.updatedAt') DESC LIMIT ?", .integer(count)
        ) { row in
            if let record = try? JSONText(row.bytes(0)) { found.append(record) }
            return true
        }
        return found
    }
}
