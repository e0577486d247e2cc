import LarderFoundation
import Larder

extension Command {
    static let test = Command(
        name: "test", summary: "Plays scenarios against policies and checks what users get.",
        operands: "[PATH …]",
        details: """
            PATH is a folder of scenario files or one file. The default is Scenarios in the folder of --policies. The
            policies are the real ones, with their wrappers, windows, stores and fallbacks. Only the origin and the time are
            simulated. Stores keep their files in a temporary folder. The same files always give the same output.
            """,
        options: [
            .policies, .json, .format(["text", "json"]),
            Option("draw", help: "Also draw the scenarios that pass"),
            Option("keys", help: "List the keys of scenario files, and end"),
            Option("coverage", help: "Also tell the kinds of situations that no scenario plays"),
            Option("out", value: "DIR", help: "With --coverage, write a scenario for each of them to this folder"),
            .assume,
        ],
        run: { arguments, registry, terminal in
            let format = try arguments.format(["text", "json"])
            if arguments.has("keys") {
                list(ScenarioKey.all, format: format, terminal: terminal)
                return true
            }
            let out = arguments.value(of: "out")
            if out != nil, !arguments.has("coverage") {
                throw UsageError(message: "--out writes the situations that --coverage finds, so it needs --coverage")
            }
            let folder = arguments.policies.relativePath
            var paths = arguments.operands.isEmpty ? [folder + "/Scenarios"] : arguments.operands
            if arguments.has("coverage"), arguments.operands.isEmpty, !ScenarioFiles.areThere(in: paths[0]) {
                paths = []
            }
            let progress = Progress(terminal, "test")
            var report = try report(on: paths, arguments: arguments, registry: registry, progress: progress)
            if arguments.has("coverage"), report.problems.isEmpty {
                report.coverage = try coverage(of: report, arguments: arguments, registry: registry, progress: progress)
            }
            progress.end()
            if let out {
                let written = report.coverage?.map { (resource: $0.resource, scenarios: $0.scenarios) } ?? []
                try ScenarioFiles.write(written, to: out, terminal)
            }
            if format == "json" {
                terminal.print(report.json.text())
                return report.isPassed
            }
            for problem in report.problems {
                terminal.print(terminal.isInteractive ? problem.withSource : problem.description)
            }
            arguments.explainUnknown(report.problems, terminal)
            for line in report.lines(draws: arguments.has("draw")) { terminal.print(line) }
            terminal.print(report.summary)
            for line in report.coverage?.flatMap(\.lines) ?? [] { terminal.print(line.withoutControls) }
            return report.isPassed
        })

    /// Reads all files, then plays the scenarios that are sound.
    private static func report(
        on paths: [String], arguments: Arguments, registry: Registry, progress: Progress
    ) throws -> ScenarioReport {
        let (policies, environment) = (arguments.policies, arguments.environment)
        let reader = PolicyReader(registry: registry, folder: policies.relativePath, environment: environment)
        var report = ScenarioReport()
        let resources: [String]
        do throws(PolicyError) {
            resources = try reader.names().map { String($0.dropLast(".json".count)) }
            report.problems = try reader.checkAll().filter { $0.policy == nil }.flatMap(\.problems)
        } catch {
            report.problems = error.problems
            return report
        }
        // If one policy is not sound, none is composed.
        let player =
            report.problems.isEmpty
            ? ScenarioPlayer(policies: policies, registry: registry, environment: environment) : nil
        let verdicts = paths.flatMap { ScenarioFiles(registry: registry, resources: resources).judge($0) }
        report.files = verdicts.count { $0.path.hasSuffix(".json") }
        report.problems += verdicts.flatMap(\.problems)
        let count = verdicts.reduce(0) { $0 + ($1.story?.scenarios.count ?? 0) }
        for verdict in verdicts {
            guard let player, let story = verdict.story else { continue }
            for scenario in story.scenarios {
                progress.show(Double(report.results.count) / Double(count), story.resource)
                let history = try player.play(scenario, of: story.resource)
                report.results.append(
                    ScenarioReport.Result(path: verdict.path, story: story, scenario: scenario, history: history))
            }
        }
        return report
    }

    private static func list(_ keys: [ScenarioKey], format: String, terminal: Terminal) {
        if format == "json" {
            let items = keys.map { key -> JSON in
                ["key": .string(key.path), "required": .bool(key.isRequired), "help": .string(key.help)]
            }
            terminal.print(JSON.list(items).text())
            return
        }
        let width = keys.map(\.path.count).max() ?? 0
        for key in keys {
            terminal.print("\(key.path.padded(to: width))  \(key.help)\(key.isRequired ? " (required)" : "")")
        }
    }
}

/// A key of scenario files, taken from its declaration.
struct ScenarioKey: Sendable {
    var path: String
    var help: String
    var isRequired: Bool

    /// Every key. The keys of an object follow the object.
    static var all: [ScenarioKey] { keys(of: SettingType.story(of: []).schema, below: "") }

    private static func keys(of schema: JSON, below path: String) -> [ScenarioKey] {
        guard let properties = schema["properties"]?.members else {
            let items = [schema["items"]] + (schema["anyOf"]?.items.map { $0 } ?? [])
            return items.compactMap { $0 }.first.map { keys(of: $0, below: path) } ?? []
        }
        let required = schema["required"]?.items ?? []
        return properties.flatMap { property in
            let path = path.isEmpty ? property.name : path + "." + property.name
            let help = property.value["description"]?.text ?? ""
            let key = ScenarioKey(path: path, help: help, isRequired: required.contains(.string(property.name)))
            return [key] + keys(of: property.value, below: path)
        }
    }
}

extension JSON {
    fileprivate subscript(name: String) -> JSON? { members?.first { $0.name == name }?.value }

    fileprivate var members: [Member]? {
        if case .object(let members) = self { members } else { nil }
    }

    fileprivate var items: [JSON]? {
        if case .list(let items) = self { items } else { nil }
    }

    fileprivate var text: String? {
        if case .string(let text) = self { text } else { nil }
    }
}
