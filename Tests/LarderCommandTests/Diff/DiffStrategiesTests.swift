import FoundationEssentials
import Larder
import LarderSimulation
import Testing

@testable import LarderCommand

/// Shipped policies whose strategy is swapped.
@Suite struct DiffStrategiesTests {
    private static let isSlow = ProcessInfo.processInfo.environment["LARDER_SLOW"] != nil
    private static let strategies = [
        "network-first", "cache-first", "stale-while-revalidate", "race", "cache-only", "network-only",
    ]

    /// A shipped policy with a strategy.
    private static func policy(_ resource: String, _ strategy: String) throws -> SimulatedPolicy {
        let file = projectFolder.path + "/Policies/\(resource).json"
        let reader = PolicyReader(registry: .standard, file: file, strategy: strategy, environment: [:])
        let policy = try #require(try reader.readAll().first)
        return try SimulatedPolicy(policy, registry: .standard, files: nil, environment: [:])
    }

    private static let swaps: [(resource: String, old: String, new: String)] =
        (isSlow ? ["feed", "catalog", "images"] : ["feed"]).flatMap { resource in
            strategies.flatMap { old in
                strategies.filter { $0 != old && (isSlow || old == strategies[0] || $0 == strategies[0]) }.map {
                    (resource, old, $0)
                }
            }
        }

    @Test(arguments: swaps.indices) func swapIsToldInAtMostTwentyLines(_ number: Int) throws {
        let (resource, old, new) = Self.swaps[number]
        let comparison = try PolicyComparison(
            from: Self.policy(resource, old), to: Self.policy(resource, new), proves: false)
        #expect(comparison.differences.count <= 20, "\(resource): \(old) → \(new)")
        // With `fresh` 0s, a copy is never fresh, and without `whileRevalidating`, no stale copy is shown at once. So both
        // treat all copies alike.
        let alike = ["feed": ["network-first", "cache-first"], "images": ["cache-first", "stale-while-revalidate"]]
        let isSame = alike[resource].map { Set($0) == [old, new] } ?? false
        #expect(comparison.differences.isEmpty == isSame, "\(resource): \(old) → \(new)")
        #expect(comparison.settings.first == "strategy: \(old) → \(new)")
        // Each situation is told once.
        #expect(Set(comparison.differences.map(\.situation)).count == comparison.differences.count)
        let same = try PolicyComparison(from: Self.policy(resource, old), to: Self.policy(resource, old), proves: false)
        #expect(same.isEmpty)
    }

    @Test func swapBackTellsTheSameSituationsTheOtherWayRound() throws {
        let (one, other) = (try Self.policy("feed", "network-first"), try Self.policy("feed", "cache-first"))
        let there = try PolicyComparison(from: one, to: other, proves: false)
        let back = try PolicyComparison(from: other, to: one, proves: false)
        #expect(Set(there.differences.map(\.situation)) == Set(back.differences.map(\.situation)))
        #expect(there.different == back.different)
    }
}
