import Foundation
import LarderSimulation
import Testing

import Larder
@testable import LarderSystem
@testable import LarderCore
@testable import LarderPlugins

/// The files of a database: who can read them, and when they are deleted, made again or set aside.
@Suite struct SQLiteFilesTests {
    private let place: SQLiteFixture
    private let large = String(repeating: "large", count: 40_000)
    private let isSlow = ProcessInfo.processInfo.environment["LARDER_SLOW"] != nil

    init() throws { place = try SQLiteFixture() }

    private func mode(_ path: String) throws -> Int {
        try #require(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }

    @Test func filesAreReadableByTheirOwnerOnly() async throws {
        let store = place.open()
        _ = try await store.write(Entry(text: "1"), for: .id("a"))
        _ = try await store.write(Entry(text: large), for: .id("b"))
        #expect(try mode(place.path) == 0o700)
        let names = place.folder.names(below: "e")
        #expect(names.contains { $0.hasSuffix("-wal") } && names.contains { $0.hasSuffix("-shm") })
        for name in names {
            let path = place.path + "/" + name
            #expect(try mode(path) == (Disk.item(path)?.isFolder == true ? 0o700 : 0o600), "\(name)")
        }
    }

    @Test func processThatHasLeftTheDatabaseDoesNotJoinAgain() throws {
        let folder = try Folder()
        let processes = SQLiteProcesses(beside: folder.path + "/e.sqlite", in: SystemWorld())
        processes.join()
        #expect(try Disk.list(processes.folder).count == 1)
        processes.leave()
        processes.join()
        #expect(try Disk.list(processes.folder).isEmpty)
    }

    /// A world in which other processes are and time stands still until it is moved.
    private struct StillWorld: World {
        let base = SystemWorld()
        let time = Locked(Duration.zero)
        var now: Timestamp { base.now }
        var uptime: Duration { time.withLock { $0 } }
        func random() -> UInt64 { base.random() }
        func sleep(for duration: Duration) async throws { try await base.sleep(for: duration) }
        func spawn(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> { base.spawn(work) }
        func blocking<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
            try await base.blocking(work)
        }
    }

    @Test(.timeLimit(.minutes(1)), arguments: [0, 200, 400])
    func processThatHasJustJoinedHearsOfTheNextChange(_ joined: Int) async throws {
        let (folder, world) = (try Folder(), StillWorld())
        let (one, other) = (
            SQLiteProcesses(beside: folder.path + "/e.sqlite", in: world),
            SQLiteProcesses(beside: folder.path + "/e.sqlite", in: world)
        )
        // It has looked for others just before.
        for milliseconds in [0, 150, 300] where milliseconds <= joined {
            world.time.withLock { $0 = .milliseconds(milliseconds) }
            one.tell(atOnce: false)
        }
        world.time.withLock { $0 = .milliseconds(joined) }
        other.join()
        var changes = SystemWorld().changes(in: other.folder).makeAsyncIterator()
        one.tell(atOnce: false)
        #expect(await changes.next() != nil)
        withExtendedLifetime((one, other)) {}
    }

    @Test func processThatHasLeftTheDatabaseTouchesNothing() throws {
        let folder = try Folder()
        let processes = SQLiteProcesses(beside: folder.path + "/e.sqlite", in: SystemWorld())
        processes.tell(atOnce: true)
        processes.leave()
        let lock = folder.path + "/e.sqlite-users-lock"
        try FileManager.default.removeItem(atPath: lock)
        processes.look()
        for isUrgent in [false, true] { processes.tell(atOnce: isUrgent) }
        #expect(!FileManager.default.fileExists(atPath: lock))
    }

    @Test func fileOfAnEntryIsDeletedWithIt() async throws {
        let store = place.open { $0.capacity = 1_000_000 }
        _ = try await store.write(Entry(text: large), for: .id("a"))
        _ = try await store.write(Entry(text: large + "2"), for: .id("a"))
        #expect(place.payloads.count == 1)
        try await store.remove(.key(.id("a")))
        #expect(place.payloads.isEmpty)
        for number in 0..<20 { _ = try await store.write(Entry(text: large), for: .id("\(number)")) }
        #expect(place.payloads.count == 4)
        try await store.remove(.all)
        #expect(place.payloads.isEmpty)
    }

    @Test func removalFailsIfAFileCannotBeDeleted() async throws {
        let store = place.open()
        for selection in [Selection.key(.id("a")), .all] {
            _ = try await store.write(Entry(text: large), for: .id("a"))
            // A folder in the place of the file cannot be deleted as a file.
            let path =
                try place.path + "/" + #require(
                    place.payloads.first { Disk.item(place.path + "/" + $0)?.isFolder == false })
            try FileManager.default.removeItem(atPath: path)
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            await #expect { try await store.remove(selection) } throws: {
                ($0 as? StoreError)?.message == "the files of removed entries cannot be deleted"
            }
            #expect(try await store.read(.id("a")) == nil)
        }
    }

    @Test func entryInARowIsFoundWhenFilesBeginAtASmallerSize() async throws {
        let store = place.open { $0.smallestFile = 500_000 }
        _ = try await store.write(Entry(text: large), for: .id("a"))
        await store.close()
        #expect(place.payloads.isEmpty)
        let next = place.open { $0.smallestFile = 1_000 }
        #expect(try await next.text(.id("a")) == large)
        #expect(try await next.verify() == StoreVerification(checked: 1))
    }

    @Test func filesThatNoEntryNamesAreDeletedAtTheNextStart() async throws {
        let store = place.open()
        _ = try await store.write(Entry(text: large), for: .id("a"))
        await store.close()
        let orphan = place.path + "/00000000000000aa.payload"
        try Data("left by a killed process".utf8).write(to: URL(filePath: orphan))
        let others = place.path + "/notes.txt"
        try Data("not of the store".utf8).write(to: URL(filePath: others))
        let again = place.open()
        _ = try await again.write(Entry(text: "1"), for: .id("b"))
        #expect(try await again.text(.id("a")) == large)
        #expect(Disk.item(orphan) == nil)
        #expect(Disk.item(others) != nil)
    }

    @Test func deletedFolderIsMadeAgain() async throws {
        let store = place.open()
        _ = try await store.write(Entry(text: "one"), for: .id("a"))
        try FileManager.default.removeItem(atPath: place.path)
        #expect(try await store.read(.id("a")) == nil)
        #expect(try await store.write(Entry(text: "two"), for: .id("a")))
        #expect(try await store.text(.id("a")) == "two")
        try FileManager.default.removeItem(atPath: place.path)
        #expect(try await store.write(Entry(text: large), for: .id("a")))
        #expect(try await store.text(.id("a")) == large)
    }

    @Test func databaseOfALaterVersionIsLeftAlone() async throws {
        let store = place.open()
        _ = try await store.write(Entry(text: "1"), for: .id("a"))
        await store.close()
        try place.run("PRAGMA user_version=2; PRAGMA application_id=\(0x4C61_7202)")
        let before = try Data(contentsOf: URL(filePath: place.database))
        let again = place.open()
        let expected = "the database was made by a later version of Larder, and is left as it is"
        await #expect { try await again.read(.id("a")) } throws: { ($0 as? StoreError)?.message == expected }
        await #expect { try await again.write(Entry(text: "2"), for: .id("a")) } throws: {
            ($0 as? StoreError)?.message == expected
        }
        await again.close()
        #expect(try Data(contentsOf: URL(filePath: place.database)) == before)
    }

    @Test(arguments: [0, 100, 4_096, 20_000])
    func damagedDatabaseIsSetAside(from offset: Int) async throws {
        let store = place.open()
        for number in 0..<200 { _ = try await store.write(Entry(text: "\(number)"), for: .id("\(number)")) }
        await store.close()
        var bytes = try Data(contentsOf: URL(filePath: place.database))
        for index in offset..<min(bytes.count, offset + 30_000) { bytes[index] = 0x5A }
        try bytes.write(to: URL(filePath: place.database))
        let again = place.open()
        for number in 0..<200 {
            if let text = try? await again.text(.id("\(number)")) { #expect(text == "\(number)") }
        }
        for number in 0..<200 {
            #expect(try await again.write(Entry(text: "new"), for: .id("\(number)")))
            #expect(try await again.text(.id("\(number)")) == "new")
        }
        #expect(Disk.item(place.database + "-damaged") != nil)
        // Cleared entries must not be left in the file that was set aside.
        try await again.remove(.scope(nil))
        #expect(Disk.item(place.database + "-damaged") == nil)
    }

    @Test func foreignFileIsSetAside() async throws {
        try FileManager.default.createDirectory(atPath: place.path, withIntermediateDirectories: true)
        try Data("this is no database".utf8).write(to: URL(filePath: place.database))
        let store = place.open()
        #expect(try await store.write(Entry(text: "1"), for: .id("a")))
        #expect(try await store.text(.id("a")) == "1")
        #expect(try Data(contentsOf: URL(filePath: place.database + "-damaged")) == Data("this is no database".utf8))
    }

    @Test func linkIsNotFollowed() async throws {
        try FileManager.default.createDirectory(atPath: place.path, withIntermediateDirectories: true)
        let outside = place.folder.url.appending(path: "outside").path
        try FileManager.default.createSymbolicLink(atPath: place.database, withDestinationPath: outside)
        let store = place.open()
        #expect(try await store.write(Entry(text: "1"), for: .id("a")))
        #expect(Disk.item(outside) == nil)
        #expect(Disk.stamp(of: place.database)?.isLinked == false)
    }

    @Test func everyBitOfTheFirstPageMayBeWrong() throws {
        try SimulatedWorld().run { world in
            let place = try SQLiteFixture(in: world, inMemory: true)
            let store = place.open()
            _ = try await store.write(Entry(text: "1"), for: .id("a"))
            await store.close()
            let sound = try Data(contentsOf: URL(filePath: place.database))
            for bit in stride(from: 0, to: 4_096 * 8, by: isSlow ? 1 : 127) {
                var bytes = sound
                bytes[bit / 8] ^= 1 << UInt8(bit % 8)
                try FileManager.default.removeItem(atPath: place.path)
                try FileManager.default.createDirectory(atPath: place.path, withIntermediateDirectories: true)
                try bytes.write(to: URL(filePath: place.database))
                let again = place.open()
                let text = try? await again.text(.id("a"))
                #expect(text == nil || text == "1", "bit \(bit)")
                #expect(try await again.write(Entry(text: "2"), for: .id("a")), "bit \(bit)")
                #expect(try await again.text(.id("a")) == "2", "bit \(bit)")
                await again.close()
            }
        }
    }

    @Test func logStaysShort() async throws {
        let store = place.open { $0.capacity = 1_000_000 }
        for number in 0..<3_000 {
            _ = try await store.write(Entry(text: String(repeating: "x", count: 40_000)), for: .id("\(number)"))
        }
        #expect(try #require(Disk.item(place.database + "-wal")?.size) < 10_000_000)
        #expect(try #require(Disk.item(place.database)?.size) < 20_000_000)
    }

    @Test(arguments: [150, 500]) func logOfAnIdleStoreIsAsShortAsTheStore(_ count: Int) throws {
        try SimulatedWorld().run { world in
            let place = try SQLiteFixture(in: world)
            let store = place.open { $0.capacity = 1_000_000 }
            // All are made in a few transactions.
            let writes = (0..<count).map { number in
                world.start {
                    try await store.write(Entry(text: String(repeating: "x", count: 40_000)), for: .id("\(number)"))
                }
            }
            for write in writes { _ = try await write.value() }
            try await world.settle()
            #expect(try #require(Disk.item(place.database + "-wal")?.size) <= 4_200_000)
            #expect(await store.statistics().entries > 10)
            await store.close()
        }
    }

    @Test func unusedStoreMakesNoFile() async throws {
        let store = place.open()
        await store.close()
        #expect(place.folder.names(below: "e").isEmpty)
    }

    // MARK: Damage of single entries

    @Test func swappedPayloadsAreNoticed() async throws {
        let store = place.open()
        for id in ["a", "b"] { _ = try await store.write(Entry(text: "of \(id)"), for: .id(id)) }
        await store.close()
        try place.run(
            """
            CREATE TEMP TABLE swap AS SELECT id, payload FROM entries;
            UPDATE entries SET payload=(SELECT payload FROM swap WHERE swap.id<>entries.id)
            """)
        let again = place.open()
        for id in ["a", "b"] {
            await #expect { try await again.read(.id(id)) } throws: { ($0 as? StoreError)?.isDamaged == true }
        }
    }

    @Test(arguments: ["hash=hash+1", "at=at+1", "size=size+1", "state=state|1", "file=7"])
    func changedColumnIsNoticed(_ change: String) async throws {
        let store = place.open()
        _ = try await store.write(Entry(text: "1"), for: .id("a"))
        await store.close()
        try place.run("UPDATE entries SET \(change)")
        let again = place.open()
        let text = try? await again.text(.id("a"))
        #expect(text == nil)
        // A change of the account reads the row, removes it, and counts the totals again.
        try await again.expire(.all)
        #expect(await again.statistics().entries == 0)
        #expect(await again.statistics().bytes == 0)
    }

    @Test func entryThatItsTagsDoNotReachIsDamaged() async throws {
        let store = place.open()
        var entry = Entry(text: "1")
        entry.metadata.tags = ["sale"]
        _ = try await store.write(entry, for: .id("a"))
        try place.run("DELETE FROM tags")
        await #expect { try await store.read(.id("a")) } throws: { ($0 as? StoreError)?.isDamaged == true }
    }

    @Test(arguments: [false, true]) func changedFileIsNoticed(whileOpen: Bool) async throws {
        var store = place.open()
        _ = try await store.write(Entry(text: large), for: .id("a"))
        #expect(try await store.text(.id("a")) == large)
        if !whileOpen {
            await store.close()
            store = place.open()
        }
        let url = URL(filePath: place.path + "/" + place.payloads[0])
        var bytes = try Data(contentsOf: url)
        bytes[150_000] ^= 4
        try FileManager.default.removeItem(at: url)
        try bytes.write(to: url)
        await #expect { try await store.read(.id("a")) } throws: { ($0 as? StoreError)?.isDamaged == true }
        try FileManager.default.removeItem(at: url)
        await #expect { try await store.read(.id("a")) } throws: { ($0 as? StoreError)?.isDamaged == true }
    }

    @Test func wrongTotalsAreCountedAgain() async throws {
        let store = place.open()
        for number in 0..<10 { _ = try await store.write(Entry(text: "1"), for: .id("\(number)")) }
        let before = await store.statistics()
        try place.run("UPDATE totals SET size=size+1000000, next=1")
        #expect(await store.statistics() == before)
        #expect(try await store.write(Entry(text: "2"), for: .id("a")))
        #expect(await store.statistics().entries == 11)
    }

    // MARK: Other users

    @Test func storesOfTwoProcessesHearOfEachOther() async throws {
        let (one, other) = (place.open(), place.open())
        _ = try await one.write(Entry(text: "1"), for: .id("a"))
        var changes = try #require(one.changes).makeAsyncIterator()
        func selections(until last: Selection) async -> [Selection] {
            var all: [Selection] = []
            while let change = await changes.next() {
                all.append(change.selection)
                if change.selection == last { break }
            }
            return all
        }
        _ = try await other.write(Entry(text: "2"), for: .id("b"))
        #expect(await selections(until: .key(.id("b"))).contains(.key(.id("b"))))
        _ = try await one.write(Entry(text: "own"), for: .id("c"))
        try await other.remove(.tag("sale"))
        let heard = await selections(until: .tag("sale"))
        #expect(!heard.contains(.key(.id("c"))))
        try await other.remove(.scope("alice"))
        _ = await selections(until: .all)
    }

    @Test func twoStoresShareTheCapacity() async throws {
        let stores = [place.open { $0.mostEntries = 50 }, place.open { $0.mostEntries = 50 }]
        for number in 0..<200 {
            #expect(try await stores[number % 2].write(Entry(text: "1"), for: .id("\(number)")))
        }
        for store in stores { #expect(await store.statistics().entries == 50) }
        #expect(await stores[0].statistics().evictions + stores[1].statistics().evictions == 150)
    }
}
