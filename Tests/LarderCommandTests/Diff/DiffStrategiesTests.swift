import LarderFoundation
import Larder
import LarderSimulation
import Testing

@testable import LarderCommand
@testable import LarderStories

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

    /// The strategies that a shipped policy makes alike. With `fresh` 0s, as in feed, no copy is fresh. Without
    /// `whileRevalidating`, as in images, no stale copy is shown at once.
    private static let alike: [String: Set<String>] = [
        "feed": ["network-first", "cache-first"], "images": ["cache-first", "stale-while-revalidate"],
    ]

    private static let swaps: [(resource: String, old: String, new: String)] =
        ["feed", "catalog", "images"].flatMap { resource in
            strategies.flatMap { old in
                strategies.filter { new in
                    if new == old { return false }
                    let isQuick = resource == "feed" && [old, new].contains(strategies[0])
                    return isSlow || isQuick || alike[resource] == [old, new]
                }.map { (resource, old, $0) }
            }
        }

    @Test(arguments: swaps.indices) func swapIsToldInAtMostTwentyLines(_ number: Int) throws {
        let (resource, old, new) = Self.swaps[number]
        let comparison = try PolicyComparison(
            from: Self.policy(resource, old), to: Self.policy(resource, new), proves: false)
        #expect(comparison.differences.count <= 20, "\(resource): \(old) → \(new)")
        let isSame = Self.alike[resource] == [old, new]
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
