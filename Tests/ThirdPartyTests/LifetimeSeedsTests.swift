import Foundation
import Larder
import LarderSimulation
import Synchronization
import Testing

/// Random loads, reloads and clearings, also while loads hang and stores are closed slowly.
@Suite struct LifetimeSeedsTests {
    /// The copies that were saved and not cleared since.
    private final class Record: Sendable {
        private struct State {
            var kept: Set<[String]> = []
            /// The number of clearings that have begun, by account, and of those under way.
            var clearings: [String: Int] = [:]
            var underWay: [String: Int] = [:]
        }

        private let state = Mutex(State())

        var kept: [[String]] { state.withLock { $0.kept.sorted { $0.joined() < $1.joined() } } }

        /// Notes the start of a load. The result is passed to ``saved(_:_:_:since:)``.
        func loads(_ scope: String) -> Int? {
            state.withLock { $0.underWay[scope, default: 0] > 0 ? nil : $0.clearings[scope, default: 0] }
        }

        func saved(_ resource: String, _ scope: String, _ page: String, since start: Int?) {
            state.withLock { state in
                if start == state.clearings[scope, default: 0] { state.kept.insert([resource, scope, page]) }
            }
        }

        func clears(_ scope: String) {
            state.withLock { state in
                state.clearings[scope, default: 0] += 1
                state.underWay[scope, default: 0] += 1
                state.kept = state.kept.filter { $0[1] != scope }
            }
        }

        func cleared(_ scope: String) { state.withLock { $0.underWay[scope, default: 0] -= 1 } }
    }

    private static func policies(_ world: SimulatedWorld) -> [String: String] {
        var policies: [String: String] = [:]
        for resource in ["feed", "images"] {
            let edition = Int(world.random() % 3)
            let store = world.chance() < 0.5 ? LifetimeTests.vault(edition) : LifetimeTests.tiered(edition)
            policies.merge(LifetimeTests.policy(resource, store: store)) { $1 }
        }
        return policies
    }

    @Test(arguments: 0..<100 as Range<UInt64>)
    func nothingKeptIsLostAndOnlyOneStoreIsOpen(_ seed: UInt64) throws {
        let journal = Vault.Journal()
        try SimulatedWorld(seed: seed, interleaving: .shuffled).run { world in
            try await live(in: world, journal)
            // The last stores are closed in the background.
            try await world.sleep(for: .seconds(60))
        }
        let end = journal.now
        #expect(end.most.values.allSatisfy { $0 == 1 } && !journal.isAnyOpen && end.forgotten == 0)
    }

    private func live(in world: SimulatedWorld, _ journal: Vault.Journal) async throws {
        let slow = Plugin.origin("scripted") { (_: Call) -> Data in
            let time = Duration.milliseconds(Int(world.chance() * 100)) + .seconds(world.chance() < 0.2 ? 300 : 0)
            try await world.sleep(for: time)
            return Data("value".utf8)
        }
        let simulated = try await SimulatedPantry(Self.policies(world), in: world, plugins: [.vault(journal), slow])
        let (pantry, record) = (simulated.pantry, Record())
        var tasks: [Task<Void, Never>] = []
        for _ in 0..<60 {
            let resource = world.chance() < 0.7 ? "feed" : "images"
            let scope = world.chance() < 0.5 ? "alice" : "bob"
            switch world.random() % 10 {
            case 0, 1, 2:
                let policies = Self.policies(world)
                journal.note { $0.closing[resource] = world.chance() < 0.3 ? .seconds(Int(world.random() % 20)) : nil }
                if world.chance() < 0.5 {
                    try await pantry.replace(policies: policies)
                } else {
                    tasks.append(world.spawn { _ = try? await pantry.replace(policies: policies) })
                }
            case 3:
                tasks.append(
                    world.spawn {
                        record.clears(scope)
                        do { try await pantry.clear(.scope(scope)) } catch { Issue.record(error) }
                        record.cleared(scope)
                    })
            default:
                let page = "\(world.random() % 8)"
                tasks.append(
                    world.spawn {
                        let start = record.loads(scope)
                        let mode: Request.Mode = world.chance() < 0.5 ? .refresh : .normal
                        do {
                            let loaded = try await pantry.resource(resource).load(
                                ["page": page], scope: scope, mode: mode)
                            // A copy in memory alone ends with its store.
                            let isOnDisk =
                                loaded.isStored && loaded.source == .origin
                                && !loaded.trail.steps.contains { $0.event.kind == .storeNotOpen }
                            if isOnDisk { record.saved(resource, scope, page, since: start) }
                        } catch {
                            Issue.record(error)
                        }
                    })
            }
            if world.chance() < 0.7 { try await world.sleep(for: .milliseconds(Int(world.chance() * 500))) }
            if world.chance() < 0.05 { try await world.sleep(for: .seconds(400)) }
        }
        for task in tasks { await task.value }
        // The last store is opened, and then everything that was saved and not cleared since is found.
        try await world.sleep(for: .seconds(60))
        #expect(pantry.cacheProblems.isEmpty)
        for copy in record.kept {
            let isThere = try await pantry.resource(copy[0]).contains(["page": copy[2]], scope: copy[1])
            #expect(isThere, "\(copy)")
        }
        if world.chance() < 0.5 { await pantry.close() }
    }
}
