import LarderFoundation
import Larder
import LarderSimulation
import Testing

/// Accounts share nothing, and each can be cleared alone.
@Suite struct ScopeTests {
    private static let windows = #"[{ "use": "age", "fresh": "5m", "whileRevalidating": "1h", "onError": "7d" }]"#
    private static let strategies = [
        #""network-first""#, #"{ "use": "network-first", "patience": "1s" }"#, #""cache-first""#,
        #""stale-while-revalidate""#,
    ]
    private static let scopes: [String?] = [nil, "", "alice", "bob"]

    /// A pantry of two resources, `feed` and `images`, each with its own store.
    private func pantry(_ world: SimulatedWorld) async throws -> (Pantry, ScriptedOrigin, [FaultyStore]) {
        let stores = [FaultyStore("first", world: world), FaultyStore("second", world: world)]
        var policies: [String: String] = [:]
        for (resource, store) in [("feed", "first"), ("images", "second")] {
            policies[resource] =
                #"{ "resource": "\#(resource)", "origin": "scripted", "strategy": "cache-first", "store": "\#(store)" }"#
        }
        let simulated = try await SimulatedPantry(policies, in: world, plugins: stores.map(\.plugin))
        return (simulated.pantry, simulated.origin, stores)
    }

    private func stocked(_ world: SimulatedWorld) async throws -> SimulatedPantry {
        let simulated = try await SimulatedPantry(world, strategy: #""cache-first""#, validators: Self.windows)
        for scope in Self.scopes {
            for id in ["1", "2"] {
                simulated.stock("\(scope ?? "nobody") \(id)", age: .zero, for: simulated.key(["id": id], scope: scope))
            }
        }
        return simulated
    }

    // MARK: Apart

    @Test(arguments: strategies)
    func scopeDoesNotSeeEntriesOfOthers(_ strategy: String) throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(world, strategy: strategy, validators: Self.windows)
            for (number, scope) in Self.scopes.enumerated() {
                simulated.origin.play(.value("for \(number)"))
                #expect(try await simulated.feed.load(["id": "1"], scope: scope).text == "for \(number)")
            }
            simulated.origin.play(then: .failure(.status(503)))
            for (number, scope) in Self.scopes.enumerated() {
                #expect(try await simulated.feed.load(["id": "1"], scope: scope).text == "for \(number)")
            }
            #expect(try await simulated.start(["id": "1"], scope: "carol").failure().status == 503)
        }
    }

    @Test func scopeDoesNotUseStaleCopiesOfOthers() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(
                world, strategy: #"{ "use": "network-first", "patience": "100ms" }"#, validators: Self.windows)
            simulated.stock("alice's", age: .seconds(600), etag: "e1", for: simulated.key(scope: "alice"))
            simulated.origin.play(.failure(.status(503)), .value("bob's", after: .seconds(1)))
            #expect(try await simulated.start(scope: "bob").failure().copyRefused == false)
            let slow = try await simulated.feed.load(scope: "bob")
            #expect(slow.text == "bob's" && world.uptime == .seconds(1))
            #expect(simulated.origin.calls.allSatisfy { $0.known == nil })
            #expect(try await simulated.start(scope: "carol", mode: .cachedOnly).failure().code == .notCached)
        }
    }

    @Test func scopeDoesNotJoinFlightsOfOthers() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(world, strategy: #""cache-first""#)
            for number in 0..<4 { simulated.origin.play(.value("for \(number)", after: .milliseconds(50))) }
            let loads = Self.scopes.map { simulated.start(["id": "1"], scope: $0) }
            for (number, load) in loads.enumerated() { #expect(try await load.value().text == "for \(number)") }
            #expect(simulated.origin.calls.map(\.request.key.scope) == Self.scopes)
        }
    }

    @Test func scopeAndParametersReachOrigin() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(world, strategy: #""cache-first""#)
            _ = try await simulated.feed.load(["id": "1", "page": "2"], scope: "alice")
            let request = try #require(simulated.origin.calls.first?.request)
            #expect(request.parameters == ["id": "1", "page": "2"] && request.key.scope == "alice")
        }
    }

    // MARK: Keys

    @Test func differentScopesAndParametersHaveDifferentKeys() {
        let parts = [
            "", "a", "@", "?", "&", "=", "%", "%40", "a?b=c", "a&b", "\u{301}", "=\u{301}", "&\u{301}b=\u{301}c", "é",
            "\u{338}x\u{2260}y", "\u{338}y", "a\u{2260}x",
        ]
        let pairs: [Parameters] = parts.flatMap { name in parts.map { [name: $0] } }
        let crafted: [Parameters] = [
            ["a": "1", "\u{301}b": "\u{301}c"], ["a": "1&\u{301}b=\u{301}c"], ["a": "1", "b": "2"],
        ]
        var keys: Set<Key> = []
        var count = 0
        for scope in [nil] + parts.map(Optional.some) {
            for parameters in [Parameters([:])] + pairs + crafted {
                keys.insert(Key(resource: "feed", scope: scope, parameters: parameters))
                count += 1
            }
        }
        #expect(keys.count == count)
        #expect(Key(resource: "a@b") != Key(resource: "a", scope: "b"))
    }

    @Test func parameterOrderDoesNotMatterAndDescriptionHidesParameters() {
        let key = Key(resource: "feed", scope: "alice", parameters: ["b": "2", "a": "1"])
        #expect(key == Key(resource: "feed", scope: "alice", parameters: ["a": "1", "b": "2"]))
        #expect("\(key)" == "feed \(key.digest)")
    }

    // MARK: Clearing

    @Test func clearingAScopeLeavesTheOthers() throws {
        for cleared in Self.scopes {
            try SimulatedWorld().run { world in
                let simulated = try await stocked(world)
                try await simulated.feed.clear(.scope(cleared))
                #expect(simulated.store.entries.count == 6)
                #expect(simulated.store.entries.keys.allSatisfy { $0.scope != cleared })
            }
        }
    }

    @Test func clearingAKeyLeavesTheOthers() throws {
        try SimulatedWorld().run { world in
            let simulated = try await stocked(world)
            try await simulated.feed.clear(["id": "1"], scope: "alice")
            #expect(
                simulated.store.entries.count == 7 && simulated.held(simulated.key(["id": "1"], scope: "alice")) == nil)
            #expect(try await !simulated.feed.contains(["id": "1"], scope: "alice"))
            #expect(try await simulated.feed.contains(["id": "1"], scope: "bob"))
            try await simulated.feed.clear(["id": "1"])
            #expect(simulated.store.entries.count == 6 && simulated.held(simulated.key(["id": "1"])) == nil)
        }
    }

    @Test func clearingResourceKeepsOthersAndClearingPantryKeepsNothing() throws {
        try SimulatedWorld().run { world in
            let (pantry, _, stores) = try await pantry(world)
            for name in ["feed", "images"] {
                for scope in Self.scopes { _ = try await pantry.resource(name).load(scope: scope) }
            }
            try await pantry.resource("feed").clear()
            #expect(stores.map(\.entries.count) == [0, 4])
            _ = try await pantry.resource("feed").load(scope: "bob")
            try await pantry.clear(.scope("bob"))
            #expect(stores.map(\.entries.count) == [0, 3])
            try await pantry.clear(.scope(nil))
            #expect(stores.map(\.entries.count) == [0, 2])
            _ = try await pantry.resource("feed").load()
            try await pantry.clear()
            #expect(stores.map(\.entries.count) == [0, 0])
        }
    }

    @Test func clearingAScopeLeavesTheOthersFlights() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(world, strategy: #""cache-first""#)
            simulated.origin.play(then: .value("x", after: .milliseconds(50)))
            let loads = ["alice", "bob", nil].map { simulated.start(scope: $0) }
            try await world.sleep(for: .milliseconds(10))
            try await simulated.pantry.clear(.scope("alice"))
            let again = ["alice", "bob", nil].map { simulated.start(scope: $0) }
            var stored: [Bool] = []
            for load in loads { stored.append(try await load.value().isStored) }
            #expect(stored == [false, true, true])
            for load in again { #expect(try await load.value().isStored) }
            #expect(simulated.origin.calls.count == 4, "only alice's second load is a call of its own")
        }
    }

    @Test func failedClearingNamesStoreAndClearsOthers() throws {
        try SimulatedWorld().run { world in
            let (pantry, origin, stores) = try await pantry(world)
            for name in ["feed", "images"] { _ = try await pantry.resource(name).load() }
            stores[0].set(.fails, for: .remove)
            let failure = try await world.start { try await pantry.clear() }.failure()
            #expect(
                failure.message == "not cleared: feed (first: told to fail); these copies are not shown"
                    && failure.store is StoreError)
            #expect(stores.map(\.entries.count) == [1, 0])
            #expect(origin.calls.count == 2)
        }
    }
}
