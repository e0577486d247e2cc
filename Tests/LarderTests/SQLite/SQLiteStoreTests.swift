import Foundation
import LarderSimulation
import Testing

import Larder
@testable import LarderSystem
@testable import LarderCore
@testable import LarderPlugins

/// A database in a folder of its own.
struct SQLiteFixture: Sendable {
    let folder: Folder
    let world: any World

    init(in world: any World = SystemWorld(blockingThreads: 2), inMemory: Bool = false) throws {
        folder = try Folder(inMemory: inMemory)
        self.world = world
    }

    var path: String { folder.url.appending(path: "e").path }
    var database: String { path + "/entries.sqlite" }

    func open(_ change: (inout SQLiteOptions) -> Void = { _ in }) -> SQLiteStore {
        var options = SQLiteOptions(folder: path, capacity: 10_000_000)
        change(&options)
        return SQLiteStore(file: "entries.sqlite", options, in: world)
    }

    /// The names of the payloads' files.
    var payloads: [String] { folder.names(below: "e").filter { $0.hasSuffix(".payload") } }

    /// Runs statements in the database from outside.
    func run(_ sql: String) throws {
        try SQLiteConnection(database, isReader: false).run(sql)
    }
}

extension Store {
    /// The text under a key; nil if there is none.
    func text(_ key: Key) async throws -> String? { try await read(key)?.entry.text }
}

@Suite struct SQLiteStoreTests {
    private let place: SQLiteFixture

    init() throws { place = try SQLiteFixture() }

    // MARK: Entries

    @Test(arguments: ["small", String(repeating: "large", count: 40_000)])
    func writtenEntrySurvivesStore(_ text: String) async throws {
        var entry = Entry(text: text)
        entry.metadata = Metadata(
            fetchedAt: Timestamp(seconds: 1_700_000_000), validatedAt: Timestamp(seconds: 1_700_000_100), etag: "\"1\"",
            lastModified: "Mon", contentType: "a/b", tags: ["x", "y"], notes: ["a": .number(3), "b": .text("4")],
            spread: 0.5)
        let store = place.open()
        #expect(try await store.write(entry, for: .id("a", scope: "alice")))
        await store.close()
        let again = place.open()
        let found = try #require(try await again.read(.id("a", scope: "alice")))
        #expect(found.entry.text == text)
        #expect(found.entry.metadata == entry.metadata)
        #expect(found.isForeign)
        #expect(try await again.read(.id("a", scope: "bob")) == nil)
        #expect(try await again.read(.id("a")) == nil)
    }

