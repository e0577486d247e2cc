import FoundationEssentials
import LarderSimulation
import Testing

@testable import Larder

/// What is printed of a policy, and of all that is reached from it, holds nothing that the environment gave.
@Suite struct DescriptionTests {
    private static let secrets = [
        "FOLDER": "hunter2folder", "TYPE": "hunter2type", "SPAN": "77s", "NAME": "network-first", "SIZE": "777KB",
    ]

    private static let text = """
        { "resource": "feed", "about": "What is new",
          "origin": { "use": "file", "path": "${FOLDER}/feed.json", "contentType": "text/${TYPE}" },
          "around": [ { "use": "timeout", "after": "${SPAN}" } ],
          "strategy": { "use": "${NAME}", "patience": "1s" },
          "validators": [ "checksum", { "use": "age", "fresh": "5m", "onError": "${SPAN}" } ],
          "store": { "use": "tiered", "tiers": [ "memory",
            { "use": "file", "directory": "${FOLDER}", "capacity": "${SIZE}", "limit": "${SPAN}" } ] },
          "fallbacks": [ { "use": "constant", "value": { "token": ["${TYPE}"] } } ] }
        """

    private static func pantry(_ world: SimulatedWorld) async throws -> (Pantry, Folder) {
        let folder = try Folder()
        try folder.write(text, to: "feed.json")
        let pantry = try await Pantry(
            policies: folder.url, cache: folder.url.appending(path: "cache"), environment: secrets, world: world)
        return (pantry, folder)
    }

    /// All the ways in which a program shows a value.
    private static func shown(_ value: Any) -> String {
        var dumped = ""
        dump(value, to: &dumped)
        var walked = ""
        func walk(_ value: Any, _ depth: Int) {
            walked += "\(value) \(String(reflecting: value))\n"
            if depth < 12 { for child in Mirror(reflecting: value).children { walk(child.value, depth + 1) } }
        }
        walk(value, 0)
        return "\(value)\n\(String(reflecting: value))\n\([value])\n\(dumped)\n\(walked)"
    }

    @Test func nothingFromTheEnvironmentIsPrintedOrDumped() throws {
        try SimulatedWorld().run(leaving: .anything) { world in
            let (pantry, folder) = try await Self.pantry(world)
            let policy = try #require(pantry.policy(of: "feed"))
            let parts =
                [policy.origin, policy.strategy, policy.store].compactMap { $0 } + policy.around
                + policy.validators + policy.fallbacks
            let nodes = parts.map(\.node) + [policy.tree] + (policy.tree.members ?? []).map(\.value)
            var values: [Any] = [
                policy, pantry, pantry.resource("feed"), pantry.warnings, Outline(policy), policy.origin as Any,
                pantry.resource("feed").metrics, policy.store?.nested as Any,
            ]
            values += parts.flatMap { [$0, $0.traits, $0.settings, $0.plugin, $0.nested] as [Any] }
            values += nodes.flatMap { [$0, $0.content, $0.place, $0.place.source, $0.members as Any] as [Any] }
            for value in values {
                let text = Self.shown(value)
                for secret in ["hunter2", "77s", "77 s", "777"] {
                    #expect(!text.contains(secret), "\(type(of: value)) shows \(secret)")
                }
            }
            withExtendedLifetime(folder) {}
        }
    }

    @Test func aPolicyIsPrintedAsItIsWritten() throws {
        try SimulatedWorld().run(leaving: .anything) { world in
            let (pantry, folder) = try await Self.pantry(world)
            let policy = try #require(pantry.policy(of: "feed"))
            let prefix = "policy feed, revision \(policy.revision): {\"resource\":\"feed\",\"about\":\"What is new\","
            #expect("\(policy)".hasPrefix(prefix))
            #expect("\(policy)".contains(#""around":[{"use":"timeout","after":"${SPAN}"}]"#))
            #expect(String(reflecting: policy).contains("\n  \"strategy\": {\n    \"use\": \"${NAME}\","))
            #expect("\(policy.around[0])" == #"wrapper {"use":"timeout","after":"${SPAN}"}"#)
            #expect("\(policy.validators[0])" == #"validator "checksum""#)
            #expect("\(policy.around[0].settings[0])" == #"after "${SPAN}" (\#(folder.path)/feed.json:3:44)"#)
            #expect("\(policy.around[0].plugin)" == "wrapper 'timeout'")
            #expect("\(policy.tree.place)" == "\(folder.path)/feed.json:1:1")
            #expect("\(pantry)" == "pantry of feed" && "\(pantry.resource("feed"))" == "resource feed")
        }
    }

    @Test func traitsAreShownWhereNothingOfThemMayComeFromTheEnvironment() throws {
        try SimulatedWorld().run(leaving: .anything) { world in
            let (pantry, folder) = try await Self.pantry(world)
            let policy = try #require(pantry.policy(of: "feed"))
            #expect("\(policy.around[0].traits)" == "givesUpAfter")
            #expect("\(policy.strategy.traits)" == "patience, rest")
            let tiers = try #require(policy.store?.nested)
            #expect("\(tiers[0].traits)".contains("capacity: "))
            #expect("\(tiers[1].traits)".contains("writesTo") && !"\(tiers[1].traits)".contains("hunter2"))
            withExtendedLifetime(folder) {}
        }
    }

    @Test func aRegistryIsPrintedByNames() {
        #expect("\(Registry.standard)".contains("; validator: age, checksum, "))
    }
}
