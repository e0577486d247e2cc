import Foundation
import Larder
import LarderSimulation
import Testing

/// A reload that replaces a store by one that uses the same place.
@Suite struct LifetimeTests {
    static func policy(_ resource: String = "feed", store: String) -> [String: String] {
        [
            resource: """
            { "resource": "\(resource)", "origin": "scripted", "strategy": "cache-first", "store": \(store),
              "validators": [{ "use": "age", "fresh": "30d", "onError": "30d" }] }
            """
        ]
    }

    static func vault(_ edition: Int) -> String { #"{ "use": "vault", "edition": \#(edition) }"# }

    static func tiered(_ edition: Int) -> String { #"{ "use": "tiered", "tiers": ["memory", \#(vault(edition))] }"# }

    /// Runs a test with a pantry whose feed is kept in a vault.
    private func run(
        store: String = vault(1), also: [String: String] = [:], leaving: SimulatedWorld.Leaving = .nothing,
        _ test: @escaping @Sendable (SimulatedPantry, Vault.Journal) async throws -> Void
    ) throws {
        let journal = Vault.Journal()
        let policies = Self.policy(store: store).merging(also) { first, _ in first }
        try SimulatedWorld().run(leaving: leaving) { world in
            let simulated = try await SimulatedPantry(policies, in: world, plugins: [.vault(journal)])
            simulated.origin.play(then: .value("one"))
            try await test(simulated, journal)
        }
        #expect(journal.now.most.values.allSatisfy { $0 == 1 })
        if leaving == .nothing { #expect(!journal.isAnyOpen && journal.now.forgotten == 0) }
    }

    /// Starts a load whose origin answers after `time`.
    private func hang(
        _ simulated: SimulatedPantry, _ name: String = "slow", for time: Duration = .seconds(300)
    ) async throws -> Task<Void, Never> {
        simulated.origin.play(.value("late", after: time))
        let feed = simulated.pantry.resource("feed")
        let load = simulated.world.spawn { _ = try? await feed.load(["page": name]) }
        try await simulated.world.sleep(for: .milliseconds(1))
        return load
    }

    @Test func copiesAreServedRightAfterReloadThatReplacesIdleStore() throws {
        try run { simulated, journal in
            let feed = simulated.pantry.resource("feed")
            #expect(try await feed.load().isStored)
            try await simulated.pantry.replace(policies: Self.policy(store: Self.vault(2)))
            #expect(try await feed.load().source == .store("vault"))
            #expect(journal.now.opened == 2)
        }
    }

    @Test func replacedStoreStaysAloneUntilItsLastLoadHasEnded() throws {
        try run { simulated, journal in
            let feed = simulated.pantry.resource("feed")
            _ = try await feed.load()
            let slow = try await hang(simulated)
            try await simulated.pantry.replace(policies: Self.policy(store: Self.vault(2)))
            #expect(journal.now.opened == 1)

            let second = try await feed.load()
            #expect(second.source == .origin && !second.isStored)
            #expect(second.trail.steps.contains { $0.event.kind == .storeNotOpen })
            #expect(second.trail.lines.contains("store: the store is not open yet: vault"))
            #expect(feed.answer(feed.request()) == nil)
            let error = await #expect(throws: LoadError.self) { try await feed.load(mode: .cachedOnly) }
            #expect(error?.code == .notCached)
            #expect(!second.trail.steps.contains { $0.event.kind == .storeFailed })

            await slow.value
            try await simulated.world.sleep(for: .zero)
            #expect(journal.now.opened == 2)
            #expect(try await feed.load(["page": "slow"]).source == .store("vault"))
            #expect(try await feed.contains())
        }
    }

    @Test func olderCopyIsNotFreshAfterNewerAnswerThatWasNotKept() throws {
        try run { simulated, _ in
            let feed = simulated.pantry.resource("feed")
            _ = try await feed.load()
            let slow = try await hang(simulated)
            try await simulated.pantry.replace(policies: Self.policy(store: Self.vault(2)))
            simulated.origin.play(then: .value("two"))
            #expect(try await feed.load(mode: .refresh).isStored == false)
            await slow.value
            try await simulated.world.sleep(for: .zero)
            simulated.origin.play(then: .failure(.status(503)))
            let shown = try await feed.load()
            #expect(shown.freshness != .fresh && String(decoding: shown.value, as: UTF8.self) == "one")
        }
    }

    @Test func otherTiersWorkWhileOneIsNotOpen() throws {
        try run(store: Self.tiered(1)) { simulated, journal in
            let feed = simulated.pantry.resource("feed")
            _ = try await feed.load()
            let slow = try await hang(simulated)
            try await simulated.pantry.replace(policies: Self.policy(store: Self.tiered(2)))
            #expect(try await feed.load().isStored)
            #expect(try await feed.load().source == .store("memory"))
            await slow.value
            try await simulated.world.sleep(for: .zero)
            #expect(journal.now.opened == 2)
            #expect(try await feed.load(["page": "slow"]).source == .store("vault"))
        }
    }

    @Test func reloadsBackAndForthEndWithOneOpenStore() throws {
        try run { simulated, journal in
            let feed = simulated.pantry.resource("feed")
            _ = try await feed.load()
            var loads: [Task<Void, Never>] = []
            for number in 0..<20 {
                loads.append(try await hang(simulated, "\(number)", for: .seconds(600 - 20 * number)))
                try await simulated.pantry.replace(policies: Self.policy(store: Self.vault(1 + number % 2)))
            }
            for load in loads { await load.value }
            try await simulated.world.sleep(for: .zero)
            #expect(try await feed.load(mode: .cachedOnly).source == .store("vault"))
            #expect(journal.now.open.values.reduce(0, +) == 1)
        }
    }

    @Test func clearingReachesFormerAndWaitingStore() throws {
        try run { simulated, _ in
            let feed = simulated.pantry.resource("feed")
            for scope in ["alice", "bob"] { _ = try await feed.load(scope: scope) }
            let slow = try await hang(simulated)
            try await simulated.pantry.replace(policies: Self.policy(store: Self.vault(2)))
            try await simulated.pantry.clear(.scope("alice"))
            await slow.value
            try await simulated.world.sleep(for: .zero)
            #expect(try await !feed.contains(scope: "alice"))
            #expect(try await feed.contains(scope: "bob"))
            #expect(try clearings(simulated) == [])
        }
    }

    @Test func clearingWhileFormerStoreIsClosedIsCarriedOutBeforeNewOneAnswers() throws {
        try run { simulated, journal in
            let feed = simulated.pantry.resource("feed")
            for scope in ["alice", "bob"] { _ = try await feed.load(scope: scope) }
            journal.note { $0.closing["feed"] = .seconds(20) }
            try await simulated.pantry.replace(policies: Self.policy(store: Self.vault(2)))
            #expect(simulated.world.uptime == .seconds(1), "a reload waits a second for a store to be closed")
            try await simulated.pantry.clear(.scope("alice"))
            try await feed.clear([:], scope: "carol")
            #expect(simulated.world.uptime == .seconds(1))
            journal.note { $0.closing = [:] }
            try await simulated.world.sleep(for: .seconds(30))
            #expect(try await !feed.contains(scope: "alice"))
            #expect(try await feed.contains(scope: "bob"))
            #expect(try clearings(simulated) == [])
        }
    }

    private func clearings(_ simulated: SimulatedPantry) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: simulated.cache.path + "/.places").filter {
            $0.hasPrefix("clearing-")
        }
    }

    @Test func failedOpeningIsReportedAndTriedAgain() throws {
        try run { simulated, journal in
            let (pantry, feed) = (simulated.pantry, simulated.pantry.resource("feed"))
            _ = try await feed.load()
            let slow = try await hang(simulated)
            journal.note { $0.failures = [StoreError("the disk is asleep"), StoreError("the disk is asleep")] }
            try await pantry.replace(policies: Self.policy(store: Self.vault(2)))
            #expect(pantry.cacheProblems.isEmpty)
            await slow.value
            try await simulated.world.sleep(for: .zero)
            #expect(
                pantry.cacheProblems.map(\.description)
                    == ["feed: the store 'vault' keeps nothing: the disk is asleep"])
            let loaded = try await feed.load()
            #expect(!loaded.isStored && loaded.trail.steps.contains { $0.event.kind == .storeFailed })
            // A load tries again after a second, and fails once more.
            for isOpen in [false, true] {
                try await simulated.world.sleep(for: .seconds(2))
                _ = try await feed.load()
                try await simulated.world.sleep(for: .zero)
                #expect(pantry.cacheProblems.isEmpty == isOpen)
            }
            #expect(try await feed.load(["page": "slow"]).source == .store("vault"))
        }
    }

