import LarderFoundation
import Larder
import LarderSystem
import LarderStories

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
            .lifetime, .assume,
        ],
        run: { arguments, registry, terminal in
            let format = try arguments.format(["text", "json"])
            if arguments.has("keys") {
                list(ScenarioKey.all, format: format, terminal: terminal)
                return true
            }
            let out = arguments.value(of: "out")
            if !arguments.values(of: "lifetime").isEmpty, !arguments.has("coverage") {
                throw UsageError(message: "--lifetime is for the situations of --coverage; a scenario names its own")
            }
            if out != nil, !arguments.has("coverage") {
                throw UsageError(message: "--out writes the situations that --coverage finds, so it needs --coverage")
            }
            let folder = arguments.policies.relativePath
            var paths = arguments.operands.isEmpty ? [folder + "/Scenarios"] : arguments.operands
            if arguments.has("coverage"), arguments.operands.isEmpty, !ScenarioFiles.areThere(in: paths[0]) {
                paths = []
            }
            let progress = Progress(terminal, "test")
            var report = try ScenarioReport(
                of: paths, policies: arguments.policies, registry: registry, environment: arguments.environment
            ) { progress.show($0, $1) }
            if arguments.has("coverage"), report.problems.isEmpty {
                report.coverage = try coverage(
                    of: report, arguments: arguments, registry: registry, progress: progress, terminal: terminal)
            }
            progress.end()
            for problem in report.otherProblems { terminal.note(problem.description) }
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

extension Command {
    /// Plays the kinds of situations of the policies that scenarios are about; of all policies, if no file is named.
    static func coverage(
        of report: ScenarioReport, arguments: Arguments, registry: Registry, progress: Progress, terminal: Terminal
    ) throws -> [ScenarioCoverage] {
        let folder = arguments.policies.shortPath
        let reader = arguments.reader(registry, folder)
        let named = Set(report.results.map(\.file.resource) + report.histories.map(\.file.resource))
        let policies =
            try arguments.operands.isEmpty
            ? reader.readAll() : reader.checkAll().compactMap(\.policy).filter { named.contains($0.resource) }
        arguments.explainUnusedLifetimes(policies, terminal)
        return try policies.enumerated().map { number, policy in
            progress.show(Double(number) / Double(policies.count), policy.resource)
            let simulated = try SimulatedPolicy(
                policy, registry: registry, files: folder, environment: arguments.environment,
                lifetimes: arguments.lifetimes)
            return try ScenarioCoverage(of: simulated, report.results)
        }
    }
}

extension ScenarioFiles {
    /// Writes the scenarios of each resource that has some into a file of a folder, and tells the files.
    static func write(
        _ files: [(resource: String, scenarios: JSON?)], to folder: String, _ terminal: Terminal
    ) throws {
        let paths = files.filter { $0.scenarios != nil }.map { folder + "/" + $0.resource + ".json" }
        if let path = paths.first(where: { Disk.item($0) != nil }) {
            throw UsageError(message: "\(path) exists already; --out takes a folder without it, such as a new one")
        }
        try Disk.makeFolder(folder)
        for (resource, scenarios) in files {
            guard let scenarios else { continue }
            let path = folder + "/" + resource + ".json"
            try Disk.replace(path, with: [Array((scenarios.text() + "\n").utf8)])
            terminal.note("wrote \(path)")
        }
    }
}
