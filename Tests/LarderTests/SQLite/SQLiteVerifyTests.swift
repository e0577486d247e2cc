import Foundation
import LarderSimulation
import Testing

import Larder
@testable import LarderBase
@testable import LarderCore
@testable import LarderPlugins

/// Plants damage in a database, and checks that it is found and mended while another store has the database open.
@Suite struct SQLiteVerifyTests {
    private let place: SQLiteFixture
    /// The store of an app, which stays open.
    private let app: SQLiteStore
    private let large = String(repeating: "large", count: 40_000)

    init() async throws {
        place = try SQLiteFixture()
        app = place.open()
        for number in 0..<100 {
            let metadata = Metadata(fetchedAt: Timestamp(seconds: 1_700_000_000), tags: ["tag \(number % 3)"])
            #expect(try await app.write(Entry(Data("text \(number)".utf8), metadata), for: .id("\(number)")))
        }
        for name in ["a", "b"] { #expect(try await app.write(Entry(text: large), for: .id(name))) }
    }

    /// A kind of damage, and the result of the check that finds it.
    struct Damage: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var found: StoreVerification
        /// The key of the entry that is lost.
        var lost: String?
        var plant: @Sendable (SQLiteFixture) throws -> Void

        init(
            _ name: String, _ found: StoreVerification, lost: String? = nil,
            plant: @escaping @Sendable (SQLiteFixture) throws -> Void
        ) {
            (testDescription, self.found, self.lost, self.plant) = (name, found, lost, plant)
        }
    }

    private static let totals = "the totals of the database are wrong"
    /// The entries have the row numbers 1 to 102, in the order of their keys.
    static let damages = [
        Damage("flipped payload byte", StoreVerification(checked: 102, damaged: 1), lost: "4") {
            try $0.run("UPDATE entries SET payload=CAST('texT 4' AS BLOB) WHERE id=5")
        },
        Damage("shortened payload", StoreVerification(checked: 102, damaged: 1), lost: "4") {
            try $0.run("UPDATE entries SET payload=CAST('text' AS BLOB) WHERE id=5")
        },
        Damage("changed head", StoreVerification(checked: 102, damaged: 1), lost: "4") {
            try $0.run("UPDATE entries SET head=(SELECT head FROM entries WHERE id=6) WHERE id=5")
        },
        Damage("changed digest of a key", StoreVerification(checked: 102, damaged: 1), lost: "4") {
            try $0.run("UPDATE entries SET hash=hash+1 WHERE id=5")
        },
        Damage("missing payload file", StoreVerification(checked: 102, damaged: 1)) {
            try Disk.remove($0.path + "/" + $0.payloads[0])
        },
        Damage("changed payload file", StoreVerification(checked: 102, damaged: 1)) { place in
            let file = URL(filePath: place.path + "/" + place.payloads[0])
            var bytes = try Data(contentsOf: file)
            bytes[100_000] ^= 1
            try bytes.write(to: file)
        },
        Damage("payload file without row", StoreVerification(checked: 102, leftovers: 1)) {
            try Data("left".utf8).write(to: URL(filePath: $0.path + "/00000000000000aa.payload"))
        },
        Damage("wrong totals", StoreVerification(checked: 102, faults: [totals])) {
            try $0.run("UPDATE totals SET entries=entries+7, size=1")
        },
        Damage("missing totals", StoreVerification(checked: 102, faults: [totals])) {
            try $0.run("DELETE FROM totals")
        },
        Damage("missing tag row", StoreVerification(checked: 102, damaged: 1), lost: "4") {
            try $0.run("DELETE FROM tags WHERE entry=5")
        },
        Damage("tag rows of no entry", StoreVerification(checked: 102, leftovers: 2)) {
            try $0.run("INSERT INTO tags VALUES(1, 5), (2, 900)")
        },
        Damage("use of no entry", StoreVerification(checked: 102, leftovers: 1)) {
            try $0.run("INSERT INTO uses VALUES(900, 1, 1)")
        },
    ]

    @Test(arguments: damages) func plantedDamageIsFoundAndMendedWhileTheAppGoesOn(_ damage: Damage) async throws {
        try damage.plant(place)
        let store = place.open()
        #expect(try await store.verify(repairing: false) { _ in } == damage.found)
        // A check alone changes nothing.
        #expect(try await store.verify(repairing: false) { _ in } == damage.found)
        let repaired = try await store.verify(repairing: true) { _ in }
        #expect(repaired.left == 0 && repaired.repaired == damage.found.left)
        #expect(repaired.damaged == damage.found.damaged && repaired.leftovers == damage.found.leftovers)
        let left = damage.found.checked - damage.found.damaged
        #expect(try await store.verify(repairing: false) { _ in } == StoreVerification(checked: left))
        await store.close()

        for number in 0..<100 {
            let expected = "\(number)" == damage.lost ? nil : "text \(number)"
            #expect(try await app.text(.id("\(number)")) == expected)
        }
        #expect(await app.statistics().entries == left)
        let lostFiles = damage.lost == nil ? damage.found.damaged : 0
        #expect(place.payloads.count == 2 - lostFiles)
        #expect(try await app.write(Entry(text: "new"), for: .id("4")))
        #expect(try await app.text(.id("4")) == "new")
        try await app.remove(.tag("tag 0"))
        #expect(try await app.verify(repairing: false) { _ in }.left == 0)
    }

