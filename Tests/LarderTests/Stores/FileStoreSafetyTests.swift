import Foundation
import LarderSimulation
import Testing

import Larder
@testable import LarderSystem
@testable import LarderCore
@testable import LarderPlugins

@Suite struct FileStoreSafetyTests {
    private let folder: Folder
    private let world = SystemWorld(blockingThreads: 2)

    init() throws {
        folder = try Folder()
    }

    private func open(_ path: String = "e", maxAge: Duration = .forever, _ world: (any World)? = nil) -> FileStore {
        FileStore(
            folder: path.hasPrefix("/") ? path : folder.url.appending(path: path).path, capacity: 1_000_000,
            maxAge: maxAge, eviction: LRU(), world: world ?? self.world)
    }

    @Test func deletedFolderIsMadeAgain() async throws {
        let store = open()
        _ = try await store.write(Entry(Data("one".utf8)), for: .id("a"))
        try FileManager.default.removeItem(at: folder.url.appending(path: "e"))
        #expect(try await store.read(.id("a")) == nil)
        #expect(try await store.write(Entry(Data("two".utf8)), for: .id("a")))
        #expect(try await store.read(.id("a"))?.entry.payload.bytes == Data("two".utf8))
    }

    @Test func entryIsKeptUntilMaxAge() throws {
        try SimulatedWorld().run { [self] world in
            let store = open(maxAge: .seconds(60), world)
            func write(_ metadata: Metadata) async throws {
                _ = try await store.write(Entry(Data("one".utf8), metadata), for: .id("a"))
            }
            try await write(Metadata(fetchedAt: world.now))
            try await world.sleep(for: .seconds(60) - .nanoseconds(1))
            #expect(try await store.read(.id("a")) != nil)
            #expect(try await open(maxAge: .seconds(60), world).read(.id("a")) != nil)
            try await world.sleep(for: .nanoseconds(1))
            #expect(await open(maxAge: .seconds(60), world).statistics().entries == 0)
            #expect(try await store.read(.id("a")) == nil)
            #expect(folder.names(below: "e") == [])

            try await write(Metadata(fetchedAt: world.now - .seconds(100), validatedAt: world.now - .seconds(59)))
            #expect(try await store.read(.id("a")) != nil)
            try await world.sleep(for: .seconds(1))
            #expect(try await store.read(.id("a")) == nil)
            #expect(folder.names(below: "e") == [])
        }
    }

    @Test func clearingDeletesFilesOfSelectedEntries() async throws {
        let keys: [Key] = [
            .id("a"), .id("b"), .id("a", scope: "alice"), .id("a", scope: ""), .id("a", scope: "nobody"),
        ]
        func left(after selection: Selection, reopening: Bool) async throws -> [Int] {
            var store = open()
            for key in keys { _ = try await store.write(Entry(text: "one"), for: key) }
            if reopening { store = open() }
            try await store.remove(selection)
            var left: [Int] = []
            for (index, key) in keys.enumerated() where try await store.read(key) != nil { left.append(index) }
            #expect(folder.names(below: "e").count == left.count)
            return left
        }
        for reopening in [false, true] {
            #expect(try await left(after: .key(keys[0]), reopening: reopening) == [1, 2, 3, 4])
            #expect(try await left(after: .scope(nil), reopening: reopening) == [2, 3, 4])
            #expect(try await left(after: .scope("alice"), reopening: reopening) == [0, 1, 3, 4])
            #expect(try await left(after: .scope(""), reopening: reopening) == [0, 1, 2, 4])
            #expect(try await left(after: .all, reopening: reopening) == [])
        }
    }

    @Test func clearingDeletesOtherFilesIfOneCannotBeDeleted() async throws {
        let store = open()
        for number in 0..<20 { _ = try await store.write(Entry(text: "one"), for: .id("\(number)", scope: "alice")) }
        // `unlink` fails for a folder.
        let name = try #require(folder.names(below: "e").first)
        let file = folder.url.appending(path: "e/\(name)")
        try FileManager.default.removeItem(at: file)
        try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
        try? await store.remove(.scope("alice"))
        #expect(folder.names(below: "e") == [name])
    }

