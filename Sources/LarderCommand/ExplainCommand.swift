#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import Larder

extension Command {
    static let explain = Command(
        name: "explain", summary: "Shows the graph a policy composes into, and where each setting comes from.",
        operands: "RESOURCE",
        options: [
            .policies, .format(["tree", "mermaid", "json"]),
            Option("effective", nil, "Show the policy that is in effect, merged with what it extends, as JSON"),
            .assume,
        ],
        run: { arguments, registry, terminal in
            let format = try arguments.format(["tree", "mermaid", "json"])
            guard arguments.operands.count == 1 else { throw UsageError(message: "which resource?") }
            let name = arguments.operands[0]
            let policy = try policy(name, arguments, registry, terminal)
            guard let policy else { return false }
            for warning in policy.warnings { terminal.note(warning.description) }
            if arguments.has("effective") {
                terminal.print(policy.tree.shown.text())
                return true
            }
            let outline = Outline(policy)
            switch format {
            case "json": terminal.print(outline.json.text())
            case "mermaid": terminal.print(outline.mermaid)
            default:
                terminal.print(outline.tree)
                terminal.print("")
                for line in settings(of: outline) { terminal.print(line) }
            }
            return true
        })

    /// The policy of a resource; nil after saying what is wrong with it.
    private static func policy(
        _ name: String, _ arguments: Arguments, _ registry: Registry, _ terminal: Terminal
    ) throws -> Policy? {
        let reader = PolicyReader(
            registry: registry, folder: arguments.policies.shortPath, environment: arguments.environment)
        guard let item = try reader.names().first(where: { $0 == name + ".json" }) else {
            let known = try reader.names().map { String($0.dropLast(".json".count)) }
            terminal.complain("no such resource; there are: \(known.joined(separator: ", "))")
            return nil
        }
        let verdict = reader.judge(item)
        if verdict.policy == nil { throw PolicyError(verdict.problems) }
        return verdict.policy
    }

    /// Every setting in effect: part, name, value, and where it comes from.
    private static func settings(of outline: Outline) -> [String] {
        var rows: [[String]] = []
        func collect(_ outline: Outline) {
            for setting in outline.settings {
                // What parts are made of stands on lines of its own.
                if setting.value.hasPrefix("[{") { continue }
                let value = setting.value.count > 40 ? setting.value.prefix(39) + "…" : setting.value
                rows.append([outline.name, setting.name, value, setting.origin])
            }
            for part in outline.judges + outline.children { collect(part) }
        }
        collect(outline)
        let widths = (0..<3).map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            zip(row, widths + [0]).map { $0.padded(to: $1) }.joined(separator: "  ")
        }
    }
}
