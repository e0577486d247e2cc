import LarderFoundation
import LarderSimulation
import Synchronization
import Testing

import Larder
@testable import LarderSystem
@testable import LarderCore
@testable import LarderPlugins

/// Several processes with file stores in the same folder.
@Suite struct FileStoreSharingTests {
    /// An eviction that runs an action when an entry is inserted. The files of the entry are then written, and not yet
    /// in place.
    private struct Meddling: Eviction {
        let action: @Sendable () -> Void
        var lru = LRU()

        mutating func inserted(_ place: Int, hash: Int, weight: Int) {
            action()
            lru.inserted(place, hash: hash, weight: weight)
        }
        mutating func used(_ place: Int) { lru.used(place) }
        mutating func changed(_ place: Int, weight: Int) { lru.changed(place, weight: weight) }
        mutating func removed(_ place: Int) { lru.removed(place) }
        mutating func evict() -> Int? { lru.evict() }
    }

    private let folder: Folder
    private let world = SystemWorld(blockingThreads: 2)

    init() throws {
        folder = try Folder()
    }

    private func open(_ eviction: any Eviction = LRU()) -> FileStore {
        FileStore(folder: folder.path, capacity: 10_000_000, eviction: eviction, world: world)
    }

    @Test func processThatListsFolderDeletesNoFilesOfEntryThatAnotherOneIsWriting() async throws {
        let seen = Mutex<[[String]]>([])
        let store = open(
            Meddling { [self] in
                let before = folder.names(below: "")
                #expect(throws: Never.self) { try open().list() }
                seen.withLock { $0 = [before, folder.names(below: "")] }
            })
        let entry = Entry(Data(repeating: 1, count: 200_000), Metadata(fetchedAt: Timestamp(seconds: 1_700_000_000)))
        #expect(try await store.write(entry, for: .id("a")))
        let (before, after) = seen.withLock { ($0[0], $0[1]) }
        #expect(before.count == 2 && after == before, "the payload and the draft of the entry")
        #expect(try await open().read(.id("a"))?.entry.payload.bytes == entry.payload.bytes)
    }

    @Test func payloadOfKilledProcessIsDeletedByNextProcessThatIsAlone() async throws {
        let name = FileStore.name(of: .id("a")).dropLast(".entry".count) + ".0123456789abcdef.payload"
        try folder.write("left", to: String(name))
        try Disk.sharing(folder.path) { try open().list() }
        #expect(folder.names(below: "") == [String(name)])
        try open().list()
        #expect(folder.names(below: "") == [])
    }

    @Test func folderIsSharedByAnyNumberAndByNoneWhileOneIsAlone() throws {
        let path = folder.path
        func isFree() -> Bool { Disk.alone(in: path) {} != nil }
        Disk.sharing(path) {
            Disk.sharing(path) { #expect(!isFree()) }
            #expect(!isFree())
        }
        #expect(Disk.alone(in: path) { isFree() } == false)
        #expect(isFree())
        // A folder that is missing cannot be locked.
        #expect(Disk.alone(in: path + "/missing") { Disk.sharing(path + "/missing") { true } } == true)
    }
}
