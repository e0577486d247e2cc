#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import Larder

extension Command.Option {
    static func format(_ names: [String]) -> Command.Option {
        Command.Option("format", names.joined(separator: "|"), "How to write the result (default: \(names[0]))")
    }
}

extension Arguments {
    /// The chosen format, the first of `names` by default.
    func format(_ names: [String]) throws(UsageError) -> String {
        guard let name = value(of: "format") else { return names[0] }
        guard names.contains(name) else {
            throw UsageError(message: "--format takes one of \(names.joined(separator: ", "))")
        }
        return name
    }
}

extension Command {
    static let check = Command(
        name: "check", summary: "Says everything that is wrong with policies.",
        operands: "[PATH …]",
        details: """
            PATH is a folder of policies or one file (default: Policies). Every problem is told at once, with its place.
            Warnings alone are no failure, unless --strict.
            """,
        options: [
            .format(["text", "json"]),
            Option("strict", nil, "Warnings are failures too"),
            .assume,
            Option("cache", "DIR", "Warn if this cache folder cannot be written, too"),
            Option("rules", nil, "List the rules for what is wrong between parts, and end"),
        ],
        run: { arguments, registry, terminal in
            let format = try arguments.format(["text", "json"])
            if arguments.has("rules") {
                list(LintRule.all, format, terminal)
                return true
            }
            var count = 0
            var problems: [Problem] = []
            let paths = arguments.operands.isEmpty ? ["Policies"] : arguments.operands
            for path in paths {
                let verdicts = judge(path, registry, arguments.environment)
                count += verdicts.count
                problems += verdicts.flatMap(\.problems)
            }
            if let cache = arguments.value(of: "cache") {
                problems += CacheFolderCheck.problems(in: cache, settings(paths, registry, arguments.environment))
            }
            let errors = problems.filter { $0.severity == .error }.count
            let warnings = problems.count - errors
            if format == "json" {
                let result: JSON = [
                    "policies": .int(count), "errors": .int(errors), "warnings": .int(warnings),
                    "problems": .list(problems.map(\.json)),
                ]
                terminal.print(result.text())
            } else {
                for problem in problems {
                    terminal.print(terminal.isInteractive ? problem.withSource : problem.description)
                }
                let sum =
                    problems.isEmpty ? "no problems" : "\(counted(errors, "error")), \(counted(warnings, "warning"))"
                let assumed = registry.assumed.isEmpty ? "" : "; assumed: " + registry.assumed.joined(separator: ", ")
                terminal.note("\(counted(count, "policy", "policies")), \(sum)\(assumed)")
            }
            if format == "text" { arguments.explainUnknown(problems, terminal) }
            return errors == 0 && !(arguments.has("strict") && warnings > 0)
        })

    /// What those of the paths that are folders say of the files that the process writes.
    private static func settings(
        _ paths: [String], _ registry: Registry, _ environment: [String: String]
    ) -> [ProcessSettings] {
        paths.compactMap { path in
            try? PolicyReader(registry: registry, folder: path, environment: environment).process()
        }
    }

    /// What is to be said about a folder or a file.
    private static func judge(
        _ path: String, _ registry: Registry, _ environment: [String: String]
    ) -> [PolicyReader.Verdict] {
        func reader(_ folder: String) -> PolicyReader {
            PolicyReader(registry: registry, folder: folder, environment: environment)
        }
        if Disk.item(path)?.isFolder != false, !path.hasSuffix(".json") {
            let process = PolicyReader.Verdict(problems: reader(path).judgeProcess().problems)
            do { return try reader(path).judgeAll() + (process.problems.isEmpty ? [] : [process]) } catch {
                return [PolicyReader.Verdict(problems: error.problems)]
            }
        }
        let slash = path.lastIndex(of: "/")
        let folder = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let name = slash.map { String(path[path.index(after: $0)...]) } ?? path
        guard name.hasSuffix(".json"), PolicyReader.isName(String(name.dropLast(".json".count))) else {
            let problem = Problem("this is not the file of a policy", file: path, expected: "a file such as feed.json")
            return [PolicyReader.Verdict(problems: [problem])]
        }
        return [reader(folder).judge(name)]
    }

    private static func list(_ rules: [LintRule], _ format: String, _ terminal: Terminal) {
        if format == "json" {
            let items = rules.map { rule -> JSON in
                [
                    "rule": .string(rule.name), "severity": .string(rule.severity.rawValue), "why": .string(rule.why),
                ]
            }
            terminal.print(JSON.list(items).text())
            return
        }
        let width = rules.map(\.name.count).max() ?? 0
        for rule in rules {
            terminal.print("\(rule.name.padded(to: width))  \(rule.severity.rawValue.padded(to: 7))  \(rule.why)")
        }
    }
}

/// `1 error`, `2 errors`.
func counted(_ count: Int, _ one: String, _ many: String? = nil) -> String {
    "\(count) \(count == 1 ? one : many ?? one + "s")"
}
