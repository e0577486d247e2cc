import LarderFoundation
import Larder
import LarderCommand
import Testing

/// A command line with third-party plugins treats them like built-in ones. It needs only their declarations.
@Suite struct ThirdPartyTests {
    private static let policy = """
        { "resource": "feed",
          "origin": { "use": "warehouse", "shelf": "upper", "aisles": [2, 3] },
          "around": [ { "use": "timeout", "after": "5s" }, { "use": "politely", "times": 2 } ],
          "strategy": { "use": "archive", "since": "5m" },
          "validators": [ { "use": "small", "most": "1KB" } ],
          "store": { "use": "mirror", "of": { "use": "memory", "eviction": { "use": "never", "really": "50%" } } } }
        """

    private static func run(_ arguments: [String], on text: String = policy) async throws -> (Output, Folder) {
        let folder = try Folder()
        try folder.write(text, to: "feed.json")
        let own = arguments[0] == "check" ? [folder.path] : ["--policies", folder.path]
        return (await Output(arguments + own, registry: try ThirdParty.registry()), folder)
    }

    @Test func policyWithThirdPartyPluginsIsValidAndLoads() async throws {
        let (check, _) = try await Self.run(["check", "--strict"])
        #expect(check.code == 0, "\(check.out)")
        let (load, folder) = try await Self.run(["load", "feed", "--trail"])
        #expect(load.out == "upper [2, 3]")
        withExtendedLifetime(folder) {}
    }

    @Test func drawingShowsThirdPartyEventsWithAnyWords() async throws {
        let scenario = """
            { "resource": "feed", "scenarios": [{ "name": "it", "origin": { "takes": "1s", "value": 1 },
              "asks": { "expect": { "value": 1 } } }] }
            """
        let folder = try Folder()
        try folder.write(Self.policy, to: "feed.json")
        try FileManager.default.createDirectory(
            at: folder.url.appending(path: "Scenarios"), withIntermediateDirectories: true)
        try folder.write(scenario, to: "Scenarios/feed.json")
        let output = await Output(
            ["test", "--policies", folder.path, "--draw"], registry: try ThirdParty.registry())
        #expect(output.code == 0, "\(output.out)")
        let notes = "──[politely: stale copy, allowed by you] ──[timed out after all] fresh"
        #expect(output.out.contains("feed  0s ask ──origin──▶ 1s " + notes), "\(output.out)")
    }

    @Test(arguments: ThirdParty.plugins) func thirdPartyPluginsAreListedWithSettings(_ plugin: Plugin) async throws {
        let registry = try ThirdParty.registry()
        #expect(await Output(["plugins"], registry: registry).out.contains("  \(plugin.about)\n"))
        let details = await Output(["plugins", plugin.kind.name, plugin.name], registry: registry).out
        let markdown = await Output(["plugins", "--format", "markdown"], registry: registry).out
        let json = try Facts(
            await Output(["plugins", plugin.kind.name, plugin.name, "--format", "json"], registry: registry).out)
        #expect(json.items[0]["settings"].items.map { $0["name"].string } == plugin.settings.map(\.name))
        for setting in plugin.settings {
            #expect(details.contains("  \(setting.name): \(setting.expectation) (") && details.contains(setting.help))
            #expect(markdown.contains("| `\(setting.name)` | \(setting.expectation) | "))
        }
        #expect(await Output(["plugins"]).out.contains(plugin.about) == false)
    }

    @Test(arguments: ThirdParty.plugins) func schemaContainsThirdPartyPlugins(_ plugin: Plugin) async throws {
        let schema = try Facts(await Output(["schema"], registry: try ThirdParty.registry()).out)
        let own = schema["$defs"][plugin.kind.name]["anyOf"].items
            .first { $0["properties"]["use"]["const"].string == plugin.name }
        let definition = try #require(own)
        #expect(definition["description"].string == plugin.about)
        for setting in plugin.settings {
            #expect(definition["properties"][setting.name]["description"].string == setting.help)
        }
        let required = plugin.settings.filter(\.isRequired).map(\.name)
        #expect(definition["required"].items.compactMap(\.string) == ["use"] + required)
    }

    @Test func schemaContainsLimitsOfThirdPartySettings() async throws {
        let schema = try Facts(await Output(["schema"], registry: try ThirdParty.registry()).out)
        func setting(_ kind: String, _ plugin: String, _ name: String) -> Facts {
            let all = schema["$defs"][kind]["anyOf"].items
            return (all.first { $0["properties"]["use"]["const"].string == plugin } ?? all[0])["properties"][name]
        }
        #expect(setting("wrapper", "politely", "times")["maximum"].int == 3)
        #expect(setting("origin", "warehouse", "aisles")["items"]["maximum"].int == 9)
        #expect(setting("store", "mirror", "of")["$ref"].string == "#/$defs/store")
        let since = try Regex(setting("strategy", "archive", "since")["anyOf"].items[0]["pattern"].string ?? "")
        for text in ["60s", "1m", "60000ms", "60m", "1h", "3600s", "61s", "0090s", "3599999ms"] {
            #expect(text.wholeMatch(of: since) != nil, "\(text)")
        }
        for text in ["59s", "0m", "59999ms", "61m", "2h", "3601s", "0h", "1d", "forever", "3600001ms", "999999999s"] {
            #expect(text.wholeMatch(of: since) == nil, "\(text)")
        }
    }

