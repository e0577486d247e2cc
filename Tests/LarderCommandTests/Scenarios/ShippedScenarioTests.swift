import LarderFoundation
import Larder
import Testing

@testable import LarderCommand
@testable import LarderStories

@Suite struct ShippedScenarioTests {
    @Test func shippedScenariosPass() async throws {
        let output = await Output(["test", "--policies", projectFolder.appending(path: "Policies").path])
        #expect(output.code == 0, "\(output.out)")
        #expect(output.err.isEmpty)
        #expect(output.out.hasSuffix("43 scenarios in 5 files: 43 passed, 0 failed\n"))
        for resource in ["feed", "images", "catalog"] {
            let path = "Policies/Scenarios/\(resource).json"
            let own = await Output(
                ["test", "--policies", projectFolder.path + "/Policies", projectFolder.path + "/" + path])
            #expect(own.out.split(separator: "\n").count { $0.hasPrefix("  ✓ ") } >= 6)
        }
    }

    @Test func sameFilesGiveSameOutput() async throws {
        for format in [["--draw"], ["--format", "json"]] {
            let first = try Stories(shipped: true).folder
            let second = try Stories(shipped: true).folder
            let one = await Output(["test", "--policies", first.path] + format)
            let other = await Output(["test", "--policies", second.path] + format)
            #expect(one.out.replacing(first.path, with: "") == other.out.replacing(second.path, with: ""))
        }
    }

    @Test func scenarioFilesAreNotReadAsPolicies() async throws {
        let stories = try Stories(shipped: true)
        let output = await Output(["check", "--no-prove", stories.folder.path])
        #expect(output.code == 0 && output.err.hasPrefix("3 policies, no problems found so far; not proved: "))
    }

    /// The effect of one changed word of a policy on its scenarios.
    struct Swap: Sendable, CustomTestStringConvertible {
        var resource: String
        var right: String
        var wrong: String
        /// Returns the lines of the scenarios that fail.
        var failing: [String]
        /// One of the drawn lines.
        var drawn: String
        var testDescription: String { "\(resource): \(wrong)" }
    }

    static let swaps = [
        Swap(
            resource: "feed", right: "network-first", wrong: "stale-while-revalidate",
            failing: ["With a good network the live feed is shown, although there is a copy of five minutes ago"],
            drawn: """
                feed  0s ask ──▶ cached in memory, 5m old, stale (age.whileRevalidating 10m) ┄┄origin┄┄▶ 120ms   \
                expected: value "Tuesday's feed", not "Monday's feed"; freshness fresh, not stale; source origin, not \
                memory; takes 120ms, not 0s
                """),
        Swap(
            resource: "feed", right: "network-first", wrong: "network-only",
            failing: [
                "With a slow network the copy is shown after 800 ms, and the live feed is there for the next visit",
                "Six days offline: the copy is shown, also after the app was started anew",
                "An outage: the copy stands in, and when the service recovers the feed is live again",
                "A feed that has not changed is not sent again, and counts as new",
                "Two accounts: what is kept for one is never shown to the other",
            ],
            drawn: """
                feed  0s ask ──origin──✗ 0s offline ──origin──✗ 500ms offline ──origin──✗ 1.5s offline ──✗ error failed   \
                expected: a value, not error failed; within 800ms, not 1500ms
                """),
        Swap(
            resource: "images", right: "cache-first", wrong: "network-first",
            failing: [
                "A picture is fetched once and then comes from the device, a week later too",
                "On a plane, the app started anew: the picture comes from the disk as if nothing were missing",
                "After a month it is asked whether the picture changed; if not, it is good for another month",
                "Two pictures are two copies", "Two accounts: one's private picture is not the other's",
            ],
            drawn: """
                images  0s ask ──origin──✗ 0s offline ──origin──✗ 300ms offline ──▶ cached in memory, 29d old, fresh   \
                expected: source file, not memory; fellBack false, not true; calls 0, not 2
                """),
        Swap(
            resource: "catalog", right: "stale-while-revalidate", wrong: "cache-first",
            failing: [
                "Prices of twenty minutes ago are shown at once and refreshed behind the screen",
                "An outage goes unnoticed for an hour, is survived for six, and is over when the service recovers",
                "Prices that have not changed are fresh again without being sent again",
            ],
            drawn: """
                catalog  0s ask ──origin──▶ 150ms fresh   expected: value "9.90", not "10.90"; freshness stale, not \
                fresh; age 20m, not 0s; takes 0s, not 150ms
                """),
        Swap(
            resource: "catalog", right: #""onError": "355m""#, wrong: #""onError": "7h""#,
            failing: [
                "Older prices are refused, even offline",
                "An outage goes unnoticed for an hour, is survived for six, and is over when the service recovers",
            ],
            drawn: """
                catalog  0s ask ──origin──✗ 0s offline ──origin──✗ 400ms offline ──▶ cached in memory, 6h old, stale \
                (age.onError 7h)   expected: error failed, not a value
                """),
    ]

    @Test(arguments: swaps) func changedWordFailsTheScenariosThatDependOnIt(_ swap: Swap) async throws {
        let stories = try Stories(shipped: true)
        try stories.folder.edit("\(swap.resource).json", swap.right, swap.wrong)
        let output = await stories.told("\(stories.folder.path)/Scenarios/\(swap.resource).json")
        #expect(output.code == 1)
        let failing = output.out.split(separator: "\n").filter { $0.hasPrefix("  ✗ ") }
        #expect(failing.map { String($0.dropFirst(4).prefix { $0 != "[" }.dropLast(2)) } == swap.failing)
        #expect(output.out.contains("\n      " + swap.drawn + "\n"), "\(output.out)")
    }
}
