import Testing

@testable import Larder
@testable import LarderCommand

@Suite struct PluginsCommandTests {
    private static let plugins = PluginKind.allCases.flatMap { Registry.standard[$0] }

    @Test func everyPluginIsListedUnderItsKind() async {
        let output = await Output(["plugins"])
        #expect(output.code == 0)
        var kind = ""
        var listed: [String] = []
        for line in output.out.split(separator: "\n") {
            guard line.hasPrefix("  ") else {
                kind = String(line)
                continue
            }
            listed.append("\(kind) \(line.split(separator: " ", maxSplits: 1)[0])")
        }
        #expect(listed == Self.plugins.map { "\($0.kind) \($0.name)" })
    }

    @Test(arguments: PluginKind.allCases) func aKindListsItsOwnAlone(_ kind: PluginKind) async {
        let output = await Output(["plugins", kind.rawValue])
        #expect(output.out.split(separator: "\n").count == Registry.standard[kind].count + 1)
    }

    @Test(arguments: plugins) func aPluginIsToldWithEverySetting(_ plugin: Plugin) async {
        let output = await Output(["plugins", plugin.kind.rawValue, plugin.name])
        #expect(output.code == 0)
        let lines = output.out.split(separator: "\n")
        #expect(lines.first == "\(plugin.kind) '\(plugin.name)': \(plugin.about)")
        for setting in plugin.settings {
            let rule = setting.isRequired ? "required" : setting.default.map { "default \($0)" } ?? "optional"
            #expect(lines.contains("  \(setting.name): \(setting.expectation) (\(rule))"))
            #expect(lines.contains("      \(setting.help)"))
        }
    }

    @Test func jsonHoldsEveryDeclaration() async throws {
        let items = try Facts(await Output(["plugins", "--format", "json"]).out).items
        #expect(items.count == Self.plugins.count)
        for (item, plugin) in zip(items, Self.plugins) {
            #expect(item["kind"].string == plugin.kind.rawValue)
            #expect(item["name"].string == plugin.name)
            #expect(item["about"].string == plugin.about)
            #expect(item["settings"].items.map { $0["name"].string } == plugin.settings.map(\.name))
            #expect(item["settings"].items.map { $0["type"].string } == plugin.settings.map(\.type))
            #expect(item["settings"].items.map { $0["expected"].string } == plugin.settings.map(\.expectation))
            #expect(item["settings"].items.map { $0["default"].string } == plugin.settings.map(\.default))
            #expect(item["settings"].items.map(\.["required"].isTrue) == plugin.settings.map(\.isRequired))
            #expect(item["settings"].items.map { $0["help"].string } == plugin.settings.map(\.help))
        }
        let one = try Facts(await Output(["plugins", "store", "memory", "--format", "json"]).out).items
        #expect(one.map { $0["name"].string } == ["memory"])
    }

    @Test func markdownHoldsEveryPluginSettingKeyAndRule() async {
        let output = await Output(["plugins", "--format", "markdown"])
        for plugin in Self.plugins {
            #expect(output.out.contains("\n### \(plugin.name)\n\n\(plugin.about)\n"))
            for setting in plugin.settings {
                #expect(output.out.contains("\n| `\(setting.name)` | \(setting.expectation) | "))
            }
        }
        for slot in PolicySlot.all { #expect(output.out.contains("\n| `\(slot.name)` | ")) }
        for rule in LintRule.all { #expect(output.out.contains("\n| `\(rule.name)` | \(rule.severity.rawValue) | ")) }
    }

    /// What a plugin declares is true of itself: its default may be written where it stands, and so may its example.
    @Test(arguments: plugins) func examplesAndDefaultsMayStandInAPolicy(_ plugin: Plugin) async throws {
        for setting in plugin.settings {
            let reading = Reading(registry: .standard, folder: ".", file: "x.json")
            // Nobody can say which stores are in a tiered one.
            let others = plugin.settings.filter { $0.isRequired && $0.name != setting.name }
            if others.contains(where: { $0.example == nil }) { continue }
            let texts = [setting.default, setting.example.map { $0.text(indented: false) }].compactMap { $0 }
            for text in texts {
                let members =
                    ["\"use\": \"\(plugin.name)\"", "\"\(setting.name)\": \(text)"]
                    + others.map { "\"\($0.name)\": \($0.example?.text(indented: false) ?? "")" }
                let source = SourceText(name: "x", bytes: Array("{ \(members.joined(separator: ", ")) }".utf8))
                _ = Part(plugin.kind, try JSONParser.parse(source), reading)
                #expect(reading.problems.isEmpty, "\(setting.name): \(text)")
            }
        }
    }

    @Test(arguments: [
        (
            ["plugins", "wrappers"], Int32(2),
            "larder: 'wrappers' is no kind of plugin; there are: origin, wrapper, strategy, validator, store, eviction\n"
        ),
        (
            ["plugins", "store", "disk"], 1,
            "larder: there is no store called 'disk'; there are: memory, file, tiered, none\n"
        ),
        (["plugins", "store", "memory", "x"], 2, "larder: one KIND and one NAME at most\n"),
        (["plugins", "--format", "yaml"], 2, "larder: --format takes one of text, json, markdown\n"),
    ])
    func aWrongNameIsToldWithTheRightOnes(_ arguments: [String], code: Int32, message: String) async {
        let output = await Output(arguments)
        #expect(output.code == code)
        #expect(output.out.isEmpty)
        #expect(output.err.hasPrefix(message))
    }
}
