import Foundation
import Larder
import LarderSimulation
import Synchronization
import Testing

/// A store of another package that gives its writes up after a second, while they go on for ten.
private final class ImpatientStore: Store {
    private let world: any World
    private let entries = Mutex<[Key: Entry]>([:])
    private let isSlow = Mutex(true)

    init(world: any World) {
        self.world = world
    }

    var texts: [String] {
        entries.withLock { $0.values.map { String(decoding: $0.payload.bytes, as: UTF8.self) } }
    }

    func hurry() { isSlow.withLock { $0 = false } }

    func read(_ reading: Reading) async throws -> Found? {
        entries.withLock { $0[reading.key] }.map { Found($0, tier: "impatient", isForeign: true) }
    }

    func write(_ entry: Entry, for key: Key) async throws -> Bool {
        guard isSlow.withLock({ $0 }) else {
            entries.withLock { $0[key] = entry }
            return true
        }
        let operation = UnfinishedOperation()
        world.spawn { [self] in
            try? await world.sleep(for: .seconds(10))
            entries.withLock { $0[key] = entry }
            operation.end()
        }
        try await world.sleep(for: .seconds(1))
        var failure = StoreError("no answer within 1s")
        failure.unfinished = [operation]
        throw failure
    }

    func remove(_ selection: Selection) async throws {
        entries.withLock { entries in
            entries = entries.filter { !selection.contains($0.key, $0.value) }
        }
    }

    func statistics() async -> StoreStatistics { StoreStatistics() }
}

@Suite struct ImpatientStoreTests {
    private static func run(
        _ test: @escaping @Sendable (SimulatedPantry, @Sendable () -> ImpatientStore?) async throws -> Void
    ) throws {
        let made = Made()
        let plugin = Plugin.store("impatient", "Gives writes up.") { context in
            made.set(ImpatientStore(world: context.world))
        }
        let feed = #"""
            { "resource": "feed", "origin": "scripted", "strategy": "network-first", "store": "impatient" }
            """#
        try SimulatedPantry.run(["feed": feed], plugins: [plugin]) { try await test($0) { made.store } }
    }

    private final class Made: Sendable {
        private let last = Mutex<ImpatientStore?>(nil)

        var store: ImpatientStore? { last.withLock { $0 } }

        func set(_ store: ImpatientStore) -> ImpatientStore {
            last.withLock { $0 = store }
            return store
        }
    }

    @Test func writeThatWasGivenUpDoesNotOverwriteANewerEntry() throws {
        try Self.run { simulated, store in
            simulated.origin.play(.value("old"), .value("new"))
            #expect(try await !simulated.resource.load().isStored)
            store()?.hurry()
            _ = try await simulated.resource.load()
            try await simulated.world.sleep(for: .seconds(60))
            #expect(store()?.texts == ["new"])
        }
    }

    @Test func writeThatWasGivenUpDoesNotUndoAClearing() throws {
        try Self.run { simulated, store in
            _ = try await simulated.resource.load()
            try await simulated.pantry.clear()
            #expect(simulated.world.uptime >= .seconds(10))
            try await simulated.world.sleep(for: .seconds(60))
            #expect(store()?.texts == [])
        }
    }
}