    @Test func clearingDeletesFilesThatOtherStoreWrote() async throws {
        let store = open()
        _ = try await store.write(Entry(text: "one"), for: .id("a"))
        _ = try await open().write(Entry(text: "two"), for: .id("b"))
        try await store.remove(.all)
        #expect(folder.names(below: "e") == [])
    }

    /// A path of the system's largest length leaves no room for the temporary name of the file.
    @Test func failedWriteKeepsOlderCopy() async throws {
        let limit = 4_095
        let name = "nobody-".utf8.count + 64 + ".entry".utf8.count
        var path = folder.url.path
        while path.utf8.count < limit - 1 - name {
            let room = limit - 1 - name - path.utf8.count - 1
            path += "/" + String(repeating: "d", count: room > 250 ? 200 : room)
        }
        try #require(path.utf8.count + 1 + name == limit)
        try Disk.makeFolder(path)
        let short = folder.url.appending(path: "short")
        try FileManager.default.createSymbolicLink(atPath: short.path, withDestinationPath: path)
        _ = try await open("short").write(Entry(text: "older"), for: .id("a"))

        let store = open(path)
        #expect(try await store.read(.id("a"))?.entry.text == "older")
        await #expect(throws: StoreError.self) { try await store.write(Entry(text: "newer"), for: .id("a")) }
        #expect(try await store.read(.id("a"))?.entry.text == "older")
        #expect(try await open("short").read(.id("a"))?.entry.text == "older")
        let statistics = await store.statistics()
        #expect(try statistics.entries == 1 && statistics.bytes == Data(contentsOf: onlyFile(in: short)).count)
    }

    private func onlyFile(in folder: URL) throws -> URL {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        try #require(names.count == 1)
        return folder.appending(path: names[0])
    }

    // MARK: Expired entries

    @Test func expiredEntrySurvivesRestartUntilReplaced() async throws {
        let entry = Entry(text: "older")
        _ = try await open().write(entry, for: .id("a"))
        _ = try await open().write(entry, for: .id("b"))
        let file = try Data(contentsOf: folder.url.appending(path: "e/" + folder.names(below: "e")[0]))
        try await open().expire(.key(.id("a")))
        try await open().expire(.key(.id("none")))
        var expired = entry.metadata
        expired.isExpired = true
        for store in [open(), open()] {
            #expect(try await store.read(.id("a"))?.entry.metadata == expired)
            #expect(try await store.read(.id("b"))?.entry.metadata == entry.metadata)
        }
        // The file itself is not written, so it cannot be incomplete.
        #expect(try Data(contentsOf: folder.url.appending(path: "e/" + folder.names(below: "e")[0])) == file)
        let store = open()
        _ = try await store.write(Entry(text: "newer"), for: .id("a"))
        #expect(try await store.read(.id("a"))?.entry.metadata.isExpired == false)
        try await store.expire(.key(.id("a")))
        try await store.remove(.key(.id("a")))
        #expect(folder.names(below: "e").count == 1)
    }

    @Test func damageOfExpiredEntryIsNoticed() async throws {
        _ = try await open().write(Entry(text: "older"), for: .id("a"))
        let file = try onlyFile(in: folder.url.appending(path: "e"))
        var bytes = try Data(contentsOf: file)
        bytes[30] ^= 1
        try bytes.write(to: file)
        try await open().expire(.key(.id("a")))
        let store = open()
        await #expect(throws: StoreError.self) { try await store.read(.id("a")) }
        #expect(folder.names(below: "e") == [])
    }

