import Larder
import LarderSimulation
import Testing

@testable import LarderCore

/// Stores around another one that each forget to forward one method. The suite catches each by the method's name.
@Suite struct WrongWrappingStoreTests {
    private struct ForgetsUse: WrappingStore {
        let wrapped: any Store
        func use(_ key: Key, if accept: (Entry) -> Bool) -> Bool { false }
    }

    private struct ForgetsJudge: WrappingStore {
        let wrapped: any Store
        func read(_ reading: Reading) async throws -> Found? {
            try await wrapped.read(Reading(reading.key, needsPayload: reading.needsPayload))
        }
    }

    private struct ReadsPayloads: WrappingStore {
        let wrapped: any Store
        func read(_ reading: Reading) async throws -> Found? {
            try await reading.needsPayload ? wrapped.read(reading) : wrapped.read(reading.key)
        }
    }

    private struct ForgetsRenew: WrappingStore {
        let wrapped: any Store
        func renew(_ entry: Entry, for key: Key) async throws -> Bool { try await write(entry, for: key) }
    }

    private struct ForgetsExpire: WrappingStore {
        let wrapped: any Store
        func expire(_ selection: Selection) async throws {
            for entry in try await list(after: nil, most: 1_000).entries {
                guard let key = entry.key, var found = try await read(key)?.entry else { continue }
                found.metadata.isExpired = true
                _ = try await write(found, for: key)
            }
        }
    }

    private struct ForgetsList: WrappingStore {
        let wrapped: any Store
        func list(after cursor: StoreCursor?, most count: Int) async throws -> StorePage {
            throw StoreError.unsupported("the store cannot list its entries")
        }
    }

    private struct ForgetsPins: WrappingStore {
        let wrapped: any Store
        func setPinned(_ isPinned: Bool, for key: Key) async throws -> Bool {
            throw StoreError.unsupported("the store cannot pin entries")
        }
    }

    private struct ForgetsRelieve: WrappingStore {
        let wrapped: any Store
        func relieve() {}
    }

    private struct ForgetsChanges: WrappingStore {
        let wrapped: any Store
        var changes: AsyncStream<StoreChange>? { nil }
    }

    private struct ForgetsClose: WrappingStore {
        let wrapped: any Store
        func close() async {}
    }

    private struct Plain: WrappingStore {
        let wrapped: any Store
    }

    private static func plugin(_ make: @escaping @Sendable (any Store) -> any Store) -> Plugin {
        .store("wrong", "Wrong.", Setting("store", .part(.store), help: "The store that is wrapped")) { context, part in
            make(try part.store(in: context))
        }
    }

    private static let stores: [(String, Plugin)] = [
        ("use", plugin { ForgetsUse(wrapped: $0) }),
        ("read's judge", plugin { ForgetsJudge(wrapped: $0) }),
        ("read's needsPayload", plugin { ReadsPayloads(wrapped: $0) }), ("renew", plugin { ForgetsRenew(wrapped: $0) }),
        ("expire", plugin { ForgetsExpire(wrapped: $0) }),
        ("list", plugin { ForgetsList(wrapped: $0) }), ("setPinned", plugin { ForgetsPins(wrapped: $0) }),
        ("relieve", plugin { ForgetsRelieve(wrapped: $0) }),
        ("changes", plugin { ForgetsChanges(wrapped: $0) }), ("close", plugin { ForgetsClose(wrapped: $0) }),
    ]

    @Test(arguments: stores) func forgottenMethodIsNamed(_ method: String, _ plugin: Plugin) {
        let broken = StoreConformance(plugin, ["store": "memory"]).brokenPromises()
        let got = broken.first { $0.promise == .forwards }?.got
        #expect(got == "a store that forgets to forward '\(method)'", "\(broken)")
    }

    @Test func storeThatForwardsEveryCallPassesConformance() {
        let plugin = Self.plugin { Plain(wrapped: $0) }
        for inner: JSON in ["memory", ["use": "tiered", "tiers": ["memory", "file"]]] {
            #expect(StoreConformance(plugin, ["store": inner]).brokenPromises() == [])
        }
    }

    @Test func faultyStoreBeforeAnotherForwardsEveryCall() throws {
        let plugin = FaultyStore(isForeign: false, world: SystemWorld()).plugin(keepingIn: "store")
        let broken = StoreConformance(plugin, ["store": "memory"]).brokenPromises()
        #expect(!broken.contains { $0.promise == .forwards }, "\(broken)")
    }

    @Test func limitedAndGatedStoresForwardEveryCall() throws {
        try SimulatedWorld().run { world in
            let inner = RecordingStore()
            let limited = LimitedStore(inner, limit: .seconds(1), name: "inner", world: world)
            let limitedForgets = try await inner.callsForgotten(by: limited)
            #expect(limitedForgets == [])
            let gated = GatedStore(inner, after: [], world: world) { _ in }
            let gatedForgets = try await inner.callsForgotten(by: gated)
            #expect(gatedForgets == [])
        }
    }
}
