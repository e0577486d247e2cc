import Testing

import Larder
@testable import LarderSystem
@testable import LarderCore
@testable import LarderPlugins
@testable import LarderCommand

@Suite struct PluginsCommandTests {
    private static let plugins = Registry.shipped.kinds.flatMap { Registry.shipped[$0] }

    @Test func pluginsAreListedByKind() async {
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

    @Test(arguments: Registry.shipped.kinds) func kindListsOnlyItsOwnPlugins(_ kind: PluginKind) async {
        let output = await Output(["plugins", kind.name])
        let plugins = Registry.shipped[kind]
        #expect(output.out.split(separator: "\n").count == plugins.count + (plugins.isEmpty ? 0 : 1))
    }

    @Test(arguments: plugins) func pluginIsShownWithEverySetting(_ plugin: Plugin) async {
        let output = await Output(["plugins", plugin.kind.name, plugin.name])
        #expect(output.code == 0)
        let lines = output.out.split(separator: "\n")
        #expect(lines.first == "\(plugin.kind) '\(plugin.name)': \(plugin.about)")
        for setting in plugin.settings {
            let rule =
                setting.isRequired
                ? "required" : setting.defaultText(in: .shipped).map { "default \($0)" } ?? "optional"
            #expect(lines.contains("  \(setting.name): \(setting.expectation) (\(rule))"))
            #expect(lines.contains("      \(setting.help)"))
        }
        for counter in plugin.counters { #expect(lines.contains("  counts \(counter.name): \(counter.help)")) }
        for level in plugin.levels {
            #expect(lines.contains { $0.hasPrefix("  tells \(level.name), one of \(level.values[0]), ") })
        }
    }

    @Test func jsonContainsEveryDeclaration() async throws {
        let items = try Facts(await Output(["plugins", "--format", "json"]).out).items
        #expect(items.count == Self.plugins.count)
        for (item, plugin) in zip(items, Self.plugins) {
            #expect(item["kind"].string == plugin.kind.name)
            #expect(item["name"].string == plugin.name)
            #expect(item["about"].string == plugin.about)
            #expect(item["settings"].items.map { $0["name"].string } == plugin.settings.map(\.name))
            #expect(item["settings"].items.map { $0["type"].string } == plugin.settings.map(\.type))
            #expect(item["settings"].items.map { $0["expected"].string } == plugin.settings.map(\.expectation))
            #expect(
                item["settings"].items.map { $0["default"].string }
                    == plugin.settings.map { $0.defaultText(in: .shipped) })
            #expect(item["settings"].items.map(\.["required"].isTrue) == plugin.settings.map(\.isRequired))
            #expect(item["settings"].items.map { $0["help"].string } == plugin.settings.map(\.help))
            #expect(item["counters"].items.map { $0["name"].string } == plugin.counters.map(\.name))
            #expect(item["levels"].items.map { $0["name"].string } == plugin.levels.map(\.name))
            #expect(item["gauges"].items.map { $0["name"].string } == plugin.metrics.gauges.map(\.name))
            #expect(item["timings"].items.map { $0["name"].string } == plugin.metrics.timings.map(\.name))
        }
        let one = try Facts(await Output(["plugins", "store", "memory", "--format", "json"]).out).items
        #expect(one.map { $0["name"].string } == ["memory"])
    }

    @Test func markdownContainsEveryPluginSettingKeyAndRule() async {
        let output = await Output(["plugins", "--format", "markdown"])
        for plugin in Self.plugins {
            #expect(output.out.contains("\n### \(plugin.name)\n\n\(plugin.about)\n"))
            for setting in plugin.settings {
                #expect(output.out.contains("\n| `\(setting.name)` | \(setting.expectation) | "))
            }
        }
        for member in Registry.shipped.members { #expect(output.out.contains("\n| `\(member.name)` | ")) }
        for rule in LintRule.all { #expect(output.out.contains("\n| `\(rule.name)` | \(rule.severity.rawValue) | ")) }
    }

    /// The defaults and examples that plugins declare are valid in policies.
    @Test(arguments: plugins) func examplesAndDefaultsAreValidInPolicies(_ plugin: Plugin) async throws {
        for setting in plugin.settings {
            let reading = PartReader(registry: .shipped, folder: ".", file: "x.json")
            // A default for the stores of a tiered store does not exist.
            let others = plugin.settings.filter { $0.isRequired && $0.name != setting.name }
            if others.contains(where: { $0.example == nil }) { continue }
            let texts = [setting.default, setting.example.map { $0.text(indented: false) }].compactMap { $0 }
            for text in texts {
                let isSection = [.section, .pantrySection].contains(plugin.kind)
                let members =
                    (isSection ? [] : ["\"use\": \"\(plugin.name)\""]) + ["\"\(setting.name)\": \(text)"]
                    + others.map { "\"\($0.name)\": \($0.example?.text(indented: false) ?? "")" }
                let source = SourceText(name: "x", bytes: Array("{ \(members.joined(separator: ", ")) }".utf8))
                let node = try JSONParser.parse(source)
                _ = isSection ? Part(section: plugin, node, reading) : Part(plugin.kind, node: node, reading: reading)
                // A file that is an example need not exist.
                #expect(reading.isSound, "\(setting.name): \(text)")
            }
        }
    }

    @Test func defaultOfPartIsFirstPluginOfItsKind() async throws {
        let first = try #require(Registry.shipped[.eviction].first).name
        let memory = await Output(["plugins", "store", "memory"])
        #expect(memory.out.contains("eviction: ") && memory.out.contains("(default \"\(first)\")"), "\(memory.out)")
        let reference = await Output(["plugins", "--format", "markdown"])
        let rows = reference.out.split(separator: "\n").filter { $0.hasPrefix("| `eviction` |") && $0.contains("full") }
        #expect(rows.count == 2 && rows.allSatisfy { $0.contains("| `\"\(first)\"` |") }, "\(rows)")
    }

    @Test(arguments: [
        (
            ["plugins", "wrappers"], Int32(2),
            "larder: unknown kind of plugin 'wrappers'; there are: origin, wrapper, strategy, validator, store, eviction, section, pantry-section, signer, puller, pusher, conflict\n"
        ),
        (
            ["plugins", "store", "disk"], 1,
            "larder: there is no store called 'disk'; there are: memory, file, sqlite, tiered, none\n"
        ),
        (["plugins", "store", "memory", "x"], 2, "larder: plugins takes at most one KIND and one NAME\n"),
        (["plugins", "--format", "yaml"], 2, "larder: --format takes one of text, json, markdown\n"),
    ])
    func unknownNameIsReportedWithKnownNames(_ arguments: [String], code: Int32, message: String) async {
        let output = await Output(arguments)
        #expect(output.code == code)
        #expect(output.out.isEmpty)
        #expect(output.err.hasPrefix(message))
    }
}
