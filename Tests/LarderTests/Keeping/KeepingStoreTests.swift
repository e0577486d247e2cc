import LarderFoundation
import Larder
import LarderSystem
import LarderSimulation
import Testing

/// Stores that cannot keep instances.
@Suite struct KeepingStoreTests {
    /// A store without pins.
    private final class PlainStore: Store {
        private let entries = Locked<[Key: Entry]>([:])

        func read(_ reading: Reading) -> Found? {
            entries.withLock { $0[reading.key] }.map { Found($0, tier: "plain", isForeign: false) }
        }

        func write(_ entry: Entry, for key: Key) -> Bool {
            entries.withLock { $0[key] = entry }
            return true
        }

        func statistics() -> StoreStatistics { StoreStatistics() }

        func remove(_ selection: Selection) {
            entries.withLock { entries in
                if case .key(let key) = selection { entries[key] = nil } else { entries = [:] }
            }
        }
    }

    private static func policy(_ store: String) -> [String: String] {
        ["feed": #"{ "resource": "feed", "origin": "scripted", "strategy": "network-first", "store": "\#(store)" }"#]
    }

    private static func run(
        _ store: String, _ test: @escaping @Sendable (SimulatedPantry) async throws -> Void
    ) throws {
        let plain = Plugin.store("plain", "Has no pins.") { _ in PlainStore() }
        try SimulatedPantry.run(policy(store), plugins: [plain], test)
    }

    @Test(arguments: ["plain", "none"]) func storeWithoutPinsIsAnError(_ store: String) throws {
        try Self.run(store) { simulated in
            let error = await failure { try await simulated.resource.keep([["id": "1"]]) }
            #expect(error?.message.hasPrefix("the store cannot pin copies") == true)
            let kept = try await simulated.resource.kept()
            #expect(kept.isEmpty && simulated.origin.calls.isEmpty)
            try await simulated.resource.unkeep([["id": "1"]])
        }
    }

    @Test(arguments: ["plain", "none"]) func listIsNotFetchedIntoAStoreWithoutPins(_ store: String) throws {
        try Self.run("memory") { simulated in
            await (try await simulated.resource.keep([["id": "1"], ["id": "2"]])).finished()
            try await simulated.pantry.replace(policies: Self.policy(store))
            try await simulated.world.sleep(for: .seconds(60))
            #expect(simulated.origin.calls.count == 2)
            #expect(try await simulated.resource.kept().count == 2)
            try await simulated.resource.unkeep([["id": "1"]])
            try await simulated.pantry.replace(policies: Self.policy("memory"))
            try await simulated.world.sleep(for: .seconds(60))
            #expect(simulated.origin.calls.map { $0.request.parameters["id"] } == ["1", "2", "2"])
        }
    }
}
