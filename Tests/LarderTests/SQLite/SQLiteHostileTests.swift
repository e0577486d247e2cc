import Foundation
import LarderSimulation
import Testing

import Larder
@testable import LarderSystem
@testable import LarderCore
@testable import LarderPlugins

/// Changes a database and the files beside it as a hostile program or a bad backup does, and checks that nothing of it is
/// believed and that the store goes on.
@Suite struct SQLiteHostileTests {
    private let place: SQLiteFixture
    private let alice = Key.id("a", scope: "alice")
    private let bob = Key.id("b", scope: "bob")

    /// A change of a database, as statements.
    struct Change: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var sql: String
        /// Whether the whole database is given up, and not just the entries.
        var isOfTables = true
    }

    init() async throws {
        place = try SQLiteFixture(inMemory: true)
        let store = place.open()
        for key in [alice, bob] {
            let entry = Entry(Data(key.text.utf8), Metadata(fetchedAt: Timestamp(seconds: 1_700_000_000), tags: ["t"]))
            #expect(try await store.write(entry, for: key))
        }
        await store.close()
    }

    // MARK: Tables

    private static let endless = """
        DROP TABLE entries;
        CREATE VIEW entries AS WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n)
        SELECT id, 0 AS hash, 0 AS at, 0 AS size, 0 AS state, NULL AS file, x'' AS head, x'' AS payload FROM n
        """
    private static let ignoring = """
        CREATE TRIGGER keeping BEFORE DELETE ON entries BEGIN SELECT RAISE(IGNORE); END
        """
    static let ofTables = [
        Change(testDescription: "endless view", sql: endless),
        Change(testDescription: "trigger that ignores removals", sql: ignoring),
        Change(
            testDescription: "trigger that adds rows",
            sql: """
                CREATE TRIGGER adding AFTER DELETE ON entries BEGIN
                INSERT INTO entries SELECT old.id, old.hash, old.at, old.size, old.state, old.file, old.head, old.payload;
                END
                """),
        Change(
            testDescription: "generated column",
            sql: "ALTER TABLE entries ADD COLUMN more AS (zeroblob(900000000))"),
        Change(testDescription: "further table", sql: "CREATE TABLE more(id INTEGER)"),
        Change(testDescription: "missing index", sql: "DROP INDEX entries_by_hash"),
        Change(testDescription: "tables without a version", sql: "PRAGMA user_version=0; PRAGMA application_id=0"),
    ]

    @Test(arguments: ofTables) func changedTablesAreSetAsideBeforeUse(_ change: Change) async throws {
        try place.run(change.sql)
        let store = place.open()
        try await store.remove(.scope("alice"))
        #expect(try await store.read(alice) == nil)
        #expect(await store.statistics().entries == 0)
        #expect(try await store.write(Entry(text: "new"), for: bob))
        await store.close()
        let next = place.open()
        #expect(try await next.read(alice) == nil)
        #expect(try await next.text(bob) == "new")
        #expect(try await next.verify() == StoreVerification(checked: 1))
        // The clearing has deleted what was set aside, too.
        #expect(Disk.item(place.database + "-damaged") == nil)
    }

    @Test func triggerThatIsAddedToAnOpenDatabaseDoesNothing() async throws {
        let store = place.open()
        #expect(try await store.text(alice) == alice.text)
        try place.run(Self.ignoring)
        try await store.remove(.scope("alice"))
        #expect(try await store.read(alice) == nil)
        #expect((try? await place.open().read(alice)) == nil)
        #expect((try? await store.verify().left) ?? 0 == 0)
    }

    // MARK: Values

    static let ofValues = [
        Change(testDescription: "payload", sql: "UPDATE entries SET payload=zeroblob(80000000)", isOfTables: false),
        Change(
            testDescription: "payload whose size fits",
            sql: "UPDATE entries SET payload=zeroblob(80000000), size=80000000", isOfTables: false),
        Change(
            testDescription: "text",
            sql: "UPDATE entries SET payload=CAST(zeroblob(80000000) AS TEXT)", isOfTables: false),
        Change(testDescription: "head", sql: "UPDATE entries SET head=zeroblob(80000000)", isOfTables: false),
        Change(testDescription: "number", sql: "UPDATE entries SET at=zeroblob(80000000)", isOfTables: false),
        Change(testDescription: "number of the totals", sql: "UPDATE totals SET size=zeroblob(80000000)"),
    ]

    @Test(arguments: ofValues) func hugeValueTakesNoMemory(_ change: Change) async throws {
        try place.run(change.sql)
        let sqlite = try SystemLibrary("SQLite", files: ["libsqlite3.so.0", "/usr/lib/libsqlite3.dylib"], package: "")
        let mostMemory = try sqlite.function(
            "sqlite3_memory_highwater", as: (@convention(c) (Int32) -> Int64).self)
        _ = mostMemory(1)
        let store = place.open()
        #expect((try? await store.verify().left) ?? 0 == 0)
        #expect((try? await store.read(alice)) == nil)
        try await store.remove(.scope("alice"))
        #expect(try await store.read(alice) == nil)
        if !change.isOfTables { #expect((try? await store.read(bob)) == nil) }
        #expect(try await store.verify().left == 0)
        #expect(mostMemory(0) < 40_000_000)
    }

    // MARK: Files

    /// A thing that is not a regular file.
    enum Thing: CaseIterable { case folder, pipe, link, brokenLink }

    static let names = ["", "-wal", "-shm", "-lock", "-log-lock", "-users", "-users-lock", "-reserve", "-damaged"]

    @Test(arguments: Thing.allCases, names) func thingInThePlaceOfAFileIsSetAside(_ thing: Thing, _ name: String)
        async throws
    {
        if thing == .folder, name == "-users" { return }
        let path = place.database + name
        try? FileManager.default.removeItem(atPath: path)
        let outside = place.folder.url.appending(path: "outside")
        try Data("not of the store".utf8).write(to: outside)
        switch thing {
        case .folder:
            try FileManager.default.createDirectory(atPath: path + "/inside", withIntermediateDirectories: true)
        case .pipe: #expect(mkfifo(path, 0o600) == 0)
        case .link: try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: outside.path)
        case .brokenLink: try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "nowhere")
        }
        let store = place.open()
        #expect(try await store.text(bob) == (name.isEmpty ? nil : bob.text))
        #expect(try await store.write(Entry(text: "new"), for: alice))
        #expect(try await store.text(alice) == "new")
        #expect(try await store.verify().left == 0)
        try await store.remove(.scope("alice"))
        #expect(try await store.read(alice) == nil)
        await store.close()
        #expect(try await place.open().text(bob) == (name.isEmpty ? nil : bob.text))
        #expect(try String(contentsOf: outside, encoding: .utf8) == "not of the store")
        let aside = place.folder.names(below: "e").filter {
            $0.hasPrefix("entries.sqlite\(name).aside-") && !$0.hasSuffix("/inside")
        }
        #expect(aside.count == 1)
    }
}
