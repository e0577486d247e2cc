import LarderFoundation
import LarderSimulation
import Testing

import Larder
@testable import LarderSystem
@testable import LarderCore
@testable import LarderPlugins

/// The printed form of a policy and its parts contains no value from the environment.
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

    private static func pantry(_ world: SimulatedWorld) async throws -> (Pantry, TemporaryFolder) {
        let simulated = try await SimulatedPantry(
            ["feed": text], in: world, files: ["other.json": "1"], environment: secrets)
        return (simulated.pantry, simulated.cache)
    }

    /// The texts that a program can print of a value.
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
                policy, pantry, pantry.resource("feed"), pantry.warnings, Plan(policy), policy.origin as Any,
                pantry.resource("feed").metrics, policy.store?.nested as Any,
            ]
            values += parts.flatMap { [$0, $0.traits as Any, $0.settings, $0.plugin, $0.nested] as [Any] }
            values += nodes.flatMap { [$0, $0.content, $0.position, $0.position.source, $0.members as Any] as [Any] }
            for value in values {
                let text = Self.shown(value)
                for secret in ["hunter2", "77s", "77 s", "777"] {
                    #expect(!text.contains(secret), "\(type(of: value)) shows \(secret)")
                }
            }
            withExtendedLifetime(folder) {}
        }
    }

    @Test func requestAndKeyShowOnlyResourceAndDigest() throws {
        let request = Request(
            "feed", ["id": "hunter2id"], scope: "hunter2account", fields: ["accept": "hunter2field"],
            body: Data("hunter2body".utf8), noOlderThan: .seconds(7_777_777))
        let values: [Any] = [
            request, request.key, Call(request, codec: .raw), Selection.key(request.key), [request.key: 1],
        ]
        for value in values {
            let text = Self.shown(value)
            #expect(!text.contains("hunter2") && !text.contains("7777777"), "\(type(of: value)) shows \(text)")
        }
        #expect("\(request)" == "feed \(request.key.digest)" && "\(request.key)" == "\(request)")
        var dumped = ""
        dump(request, to: &dumped)
        #expect(dumped.contains(request.key.digest) && dumped.contains("feed"))
    }

    @Test func policyIsPrintedAsWritten() throws {
        try SimulatedWorld().run(leaving: .anything) { world in
            let (pantry, _) = try await Self.pantry(world)
            let policy = try #require(pantry.policy(of: "feed"))
            let prefix = "policy feed, revision \(policy.revision): {\"resource\":\"feed\",\"about\":\"What is new\","
            #expect("\(policy)".hasPrefix(prefix))
            #expect("\(policy)".contains(#""around":[{"use":"timeout","after":"${SPAN}"}]"#))
            #expect("\(policy.around[0])" == #"wrapper {"use":"timeout","after":"${SPAN}"}"#)
            #expect("\(policy.validators[0])" == #"validator "checksum""#)
            #expect("\(policy.around[0].settings[0])" == #"after "${SPAN}" (feed.json:3:44)"#)
            #expect("\(policy.around[0].plugin)" == "wrapper 'timeout'")
            #expect("\(policy.tree.position)" == "feed.json:1:1")
            #expect("\(pantry)" == "pantry of feed" && "\(pantry.resource("feed"))" == "resource feed")
        }
    }

    @Test func traitsPrintNoEnvironmentValues() throws {
        try SimulatedWorld().run(leaving: .anything) { world in
            let (pantry, folder) = try await Self.pantry(world)
            let policy = try #require(pantry.policy(of: "feed"))
            let tiers = try #require(policy.store?.nested)
            #expect(tiers[1].storeTraits.writesTo?.contains("hunter2") == true)
            #expect(!"\(tiers[1].storeTraits)".contains("hunter2"))
            withExtendedLifetime(folder) {}
        }
    }

    @Test func registryPrintsPluginNames() {
        #expect("\(Registry.standard)".contains("; validator: age, http, checksum, "))
    }
}
