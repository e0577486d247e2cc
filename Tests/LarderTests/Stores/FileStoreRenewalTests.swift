import Foundation
import LarderSimulation
import Testing

import Larder
@testable import LarderSystem
@testable import LarderCore
@testable import LarderPlugins

/// Renewals, pins and lists of the file store.
@Suite struct FileStoreRenewalTests {
    private let folder: Folder
    private let world = SimulatedWorld()

    init() throws {
        folder = try Folder()
    }

    private func open(capacity: Int = 1_000_000) -> FileStore {
        FileStore(folder: folder.url.appending(path: "e").path, capacity: capacity, eviction: LRU(), world: world)
    }

    private func onlyFile() throws -> URL {
        folder.url.appending(path: "e/" + (try #require(folder.names(below: "e").first)))
    }

    /// Returns an entry whose payload was confirmed `seconds` after it came.
    private func entry(confirmedAfter seconds: Int? = nil, etag: String = "e1") -> Entry {
        let start = Timestamp(seconds: 1_700_000_000)
        return Entry(
            Data("value".utf8),
            Metadata(
                fetchedAt: start, validatedAt: seconds.map { start + .seconds($0) }, etag: etag, tags: [etag],
                spread: 0.5))
    }

    // MARK: Renewals

    @Test func renewalChangesNeitherPayloadNorSize() async throws {
        let store = open()
        #expect(try await store.write(entry(), for: .id("a")))
        let before = try Data(contentsOf: onlyFile())
        for (seconds, etag) in [(60, "e2"), (120, ""), (180, "a longer one")] {
            let renewed = entry(confirmedAfter: seconds, etag: etag)
            #expect(try await store.renew(renewed, for: .id("a")))
            for store in [store, open()] {
                let found = try await store.read(.id("a"))?.entry
                #expect(found?.metadata == renewed.metadata && found?.text == "value")
            }
        }
        let after = try Data(contentsOf: onlyFile())
        let end = try entry().encoded(for: .id("a")).count
        #expect(after.prefix(end) == before.prefix(end) && after.count == before.count)
        #expect(await open().statistics().bytes == before.count)
    }

    @Test func renewalThatWasInterruptedLeavesEntryAsItWasWritten() async throws {
        let store = open()
        _ = try await store.write(entry(), for: .id("a"))
        let whole = try Data(contentsOf: onlyFile())
        let end = try entry().encoded(for: .id("a")).count
        let renewed = entry(confirmedAfter: 60, etag: "e2")
        let head = Data(try renewed.encodedHead(for: .id("a")))
        // The last bytes of the head are zeros, as those of an empty slot.
        let least = head.lastIndex { $0 != 0 } ?? 0
        for count in 1...least {
            var torn = whole
            torn.replaceSubrange(end..<end + count, with: head.prefix(count))
            try torn.write(to: try onlyFile())
            let found = try await open().read(.id("a"))?.entry
            #expect(found?.text == "value" && found?.metadata == entry().metadata)
            // The slot is used again.
            if count % 50 == 0 {
                #expect(try await open().renew(renewed, for: .id("a")))
                #expect(try await open().read(.id("a"))?.entry.metadata == renewed.metadata)
            }
        }
    }

    @Test func fileOfEarlierVersionIsReadAndNotRenewed() async throws {
        _ = try await open().write(entry(), for: .id("a"))
        try Data(entry().encoded(for: .id("a"))).write(to: try onlyFile())
        let store = open()
        #expect(try await store.read(.id("a"))?.entry.metadata == entry().metadata)
        #expect(try await !store.renew(entry(confirmedAfter: 60), for: .id("a")))
        #expect(try await store.read(.id("a"))?.entry.metadata == entry().metadata)
        #expect(try await store.list(after: nil, most: 10).entries.map(\.key) == [.id("a")])
    }

    @Test func entryIsNotRenewedForOtherPayloadOrLargerMetadata() async throws {
        let store = open()
        _ = try await store.write(entry(), for: .id("a"))
        var other = entry(confirmedAfter: 60)
        other.metadata.spread = 0.25
        #expect(try await !store.renew(other, for: .id("a")))
        #expect(try await !store.renew(entry(etag: String(repeating: "e", count: 1_000)), for: .id("a")))
        #expect(try await !store.renew(entry(), for: .id("none")))
        #expect(try await store.read(.id("a"))?.entry.metadata == entry().metadata)
    }

    @Test func renewedEntryIsNoLongerExpired() async throws {
        let store = open()
        _ = try await store.write(entry(), for: .id("a"))
        try await store.expire(.all)
        #expect(try await store.read(.id("a"))?.entry.metadata.isExpired == true)
        #expect(try await store.renew(entry(confirmedAfter: 60), for: .id("a")))
        #expect(try await open().read(.id("a"))?.entry.metadata == entry(confirmedAfter: 60).metadata)
        try await store.expire(.tag("e1"))
        #expect(try await open().read(.id("a"))?.entry.metadata.isExpired == true)
    }

    // MARK: Pins

    @Test func pinSurvivesRestartAndGoesWithItsEntry() async throws {
        let store = open()
        _ = try await store.write(entry(), for: .id("a", scope: "alice"))
        #expect(try await store.setPinned(true, for: .id("a", scope: "alice")))
        #expect(try await !store.setPinned(true, for: .id("b")))
        #expect(folder.names(below: "e").map { $0.hasSuffix(".pin") } == [false, true])
        // The other entries would fill the store twice.
        let small = open(capacity: 4_000)
        for number in 0..<10 {
            let large = Entry(text: String(repeating: "x", count: 400))
            #expect(try await small.write(large, for: .id("\(number)")))
        }
        #expect(try await small.contains(.id("a", scope: "alice")))
        #expect(await small.statistics().evictions > 0)
        try await small.remove(.scope("alice"))
        #expect(folder.names(below: "e").allSatisfy { $0.hasSuffix(".entry") })
    }

    @Test func pinWithoutEntryIsRemovedAtStart() async throws {
        let store = open()
        _ = try await store.write(entry(), for: .id("a"))
        _ = try await store.setPinned(true, for: .id("a"))
        try FileManager.default.removeItem(at: onlyFile())
        #expect(await open().statistics().entries == 0)
        #expect(folder.names(below: "e") == [])
    }

    @Test func largerAnswerThatFindsNoRoomLeavesPinnedEntryExpired() async throws {
        let files = open(capacity: 1_500)
        let memory = MemoryStore(capacity: 1_500, eviction: LRU(), world: world)
        for store: any Store in [files, memory] {
            #expect(try await store.write(entry(), for: .id("a")))
            #expect(try await store.setPinned(true, for: .id("a")))
            #expect(try await !store.write(Entry(text: String(repeating: "x", count: 1_400)), for: .id("a")))
            let kept = try await store.read(.id("a"))?.entry
            #expect(kept?.text == "value" && kept?.metadata.isExpired == true)
            store.relieve()
            #expect(try await store.contains(.id("a")))
        }
    }
}
