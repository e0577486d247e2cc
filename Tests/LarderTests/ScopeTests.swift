import FoundationEssentials
import Larder
import LarderSimulation
import Testing

/// Accounts never meet, and each can be cleared alone.
@Suite struct ScopeTests {
    private static let windows = #"[{ "use": "age", "fresh": "5m", "whileRevalidating": "1h", "onError": "7d" }]"#
    private static let strategies = [
        #""network-first""#, #"{ "use": "network-first", "patience": "1s" }"#, #""cache-first""#,
        #""stale-while-revalidate""#,
    ]
    private static let scopes: [String?] = [nil, "", "alice", "bob"]

    /// A pantry of two resources, `feed` and `images`, on stores of their own.
    private func pantry(_ world: SimulatedWorld) async throws -> (Pantry, ScriptedOrigin, [FaultyStore]) {
        let origin = ScriptedOrigin(world: world)
        let stores = [FaultyStore("first", world: world), FaultyStore("second", world: world)]
        var registry = Registry.standard
        for plugin in [origin.plugin("scripted")] + stores.map(\.plugin) { try registry.register(plugin) }
        let folder = try Folder()
        for (resource, store) in [("feed", "first"), ("images", "second")] {
            try folder.write(
                #"{ "resource": "\#(resource)", "origin": "scripted", "strategy": "cache-first", "store": "\#(store)" }"#,
                to: "\(resource).json")
        }
        let pantry = try await Pantry(policies: folder.url, registry: registry, cache: folder.url, world: world)
        return (pantry, origin, stores)
    }

    private func stocked(_ world: SimulatedWorld) async throws -> Kitchen {
        let kitchen = try await Kitchen(world, strategy: #""cache-first""#, validators: Self.windows)
        for scope in Self.scopes {
            for id in ["1", "2"] {
                kitchen.stock("\(scope ?? "nobody") \(id)", age: .zero, kitchen.key(["id": id], scope: scope))
            }
        }
        return kitchen
    }

    // MARK: Apart

    @Test(arguments: strategies)
    func noScopeSeesAnothersEntries(_ strategy: String) throws {
        try SimulatedWorld().run { world in
            let kitchen = try await Kitchen(world, strategy: strategy, validators: Self.windows)
            for (number, scope) in Self.scopes.enumerated() {
                kitchen.origin.play(.value("for \(number)"))
                #expect(try await kitchen.feed.load(["id": "1"], scope: scope).text == "for \(number)")
            }
            kitchen.origin.play(then: .failure(.status(503)))
            for (number, scope) in Self.scopes.enumerated() {
                #expect(try await kitchen.feed.load(["id": "1"], scope: scope).text == "for \(number)")
            }
            #expect(try await kitchen.start(["id": "1"], scope: "carol").failure().status == 503)
        }
    }

    @Test func noScopeSeesAnothersStaleCopyNorNamesItToTheOrigin() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await Kitchen(
                world, strategy: #"{ "use": "network-first", "patience": "100ms" }"#, validators: Self.windows)
            kitchen.stock("alice's", age: .seconds(600), etag: "e1", kitchen.key(scope: "alice"))
            kitchen.origin.play(.failure(.status(503)), .value("bob's", after: .seconds(1)))
            #expect(try await kitchen.start(scope: "bob").failure().copyRefused == false)
            let slow = try await kitchen.feed.load(scope: "bob")
            #expect(slow.text == "bob's" && world.uptime == .seconds(1))
            #expect(kitchen.origin.calls.allSatisfy { $0.known == nil })
            #expect(try await kitchen.start(scope: "carol", mode: .cachedOnly).failure().code == .notCached)
        }
    }

    @Test func noScopeJoinsAnothersFlight() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await Kitchen(world, strategy: #""cache-first""#)
            for number in 0..<4 { kitchen.origin.play(.value("for \(number)", after: .milliseconds(50))) }
            let loads = Self.scopes.map { kitchen.start(["id": "1"], scope: $0) }
            for (number, load) in loads.enumerated() { #expect(try await load.value().text == "for \(number)") }
            #expect(kitchen.origin.calls.map(\.request.key.scope) == Self.scopes)
        }
    }

