import LarderSimulation
import Testing

import Larder
@testable import LarderCore

/// Clearings that take longer than a store's limit.
@Suite struct LateClearingTests {
    private static func policy(limit: String?) -> String {
        #"{ "use": "faulty", "in": "file"\#(limit.map { #", "limit": "\#($0)""# } ?? "") }"#
    }

    /// Runs a test of the resource `feed`, whose store is faulty.
    private static func run(
        limit: String? = "2s",
        _ body: @escaping @Sendable (SimulatedWorld, FaultyStore, CacheFixture) async throws -> Void
    ) throws {
        try SimulatedWorld().run { world in
            let store = FaultyStore(world: world)
            let fixture = try CacheFixture(world, plugins: [store.plugin(keepingIn: "in")])
            try fixture.write("feed", store: policy(limit: limit))
            try await body(world, store, fixture)
        }
    }

    /// Opens a pantry with copies of two accounts.
    private static func filled(_ fixture: CacheFixture) async throws -> Pantry {
        let pantry = try await fixture.open()
        try await fixture.fill(pantry)
        return pantry
    }

    /// Leaves a clearing behind that is recorded and not carried out.
    private static func beginClearing(_ fixture: CacheFixture) async throws {
        let pantry = try await filled(fixture)
        #expect(try pantry.composer.places.begin(Clearing(.scope("alice"))))
    }

    @Test func clearingMayTakeLongerThanOneOperation() throws {
        try Self.run { world, store, fixture in
            let pantry = try await Self.filled(fixture)
            store.play(.takes(.seconds(20)), for: .remove)
            try await pantry.clear(.scope("alice"))
            #expect(world.uptime == .seconds(20) && pantry.cacheProblems.isEmpty)
            #expect(fixture.traces == [] && fixture.clearings == [])
            // The removal of one entry keeps the limit.
            store.play(.takes(.seconds(20)), for: .remove)
            await #expect(throws: StoreError.self) { try await pantry.resource("feed").clear([:], scope: "bob") }
            #expect(world.uptime == .seconds(22))
            try await world.sleep(for: .seconds(60))
        }
    }

    @Test func lateClearingIsReportedUntilItIsFinished() throws {
        try Self.run { world, store, fixture in
            let pantry = try await Self.filled(fixture)
            var events = pantry.events.makeAsyncIterator()
            store.play(.takes(.seconds(100)), .takes(.seconds(100)), for: .remove)
            let error = await #expect(throws: LoadError.self) { try await pantry.clear(.scope("alice")) }
            #expect(
                error?.message
                    == "not cleared yet: feed (faulty: no answer within 30 s); the removal goes on, and these "
                    + "copies are not shown")
            let reason =
                "feed: a clearing is not finished: faulty: no answer within 30 s; the removal goes on, and these "
                + "copies are not shown"
            #expect(pantry.cacheProblems.map(\.description) == [reason])
            guard case .cacheUnusable(let problem) = await events.next() else {
                Issue.record("the clearing is not reported")
                return
            }
            #expect(problem.resource == "feed" && problem.part == "clearing")
            // A reload tries again, and that takes as long. The store is kept, and so is its problem.
            try fixture.folder.edit("policies/feed.json", "30d", "31d")
            try await pantry.reload()
            #expect(world.uptime == .seconds(60) && pantry.cacheProblems.map(\.part) == ["clearing"])
            try await world.sleep(for: .seconds(200))
            try await world.settle()
            #expect(pantry.cacheProblems.isEmpty && store.count(of: .remove) == 3)
        }
    }

    @Test func storeWorksAgainWhenLateClearingEnds() throws {
        try Self.run { world, store, fixture in
            let pantry = try await Self.filled(fixture)
            let events = pantry.events
            store.play(.takes(.seconds(100)), for: .remove)
            await #expect(throws: LoadError.self) { try await pantry.clear(.scope("alice")) }
            #expect(fixture.clearings.count == 1)
            // Loads do not start more removals while one is running.
            for _ in 0..<20 {
                #expect(try await pantry.resource("feed").load(scope: "alice").source == .origin)
                try await world.sleep(for: .seconds(2))
            }
            #expect(store.count(of: .remove) == 1 && !pantry.cacheProblems.isEmpty)
            try await world.sleep(for: .seconds(60))
            try await world.settle()
            #expect(pantry.cacheProblems.isEmpty && fixture.clearings == [] && fixture.traces == [])
            #expect(try await pantry.resource("feed").load(scope: "alice").isStored)
            #expect(try await fixture.isServed("alice", by: pantry))
            var notes: [String] = []
            for await event in events {
                notes += event.decisions(at: world.now).map(\.note)
                if case .cacheUsable = event { break }
            }
            #expect(notes.last == "feed: the clearing is finished" && notes.count == 2)
            // The next start does not clear the new copies.
            #expect(try await fixture.isServed("alice", by: try await fixture.open()))
        }
    }

    @Test func storeReleasedBeforeItsClearingEndedIsClearedAtNextStart() throws {
        try Self.run { world, store, fixture in
            let pantry = try await Self.filled(fixture)
            store.set(.fails, for: .remove)
            await #expect(throws: LoadError.self) { try await pantry.clear(.scope("alice")) }
            try fixture.write("feed", store: CacheFixture.memory)
            try await pantry.reload()
            try await world.settle()
            #expect(pantry.cacheProblems.isEmpty)
            store.set(nil, for: .remove)
            try fixture.write("feed", store: Self.policy(limit: "2s"))
            let next = try await fixture.open()
            #expect(try await !fixture.isServed("alice", by: next))
        }
    }

    @Test func nextStartFinishesLateClearingBeforeItOpens() throws {
        try Self.run { world, store, fixture in
            try await Self.beginClearing(fixture)
            store.play(.takes(.seconds(20)), for: .remove)
            let pantry = try await fixture.open()
            #expect(world.uptime == .seconds(20) && fixture.traces == [] && fixture.clearings == [])
            #expect(try await fixture.isServed("bob", by: pantry))
        }
    }

    @Test func startReportsClearingThatItCouldNotFinish() throws {
        try Self.run { world, store, fixture in
            try await Self.beginClearing(fixture)
            store.play(.takes(.seconds(100)), for: .remove)
            let pantry = try await fixture.open()
            #expect(world.uptime == .seconds(30))
            #expect(pantry.cacheProblems.map(\.part) == ["clearing"])
            #expect(try await !fixture.isServed("alice", by: pantry))
            #expect(try await !pantry.resource("feed").load(scope: "carol").isStored)
            try await world.sleep(for: .seconds(80))
            try await world.settle()
            #expect(pantry.cacheProblems.isEmpty && fixture.traces == [] && fixture.clearings == [])
            #expect(try await fixture.isServed("bob", by: pantry))
            #expect(try await pantry.resource("feed").load(scope: "alice").isStored)
        }
    }
}
