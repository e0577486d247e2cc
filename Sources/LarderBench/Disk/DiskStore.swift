import Foundation
import LarderSystem
import Larder
import LarderSimulation
import Synchronization

/// A store of a policy, taken out of its graph, in a folder of its own.
final class DiskStore: Sendable {
    let store: any Store
    private let pantry: Pantry
    let folder: TemporaryFolder
    private let next = Atomic(0)

    /// - Parameters:
    ///   - settings: the store as JSON.
    ///   - folder: the cache folder; nil for a new one.
    init(_ settings: String, in folder: TemporaryFolder? = nil) async throws {
        self.folder = try folder ?? TemporaryFolder()
        let bench = try await BenchPantry(store: settings, cache: self.folder.url)
        (store, pantry) = (bench.store, bench.pantry)
    }

    func close() async { await pantry.close() }

    static func key(_ number: Int) -> Key { Key(resource: "feed", parameters: ["id": "\(number)"]) }

    /// An entry whose bytes differ for each number.
    static func entry(_ number: Int, _ size: Int) -> Entry {
        var bytes = Data(repeating: UInt8(truncatingIfNeeded: number), count: size)
        withUnsafeBytes(of: number) { bytes.replaceSubrange(0..<8, with: $0) }
        return Entry(bytes, Metadata(fetchedAt: Timestamp(seconds: 1_700_000_000)))
    }

    /// Writes new entries, one after the other.
    func put(_ count: Int, _ size: Int) async throws {
        for _ in 0..<count {
            let number = next.add(1, ordering: .relaxed).newValue
            _ = try await store.write(Self.entry(number, size), for: Self.key(number))
        }
    }

    /// Writes new entries from many callers.
    ///
    /// - Returns: how long each write took, in nanoseconds.
    @discardableResult
    func put(_ count: Int, _ size: Int, callers: Int) async throws -> [Double] {
        try await withThrowingTaskGroup(of: [Double].self) { group in
            for caller in 0..<callers {
                let share = count / callers + (caller < count % callers ? 1 : 0)
                group.addTask { [self] () async throws -> [Double] in
                    let clock = SystemWorld()
                    var times: [Double] = []
                    for _ in 0..<share {
                        let start = clock.uptime
                        try await put(1, size)
                        times.append(Double((clock.uptime - start).nanoseconds))
                    }
                    return times
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
    }

    /// Reads entries that were written.
    func get(_ count: Int, of most: Int) async throws {
        for number in 0..<count {
            let number = number * 7_919 % most + 1
            guard try await store.read(Self.key(number)) != nil else { throw StoreError("entry \(number) is missing") }
        }
    }
}