    @Test func reloadOpensStoreThatCouldNotBeOpened() throws {
        try run { simulated, journal in
            let (pantry, feed) = (simulated.pantry, simulated.pantry.resource("feed"))
            _ = try await feed.load()
            journal.note { $0.failures = [StoreError("the disk is asleep")] }
            try await pantry.replace(policies: Self.policy(store: Self.vault(2)))
            #expect(pantry.cacheProblems.count == 1)
            try await pantry.reload()
            #expect(pantry.cacheProblems.isEmpty)
            #expect(try await feed.load().source == .store("vault"))
        }
    }

    @Test func resourcesDoNotWaitForEachOther() throws {
        try run(also: Self.policy("images", store: Self.vault(1))) { simulated, journal in
            let images = simulated.pantry.resource("images")
            _ = try await images.load()
            _ = try await hang(simulated, for: .seconds(3_600))
            journal.note { $0.closing["feed"] = .seconds(3_600) }
            for edition in 2...3 {
                let policies = Self.policy(store: Self.vault(edition))
                    .merging(Self.policy("images", store: Self.vault(edition))) { first, _ in first }
                try await simulated.pantry.replace(policies: policies)
                #expect(try await images.load().source == .store("vault"))
            }
            #expect(simulated.world.uptime < .seconds(1))
            journal.note { $0.closing = [:] }
            try await simulated.world.sleep(for: .seconds(7_201))
        }
    }

    @Test func badSettingIsReportedAtReloadWhileFormerStoreIsInUse() throws {
        try run { simulated, journal in
            let feed = simulated.pantry.resource("feed")
            let slow = try await hang(simulated)
            let error = await #expect(throws: PolicyError.self) {
                try await simulated.pantry.replace(policies: Self.policy(store: Self.vault(999)))
            }
            #expect(error?.description.contains("cannot be composed: the edition is bad") == true)
            await slow.value
            #expect(try await feed.load(["page": "slow"]).source == .store("vault"))
            #expect(journal.now.opened == 1)
        }
    }

    @Test func rejectedReloadLeavesStoreInUseAlone() throws {
        try run(also: Self.policy("images", store: Self.vault(1))) { simulated, journal in
            let feed = simulated.pantry.resource("feed")
            _ = try await feed.load()
            let bad = Self.policy(store: Self.vault(2)).merging(Self.policy("images", store: Self.vault(999))) { $1 }
            await #expect(throws: PolicyError.self) { try await simulated.pantry.replace(policies: bad) }
            #expect(try await feed.load().source == .store("vault"))
            #expect(journal.now.opened == 2)
        }
    }
}