    @Test func simultaneousWritesOfManyCallersAreAllKept() async throws {
        let store = place.open()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for caller in 0..<16 {
                group.addTask { () async throws -> Void in
                    for number in 0..<50 {
                        let key = Key.id("\(caller)-\(number)")
                        #expect(try await store.write(Entry(text: "\(number)"), for: key))
                        #expect(try await store.text(key) == "\(number)")
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(await store.statistics().entries == 800)
        await store.close()
        #expect(await place.open().statistics().entries == 800)
    }

    @Test func writeThatWaitsIsReadAndSurvivesClosing() async throws {
        let store = place.open { $0.durability = .none }
        for number in 0..<2_000 {
            #expect(try await store.write(Entry(text: "\(number)"), for: .id("\(number % 100)")))
            #expect(try await store.text(.id("\(number % 100)")) == "\(number)")
        }
        await store.close()
        let again = place.open()
        for number in 0..<100 { #expect(try await again.text(.id("\(number)")) == "\(1_900 + number)") }
    }

    @Test func closedStoreRefusesChangesAndReads() async throws {
        let store = place.open()
        #expect(try await store.write(Entry(text: "1"), for: .id("a")))
        await store.close()
        await #expect(throws: StoreError.self) { try await store.write(Entry(text: "2"), for: .id("a")) }
        await #expect(throws: StoreError.self) { try await store.read(.id("a")) }
        await store.close()
    }

    @Test func clearedAccountIsGoneWhileWritesWait() async throws {
        let store = place.open { $0.durability = .none }
        for number in 0..<500 {
            _ = try await store.write(Entry(text: "a"), for: .id("\(number)", scope: "alice"))
            _ = try await store.write(Entry(text: "b"), for: .id("\(number)", scope: "bob"))
        }
        try await store.remove(.scope("alice"))
        for number in 0..<500 {
            #expect(try await store.read(.id("\(number)", scope: "alice")) == nil)
            #expect(try await store.text(.id("\(number)", scope: "bob")) == "b")
        }
        #expect(await store.statistics().entries == 500)
    }

    @Test func removedBytesAreOverwritten() async throws {
        let store = place.open()
        let secret = "the-secret-of-alice"
        for number in 0..<50 {
            _ = try await store.write(Entry(text: secret), for: .id("\(number)", scope: "alice"))
            _ = try await store.write(Entry(text: "other"), for: .id("\(number)", scope: "bob"))
        }
        try await store.remove(.scope("alice"))
        await store.close()
        for name in place.folder.names(below: "e") where !name.contains("users") {
            let bytes = try Data(contentsOf: URL(filePath: place.path + "/" + name))
            #expect(bytes.range(of: Data(secret.utf8)) == nil, "\(name)")
            #expect(bytes.range(of: Data("feed@alice".utf8)) == nil, "\(name)")
        }
    }

    @Test func failedWriteLeavesTheLaterOne() async throws {
        let store = place.open { $0.durability = .none }
        var tooLarge = Entry(text: "1")
        tooLarge.metadata.etag = String(repeating: "x", count: 17_000_000)
        _ = try await store.write(Entry(text: "0"), for: .id("b"))
        for _ in 0..<3 {
            _ = try await store.write(tooLarge, for: .id("a"))
            _ = try await store.write(Entry(text: "2"), for: .id("a"))
        }
        _ = try await store.write(tooLarge, for: .id("b"))
        await store.close()
        let again = place.open()
        #expect(try await again.text(.id("a")) == "2")
        #expect(try await again.read(.id("b")) == nil)
    }

    @Test func renewalWritesMetadataOnly() async throws {
        let store = place.open()
        let large = Entry(text: String(repeating: "x", count: 200_000))
        for entry in [Entry(text: "small"), large] {
            #expect(try await store.write(entry, for: .id("a")))
            let files = place.payloads
            var renewed = entry
            renewed.metadata.validatedAt = Timestamp(seconds: 1_700_000_500)
            renewed.metadata.tags = ["new"]
            #expect(try await store.renew(renewed, for: .id("a")))
            #expect(try await store.read(.id("a"))?.entry.metadata == renewed.metadata)
            #expect(place.payloads == files)
            try await store.remove(.tag("new"))
            #expect(try await store.read(.id("a")) == nil)
        }
    }

    @Test func renewalOfAnotherPayloadIsRefused() async throws {
        let store = place.open()
        #expect(try await store.write(Entry(text: "1"), for: .id("a")))
        #expect(try await !store.renew(Entry(text: "1", fetchedAt: Timestamp(seconds: 5)), for: .id("a")))
        #expect(try await !store.renew(Entry(text: "1"), for: .id("b")))
    }

    @Test func expiredEntryIsStillRead() async throws {
        let store = place.open()
        var entry = Entry(text: "1")
        entry.metadata.tags = ["sale"]
        #expect(try await store.write(entry, for: .id("a", scope: "alice")))
        #expect(try await store.write(Entry(text: "2"), for: .id("b", scope: "bob")))
        try await store.expire(.tag("sale"))
        await store.close()
        let again = place.open()
        #expect(try await again.read(.id("a", scope: "alice"))?.entry.metadata.isExpired == true)
        #expect(try await again.read(.id("b", scope: "bob"))?.entry.metadata.isExpired == false)
    }

    @Test func listHasAllEntries() async throws {
        let store = place.open { $0.durability = .none }
        for number in 0..<250 { _ = try await store.write(Entry(text: "1"), for: .id("\(number)")) }
        var listed: [Key] = []
        var cursor: StoreCursor?
        repeat {
            let page = try await store.list(after: cursor, most: 40)
            listed += page.entries.compactMap(\.key)
            cursor = page.next
        } while cursor != nil
        #expect(listed.count == 250)
        #expect(Set(listed).count == 250)
        await #expect(throws: StoreError.self) { try await store.list(after: StoreCursor("x"), most: 1) }
    }

    // MARK: Capacity

    @Test func capacityIsNeverExceeded() async throws {
        let store = place.open { $0.capacity = 100_000 }
        for number in 0..<300 {
            let text = String(repeating: "x", count: number * 37 % 5_000)
            #expect(try await store.write(Entry(text: text), for: .id("\(number)")))
            let statistics = await store.statistics()
            #expect(statistics.bytes <= 100_000)
            #expect(try await store.text(.id("\(number)")) == text)
        }
        let statistics = await store.statistics()
        #expect(statistics.bytes > 90_000)
        #expect(statistics.evictions > 0)
        #expect(statistics.entries == 300 - statistics.evictions)
    }

    @Test func entriesThatAreReadOftenStay() async throws {
        let store = place.open { $0.mostEntries = 200 }
        for number in 0..<50 { _ = try await store.write(Entry(text: "1"), for: .id("often \(number)")) }
        for number in 0..<2_000 {
            _ = try await store.write(Entry(text: "1"), for: .id("\(number)"))
            _ = try await store.read(.id("often \(number % 50)"))
        }
        var left = 0
        for number in 0..<50 where try await store.contains(.id("often \(number)")) { left += 1 }
        #expect(left >= 45)
        #expect(await store.statistics().entries == 200)
    }

    @Test func pinnedEntryIsNotEvicted() async throws {
        let store = place.open { $0.mostEntries = 3 }
        for id in ["a", "b", "c"] { _ = try await store.write(Entry(text: id), for: .id(id)) }
        for id in ["a", "b"] { #expect(try await store.setPinned(true, for: .id(id))) }
        #expect(try await !store.setPinned(true, for: .id("none")))
        for number in 0..<20 { #expect(try await store.write(Entry(text: "1"), for: .id("\(number)"))) }
        #expect(try await store.text(.id("a")) == "a")
        #expect(try await store.setPinned(true, for: .id("19")))
        #expect(try await !store.write(Entry(text: "1"), for: .id("one too many")))
        _ = try await store.setPinned(false, for: .id("a"))
        #expect(try await store.write(Entry(text: "1"), for: .id("d")))
        #expect(try await store.read(.id("a")) == nil)
    }

    @Test func fileShrinksAfterRemoval() async throws {
        let store = place.open()
        for number in 0..<100 {
            _ = try await store.write(Entry(text: String(repeating: "x", count: 50_000)), for: .id("\(number)"))
        }
        func size(_ suffix: String) -> Int { Disk.item(place.database + suffix)?.size ?? 0 }
        #expect(size("") + size("-wal") > 5_000_000)
        try await store.remove(.all)
        #expect(size("") < 100_000)
        #expect(Disk.item(place.database + "-wal")?.size == 0)
    }

    @Test func entryIsKeptUntilMaxAge() throws {
        try SimulatedWorld().run { world in
            let place = try SQLiteFixture(in: world)
            let store = place.open { $0.maxAge = .seconds(60) }
            _ = try await store.write(Entry(text: "1", fetchedAt: world.now), for: .id("a"))
            try await world.sleep(for: .seconds(60) - .nanoseconds(1))
            #expect(try await store.text(.id("a")) == "1")
            try await world.sleep(for: .nanoseconds(1))
            #expect(try await store.read(.id("a")) == nil)
            #expect(try await !store.contains(.id("a")))
            #expect(try await store.list(after: nil, most: 9).entries.isEmpty)
        }
    }
}
