import LarderFoundation
import Larder
import LarderReports
import LarderSimulation
import LarderStories
import LarderSystem

extension Command {
    static let simulate = Command(
        name: "simulate", summary: "Replays requests through policies and compares the results.",
        operands: "[PATH …]",
        details: """
            Replays recorded or generated requests through each policy in simulated time, against a simulated origin, and
            prints the figures side by side. The same options always give the same output.

            PATH is a policy file, as with --policy. The default is every policy of --policies.

            The requests come from --trace, a file written by 'larder load --record', or from --traffic, such as
              rate=10,for=1h,keys=1000,skew=0.99     (these are the defaults)
            The origin is described by --origin, such as
              latency=80ms,slowest=400ms,fails=2%,down=10m-13m,slow=20m-25m,slowness=25,silent=40m-41m,
              changes=10m,size=10KB,type=application/json     (all are optional; windows can be repeated)
            The value of either can also be a JSON object with these keys, or a file that holds one.

            To compare feed's strategy with stale-while-revalidate:
              larder simulate --traffic rate=5,keys=20 --origin fails=5%,down=20m-30m \\
                --policy Policies/feed.json --try stale-while-revalidate

            With --advice, it also simulates each policy with each change that 'larder advise' proposes for it, and says
            whether that confirms or refutes the advice. The exit code is 1 if advice is refuted.
            """,
        options: [
            Option("trace", value: "FILE", help: "Recorded requests"),
            Option("traffic", value: "SPEC", help: "Generated requests"),
            Option("origin", value: "SPEC", help: "The behaviour of the origin"),
            Option(
                "lifetime", value: "DURATION",
                help: "The lifetime that the origin states for its answers, or 'none' (default: none)"),
            Option("policy", value: "FILE", help: "A policy to try; repeatable (default: every policy of the folder)"),
            Option("try", value: "STRATEGY", help: "Also try each policy with this strategy; repeatable"), .policies,
            Option("advice", value: "FILE", help: "Check advice of 'larder advise --json' with these requests"),
            Option("seed", value: "N", help: "The seed of all chance (default: 1)"), .json, .format(["text", "json"]),
            .assume,
        ],
        run: { arguments, registry, terminal in
            let format = try arguments.format(["text", "json"])
            let seed = try arguments.number(of: "seed", in: 0...Int(Int32.max), default: 1)
            for operand in arguments.operands where !operand.hasSuffix(".json") {
                throw UsageError(message: "'\(operand)' is not a policy file such as Policies/feed.json")
            }
            let progress = Progress(terminal, "simulate")
            let advice = try arguments.value(of: "advice").map(AdviceFile.read) ?? []
            let requests = try requests(arguments, seed: UInt64(seed), terminal)
            var model = try OptionObject.read(arguments.value(of: "origin") ?? "", as: .originModel, option: "origin")
            let lifetimes = try arguments.lifetimes
            if arguments.values(of: "lifetime").count > 1 { throw UsageError(message: "simulate takes one --lifetime") }
            model.lifetime = lifetimes.first ?? nil
            var accounts: [(label: String, account: Replay.Account)] = []
            let readers = try readers(arguments, registry)
            for (number, entry) in readers.enumerated() {
                let account = try Replay(reader: entry.reader, model: model, seed: UInt64(seed)).run(requests) {
                    share in
                    progress.show((Double(number) + share) / Double(readers.count), entry.label)
                }
                progress.end()
                for warning in account.policy.warnings { terminal.note(warning.description) }
                if let section = account.policy.answeringSection {
                    terminal.note(
                        "\(entry.label): section '\(section.plugin.name)' answers loads; the simulated origin does not "
                            + "know what it asks for")
                }
                for validator in account.policy.validators where validator.validatorTraits.followsOrigin {
                    terminal.note(
                        "\(entry.label): validator '\(validator.plugin.name)' follows the origin, which is assumed to "
                            + "state \([model.lifetime].inWords)")
                }
                if account.metrics.loads + account.metrics[.cancelled] == 0 {
                    terminal.note("\(entry.label): no request for this policy has ended")
                } else {
                    accounts.append((entry.label, account))
                }
            }
            if accounts.isEmpty { return false }
            arguments.explainUnusedLifetimes(accounts.map(\.account.policy), terminal)
            let simulated = SimulatedAdvice(
                advice: advice, requests: requests, model: model, seed: UInt64(seed), registry: registry,
                environment: arguments.environment)
            var checks: [AdviceCheck] = []
            var misfits: [String] = []
            // Advice is about the policies as they are, and not about other strategies.
            var checked: Set<String> = []
            for (label, account) in accounts where checked.insert(account.policy.file).inserted {
                checks += simulated.checks(
                    of: account, folder: Disk.split(account.policy.file).folder, note: { misfits.append($0) },
                    progress: { progress.show($0, "\(label), advice") })
            }
            progress.end()
            for reason in misfits { terminal.note(reason) }
            for item in advice where !accounts.contains(where: { $0.account.policy.resource == item.resource }) {
                terminal.note(
                    "the advice for '\(item.resource.printable)' is not checked: no policy of it is simulated")
            }
            let table = SimulationTable(accounts: accounts)
            if format == "json" {
                terminal.print(table.json(seed: seed, checks: checks).text())
            } else {
                for line in table.lines { terminal.print(line) }
                if !checks.isEmpty { terminal.print("") }
                for line in checks.flatMap(\.lines) { terminal.print(line) }
            }
            return misfits.isEmpty && !checks.contains { $0.verdict == .refuted }
        })

    private static func requests(_ arguments: Arguments, seed: UInt64, _ terminal: Terminal) throws -> [TracedRequest] {
        switch (arguments.value(of: "trace"), arguments.value(of: "traffic")) {
        case (let trace?, nil):
            return try TraceFile.read(trace) { first, count in
                terminal.note("\(trace): \(counted(count, one: "line")) left out, the first of them line \(first)")
            }
        case (nil, let traffic?):
            return try OptionObject.read(traffic, as: .traffic, option: "traffic").requests(seed: seed)
        case (nil, nil): throw UsageError(message: "simulate needs --trace or --traffic")
        default: throw UsageError(message: "--trace and --traffic exclude each other")
        }
    }

    /// A reader and a label for each policy that is tried.
    private static func readers(
        _ arguments: Arguments, _ registry: Registry
    ) throws -> [(label: String, reader: PolicyReader)] {
        let folder = arguments.policies.relativePath
        var files = arguments.values(of: "policy") + arguments.operands
        if files.isEmpty {
            files = try arguments.reader(registry, folder).names().map { folder + "/" + $0 }
            if files.isEmpty {
                throw PolicyError([Problem("there are no policies in this folder", file: folder)])
            }
        }
        func name(_ file: String) -> String {
            let name = Disk.split(file).name
            return name.hasSuffix(".json") ? String(name.dropLast(".json".count)) : name
        }
        let names = files.map(name)
        return files.flatMap { file in
            let strategies: [String?] = [nil] + arguments.values(of: "try")
            return strategies.map { strategy in
                (
                    names.count { $0 == name(file) } > 1 ? file : name(file),
                    PolicyReader(
                        registry: registry, file: file, strategy: strategy, environment: arguments.environment)
                )
            }
        }
    }
}
