import LarderFoundation
import Larder
import LarderSimulation
import Testing

@testable import LarderCommand

/// Tests that change only the name of the strategy in the shipped policy.
@Suite struct SwapTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var strategy: String
        /// Returns the number of calls for ten loads, one a minute, of which the last is cached-only.
        var calls: Int
        /// The number of the first nine loads that were answered without waiting.
        var atOnce: Int
        var warnings: Int
        var testDescription: String { strategy }
    }

    static let cases = [
        // With `fresh: 0s` no copy is fresh, so each load calls the origin and waits.
        Case(strategy: "network-first", calls: 9, atOnce: 0, warnings: 0),
        Case(strategy: "cache-first", calls: 9, atOnce: 0, warnings: 0),
        // The copy is shown while it is refreshed. There are as many calls, but only the first load waits.
        Case(strategy: "stale-while-revalidate", calls: 9, atOnce: 8, warnings: 0),
        // `patience` and the store have no effect.
        Case(strategy: "network-only", calls: 9, atOnce: 0, warnings: 2),
        // Nothing is saved, so no copy is found. `patience`, origin and wrappers have no effect.
        Case(strategy: "cache-only", calls: 0, atOnce: 9, warnings: 3),
    ]

    @Test(arguments: cases) func changedStrategyNameChangesCallsOfOrigin(_ swap: Case) throws {
        let folder = try Folder.withPolicies()
        try folder.edit("feed.json", #""use": "network-first""#, #""use": "\#(swap.strategy)""#)
        try SimulatedWorld().run { world in
            let origin = ScriptedOrigin(then: .value("[]", after: .milliseconds(100)), world: world)
            let registry = try Self.registry(origin)
            let pantry = try await Pantry(
                policies: folder.url, registry: registry, cache: folder.url.appending(path: "cache"), world: world)
            #expect(pantry.warnings.count == swap.warnings)
            #expect(pantry.warnings.allSatisfy { $0.message.contains("has no effect") })
            let feed = pantry.resource("feed")
            var atOnce = 0
            for _ in 0..<9 {
                let start = world.uptime
                _ = try? await feed.load()
                if world.uptime == start { atOnce += 1 }
                try await world.sleep(for: .seconds(60))
            }
            _ = try? await feed.load(mode: .cachedOnly)
            #expect(origin.calls.count == swap.calls)
            #expect(atOnce == swap.atOnce)
        }
    }

    @Test func runningProcessFollowsEveryStrategyChange() throws {
        let folder = try Folder.withPolicies()
        try SimulatedWorld().run { world in
            let origin = ScriptedOrigin(then: .value("[]", after: .milliseconds(100)), world: world)
            let pantry = try await Pantry(
                policies: folder.url, registry: try Self.registry(origin), cache: folder.url.appending(path: "cache"),
                world: world)
            let watch = pantry.watch()
            let feed = pantry.resource("feed")
            func loads(_ count: Int) async throws -> Int {
                let before = origin.calls.count
                for _ in 0..<count {
                    _ = try? await feed.load()
                    try await world.sleep(for: .seconds(60))
                }
                return origin.calls.count - before
            }
            #expect(try await loads(5) == 5)
            var strategy = "network-first"
            // For each strategy in turn: the calls for five loads, and the settings that have no effect.
            let steps: [(String, Int, [String])] = [
                ("cache-first", 5, []), ("stale-while-revalidate", 5, []),
                ("cache-only", 0, ["patience", "origin", "around"]), ("network-only", 5, ["patience", "store"]),
                ("network-first", 5, []),
            ]
            for (next, calls, idle) in steps {
                try folder.edit("feed.json", #""use": "\#(strategy)""#, #""use": "\#(next)""#)
                strategy = next
                // In this test, the watch checks the files every second.
                try await world.sleep(for: .seconds(3))
                #expect(pantry.policy(of: "feed")?.strategy?.plugin.name == next)
                #expect(try await loads(5) == calls, "\(next)")
                let warnings = pantry.warnings.map(\.message)
                #expect(warnings.count == idle.count)
                for name in idle {
                    #expect(warnings.contains { $0.contains("'\(name)' has no effect") }, "\(next): \(name)")
                }
            }
            watch.stop()
        }
    }

    /// Returns the standard plugins with a scripted origin in place of `sample` and with the same settings.
    private static func registry(_ origin: ScriptedOrigin) throws -> Registry {
        try Registry.standard.replacing(
            .origin(
                "sample", "Plays a script.", Setting("payload", .text, help: ""),
                Setting("changes", .duration, default: .zero, help: ""),
                Setting("latency", .duration, default: .zero, help: ""),
                Setting("slowest", .duration, default: .zero, help: "")
            ) { _, _, _, _, _ in origin })
    }

    @Test(arguments: ["network-first", "cache-first", "stale-while-revalidate", "network-only"])
    func changedStrategyNameChangesFeedRowsOfDemo(_ strategy: String) throws {
        let folder = try Folder.withPolicies()
        try folder.edit("feed.json", #""use": "network-first""#, #""use": "\#(strategy)""#)
        let after = try Self.feed(folder)
        let dark = after["offline"] ?? ResourceMetrics()
        let rush = after["morning rush"] ?? ResourceMetrics()
        switch strategy {
        case "network-first":
            #expect(rush[.hitRate] == 0 && rush[.fallbackRate] < 0.05)
            #expect(dark[.fallbackRate] == 1)
        case "cache-first":
            #expect(rush[.hitRate] == 0 && rush[.originCalls] >= rush.loads - rush[.coalesced])
            #expect(dark[.fallbackRate] == 1)
        case "stale-while-revalidate":
            #expect(rush[.hitRate] > 0.9 && rush[.staleRate] > 0.9)
            #expect(dark[.fallbackRate] == 1)
        default:
            #expect(rush[.hitRate] == 0 && rush[.fallbackRate] == 0)
            #expect(dark[.failures] == dark.loads && dark[.staleErrors] == 0)
        }
    }

    private static func feed(_ folder: Folder) throws -> [String: ResourceMetrics] {
        let day = DemoDay(seed: 1, policies: folder.url, registry: .standard)
        let rows = try day.live { _, _ in }.rows.filter { $0.resource == "feed" }
        return Dictionary(uniqueKeysWithValues: rows.map { ($0.phase, $0.metrics) })
    }
}