    @Test func entryWrittenAsExpiredStaysExpired() async throws {
        var entry = Entry(text: "older")
        entry.metadata.isExpired = true
        _ = try await open().write(entry, for: .id("a"))
        #expect(try await open().read(.id("a"))?.entry.metadata == entry.metadata)
    }

    // MARK: What others put there

    @Test func folderWithNameOfEntryDoesNotPreventWrite() async throws {
        for isEmpty in [true, false] {
            let store = open()
            _ = try await store.write(Entry(text: "one"), for: .id("a"))
            let file = try #require(folder.names(below: "e").first { $0.hasSuffix(".entry") })
            let planted = folder.url.appending(path: "e/" + file)
            try FileManager.default.removeItem(at: planted)
            try FileManager.default.createDirectory(at: planted, withIntermediateDirectories: false)
            if !isEmpty { try Data("theirs".utf8).write(to: planted.appending(path: "in")) }
            #expect(try await store.read(.id("a")) == nil)
            try await store.expire(.key(.id("a")))
            try await store.remove(.key(.id("a")))
            #expect(try await store.write(Entry(text: "two"), for: .id("a")))
            #expect(try await open().read(.id("a"))?.entry.text == "two")
            // Foreign files are renamed.
            let aside = folder.names(below: "e").filter { $0.hasSuffix(".aside") }
            #expect(aside.count == (isEmpty ? 1 : 2))
            try await store.remove(.all)
        }
    }

    @Test func linkedFolderIsUsedAndKeepsForeignFiles() async throws {
        let theirs = folder.url.appending(path: "theirs")
        try FileManager.default.createDirectory(at: theirs, withIntermediateDirectories: true)
        let foreign = [
            "work.tmp", "x.entry", "x.entry.1.tmp", "letter.123.tmp", String(repeating: "a", count: 64) + ".entry",
            "nobody-" + String(repeating: "g", count: 64) + ".entry", "nobody-1.entry.7.tmp",
        ]
        for name in foreign { try Data("theirs".utf8).write(to: theirs.appending(path: name)) }
        let own = "nobody-" + String(repeating: "a", count: 64) + ".entry.4294967295.tmp"
        try Data("half".utf8).write(to: theirs.appending(path: own))
        try FileManager.default.createSymbolicLink(
            atPath: folder.url.appending(path: "e").path, withDestinationPath: theirs.path)
        let store = open()
        #expect(try await store.write(Entry(text: "one"), for: .id("a", scope: "alice")))
        #expect(try await open().read(.id("a", scope: "alice"))?.entry.text == "one")
        #expect(folder.names(below: "theirs").count == foreign.count + 1)
        try await open().remove(.all)
        #expect(folder.names(below: "theirs") == foreign.sorted())
    }

