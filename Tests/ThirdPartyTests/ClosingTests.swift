import Foundation
import Larder
import LarderSimulation
import Synchronization
import Testing

/// The end of a pantry.
@Suite struct ClosingTests {
    private static let policies = LifetimeTests.policy(store: LifetimeTests.vault(1))
        .merging(LifetimeTests.policy("images", store: LifetimeTests.vault(1))) { $1 }

    @Test func closingSavesWhatHasArrivedAndClosesStores() throws {
        let journal = Vault.Journal()
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(Self.policies, in: world, plugins: [.vault(journal)])
            simulated.origin.play(then: .value("one"))
            journal.note { $0.writing["feed"] = .seconds(2) }
            let pantry = simulated.pantry
            let load = world.spawn { _ = try? await pantry.resource("feed").load() }
            try await world.sleep(for: .milliseconds(1))
            await pantry.close()
            await load.value
            #expect(!journal.isAnyOpen && world.uptime == .seconds(2))
            // Loads still work and keep nothing.
            let late = try await pantry.resource("feed").load()
            #expect(late.source == .origin && !late.isStored)
            #expect(try await pantry.resource("feed").contains() == false)
            // So do they after a reload and a clearing.
            try await pantry.replace(policies: LifetimeTests.policy(store: LifetimeTests.vault(2)))
            #expect(try await pantry.resource("feed").load().isStored == false)
            await pantry.close()
            #expect(journal.now.opened == 2)
            let next = try await SimulatedPantry(
                Self.policies, in: world, plugins: [.vault(journal)], cache: simulated.cache)
            #expect(try await next.pantry.resource("feed").load(mode: .cachedOnly).source == .store("vault"))
        }
        #expect(!journal.isAnyOpen && journal.now.forgotten == 0 && journal.now.most.values.allSatisfy { $0 == 1 })
    }

    @Test func clearingAfterClosingIsCarriedOutAtNextStart() throws {
        let journal = Vault.Journal()
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(Self.policies, in: world, plugins: [.vault(journal)])
            simulated.origin.play(then: .value("one"))
            for scope in ["alice", "bob"] { _ = try await simulated.pantry.resource("feed").load(scope: scope) }
            await simulated.pantry.close()
            try await simulated.pantry.clear(.scope("alice"))
            let next = try await SimulatedPantry(
                Self.policies, in: world, plugins: [.vault(journal)], cache: simulated.cache)
            #expect(try await next.pantry.resource("feed").contains(scope: "bob"))
            #expect(try await !next.pantry.resource("feed").contains(scope: "alice"))
        }
    }

    @Test func hangingStoreDelaysClosingForLimitAndNoOtherStore() throws {
        let journal = Vault.Journal()
        try SimulatedWorld().run(leaving: .anything) { world in
            let policies = Self.policies.merging(["_larder": #"{ "metrics": { "file": "metrics.json" } }"#]) { $1 }
            let simulated = try await SimulatedPantry(policies, in: world, plugins: [.vault(journal)])
            let pantry = simulated.pantry
            simulated.origin.play(then: .value("one"))
            journal.note { $0.writing["feed"] = .seconds(3_600) }
            let load = world.spawn { _ = try? await pantry.resource("feed").load() }
            _ = try await pantry.resource("images").load()
            let start = world.uptime
            await pantry.close(within: .seconds(10))
            #expect(world.uptime - start == .seconds(10))
            #expect(journal.now.open.values.reduce(0, +) == 1)
            #expect(try simulated.cache.text(of: "metrics.json").contains("images"))
            load.cancel()
        }
    }

    @Test func closingDoesNotWaitForCallsWhoseAnswerHasNotArrived() throws {
        let journal = Vault.Journal()
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(Self.policies, in: world, plugins: [.vault(journal)])
            let pantry = simulated.pantry
            simulated.origin.play(.value("late", after: .seconds(100)))
            async let load = pantry.resource("feed").load()
            try await world.sleep(for: .seconds(1))
            await pantry.close()
            #expect(world.uptime == .seconds(1) && !journal.isAnyOpen)
            let loaded = try await load
            #expect(!loaded.isStored)
        }
        #expect(journal.now.forgotten == 0)
    }

    /// In real time, with real descriptors.
    @Test func reloadsAndEndOfPantryLeaveNoDescriptorOpen() async throws {
        let cache = try TemporaryFolder()
        let journal = Vault.Journal()
        func use() async throws {
            var registry = try Registry.standard.replacing(.vault(journal))
            try registry.register(.origin("scripted") { (_: Call) in Data("one".utf8) })
            let pantry = try await Pantry(
                policies: LifetimeTests.policy(store: LifetimeTests.tiered(0)), registry: registry, cache: cache.url)
            let feed = pantry.resource("feed")
            #expect(try await feed.load().isStored)
            var counts: Set<Int> = []
            for edition in 1...200 {
                try await pantry.replace(policies: LifetimeTests.policy(store: LifetimeTests.tiered(edition)))
                for await _ in journal.openings where journal.now.opened == edition + 1 { break }
                counts.insert(descriptors(below: cache.path))
            }
            #expect(counts == [1] || counts == [0], "the numbers of open descriptors: \(counts)")
        }
        try await use()
        // The last store is closed in the background.
        for await _ in journal.closings where journal.now.closed == 201 { break }
        #expect(journal.now.forgotten == 0 && journal.now.opened == 201)
        #expect(descriptors(below: cache.path) == 0)
    }

    /// The number of open descriptors of vaults below a folder. Always 0 where the system does not list them.
    private func descriptors(below folder: String) -> Int {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return names.count { name in
            let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + name)
            return path?.contains(folder) == true && path?.hasSuffix("/vault/lock") == true
        }
    }
}
