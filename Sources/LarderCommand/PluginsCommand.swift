import Larder

extension Command {
    static let plugins = Command(
        name: "plugins", summary: "Lists the plugins that policies can name, and their settings.",
        operands: "[KIND [NAME]]",
        details: """
            KIND is one of \(PluginKind.core.map(\.name).joined(separator: ", ")), or a kind that a module adds.

            This program lists the plugins that are registered in it. For an app's own plugins, build a 'larder' in the app's
            package: an executable target that depends on the product LarderCommand and on the target that registers them.

            \(ownTool)
            """,
        options: [.json, .format(["text", "json", "markdown"])],
        run: { arguments, registry, terminal in
            let format = try arguments.format(["text", "json", "markdown"])
            let (kinds, name) = try chosen(arguments.operands, registry)
            let plugins = kinds.flatMap { registry[$0] }.filter { name == nil || $0.name == name }
            if let name, plugins.isEmpty {
                let known = kinds.flatMap { registry[$0] }.map(\.name).joined(separator: ", ")
                terminal.complain("there is no \(kinds[0]) called '\(name)'; there are: \(known)")
                return false
            }
            switch format {
            case "json": terminal.print(JSON.list(plugins.map { $0.json(in: registry) }).text())
            case "markdown": terminal.write(PolicyReference(registry: registry).text.withoutControlsInLines.utf8)
            default:
                if name != nil {
                    for plugin in plugins { terminal.print(plugin.details(in: registry)) }
                } else {
                    list(plugins, kinds: registry.kinds, terminal: terminal)
                }
            }
            return true
        })

    /// The code of a command line that knows an app's plugins.
    static let ownTool = """
          import LarderCommand
          import MyApp

          @main struct Tool {
              static func main() async { await LarderCommand.main(registry: MyApp.registry) }
          }
        """

    private static func chosen(
        _ operands: [String], _ registry: Registry
    ) throws(UsageError) -> ([PluginKind], String?) {
        guard let first = operands.first else { return (registry.kinds, nil) }
        guard operands.count <= 2 else { throw UsageError(message: "plugins takes at most one KIND and one NAME") }
        guard let kind = registry.kind(named: first) else {
            let known = registry.kinds.map(\.name).joined(separator: ", ")
            throw UsageError(message: "unknown kind of plugin '\(first)'; there are: \(known)")
        }
        return ([kind], operands.count == 2 ? operands[1] : nil)
    }

    private static func list(_ plugins: [Plugin], kinds: [PluginKind], terminal: Terminal) {
        let width = plugins.map(\.name.count).max() ?? 0
        for kind in kinds {
            let own = plugins.filter { $0.kind == kind }
            if own.isEmpty { continue }
            terminal.print(kind.name)
            for plugin in own { terminal.print("  \(plugin.name.padded(to: width))  \(plugin.about)") }
        }
    }
}

extension Plugin {
    /// The plugin's description and its settings.
    func details(in registry: Registry) -> String {
        var lines = ["\(kind) '\(name)': \(about)"]
        for setting in settings {
            let rule =
                setting.isRequired
                ? "required" : setting.defaultText(in: registry).map { "default \($0)" } ?? "optional"
            lines.append("  \(setting.name): \(setting.expectation) (\(rule))\n      \(setting.help)")
        }
        lines += counters.map { "  counts \($0.name): \($0.help)" }
        lines += levels.map { "  tells \($0.name), one of \($0.values.joined(separator: ", ")): \($0.help)" }
        lines += metrics.gauges.map { "  shows \($0.name): \($0.help)" }
        lines += metrics.timings.map { "  times \($0.name): \($0.help)" }
        return lines.joined(separator: "\n")
    }

    func json(in registry: Registry) -> JSON {
        [
            "kind": .string(kind.name), "name": .string(name), "about": .string(about),
            "settings": .list(
                settings.map { setting in
                    [
                        "name": .string(setting.name), "type": .string(setting.type),
                        "expected": .string(setting.expectation),
                        "default": setting.defaultText(in: registry).map(JSON.string) ?? .null,
                        "required": .bool(setting.isRequired), "help": .string(setting.help),
                        "schema": setting.schema, "example": setting.example ?? .null,
                    ]
                }),
            "counters": .list(counters.map(\.described)),
            "levels": .list(
                levels.map { level in
                    [
                        "name": .string(level.name), "help": .string(level.help),
                        "values": .list(level.values.map { .string($0) }),
                    ]
                }),
            "gauges": .list(metrics.gauges.map(\.described)), "timings": .list(metrics.timings.map(\.described)),
        ]
    }
}

extension NamedMetric {
    fileprivate var described: JSON { ["name": .string(name), "help": .string(help)] }
}
