import Larder

extension Command {
    static let plugins = Command(
        name: "plugins", summary: "Lists the plugins that policies may name, and their settings.",
        operands: "[KIND [NAME]]",
        details: """
            KIND is one of \(PluginKind.allCases.map(\.rawValue).joined(separator: ", ")).

            The plugins of an app are known to a 'larder' of its own: an executable target that depends on the product
            LarderCommand and on the target where the app registers them.

            \(ownTool)
            """,
        options: [.format(["text", "json", "markdown"])],
        run: { arguments, registry, terminal in
            let format = try arguments.format(["text", "json", "markdown"])
            let (kinds, name) = try chosen(arguments.operands)
            let plugins = kinds.flatMap { registry[$0] }.filter { name == nil || $0.name == name }
            if let name, plugins.isEmpty {
                let known = kinds.flatMap { registry[$0] }.map(\.name).joined(separator: ", ")
                terminal.complain("there is no \(kinds[0]) called '\(name)'; there are: \(known)")
                return false
            }
            switch format {
            case "json": terminal.print(JSON.list(plugins.map(\.json)).text())
            case "markdown": terminal.write((PolicyReference(registry: registry).text).utf8)
            default:
                if name != nil {
                    for plugin in plugins { terminal.print(plugin.details) }
                } else {
                    list(plugins, terminal)
                }
            }
            return true
        })

    /// A command line that knows an app's plugins.
    static let ownTool = """
          import LarderCommand
          import MyApp

          @main struct Tool {
              static func main() async { await LarderCommand.main(registry: MyApp.registry) }
          }
        """

    private static func chosen(_ operands: [String]) throws(UsageError) -> ([PluginKind], String?) {
        guard let first = operands.first else { return (PluginKind.allCases, nil) }
        guard operands.count <= 2 else { throw UsageError(message: "one KIND and one NAME at most") }
        guard let kind = PluginKind(rawValue: first) else {
            let known = PluginKind.allCases.map(\.rawValue).joined(separator: ", ")
            throw UsageError(message: "'\(first)' is no kind of plugin; there are: \(known)")
        }
        return ([kind], operands.count == 2 ? operands[1] : nil)
    }

    private static func list(_ plugins: [Plugin], _ terminal: Terminal) {
        let width = plugins.map(\.name.count).max() ?? 0
        for kind in PluginKind.allCases {
            let own = plugins.filter { $0.kind == kind }
            if own.isEmpty { continue }
            terminal.print(kind.rawValue)
            for plugin in own { terminal.print("  \(plugin.name.padded(to: width))  \(plugin.about)") }
        }
    }
}

extension Plugin {
    /// Everything about it.
    var details: String {
        var lines = ["\(kind) '\(name)': \(about)"]
        for setting in settings {
            let rule = setting.isRequired ? "required" : setting.default.map { "default \($0)" } ?? "optional"
            lines.append("  \(setting.name): \(setting.expectation) (\(rule))\n      \(setting.help)")
        }
        return lines.joined(separator: "\n")
    }

    var json: JSON {
        [
            "kind": .string(kind.rawValue), "name": .string(name), "about": .string(about),
            "settings": .list(
                settings.map { setting in
                    [
                        "name": .string(setting.name), "type": .string(setting.type),
                        "expected": .string(setting.expectation),
                        "default": setting.default.map(JSON.string) ?? .null,
                        "required": .bool(setting.isRequired), "help": .string(setting.help),
                        "schema": setting.schema, "example": setting.example ?? .null,
                    ]
                }),
        ]
    }
}