    @Test func interruptedReadIsRepeated() {
        var results = [-1, -1, 5]
        #expect(
            Disk.uninterrupted {
                errno = EINTR
                return results.removeFirst()
            } == 5)
        var calls = 0
        #expect(
            Disk.uninterrupted {
                calls += 1
                errno = EIO
                return -1
            } == -1)
        #expect(calls == 1)
    }

    @Test func digestOfKeyIsStableAndNamesFile() async throws {
        let key = Key(resource: "feed", scope: "alice", parameters: ["id": "42"])
        #expect(key.digest == "dc8128e54c7a7fbf0409f0fbc90d7a8329ebf429f44a44222c8a61b0b28def1c")
        _ = try await open().write(Entry(text: "one"), for: key)
        #expect(folder.names(below: "e").first?.hasSuffix("-\(key.digest).entry") == true)
    }

    @Test func storeWithoutFolderThrows() async throws {
        try folder.write("a file", to: "e")
        let store = open()
        await #expect(throws: StoreError.self) { try await store.read(.id("a")) }
        await #expect(throws: StoreError.self) { try await store.write(Entry(text: "one"), for: .id("a")) }
        await #expect(throws: StoreError.self) { try await store.remove(.all) }
        #expect(await store.statistics() == StoreStatistics())
        // The store works once the folder can be made.
        try FileManager.default.removeItem(at: folder.url.appending(path: "e"))
        #expect(try await store.write(Entry(text: "one"), for: .id("a")))
    }

    @Test func hostileKeysStayInsideTheFolder() async throws {
        let hostile = [
            "../../x", "/etc/passwd", "..", ".", "", "a/b", "a\0b", "a\nb", "~", "%2e%2e%2f", "CON", "ä😀",
            String(repeating: "x", count: 10_000), String(repeating: "../", count: 3_000), "x.tmp", "-rf", "*",
        ]
        let store = open("deep/e")
        var keys: [Key] = hostile.map { .id($0) } + hostile.map { .id("a", scope: $0) }
        keys += hostile.map { Key(resource: $0) } + hostile.map { Key(resource: "feed", parameters: [$0: "a"]) }
        for (number, key) in keys.enumerated() {
            #expect(try await store.write(Entry(text: "\(number)"), for: key))
        }
        for (number, key) in keys.enumerated() {
            #expect(try await store.read(key)?.entry.text == "\(number)")
        }
        #expect(folder.names(below: "").filter { !$0.hasPrefix("deep/e/") } == ["deep", "deep/e"])
        let names = folder.names(below: "deep/e")
        #expect(names.count == keys.count)
        let plain = Set("0123456789abcdef".utf8)
        #expect(
            names.allSatisfy { $0.hasSuffix(".entry") && $0.dropLast(6).suffix(64).utf8.allSatisfy(plain.contains) })
    }

    @Test func differentKeysHaveDifferentFiles() async throws {
        let keys = [
            Key(resource: "a", scope: "b"), Key(resource: "a@b"), Key(resource: "a", scope: "b@c"),
            Key(resource: "a@b", scope: "c"), Key(resource: "a", scope: nil), Key(resource: "a", scope: ""),
            Key(resource: "a", parameters: ["b": "c&d=e"]), Key(resource: "a", parameters: ["b": "c", "d": "e"]),
            Key(resource: "a", parameters: ["b=c": ""]), Key(resource: "a", parameters: ["b": "=c"]),
            Key(resource: "a", parameters: ["": ""]), Key(resource: "a?b=c"),
            Key(resource: "a", parameters: ["b": "c"]),
            Key(resource: "a", scope: "b?c=d"), Key(resource: "a", scope: "b", parameters: ["c": "d"]),
            Key(resource: "a%40b"), Key(resource: "a%2540b"), Key(resource: "a", scope: "%"),
            // These texts are equal as Swift strings, but not for a server.
            Key(resource: "a", scope: "\u{E9}"), Key(resource: "a", scope: "e\u{301}"),
        ]
        #expect(Set(keys).count == keys.count && Set(keys.map(\.text)).count == keys.count)
        let files = open()
        let memory = MemoryStore(capacity: 1_000_000, eviction: LRU(), world: SimulatedWorld())
        for (number, key) in keys.enumerated() {
            _ = try await files.write(Entry(text: "\(number)"), for: key)
            _ = memory.write(Entry(text: "\(number)"), for: key)
        }
        for (number, key) in keys.enumerated() {
            #expect(try await files.read(key)?.entry.text == "\(number)")
            #expect(memory.read(Reading(key))?.entry.text == "\(number)")
        }
        memory.remove(.scope("\u{E9}"))
        try await files.remove(.scope("\u{E9}"))
        #expect(memory.read(Reading(keys[18])) == nil && memory.read(Reading(keys[19])) != nil)
        #expect(try await files.read(keys[18]) == nil)
        #expect(try await files.read(keys[19]) != nil)
        let one = Key(resource: "a", parameters: ["b": "c", "d": "e"])
        #expect(one == Key(resource: "a", parameters: ["d": "e", "b": "c"]) && one.description == "a \(one.digest)")
    }
}
