import LarderFoundation
import Larder
import Testing

@testable import LarderCommand

/// Policies that name an app's plugins, checked by a `larder` that does not know them.
@Suite struct AssumeTests {
    /// A policy with an unregistered plugin of each kind, each with settings of its own.
    private static let policy = """
        { "resource": "feed",
          "origin": { "use": "prices-api", "region": { "name": "eu", "zones": [1, 2] } },
          "around": [ { "use": "timeout", "after": "5s" }, { "use": "signing", "key": "${KEY}" } ],
          "strategy": { "use": "own-order", "patience": "1s", "mood": "good" },
          "validators": [ { "use": "signature", "strict": true } ],
          "store": { "use": "tiered", "tiers": [ { "use": "memory", "eviction": { "use": "own-eviction", "k": 2 } },
                                                 { "use": "vault", "rooms": 3 } ] } }
        """

    private static let assumed = [
        "origin:prices-api", "wrapper:signing", "strategy:own-order", "validator:signature", "store:vault",
        "eviction:own-eviction",
    ].flatMap { ["--assume", $0] }

    private static func run(_ arguments: [String], _ text: String = policy) async throws -> (Output, Folder) {
        let folder = try Folder()
        try folder.write(text, to: "feed.json")
        let own = arguments[0] == "check" ? [folder.path] : ["--policies", folder.path]
        return (await Output(arguments + own, environment: ["KEY": "hunter2"]), folder)
    }

