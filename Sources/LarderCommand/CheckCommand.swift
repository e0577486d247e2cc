import LarderFoundation
import LarderSystem
import Larder

extension Command {
    static let check = Command(
        name: "check", summary: "Lists every problem in policies.",
        operands: "[PATH …]",
        details: """
            PATH is a folder of policies or one policy file. The default is the folder of --policies. Each problem is
            printed with its file, line and column. Copies of another source in the cache folder, which are not used any more,
            are a warning. The command fails if there is an error. With --strict it also fails
            if there is a warning. A promise that a policy breaks is an error. Proofs that play many situations are made
            only with --prove; 'larder prove' also says why a proof is not complete.
            """,
        options: [
            .policies, .json, .format(["text", "json"]),
            Option("strict", help: "Fail if there is a warning"),
            .assume,
            Option(
                "cache", value: "DIR",
                help: "The cache folder; warn if it cannot be written (default: the project's own, if there is one)"),
            Option("data", value: "DIR", help: "Warn if this folder for data of users cannot be written"),
            Option("prove", help: "Prove all promises, however long that takes"),
            Option("no-prove", help: "Do not play the situations that could break promises"), .lifetime,
            Option("rules", help: "List the rules about settings that contradict each other, and end"),
        ],
        run: { arguments, registry, terminal in
            let isJSON = try arguments.format(["text", "json"]) == "json"
            if arguments.has("rules") {
                list(LintRule.all, isJSON: isJSON, terminal: terminal)
                return true
            }
            if arguments.has("prove"), arguments.has("no-prove") {
                throw UsageError(message: "--prove and --no-prove exclude each other")
            }
            let lifetimes = try arguments.lifetimes
            var count = 0
            var problems: [Problem] = []
            var unproved: [String] = []
            var incomplete: [String] = []
            var names: [String: Set<String>] = [:]
            var seen: Set<String> = []
            let paths = (arguments.operands.isEmpty ? [arguments.folder] : arguments.operands).filter {
                seen.insert(Disk.realPath($0) ?? $0).inserted
            }
            for path in paths {
                let (policies, found, read) = check(path) { arguments.reader(registry, $0) }
                count += policies
                problems += found
                names[folder(of: path), default: []].formUnion(read.map(\.resource))
                for policy in read where policy.sections.contains(where: { $0.plugin.name == "promises" }) {
                    let broken =
                        arguments.has("no-prove")
                        ? nil
                        : brokenPromises(
                            of: policy, registry, arguments.environment, lifetimes: lifetimes,
                            mayTakeLong: arguments.has("prove"))
                    if let broken {
                        problems += broken.problems
                        if !broken.isComplete { incomplete.append(policy.resource) }
                    } else {
                        unproved.append(policy.resource)
                    }
                }
            }
            if let cache = arguments.value(of: "cache") {
                problems += CacheFolderCheck.problems(
                    in: cache, paths.compactMap { try? arguments.reader(registry, $0).process() })
            }
            for (folder, names) in names.sorted(by: { $0.key < $1.key }) {
                if let cache = arguments.cache(for: URL(filePath: folder, directoryHint: .isDirectory)) {
                    problems += await UnusedCopies.problems(in: cache, of: arguments.reader(registry, folder), names)
                }
            }
            if let data = arguments.value(of: "data") { problems += CacheFolderCheck.problems(inData: data) }
            problems = problems.withoutRepeats
            let errors = problems.filter { $0.severity == .error }.count
            let warnings = problems.count - errors
            if isJSON {
                let result: JSON = [
                    "policies": .int(count), "errors": .int(errors), "warnings": .int(warnings),
                    "unproved": .list(unproved.map(JSON.string)), "incomplete": .list(incomplete.map(JSON.string)),
                    "problems": .list(problems.map(\.json)),
                ]
                terminal.print(result.text())
            } else {
                for problem in problems {
                    terminal.print(terminal.isInteractive ? problem.withSource : problem.description)
                }
                let sum =
                    problems.isEmpty
                    ? (unproved.isEmpty && incomplete.isEmpty ? "no problems" : "no problems found so far")
                    : "\(counted(errors, one: "error")), \(counted(warnings, one: "warning"))"
                let assumed = registry.assumed.isEmpty ? "" : "; assumed: " + registry.assumed.joined(separator: ", ")
                let left =
                    unproved.isEmpty
                    ? ""
                    : "; not proved: the promises of \(unproved.joined(separator: ", ")) ("
                        + (arguments.has("prove") ? "'larder prove' tells why)" : "--prove proves them)")
                let partly =
                    incomplete.isEmpty
                    ? "" : "; not completely proved, as 'larder prove' tells: " + incomplete.joined(separator: ", ")
                terminal.note("\(counted(count, one: "policy", many: "policies")), \(sum)\(assumed)\(left)\(partly)")
            }
            if !isJSON { arguments.explainUnknown(problems, terminal) }
            return errors == 0 && !(arguments.has("strict") && warnings > 0)
        })

    private static func isFolder(_ path: String) -> Bool {
        Disk.item(path)?.isFolder != false && !path.hasSuffix(".json")
    }

    /// The folder of the policies at a path.
    private static func folder(of path: String) -> String {
        isFolder(path) ? path : Disk.split(path).folder
    }

    /// Reads a folder of policies or one file, and returns the number of policies, the problems, and
    /// the policies without errors.
    private static func check(
        _ path: String, _ reader: (String) -> PolicyReader
    ) -> (count: Int, problems: [Problem], policies: [Policy]) {
        if isFolder(path) {
            let channel = (try? AppChannel(reader(path)))??.problems ?? []
            let process = reader(path).checkProcess().problems + reader(path).checkOutputNames() + channel
            do {
                let results = try reader(path).checkAll()
                return (results.count, results.flatMap { problems(of: $0) } + process, results.compactMap(\.policy))
            } catch {
                return (0, error.problems, [])
            }
        }
        let (folder, name) = Disk.split(path)
        if name == ProcessSettings.file {
            return (0, reader(folder).checkProcess().problems, [])
        }
        guard name.hasSuffix(".json"), PolicyReader.isName(String(name.dropLast(".json".count))) else {
            let problem = Problem(
                "this is not the name of a policy file", file: path, expected: "a file such as feed.json")
            return (0, [problem], [])
        }
        let result = reader(folder).check(name)
        return (1, problems(of: result), [result.policy].compactMap { $0 })
    }

    /// The problems of a file: a single one if it is not a policy at all, but a dump or a file of scenarios.
    private static func problems(of result: PolicyReader.CheckResult) -> [Problem] {
        guard result.policy == nil, let first = result.problems.first(where: { $0.position != nil }),
            let other = first.otherFile
        else { return result.problems }
        return [
            Problem(
                "this is \(other.kind), not a policy; \(other.advice)", file: first.file, at: other.position,
                path: other.path)
        ]
    }

    private static func list(_ rules: [LintRule], isJSON: Bool, terminal: Terminal) {
        if isJSON {
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
