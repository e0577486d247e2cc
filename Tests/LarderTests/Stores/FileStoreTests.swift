import LarderFoundation
import Testing

import Larder
@testable import LarderSystem
@testable import LarderCore
@testable import LarderPlugins

@Suite struct FileStoreTests {
    private let folder: Folder
    private let world = SystemWorld(blockingThreads: 2)

    init() throws {
        folder = try Folder()
    }

    private func open(
        _ path: String = "e", capacity: Int = 1_000_000, maxAge: Duration = .forever, eviction: any Eviction = LRU()
    ) -> FileStore {
        FileStore(
            folder: folder.url.appending(path: path).path, capacity: capacity, maxAge: maxAge, eviction: eviction,
            world: world)
    }

    /// The path of the only entry.
    private func onlyFile() throws -> URL {
        let names = folder.names(below: "e")
        try #require(names.count == 1)
        return folder.url.appending(path: "e").appending(path: names[0])
    }

    @Test func writtenEntrySurvivesStore() async throws {
        var entry = Entry(text: "one")
        entry.metadata = Metadata(
            fetchedAt: Timestamp(seconds: 1_700_000_000), validatedAt: Timestamp(seconds: 1_700_000_100), etag: "\"1\"",
            lastModified: "Mon", contentType: "a/b", tags: ["x", "y"], notes: ["a": .number(3), "b": .text("4")],
            spread: 0.5)
        #expect(try await open().write(entry, for: .id("a", scope: "alice")))
        let again = open()
        let found = try #require(try await again.read(.id("a", scope: "alice")))
        #expect(found.entry.text == "one" && found.entry.metadata == entry.metadata)
        #expect(found.tier == "file" && found.isForeign)
        #expect(again.peek(.id("a", scope: "alice")) { _ in true } == nil)
        #expect(try await again.read(.id("a")) == nil)
        let statistics = await again.statistics()
        #expect(statistics.entries == 1 && statistics.hits == 1 && statistics.misses == 1)
    }

