import LarderFoundation
import Larder
import LarderSystem

extension Command {
    static let explain = Command(
        name: "explain", summary: "Shows the graph that a policy makes, and where each setting comes from.",
        operands: "RESOURCE",
        details: """
            RESOURCE is the name of a resource or the path of its policy file. Below the graph and its settings stands the
            source of the data: a copy of another source is not used. The line about hits tells whether a copy in memory is
            shown at once, or why each load is awaited.
            """,
        options: [
            .policies, .json, .format(["tree", "mermaid", "json"]),
            Option("effective", help: "Show the policy with everything that it extends merged in, as JSON"),
            .assume,
        ],
        run: { arguments, registry, terminal in
            let format = try arguments.format(["tree", "mermaid", "json"])
            guard arguments.operands.count == 1 else { throw UsageError(message: "explain takes one RESOURCE") }
            let (name, folder) = try arguments.resource(arguments.operands[0])
            let reader = arguments.reader(registry, folder.shortPath)
            guard let policy = try policy(name, reader: reader, terminal: terminal) else { return false }
            for warning in policy.warnings { terminal.note(warning.description) }
            if arguments.has("effective") {
                terminal.print(policy.shownTree.text())
                return true
            }
            let plan = Plan(policy)
            switch format {
            case "json": terminal.print(plan.json.text())
            case "mermaid": terminal.print(plan.mermaid)
            default:
                terminal.print(plan.tree)
                terminal.print("")
                for line in settings(of: plan) { terminal.print(line) }
                terminal.print("")
                terminal.print(source(of: policy))
                terminal.print(hits(of: policy, registry))
                for line in meanings(of: policy) { terminal.print(line) }
            }
            return true
        })

    /// The policy of a resource; nil if there is no such resource, which is then told.
    private static func policy(_ name: String, reader: PolicyReader, terminal: Terminal) throws -> Policy? {
        guard let item = try reader.names().first(where: { $0 == name + ".json" }) else {
            let known = try reader.names().map { String($0.dropLast(".json".count)) }
            terminal.complain("no such resource; there are: \(known.joined(separator: ", "))")
            return nil
        }
        let result = reader.check(item)
        if result.policy == nil { throw PolicyError(result.problems) }
        return result.policy
    }

    /// The settings of the policy's sections, which stand for themselves, each with its meaning.
    private static func meanings(of policy: Policy) -> [String] {
        policy.sections.flatMap { section -> [String] in
            let written = section.settings.filter { $0.position != nil }
            if written.isEmpty { return [] }
            let rows = written.map { setting in
                let help = section.plugin.settings.first { $0.name == setting.name }?.help ?? ""
                return (title: "  \(setting.name) \(setting.partName ?? setting.text)", help: help)
            }
            let width = rows.map(\.title.count).max() ?? 0
            return ["", section.plugin.name] + rows.map { "\($0.title.padded(to: width))  \($0.help)" }
        }
    }

    /// The identity of the data: only copies of the same source are used.
    private static func source(of policy: Policy) -> String {
        guard let origin = policy.origin else { return "source any, because there is no origin: all copies are used" }
        let names = Set(origin.identifyingSettings.map(\.name))
        let settings = origin.settings.filter { names.contains($0.name) && $0.value != nil }
        return "source \(origin.plugin.name)"
            + (settings.isEmpty ? "" : ": " + settings.map { "\($0.name) \($0.text)" }.joined(separator: ", "))
    }

    /// Whether copies in memory are shown at once.
    private static func hits(of policy: Policy, _ registry: Registry) -> String {
        do {
            return "hits " + (try policy.hitExplanation(registry: registry, world: SystemWorld()))
        } catch {
            return "hits not known: \(error)"
        }
    }

    /// A line for each setting in effect: its part, name, value and source.
    private static func settings(of plan: Plan) -> [String] {
        var rows: [[String]] = []
        for part in plan.parts {
            for setting in part.settings {
                // Parts have lines of their own.
                if case .list(let items) = setting.shown, case .object = items.first { continue }
                if setting.partName != nil { continue }
                let text = setting.text
                let value = text.count > 40 ? text.prefix(39) + "…" : text
                rows.append([part.plugin.name, setting.name, value, setting.origin])
            }
        }
        let widths = (0..<3).map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            zip(row, widths + [0]).map { $0.padded(to: $1) }.joined(separator: "  ")
        }
    }
}
