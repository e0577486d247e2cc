import Larder

/// The reference of policies as a page of documentation, made from what the plugins declare.
struct PolicyReference {
    let registry: Registry

    var text: String {
        var text = """
            # Policy reference

            Everything that may stand in a policy. This page is made by `larder plugins --format markdown`.

            ## Overview

            A policy is one JSON file for one resource, named after it. Where a plugin stands, either its name is enough or
            an object says which to `use` and how it is set.

            | key | what stands there | what for |
            |---|---|---|

            """
        for slot in PolicySlot.all {
            let what = slot.isList ? "a list of plugins of the kind \(slot.kind)" : "a plugin of the kind \(slot.kind)"
            text += "| `\(slot.name)` | \(what) | \(slot.help) |\n"
        }
        text += """
            | `extends` | the name of a file such as `_base.json` | Objects merge deep, lists replace whole, `null` removes |
            | `resource` | the file's name without `.json` | The resource's name |
            | `about` | text | What it is, for people |
            | `log` | `"all"`, `"off"`, or a share such as `"10%"` | How much of its decisions the log is told |

            Durations are `"250ms"`, `"30s"`, `"5m"`, `"12h"`, `"7d"` or `"forever"`; sizes `"64KB"`, `"20MB"`, `"1GB"`; shares
            `0.1` or `"10%"`. In every string, `${NAME}` and `${NAME:-default}` read the environment.

            """
        for kind in PluginKind.allCases { text += section(kind) }
        text += "\n## Rules between parts\n\n| rule | severity | why |\n|---|---|---|\n"
        for rule in LintRule.all { text += "| `\(rule.name)` | \(rule.severity.rawValue) | \(rule.why) |\n" }
        return text
    }

    private func section(_ kind: PluginKind) -> String {
        var text = "\n## Kind: \(kind)\n"
        for plugin in registry[kind] {
            text += "\n### \(plugin.name)\n\n\(plugin.about)\n"
            if plugin.settings.isEmpty { continue }
            text += "\n| setting | what may stand there | default | what it does |\n|---|---|---|---|\n"
            for setting in plugin.settings {
                let fallback = setting.isRequired ? "required" : setting.default.map { "`\($0)`" } ?? "none"
                text += "| `\(setting.name)` | \(setting.expectation) | \(fallback) | \(setting.help) |\n"
            }
        }
        return text
    }
}
