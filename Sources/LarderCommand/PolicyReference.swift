import Larder

/// The reference of policies as a page of documentation, made from what the plugins declare.
struct PolicyReference {
    let registry: Registry

    var text: String {
        var text = """
            # Policy reference

            Every key of a policy, and every plugin with its settings. `larder plugins --format markdown` writes this page.

            ## Overview

            A policy is one JSON file for one resource, and has the resource's name. A plugin is given by its name, or by an
            object with `use` and the settings of the plugin.

            | key | value | meaning |
            |---|---|---|

            """
        for member in registry.members {
            let what =
                switch member.content {
                case .plugin(let kind): "a plugin of the kind \(kind)"
                case .plugins(let kind): "a list of plugins of the kind \(kind)"
                case .section: "an object with the settings of the section"
                case .value(let expectation, _): expectation
                }
            text += "| `\(member.name)` | \(what) | \(member.help) |\n"
        }
        text += """

            Durations are `"250ms"`, `"30s"`, `"5m"`, `"12h"`, `"7d"` or `"forever"`; sizes `"64KB"`, `"20MB"`, `"1GB"`; shares
            `0.1` or `"10%"`. In any string, `${NAME}` and `${NAME:-default}` read the environment.

            """
        for kind in registry.kinds where !registry[kind].isEmpty { text += section(kind) }
        text += "\n## Rules about contradictions\n\n| rule | severity | reason |\n|---|---|---|\n"
        for rule in LintRule.all { text += "| `\(rule.name)` | \(rule.severity.rawValue) | \(rule.why) |\n" }
        return text
    }

    private func section(_ kind: PluginKind) -> String {
        var text = "\n## Kind: \(kind)\n"
        if kind == .section { text += "\nA section is a key of a policy with an object of settings, without `use`.\n" }
        if kind == .pantrySection {
            text += "\nA section of the pantry is a key of `_larder.json` with an object of settings, without `use`.\n"
        }
        for plugin in registry[kind] {
            text += "\n### \(plugin.name)\n\n\(plugin.about)\n"
            text += settings(plugin) + metrics(plugin)
        }
        return text
    }

    private func settings(_ plugin: Plugin) -> String {
        if plugin.settings.isEmpty { return "" }
        var text = "\n| setting | value | default | meaning |\n|---|---|---|---|\n"
        for setting in plugin.settings {
            let fallback =
                setting.isRequired ? "required" : setting.defaultText(in: registry).map { "`\($0)`" } ?? "none"
            text += "| `\(setting.name)` | \(setting.expectation) | \(fallback) | \(setting.help) |\n"
        }
        return text
    }

    private func metrics(_ plugin: Plugin) -> String {
        if plugin.metrics.all.isEmpty { return "" }
        var text = "\n| metric | meaning |\n|---|---|\n"
        for metric in plugin.metrics.all {
            let values = (metric as? Level)?.values.map { "`\($0)`" }.joined(separator: ", ")
            text += "| `\(metric.name)` | \(metric.help)\(values.map { ": \($0)" } ?? "") |\n"
        }
        return text
    }
}
