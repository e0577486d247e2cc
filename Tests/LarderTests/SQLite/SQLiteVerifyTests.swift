import Foundation
import LarderSimulation
import Testing

import Larder
@testable import LarderSystem
@testable import LarderCore
@testable import LarderPlugins

/// Plants damage in a database, and checks that it is found and removed while another store has the database open.
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

    /// A kind of damage to one entry.
    struct Damage: CustomTestStringConvertible, Sendable {
        var testDescription: String
        /// The key of the damaged entry.
        var key: String
        var plant: @Sendable (SQLiteFixture) throws -> Void

        init(_ name: String, of key: String, plant: @escaping @Sendable (SQLiteFixture) throws -> Void) {
            (testDescription, self.key, self.plant) = (name, key, plant)
        }
    }

    /// The entries have the row numbers 1 to 102, in the order of their keys.
    static let damages = [
        Damage("flipped payload byte", of: "4") {
            try $0.run("UPDATE entries SET payload=CAST('texT 4' AS BLOB) WHERE id=5")
        },
        Damage("shortened payload", of: "4") {
            try $0.run("UPDATE entries SET payload=CAST('text' AS BLOB) WHERE id=5")
        },
        Damage("missing tag row", of: "4") { try $0.run("DELETE FROM tags WHERE entry=5") },
        Damage("missing payload file", of: "a") { try Disk.remove($0.path + "/" + $0.payload(of: 101)) },
        Damage("changed payload file", of: "a") { place in
            let file = URL(filePath: place.path + "/" + (try place.payload(of: 101)))
            var bytes = try Data(contentsOf: file)
            bytes[100_000] ^= 1
            try bytes.write(to: file)
        },
    ]

    @Test(arguments: damages) func plantedDamageIsFoundAndRemovedWhileTheAppGoesOn(_ damage: Damage) async throws {
        try damage.plant(place)
        let store = place.open()
        #expect(try await store.verify() == StoreVerification(checked: 102, damaged: 1, removed: 1))
        #expect(try await store.verify() == StoreVerification(checked: 101))
        await store.close()

        for key in (0..<100).map(String.init) {
            #expect(try await app.text(.id(key)) == (key == damage.key ? nil : "text \(key)"))
        }
        for key in ["a", "b"] { #expect(try await app.text(.id(key)) == (key == damage.key ? nil : large)) }
        #expect(await app.statistics().entries == 101)
        #expect(try await app.write(Entry(text: "new"), for: .id(damage.key)))
        #expect(try await app.text(.id(damage.key)) == "new")
        #expect(try await app.verify() == StoreVerification(checked: 102))
    }

    @Test(arguments: [
        "UPDATE entries SET head=(SELECT head FROM entries WHERE id=6) WHERE id=5",
        "UPDATE entries SET hash=hash+1 WHERE id=5",
    ])
    func entryWhoseKeyIsDamagedIsNeverServed(_ damage: String) async throws {
        try place.run(damage)
        let store = place.open()
        #expect(try await store.verify().checked >= 101)
        #expect((try? await store.read(.id("4"))) == nil)
        #expect(try await store.text(.id("5")) == "text 5")
    }

    @Test func progressRisesToOne() async throws {
        var shares: [Double] = []
        #expect(try await app.verify { shares.append($0) } == StoreVerification(checked: 102))
        #expect(shares == shares.sorted() && shares.last == 1 && shares.count == 102)
    }

    @Test func storeWithoutDatabaseIsSound() async throws {
        #expect(try await SQLiteFixture().open().verify() == StoreVerification())
    }

    @Test func manyDamagedEntriesAreAllRemoved() async throws {
        for number in 100..<700 { _ = try await app.write(Entry(text: "text \(number)"), for: .id("\(number)")) }
        try place.run("UPDATE entries SET payload=CAST('wrong' AS BLOB) WHERE file IS NULL AND id > 2")
        #expect(try await place.open().verify() == StoreVerification(checked: 702, damaged: 698, removed: 698))
        #expect(await app.statistics().entries == 4)
        #expect(try await app.text(.id("a")) == large)
    }

    @Test func damagedFileIsReplacedByTheNextChangeAndNotByReading() async throws {
        await app.close()
        var bytes = try Data(contentsOf: URL(filePath: place.database))
        for index in 8_000..<bytes.count { bytes[index] = 0x5A }
        try bytes.write(to: URL(filePath: place.database))
        let store = place.open()
        for _ in 1...2 { await #expect(throws: StoreError.self) { try await store.verify() } }
        #expect(Disk.item(place.database + "-damaged") == nil)
        #expect(try await store.write(Entry(text: "new"), for: .id("a")))
        #expect(try await store.text(.id("a")) == "new")
        #expect(Disk.item(place.database + "-damaged") != nil)
        #expect(try await store.verify() == StoreVerification(checked: 1))
    }
}

extension SQLiteFixture {
    /// The name of the file with the payload of a row.
    fileprivate func payload(of row: Int) throws -> String {
        let number = try SQLiteConnection(database, isReader: true).first(
            "SELECT file FROM entries WHERE id=\(row)"
        ) { UInt64(bitPattern: $0.integer(0)) }
        let digits = String(try #require(number), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits + ".payload"
    }
}
