import LarderFoundation
import LarderSimulation
import Testing

import Larder
@testable import LarderCore

/// The time for which clearings are waited for.
@Suite struct ClearingLimitTests {
    private static let reason = "no answer within 30 s; the removal goes on, and these copies are not shown"

    /// Runs a test of `feed` and `images`, whose stores are `faulty` and `second`.
    private static func run(
        _ settings: String = "",
        _ body:
            @escaping @Sendable (SimulatedWorld, (feed: FaultyStore, images: FaultyStore), CacheFixture) async throws
            -> Void
    ) throws {
        try SimulatedWorld().run { world in
            let stores = (feed: FaultyStore(world: world), images: FaultyStore("second", world: world))
            let fixture = try CacheFixture(
                world, plugins: [stores.feed.plugin(keepingIn: "in"), stores.images.plugin(keepingIn: "in")])
            try fixture.write("feed", store: #"{ "use": "faulty", "in": "file"\#(settings) }"#)
            try fixture.write("images", store: #"{ "use": "second", "in": "file"\#(settings) }"#)
            try await body(world, stores, fixture)
        }
    }

    private static func filled(_ fixture: CacheFixture) async throws -> Pantry {
        let pantry = try await fixture.open()
        for name in ["feed", "images"] { try await fixture.fill(pantry, name) }
        return pantry
    }

    @Test func resourcesAreClearedAtTheSameTime() throws {
        try Self.run { world, stores, fixture in
            let pantry = try await Self.filled(fixture)
            for store in [stores.feed, stores.images] { store.play(.takes(.seconds(20)), for: .remove) }
            try await pantry.clear(.scope("alice"))
            #expect(world.uptime == .seconds(20) && fixture.traces == [] && fixture.clearings == [])
        }
    }

    @Test func failuresAreNamedInTheOrderOfResources() throws {
        try Self.run { _, stores, fixture in
            let pantry = try await Self.filled(fixture)
            for store in [stores.feed, stores.images] { store.play(.fails, for: .remove) }
            let error = await #expect(throws: LoadError.self) { try await pantry.clear(.scope("alice")) }
            let message = error?.message ?? ""
            #expect(message.hasPrefix("not cleared: feed (") && message.contains("), images ("), "\(message)")
        }
    }

    @Test func writeThatWasGivenUpDelaysClearingForThirtySeconds() throws {
        try Self.run(#", "limit": "1s""#) { world, stores, fixture in
            let pantry = try await Self.filled(fixture)
            stores.feed.play(.takes(.seconds(600)), for: .write)
            let loaded = try await pantry.resource("feed").load(scope: "alice", mode: .refresh)
            #expect(!loaded.isStored && world.uptime < .seconds(5))
            let start = world.uptime
            let error = await #expect(throws: LoadError.self) { try await pantry.clear(.scope("alice")) }
            #expect(world.uptime - start == .seconds(30))
            #expect(
                error?.message
                    == "not cleared yet: feed (no answer within 30 s); the removal goes on, and these copies are not shown"
            )
            #expect(pantry.cacheProblems.map(\.description) == ["feed: a clearing is not finished: \(Self.reason)"])
            #expect(try await !fixture.isServed("alice", by: pantry))
            #expect(try await !fixture.isServed("alice", by: pantry, "images"))
            // The write ends, and then the removal.
            try await world.sleep(for: .seconds(600))
            try await world.settle()
            #expect(pantry.cacheProblems.isEmpty && fixture.traces == [] && fixture.clearings == [])
            #expect(try await fixture.isServed("bob", by: pantry))
            #expect(try await pantry.resource("feed").load(scope: "alice").isStored)
        }
    }

    @Test func startWaitsThirtySecondsForRemovalOfStoreWithoutLimit() throws {
        try Self.run { world, stores, fixture in
            func begin() async throws {
                let pantry = try await Self.filled(fixture)
                #expect(try pantry.composer.places.begin(Clearing(.scope("alice"))))
            }
            try await begin()
            for store in [stores.feed, stores.images] { store.play(.takes(.seconds(600)), for: .remove) }
            let pantry = try await fixture.open()
            #expect(world.uptime == .seconds(30))
            #expect(
                pantry.cacheProblems.map(\.description) == [
                    "feed: a clearing is not finished: \(Self.reason)",
                    "images: a clearing is not finished: \(Self.reason)",
                ])
            // Loads do not wait for the removal, and the store answers nothing before it has ended.
            #expect(try await !fixture.isServed("alice", by: pantry))
            #expect(try await !pantry.resource("feed").load(scope: "bob").isStored)
            #expect(world.uptime == .seconds(30))
            try await world.sleep(for: .seconds(600))
            try await world.settle()
            #expect(pantry.cacheProblems.isEmpty && fixture.traces == [] && fixture.clearings == [])
            #expect(try await fixture.isServed("bob", by: pantry))
        }
    }

    @Test func reloadWaitsThirtySecondsForRemovalOfStoreWithoutLimit() throws {
        try Self.run { world, stores, fixture in
            let pantry = try await Self.filled(fixture)
            #expect(try pantry.composer.places.begin(Clearing(.scope("alice"))))
            stores.feed.play(.takes(.seconds(600)), for: .remove)
            try await pantry.reload()
            #expect(world.uptime == .seconds(30))
            #expect(pantry.cacheProblems.map(\.description) == ["feed: a clearing is not finished: \(Self.reason)"])
            #expect(try await !fixture.isServed("alice", by: pantry))
            try await world.sleep(for: .seconds(600))
            try await world.settle()
            #expect(pantry.cacheProblems.isEmpty && fixture.traces == [] && fixture.clearings == [])
            // The next reload does not clear the new copy.
            #expect(try await pantry.resource("feed").load(scope: "alice").isStored)
            try await pantry.reload()
            #expect(try await fixture.isServed("alice", by: pantry))
        }
    }

    @Test func limitAroundLimitedTierWaitsForTheWriteThatTheTierGaveUp() throws {
        try Self.run { world, stores, _ in
            let inner = LimitedStore(stores.feed, limit: .seconds(2), name: "inner", world: world)
            let outer = LimitedStore(inner, limit: .seconds(1), name: "outer", world: world)
            stores.feed.play(.takes(.seconds(100)), for: .write)
            let error = await #expect(throws: StoreError.self) {
                _ = try await outer.write(Entry(.init("one".utf8), Metadata()), for: Key(resource: "feed"))
            }
            let unfinished = error?.unfinished ?? []
            let end = AwaitableWork<Void>(in: world)
            UnfinishedOperation.whenOver(unfinished) { end.end(.success(())) }
            _ = try await end.value()
            #expect(unfinished.count == 1 && world.uptime == .seconds(100))
        }
    }

    @Test func cancelledClearingIsCarriedOut() throws {
        try Self.run(#", "limit": "60s""#) { world, stores, fixture in
            let pantry = try await Self.filled(fixture)
            for store in [stores.feed, stores.images] { store.play(.takes(.seconds(20)), for: .remove) }
            let clearing = world.spawn {
                do { try await pantry.clear(.scope("alice")) } catch { Issue.record(error) }
            }
            try await world.sleep(for: .seconds(1))
            clearing.cancel()
            await clearing.value
            #expect(world.uptime == .seconds(20) && fixture.traces == [] && fixture.clearings == [])
        }
    }
}
