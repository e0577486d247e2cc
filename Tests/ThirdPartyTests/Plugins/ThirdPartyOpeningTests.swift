import Larder
import LarderSimulation
import Synchronization
import Testing

/// A store without package access can say that it is not open yet, and can hand out a subscription.
@Suite struct ThirdPartyOpeningTests {
    /// A store on another machine, to which it still connects.
    fileprivate struct Remote: Store {
        func read(_ reading: Reading) async throws -> Found? { throw StoreError.notOpen("remote") }
        func write(_ entry: Entry, for key: Key) async throws -> Bool { throw StoreError.notOpen("remote") }
        func remove(_ selection: Selection) async throws {}
        func statistics() async -> StoreStatistics { StoreStatistics() }
    }

    @Test func loadAsksOriginWhileStoreIsNotOpenAndCountsNoFault() throws {
        try SimulatedWorld().run { world in
            let remote = Plugin.store("remote", "Keeps entries on another machine.") { _ in Remote() }
            let origin = ScriptedOrigin(then: .value("new"), world: world)
            var registry = Registry.standard
            try registry.register(remote)
            try registry.register(origin.plugin("scripted"))
            let folder = try TemporaryFolder()
            try folder.write(
                #"{ "resource": "feed", "origin": "scripted", "strategy": "cache-first", "store": "remote" }"#,
                to: "feed.json")
            let pantry = try await Pantry(policies: folder.url, registry: registry, cache: folder.url, world: world)
            let loaded = try await pantry.resource("feed").load()
            #expect(loaded.source == .origin && !loaded.isStored)
            #expect(loaded.trail.steps.contains { $0.event.kind == .storeNotOpen }, "\(loaded.trail)")
            #expect(pantry.resource("feed").metrics.faults.isEmpty)
        }
    }

    @Test func ownSubscriptionEndsOnce() {
        let count = Counted()
        do {
            let subscription = Subscription { count.add() }
            subscription.stop()
            subscription.stop()
        }
        #expect(count.value == 1)
        do { _ = Subscription { count.add() } }
        #expect(count.value == 2)
    }

    private final class Counted: Sendable {
        private let state = Mutex(0)
        var value: Int { state.withLock { $0 } }
        func add() { state.withLock { $0 += 1 } }
    }
}