    @Test func pluginsOfEveryKindAndWithAnySettingsCanBeAssumed() async throws {
        let (output, _) = try await Self.run(["check", "--strict"] + Self.assumed)
        #expect(output.code == 0 && output.out.isEmpty, "\(output.out)\(output.err)")
        #expect(
            output.err == """
                1 policy, no problems; assumed: origin 'prices-api', wrapper 'signing', strategy 'own-order', \
                validator 'signature', store 'vault', eviction 'own-eviction'

                """)
    }

    @Test func messageOfUnknownPluginSuggestsAssuming() async throws {
        let text = #"{ "resource": "feed", "origin": "prices-api", "strategy": "network-only" }"#
        let (output, folder) = try await Self.run(["check", "--strict"], text)
        #expect(output.code == 1)
        #expect(
            output.out.hasPrefix("\(folder.path)/feed.json:1:33: error: unknown origin 'prices-api'; expected one of "))
        #expect(
            output.err == """
                1 policy, 1 error, 0 warnings
                larder: origin 'prices-api' is not registered in this program. For the plugins of your app, \
                build a 'larder' of its own: 'larder plugins --help' shows the program to write
                larder: to continue without it: larder check --strict \(folder.path) --assume origin:prices-api

                """)
    }

    @Test func suggestedCommandWorks() async throws {
        let (first, folder) = try await Self.run(["explain", "feed"])
        #expect(first.code == 1)
        let line = try #require(first.err.split(separator: "\n").last { $0.contains("--assume") })
        let words = try #require(line.split(separator: "larder explain ").last).split(separator: " ").map(String.init)
        let second = await Output(["explain"] + words, environment: ["KEY": "hunter2"])
        #expect(second.code == 0, "\(second.err)")
        #expect(second.out.contains("\(folder.path)/feed.json:2\n"))
    }

    @Test func misspelledNameSuggestsNoAssumption() async throws {
        let text = #"{ "resource": "feed", "origin": { "use": "constant", "value": 1 }, "strategy": "network-onyl" }"#
        let (output, _) = try await Self.run(["check"], text)
        #expect(output.out.contains("(did you mean 'network-only'?)"))
        #expect(!output.err.contains("larder"))
    }

    @Test(arguments: [
        "https://a.example", "sample:8s", "", "my origin", "a\\u001bb", String(repeating: "x", count: 400),
    ])
    func textThatIsNoNameSuggestsNoAssumption(_ name: String) async throws {
        let origin = #"{ "resource": "feed", "origin": { "use": "\#(name)" }, "strategy": "network-only" }"#
        let key = #"{ "resource": "feed", "\#(name)": 1, "origin": "sample", "strategy": "network-only" }"#
        for text in [origin, key] {
            let (output, _) = try await Self.run(["check"], text)
            #expect(output.code == 1 && !output.err.contains("larder"), "\(output.err)")
        }
    }

    @Test func commandThatRunsPluginsSuggestsNoAssumption() async throws {
        let (output, _) = try await Self.run(["load", "feed"])
        #expect(output.code == 1)
        #expect(output.err.contains("are not registered in this program") && !output.err.contains("--assume"))
    }

    @Test func assumedPluginIsExplainedWithItsWrittenSettings() async throws {
        let (output, folder) = try await Self.run(["explain", "feed"] + Self.assumed)
        #expect(output.code == 0, "\(output.err)")
        let rows = output.out.split(separator: "\n").map { line in
            line.split(separator: " ").joined(separator: " ").replacing(folder.path + "/", with: "")
        }
        #expect(rows.contains(#"signing key "${KEY}" feed.json:3"#), "\(rows)")
        #expect(rows.contains(#"prices-api region {"name":"eu","zones":[1,2]} feed.json:2"#))
        #expect(rows.contains(#"vault rooms 3 feed.json:7"#))
        #expect(!output.out.contains("hunter2"))
    }

    @Test func assumedOriginWorksInScenariosAndSimulations() async throws {
        let folder = try Folder()
        try folder.write(
            #"{ "resource": "feed", "origin": { "use": "prices-api", "region": "eu" }, "strategy": "network-only" }"#,
            to: "feed.json")
        try folder.write(
            """
            { "resource": "feed", "scenarios": [ { "name": "It loads", "origin": { "value": 1 },
              "asks": { "expect": { "value": 1 } } } ] }
            """, to: "_story.scenario")
        try FileManager.default.createDirectory(
            atPath: folder.path + "/Scenarios", withIntermediateDirectories: true)
        try FileManager.default.moveItem(
            atPath: folder.path + "/_story.scenario", toPath: folder.path + "/Scenarios/feed.json")
        let options = ["--policies", folder.path, "--assume", "origin:prices-api"]
        let test = await Output(["test"] + options)
        #expect(test.code == 0 && test.out.contains("1 passed"), "\(test.out)\(test.err)")
        let simulate = await Output(["simulate", "--traffic", "rate=1,for=1m"] + options)
        #expect(simulate.code == 0 && simulate.out.contains("loads"), "\(simulate.err)")
        // All other folders have to be created.
        try folder.edit("feed.json", "network-only", "own-order")
        let own = await Output(["simulate", "--traffic", "rate=1,for=1m", "--assume", "strategy:own-order"] + options)
        #expect(own.code == 1)
        #expect(own.err.contains("strategy 'own-order' is only assumed: its code is not in this program"))
    }

    @Test func assumptionDoesNotReplaceRegisteredPlugin() async throws {
        let text = #"{ "resource": "feed", "origin": { "use": "constant", "velue": 1 }, "strategy": "network-only" }"#
        let (output, _) = try await Self.run(["check", "--assume", "origin:constant"], text)
        #expect(output.code == 1 && output.out.contains("unknown setting 'velue'"))
        #expect(!output.err.contains("assumed"))
    }

    @Test(arguments: ["origin", "origin:", ":x", "", "oven:x"])
    func assumptionWithoutKindAndNameIsUsageError(_ text: String) async throws {
        let output = await Output(["check", "--assume", text])
        #expect(output.code == 2)
        #expect(
            output.err.hasPrefix("larder: --assume takes KIND:NAME, such as origin:prices; KIND is one of origin, "))
    }

    @Test func helpOfPluginsCommandShowsHowToBuildOwnLarder() async {
        let help = await Output(["plugins", "--help"]).out
        #expect(help.contains("static func main() async { await LarderCommand.main(registry: MyApp.registry) }"))
    }
}