    @Test func soundDatabaseIsSoundAndProgressRisesToOne() async throws {
        let shares = Locked<[Double]>([])
        let result = try await app.verify(repairing: true) { share in shares.withLock { $0.append(share) } }
        #expect(result == StoreVerification(checked: 102))
        let seen = shares.withLock { $0 }
        #expect(seen == seen.sorted() && seen.last == 1 && seen.count >= 3)
    }

    @Test func storeWithoutDatabaseIsSoundAndMakesNone() async throws {
        let other = try SQLiteFixture()
        let store = other.open()
        #expect(try await store.verify(repairing: true) { _ in } == StoreVerification())
        try await store.compact()
        #expect(Disk.item(other.database) == nil)
    }

    @Test func manyDamagedEntriesAreAllRemoved() async throws {
        for number in 100..<700 { _ = try await app.write(Entry(text: "text \(number)"), for: .id("\(number)")) }
        try place.run("UPDATE entries SET payload=CAST('wrong' AS BLOB) WHERE file IS NULL AND id > 2")
        let store = place.open()
        let result = try await store.verify(repairing: true) { _ in }
        #expect(result == StoreVerification(checked: 702, damaged: 698, repaired: 698))
        #expect(await app.statistics().entries == 4)
        #expect(try await app.text(.id("a")) == large)
    }

    @Test func damagedFileIsReportedAndOnlyReplacedByARepair() async throws {
        await app.close()
        var bytes = try Data(contentsOf: URL(filePath: place.database))
        for index in 8_000..<bytes.count { bytes[index] = 0x5A }
        try bytes.write(to: URL(filePath: place.database))
        let store = place.open()
        let found = try await store.verify(repairing: false) { _ in }
        #expect(found.faults.first == "the file of the database is damaged" && found.left > 0)
        #expect(try Data(contentsOf: URL(filePath: place.database)) == bytes)
        #expect(try await store.verify(repairing: true) { _ in }.left == 0)
        #expect(try await store.verify(repairing: false) { _ in } == StoreVerification())
        #expect(place.payloads.isEmpty)
        #expect(try await store.write(Entry(text: "new"), for: .id("a")))
        #expect(try await store.text(.id("a")) == "new")
    }

    @Test func missingIndexEntriesAreMendedWithoutLoss() async throws {
        await app.close()
        // An index that leaves out a row, as damage of its pages does.
        try place.run(
            """
            PRAGMA writable_schema=ON;
            UPDATE sqlite_schema SET sql='CREATE INDEX entries_by_hash ON entries(hash) WHERE id<>5'
            WHERE name='entries_by_hash'
            """)
        try place.run("REINDEX")
        try place.run(
            """
            PRAGMA writable_schema=ON;
            UPDATE sqlite_schema SET sql='CREATE INDEX entries_by_hash ON entries(hash)' WHERE name='entries_by_hash'
            """)
        let store = place.open()
        let found = try await store.verify(repairing: true) { _ in }
        #expect(found.faults.contains("the index of the database does not fit its rows"), "\(found)")
        #expect(found.left == 0 && found.damaged == 0)
        #expect(try await store.verify(repairing: false) { _ in } == StoreVerification(checked: 102))
        #expect(try await store.text(.id("4")) == "text 4")
    }

    @Test func compactionShortensTheFileWhileTheAppGoesOn() async throws {
        for number in 0..<400 {
            _ = try await app.write(Entry(text: String(repeating: "x", count: 10_000)), for: .id("big \(number)"))
        }
        // Renewed and replaced entries leave free pages, which a removal would give back at once.
        for number in 0..<400 { _ = try await app.write(Entry(text: "small"), for: .id("big \(number)")) }
        let store = place.open()
        try await store.compact()
        let size = try #require(Disk.item(place.database)).size
        #expect(size < 200_000, "\(size)")
        #expect(Disk.item(place.database + "-wal").map(\.size) == 0)
        #expect(try await app.text(.id("big 7")) == "small")
        #expect(try await app.write(Entry(text: "new"), for: .id("4")))
        #expect(try await app.verify(repairing: false) { _ in } == StoreVerification(checked: 502))
    }
}