    @Test(arguments: [
        (
            #""shelf": "upper""#, #""shelf": "uper""#,
            #"2:44: error: this is not one of the choices; expected one of "upper", "lower" (did you mean 'upper'?) [at $.origin.shelf]"#
        ),
        (
            #", "aisles": [2, 3]"#, #", "isles": [2, 3]"#,
            "2:53: error: unknown setting 'isles' for origin 'warehouse'; expected one of 'shelf', 'aisles' (did you mean 'aisles'?) [at $.origin.isles]"
        ),
        (
            #""shelf": "upper", "#, "",
            #"2:13: error: origin 'warehouse' needs the setting 'shelf'; expected one of "upper", "lower" [at $.origin]"#
        ),
        (
            "[2, 3]", "[2, 10]",
            "2:67: error: 10 is out of range; expected a whole number from 1 to 9 [at $.origin.aisles[1]]"
        ),
        (
            #""use": "warehouse""#, #""use": "warehous""#,
            "2:22: error: unknown origin 'warehous'; expected one of \(standardOrigins), 'warehouse' "
                + "(did you mean 'warehouse'?) [at $.origin.use]"
        ),
        (
            #""times": 2"#, #""times": "twice""#,
            "3:82: error: a string is not allowed here; expected a whole number from 1 to 3 [at $.around[1].times]"
        ),
        (
            #""since": "5m""#, #""since": "2h""#,
            "4:44: error: 2h is out of range; expected a duration from 1m to 1h [at $.strategy.since]"
        ),
        (
            #""since": "5m""#, #""since": "5m", "patience": "1s""#,
            "4:50: warning: the setting 'patience' has no effect: it belongs to strategy 'network-first' [at $.strategy.patience]"
        ),
        (
            #""most": "1KB""#, #""most": 1"#,
            #"5:45: error: the number 1 has no unit; expected "1KB" or "1MB" [at $.validators[0].most]"#
        ),
        (
            #""of": {"#, #""silvered": "yes", "of": {"#,
            "6:43: error: a string is not allowed here; expected true or false [at $.store.silvered]"
        ),
        (
            #""50%""#, #""150%""#,
            #"6:96: error: this share is out of range; expected a share such as 0.1 or "10%", from 0 to 1 [at $.store.of.eviction.really]"#
        ),
        (
            #""use": "memory""#, #""use": "memery""#,
            "6:46: error: unknown store 'memery'; expected one of 'memory', 'file', 'sqlite', 'tiered', 'none', 'mirror' (did you mean 'memory'?) [at $.store.of.use]"
        ),
    ])
    func mistakesInThirdPartySettingsAreReported(_ right: String, _ wrong: String, _ message: String) async throws {
        precondition(Self.policy.contains(right))
        let (output, folder) = try await Self.run(["check"], on: Self.policy.replacing(right, with: wrong))
        #expect(output.out == "\(folder.path)/feed.json:\(message)\n")
    }

    @Test func thirdPartySettingsAreExplained() async throws {
        let (output, folder) = try await Self.run(["explain", "feed"])
        let rows = output.out.split(separator: "\n").map { line in
            line.split(separator: " ").joined(separator: " ").replacing(folder.path + "/", with: "")
        }
        for row in [
            #"archive since "5m" feed.json:4"#, "politely times 2 feed.json:3", #"warehouse shelf "upper" feed.json:2"#,
            #"small most "1KB" feed.json:5"#, "mirror silvered true default", #"never really "50%" feed.json:6"#,
        ] {
            #expect(rows.contains(row), "\(row)")
        }
    }

    @Test(arguments: ["archive", "network-first"]) func newPolicyCanUseThirdPartyPlugins(_ strategy: String)
        async throws
    {
        let folder = try Folder()
        let registry = try ThirdParty.registry()
        let arguments = ["new", "prices", "--strategy", strategy, "--origin", "warehouse", "--policies", folder.path]
        #expect(await Output(arguments, registry: registry).code == 0)
        let check = await Output(["check", "--strict", folder.path], registry: registry)
        #expect(check.code == 0, "\(check.out)")
    }
}

private let standardOrigins = Registry.standard[.origin].map { "'\($0.name)'" }.joined(separator: ", ")