    @Test func theScopeAndTheParametersReachTheOrigin() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await Kitchen(world, strategy: #""cache-first""#)
            _ = try await kitchen.feed.load(["id": "1", "page": "2"], scope: "alice")
            let request = try #require(kitchen.origin.calls.first?.request)
            #expect(request.parameters == ["id": "1", "page": "2"] && request.key.scope == "alice")
        }
    }

    // MARK: Keys

    @Test func noSpellingOfScopeAndParametersMakesTwoKeysMeet() {
        let parts = [
            "", "a", "@", "?", "&", "=", "%", "%40", "a?b=c", "a&b", "\u{301}", "=\u{301}", "&\u{301}b=\u{301}c", "é",
            "\u{338}x\u{2260}y", "\u{338}y", "a\u{2260}x",
        ]
        let pairs: [[String: String]] = parts.flatMap { name in parts.map { [name: $0] } }
        let crafted = [["a": "1", "\u{301}b": "\u{301}c"], ["a": "1&\u{301}b=\u{301}c"], ["a": "1", "b": "2"]]
        var keys: Set<Key> = []
        var count = 0
        for scope in [nil] + parts.map(Optional.some) {
            for parameters in [[:]] + pairs + crafted {
                keys.insert(Key(resource: "feed", scope: scope, parameters: parameters))
                count += 1
            }
        }
        #expect(keys.count == count)
        #expect(Key(resource: "a@b") != Key(resource: "a", scope: "b"))
    }

    @Test func theOrderOfParametersDoesNotMatterAndAKeyShowsNothing() {
        let key = Key(resource: "feed", scope: "alice", parameters: ["b": "2", "a": "1"])
        #expect(key == Key(resource: "feed", scope: "alice", parameters: ["a": "1", "b": "2"]))
        #expect("\(key)" == "a key of feed")
    }

    // MARK: Clearing

    @Test func clearingAScopeLeavesTheOthers() throws {
        for cleared in Self.scopes {
            try SimulatedWorld().run { world in
                let kitchen = try await stocked(world)
                try await kitchen.feed.clear(scope: cleared)
                #expect(kitchen.store.entries.count == 6)
                #expect(kitchen.store.entries.keys.allSatisfy { $0.scope != cleared })
            }
        }
    }

    @Test func clearingAKeyLeavesTheOthers() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await stocked(world)
            try await kitchen.feed.clear(["id": "1"], scope: "alice")
            #expect(kitchen.store.entries.count == 7 && kitchen.held(kitchen.key(["id": "1"], scope: "alice")) == nil)
            #expect(try await !kitchen.feed.contains(["id": "1"], scope: "alice"))
            #expect(try await kitchen.feed.contains(["id": "1"], scope: "bob"))
            try await kitchen.feed.clear(["id": "1"])
            #expect(kitchen.store.entries.count == 6 && kitchen.held(kitchen.key(["id": "1"])) == nil)
        }
    }

    @Test func clearingAResourceLeavesTheOthersAndClearingThePantryLeavesNothing() throws {
        try SimulatedWorld().run { world in
            let (pantry, _, stores) = try await pantry(world)
            for name in ["feed", "images"] {
                for scope in Self.scopes { _ = try await pantry.resource(name).load(scope: scope) }
            }
            try await pantry.resource("feed").clear()
            #expect(stores.map(\.entries.count) == [0, 4])
            _ = try await pantry.resource("feed").load(scope: "bob")
            try await pantry.clear(scope: "bob")
            #expect(stores.map(\.entries.count) == [0, 3])
            try await pantry.clear(scope: nil)
            #expect(stores.map(\.entries.count) == [0, 2])
            _ = try await pantry.resource("feed").load()
            try await pantry.clear()
            #expect(stores.map(\.entries.count) == [0, 0])
        }
    }

    @Test func clearingAScopeLeavesTheOthersFlights() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await Kitchen(world, strategy: #""cache-first""#)
            kitchen.origin.play(then: .value("x", after: .milliseconds(50)))
            let loads = ["alice", "bob", nil].map { kitchen.start(scope: $0) }
            try await world.sleep(for: .milliseconds(10))
            try await kitchen.pantry.clear(scope: "alice")
            let again = ["alice", "bob", nil].map { kitchen.start(scope: $0) }
            var stored: [Bool] = []
            for load in loads { stored.append(try await load.value().isStored) }
            #expect(stored == [false, true, true])
            for load in again { #expect(try await load.value().isStored) }
            #expect(kitchen.origin.calls.count == 4, "only alice's second load is a call of its own")
        }
    }

    @Test func aStoreThatCannotBeClearedIsNamedAndTheOthersAreCleared() throws {
        try SimulatedWorld().run { world in
            let (pantry, origin, stores) = try await pantry(world)
            for name in ["feed", "images"] { _ = try await pantry.resource(name).load() }
            stores[0].set(.fails, for: .remove)
            let failure = try await world.start { try await pantry.clear() }.failure()
            #expect(failure.message == "not cleared: feed" && failure.store is StoreError)
            #expect(stores.map(\.entries.count) == [1, 0])
            #expect(origin.calls.count == 2)
        }
    }
}
