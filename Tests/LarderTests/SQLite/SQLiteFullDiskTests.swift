import Foundation
import LarderSimulation
import Testing

import Larder
@testable import LarderSystem
@testable import LarderCore
@testable import LarderPlugins

/// The ways to remove the entries of one account when the disk is full. `Tests/full-disk-processes` fills real disks.
@Suite struct SQLiteFullDiskTests {
    private let place: SQLiteFixture
    private let store: SQLiteStore
    private let large = String(repeating: "large", count: 40_000)

    init() async throws {
        place = try SQLiteFixture(inMemory: true)
        store = place.open()
        for number in 0..<200 {
            for scope in ["alice", "bob"] {
                let text = number % 50 == 0 ? large : "\(scope) \(number)"
                let metadata = Metadata(fetchedAt: Timestamp(seconds: 1_700_000_000), tags: ["tag \(number % 3)"])
                let key = Key.id("\(number)", scope: scope)
                #expect(try await store.write(Entry(Data(text.utf8), metadata), for: key))
            }
        }
        #expect(try await store.setPinned(true, for: .id("7", scope: "bob")))
    }

    /// Removes the entries of `alice`, on a disk that is full at the first attempts.
    private func remove(failures: Int) throws {
        var attempts = 0
        let isRemoved = try store.removeOnFullDisk(.scope("alice"), keys: []) {
            attempts += 1
            if attempts <= failures { throw SQLiteFailure.full }
            return true
        }
        #expect(isRemoved)
    }

    private func checkOthersAreLeft() async throws {
        for number in 0..<200 {
            #expect(try await store.read(.id("\(number)", scope: "alice")) == nil)
            let text = number % 50 == 0 ? large : "bob \(number)"
            #expect(try await store.text(.id("\(number)", scope: "bob")) == text)
        }
        #expect(await store.statistics().entries == 200)
        #expect(try await store.write(Entry(text: "new"), for: .id("new")))
        #expect(try await store.verify() == StoreVerification(checked: 201))
        #expect(place.payloads.count == 4)
        try await store.expire(.tag("tag 1"))
        #expect(try await store.read(.id("4", scope: "bob"))?.entry.metadata.isExpired == true)
        #expect(try await store.read(.id("5", scope: "bob"))?.entry.metadata.isExpired == false)
    }

    @Test func accountIsRemovedInPiecesWhenItsRowsDoNotFitIntoTheLog() async throws {
        try remove(failures: 1)
        try await checkOthersAreLeft()
    }

    @Test func newDatabaseHasTheOthersWhenThereIsNoRoomForTheLog() async throws {
        let former = try #require(Disk.stamp(of: place.database))
        try remove(failures: 2)
        #expect(Disk.stamp(of: place.database)?.isOfSameFile(as: former) == false)
        try await checkOthersAreLeft()
        // The pinned entry is pinned still, and another process finds everything.
        let other = place.open { $0.mostEntries = 1 }
        #expect(try await !other.write(Entry(text: "1"), for: .id("one too many")))
    }

    @Test func everythingIsRemovedWhenThereIsNoRoomAtAll() async throws {
        try remove(failures: 4)
        for scope in ["alice", "bob"] { #expect(try await store.read(.id("1", scope: scope)) == nil) }
        #expect(place.payloads.isEmpty)
        #expect(try await store.write(Entry(text: "new"), for: .id("new")))
        #expect(try await place.open().text(.id("new")) == "new")
    }

    @Test func openingASoundDatabaseWritesNothing() async throws {
        await store.close()
        let names = ["", "-wal"].map { place.database + $0 }
        let before = try names.map { try Data(contentsOf: URL(filePath: $0)) }
        let next = place.open()
        #expect(try await next.text(.id("3", scope: "bob")) == "bob 3")
        #expect(try names.map { try Data(contentsOf: URL(filePath: $0)) } == before)
    }
}
