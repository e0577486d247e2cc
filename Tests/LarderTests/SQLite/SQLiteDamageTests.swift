import Foundation
import LarderSimulation
import Testing

import Larder
@testable import LarderSystem
@testable import LarderCore
@testable import LarderPlugins

/// Damages the files of a database at random, and checks that no wrong entry is ever found.
@Suite struct SQLiteDamageTests {
    private static let isSlow = ProcessInfo.processInfo.environment["LARDER_SLOW"] != nil
    private let keys: [Key] = (0..<40).map { .id("\($0)", scope: ["alice", "bob", nil][$0 % 3]) }

    private func entry(_ number: Int) -> Entry {
        let text = String(repeating: "\(number) ", count: number % 7 == 0 ? 4_000 : number * 3)
        return Entry(
            Data(text.utf8), Metadata(fetchedAt: Timestamp(seconds: 1_700_000_000), tags: ["tag \(number % 5)"]))
    }

    /// Makes the files, closed or as a killed process leaves them. Those of account `bob` are cleared.
    private func files(of place: SQLiteFixture, closed isClosed: Bool) async throws -> [String: Data] {
        let store = place.open { $0.smallestFile = 4_000 }
        for (number, key) in keys.enumerated() { _ = try await store.write(entry(number), for: key) }
        try await store.expire(.tag("tag 1"))
        try await store.remove(.scope("bob"))
        _ = try await store.write(entry(1), for: keys[0])
        _ = try await store.write(entry(0), for: keys[0])
        if isClosed { await store.close() }
        var files: [String: Data] = [:]
        for name in place.folder.names(below: "e") where !name.contains("users") && !name.hasSuffix("-lock") {
            files[name] = try Data(contentsOf: URL(filePath: place.path + "/" + name))
        }
        return files
    }

    private func check(_ files: [String: Data], in place: SQLiteFixture, _ what: String) async throws {
        try? FileManager.default.removeItem(atPath: place.path)
        try FileManager.default.createDirectory(atPath: place.path, withIntermediateDirectories: true)
        for (name, bytes) in files { try bytes.write(to: URL(filePath: place.path + "/" + name)) }
        let store = place.open { $0.smallestFile = 4_000 }
        for (number, key) in keys.enumerated() {
            do {
                guard let found = try await store.read(key) else { continue }
                #expect(key.scope != "bob", "\(what): an entry of a cleared account")
                // Damage of the log may lose the last changes, so that the entry before is found again.
                let isOlder = number == 0 && found.entry.payload.bytes == entry(1).payload.bytes
                var expected = entry(isOlder ? 1 : number)
                expected.metadata.isExpired = number % 5 == 1
                #expect(found.entry.payload.bytes == expected.payload.bytes, "\(what): wrong bytes")
                #expect(found.entry.metadata == expected.metadata, "\(what): wrong metadata")
            } catch let failure as StoreError where failure.isDamaged {
                try? await store.remove(.key(key))
                #expect(try await store.read(key) == nil, "\(what): damaged after its removal")
            } catch {}
        }
        // The store goes on.
        #expect(try await store.write(entry(1), for: keys[1]), "\(what)")
        #expect(try await store.read(keys[1])?.entry.payload.bytes == entry(1).payload.bytes, "\(what)")
        await store.close()
    }

    @Test(arguments: [false, true]) func flippedBitIsNoticedOrHarmless(isClosed: Bool) throws {
        try SimulatedWorld().run { world in
            let place = try SQLiteFixture(in: world, inMemory: true)
            let files = try await files(of: place, closed: isClosed)
            var dice = SeededGenerator(seed: 7)
            let names = files.keys.sorted()
            for _ in 0..<(Self.isSlow ? 5_000 : 150) {
                let name = names[Int(dice.next() % UInt64(names.count))]
                guard var bytes = files[name], !bytes.isEmpty else { continue }
                let (index, bit) = (Int(dice.next() % UInt64(bytes.count)), Int(dice.next() % 8))
                bytes[index] ^= 1 << UInt8(bit)
                var damaged = files
                damaged[name] = bytes
                try await check(damaged, in: place, "bit \(bit) of byte \(index) of \(name)")
            }
        }
    }

    @Test(arguments: [false, true]) func truncatedFileIsNoticedOrHarmless(isClosed: Bool) throws {
        try SimulatedWorld().run { world in
            let place = try SQLiteFixture(in: world, inMemory: true)
            let files = try await files(of: place, closed: isClosed)
            var dice = SeededGenerator(seed: 8)
            let names = files.keys.sorted()
            for _ in 0..<(Self.isSlow ? 500 : 30) {
                let name = names[Int(dice.next() % UInt64(names.count))]
                guard let bytes = files[name], !bytes.isEmpty else { continue }
                var damaged = files
                damaged[name] = bytes.prefix(Int(dice.next() % UInt64(bytes.count)))
                try await check(damaged, in: place, "\(name) cut to \(damaged[name]?.count ?? 0) bytes")
            }
        }
    }
}
