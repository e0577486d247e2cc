import Foundation
import Larder
import Synchronization
import Testing

/// A process that is killed while a store of another package writes.
@Suite struct KilledStoreTests {
    private static let policy = #"""
        { "resource": "feed", "origin": "numbers", "strategy": "cache-first", "store": "cupboard",
          "validators": [{ "use": "age", "fresh": "1h" }, "checksum"] }
        """#
    private static let least = 100

    /// The folder that the process with this number and the one that it starts use.
    private static func folder(of process: Int32) -> URL {
        FileManager.default.temporaryDirectory.appending(path: "larder-killed-\(process)")
    }

    private static func payload(_ id: Int) -> Data { Data(repeating: UInt8(id % 251), count: 20_000 + id) }

    private static func pantry(in folder: URL) async throws -> Pantry {
        var registry = try Registry.standard.replacing(.cupboard)
        try registry.register(
            .origin("numbers") { (call: Call) in payload(call.request.parameters["id"].flatMap { Int($0) } ?? 0) })
        return try await Pantry(
            policies: ["feed": policy], registry: registry, cache: folder.appending(path: "cache"))
    }

    /// The record of the entries whose writes have returned.
    private final class Record: Sendable {
        private let file: URL
        private let state = Mutex((next: 0, saved: 0))

        init(_ file: URL) throws {
            self.file = file
            try Data().write(to: file)
        }

        func next() -> Int {
            state.withLock { state in
                state.next += 1
                return state.next
            }
        }

        /// Adds an entry, and kills the process if there are enough.
        func add(_ id: Int) throws {
            try state.withLock { state in
                let handle = try FileHandle(forWritingTo: file)
                try handle.seekToEnd()
                try handle.write(contentsOf: Data("\(id)\n".utf8))
                try handle.close()
                state.saved += 1
                if state.saved == least { kill(getpid(), SIGKILL) }
            }
        }
    }

    /// Saves entries in several tasks until the process is killed.
    private static func saveUntilKilled(in folder: URL) async throws {
        let feed = try await pantry(in: folder).resource("feed")
        let record = try Record(folder.appending(path: "record"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    while true {
                        let id = record.next()
                        guard try await feed.load(["id": "\(id)"]).isStored else { return }
                        try record.add(id)
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    private static func served(_ ids: some Sequence<Int>, by pantry: Pantry) async throws -> [Int: Data] {
        var served: [Int: Data] = [:]
        for id in ids {
            do {
                served[id] = try await pantry.resource("feed").load(["id": "\(id)"], mode: .cachedOnly).value
            } catch let error as LoadError where error.code == .notCached {}
        }
        return served
    }

    @Test func everyEntryWhoseWriteHadReturnedIsWholeAfterAKill() async throws {
        let folder = Self.folder(of: getpid())
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        // The process that is killed finds the folder by the number of this one.
        await #expect(processExitsWith: .signal(SIGKILL)) {
            try await Self.saveUntilKilled(in: Self.folder(of: getppid()))
        }
        let record = try String(contentsOf: folder.appending(path: "record"), encoding: .utf8)
        let saved = Set(record.split(separator: "\n").compactMap { Int($0) })
        #expect(saved.count == Self.least)

        let pantry = try await Self.pantry(in: folder)
        let ids = 1...Self.least + 20
        let served = try await Self.served(ids, by: pantry)
        #expect(saved.subtracting(served.keys) == [])
        // An entry whose write had not returned may be there, but only whole.
        for (id, value) in served { #expect(value == Self.payload(id), "entry \(id)") }

        // A part of an entry is not served.
        let entries = folder.appending(path: "cache/feed/cupboard")
        let name = try #require(FileManager.default.contentsOfDirectory(atPath: entries.path).first { $0.count == 129 })
        try FileHandle(forWritingTo: entries.appending(path: name)).truncate(atOffset: 10_000)
        let left = try await Self.served(ids, by: pantry)
        #expect(left.count == served.count - 1 && left.allSatisfy { $1 == Self.payload($0) })
        await pantry.close()
    }
}
