import Foundation
import Larder
import LarderSimulation
import Testing
import LarderStories

/// Comparisons of policies with a validator of an app, with public API only.
@Suite struct ComparisonBorderTests {
    /// A validator that permits copies until they have a certain age.
    private struct Perishable: Validator {
        let limit: Duration

        func permit(_ metadata: Metadata, for request: Request, at now: Timestamp) -> Permissions {
            metadata.age(at: now) < limit
                ? Permissions(.all).refusing(.fresh, "perishable") : Permissions(.all).refusing(.all, "perishable")
        }
    }

    private static func validator(tellsBorders: Bool) -> Plugin {
        .validator(
            "perishable", "Permits copies for some time.", Setting("keeps", .duration, help: "The time"),
            traits: { keeps in .with { $0.borders = tellsBorders ? [keeps] : nil } }
        ) { _, keeps in Perishable(limit: keeps) }
    }

    private static func folder(_ keeps: String) throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        try folder.write(
            """
            { "resource": "milk", "origin": { "use": "sample", "payload": "catalog" },
              "around": [{ "use": "timeout", "after": "2s" }], "strategy": "network-first",
              "validators": [{ "use": "perishable", "keeps": "\(keeps)" }], "store": "memory" }
            """, to: "milk.json")
        return folder
    }

    private static func comparison(tellsBorders: Bool, _ old: String, _ new: String) throws -> PolicyComparison {
        var registry = Registry.standard
        try registry.register(validator(tellsBorders: tellsBorders))
        let (before, after) = (try folder(old), try folder(new))
        return try PolicyComparison(of: "milk", from: before.url, to: after.url, registry: registry)
    }

    @Test func changeBetweenBordersThatAValidatorTellsIsFound() throws {
        let comparison = try Self.comparison(tellsBorders: true, "2h", "121m")
        #expect(comparison.settings == ["validators perishable: keeps 2h → 121m"])
        #expect(comparison.gaps.isEmpty)
        let lines = comparison.differences.map(\.description)
        #expect(
            lines.contains("the origin fails at once, copy 2h to 2h 1m old: error 503 at once → copy at once"),
            "\(lines)")
    }

    @Test func validatorThatTellsNoBordersMakesAComparisonIncomplete() throws {
        let small = try Self.comparison(tellsBorders: false, "2h", "121m")
        #expect(small.differences.isEmpty && small.gaps == ["validator 'perishable' tells no borders"])
        // Common ages are played, so a large change is found all the same.
        let large = try Self.comparison(tellsBorders: false, "2h", "5h")
        #expect(!large.differences.isEmpty && large.gaps.count == 1)
    }
}