    @Test func replacedEntryLeavesNoOtherFiles() async throws {
        let store = open()
        for number in 0..<20 { #expect(try await store.write(Entry(text: "\(number)"), for: .id("a"))) }
        #expect(try await store.read(.id("a"))?.entry.text == "19")
        #expect(folder.names(below: "e").map { $0.hasSuffix(".entry") } == [true])
    }

    @Test func filesAndFoldersAreAccessibleToOwnerOnly() async throws {
        _ = try await open("deep/er").write(Entry(text: "one"), for: .id("a"))
        let manager = FileManager.default
        func mode(_ path: String) throws -> String? {
            let attributes = try manager.attributesOfItem(atPath: folder.url.appending(path: path).path)
            return attributes[.posixPermissions].map { "\($0)" }
        }
        for path in ["deep", "deep/er"] { #expect(try mode(path) == "\(0o700)") }
        for name in folder.names(below: "deep/er") { #expect(try mode("deep/er/" + name) == "\(0o600)") }
    }

    @Test func unfinishedFilesOfEndedProcessAreRemoved() async throws {
        _ = try await open().write(Entry(text: "one"), for: .id("a"))
        let file = try onlyFile()
        try Data("half".utf8).write(to: file.appendingPathExtension("123.tmp"))
        #expect(await open().statistics().entries == 1)
        #expect(folder.names(below: "e") == [file.lastPathComponent])
    }

    @Test func foreignFilesAreKept() async throws {
        let manager = FileManager.default
        for name in ["x.entry", "y.tmp", "z"] {
            try manager.createDirectory(
                at: folder.url.appending(path: "e/\(name)/in"), withIntermediateDirectories: true)
        }
        try Data("mine".utf8).write(to: folder.url.appending(path: "e/notes.txt"))
        let store = open()
        #expect(try await store.write(Entry(text: "one"), for: .id("a")))
        #expect(try await store.read(.id("a"))?.entry.text == "one")
        try await store.remove(.all)
        #expect(
            folder.names(below: "e") == ["notes.txt", "x.entry", "x.entry/in", "y.tmp", "y.tmp/in", "z", "z/in"])
    }

    @Test func damagedFileIsReportedOnceAndRemoved() async throws {
        for damage in [Data(), Data("larder1\n".utf8), Data("something else altogether".utf8)] {
            _ = try await open().write(Entry(text: "one"), for: .id("a"))
            try damage.write(to: try onlyFile())
            let store = open()
            await #expect(throws: StoreError.self) { try await store.read(.id("a")) }
            #expect(folder.names(below: "e") == [])
            #expect(try await store.read(.id("a")) == nil)
            #expect(await store.statistics().entries == 0)
        }
    }

    @Test func truncatedFileIsNeverServed() async throws {
        _ = try await open().write(Entry(text: "a longer payload"), for: .id("a"))
        let file = try onlyFile()
        let whole = try Data(contentsOf: file)
        // Behind the entry there is room for renewed metadata.
        let end = try Entry(text: "a longer payload").encoded(for: .id("a")).count
        for count in [1, 8, 19, 21, end - 17, end - 1] {
            try whole.prefix(count).write(to: file)
            await #expect(throws: StoreError.self) { try await open().read(.id("a")) }
            #expect(folder.names(below: "e") == [])
        }
    }

    @Test func fileOfOtherKeyIsRemovedAndNeverServed() async throws {
        let store = open()
        _ = try await store.write(Entry(text: "Alice's"), for: .id("a", scope: "alice"))
        let alices = try Data(contentsOf: try onlyFile())
        try await store.remove(.all)
        _ = try await store.write(Entry(text: "Bob's"), for: .id("a", scope: "bob"))
        try alices.write(to: try onlyFile())
        #expect(try await store.read(.id("a", scope: "bob")) == nil)
        #expect(folder.names(below: "e") == [])
        #expect(await store.statistics() == StoreStatistics(misses: 1))
    }

    @Test func missingFileIsMiss() async throws {
        let store = open()
        _ = try await store.write(Entry(text: "one"), for: .id("a"))
        try FileManager.default.removeItem(at: try onlyFile())
        #expect(try await store.read(.id("a")) == nil)
        #expect(await store.statistics() == StoreStatistics(misses: 1))
        #expect(try await store.write(Entry(text: "two"), for: .id("a")))
        try FileManager.default.removeItem(at: folder.url.appending(path: "e"))
        #expect(try await store.read(.id("a")) == nil)
    }

    @Test func evictedEntryIsDeletedFromDisk() async throws {
        let text = String(repeating: "x", count: 1_000)
        let store = open(capacity: 4_500)
        for id in ["a", "b", "c"] { #expect(try await store.write(Entry(text: text), for: .id(id))) }
        _ = try await store.read(.id("a"))
        #expect(try await store.write(Entry(text: text), for: .id("d")))
        #expect(try await kept(in: store) == ["a", "c", "d"])
        #expect(folder.names(below: "e").count == 3)
        #expect(await store.statistics().evictions == 1)
    }

    @Test func tooLargeEntryIsNotKeptAndRemovesOlderCopy() async throws {
        let store = open(capacity: 1_000)
        #expect(try await store.write(Entry(text: "small"), for: .id("a")))
        #expect(try await store.write(Entry(text: String(repeating: "x", count: 1_000)), for: .id("a")) == false)
        #expect(folder.names(below: "e") == [])
        #expect(try await store.read(.id("a")) == nil)
    }

    @Test func smallerCapacityAfterRestartEvictsOldest() async throws {
        let start = Timestamp(seconds: 1_700_000_000)
        let store = open()
        for (age, id) in ["c", "a", "b"].enumerated() {
            let entry = Entry(text: String(repeating: "x", count: 1_000), fetchedAt: start - .seconds(age))
            _ = try await store.write(entry, for: .id(id))
        }
        let smaller = open(capacity: 3_000)
        #expect(try await kept(in: smaller) == ["a", "c"])
        #expect(folder.names(below: "e").count == 2)
    }

    /// An eviction that favors the entries it saw first would be wrong here, because no entry was used yet.
    @Test func smallerCapacityAfterRestartKeepsNewestWithEveryEviction() async throws {
        let start = Timestamp(seconds: 1_700_000_000)
        let store = open()
        for age in 0..<20 {
            let entry = Entry(text: String(repeating: "x", count: 1_000), fetchedAt: start - .seconds(age))
            _ = try await store.write(entry, for: .id("\(age)"))
        }
        let smaller = open(capacity: 13_900, eviction: Adaptive())
        for age in 0..<20 { #expect(try await (smaller.read(.id("\(age)")) != nil) == (age < 10)) }
        #expect(await smaller.statistics().entries == 10)
    }

    @Test func filesDeletedByOthersAreNotCountedAfterClearing() async throws {
        let store = open()
        _ = try await store.write(Entry(text: "1"), for: .id("a"))
        try FileManager.default.removeItem(at: try onlyFile())
        try await store.remove(.all)
        let statistics = await store.statistics()
        #expect(statistics.entries == 0 && statistics.bytes == 0)
    }

    private func kept(in store: FileStore) async throws -> [String] {
        var kept: [String] = []
        for id in ["a", "b", "c", "d"] where try await store.read(.id(id)) != nil { kept.append(id) }
        return kept
    }
}
