import LarderFoundation
import LarderSystem
import Larder
import LarderReports
@_spi(Demo) import LarderPlugins

extension Command {
    static let demo = Command(
        name: "demo", summary: "Runs a day of traffic in simulated time, and shows what users get.",
        operands: "[PATH]",
        details: """
            The day has a morning rush, a commute with tunnels, a slow hour, an outage of the service, an afternoon without
            network, and a recovery. The first table has the rates of each phase. The second one has the loads while the device
            was offline, by outcome.

            If policies have records, an evening follows: two devices of a user, in a tunnel and on a plane. A third table tells
            what became of the changes that were made there.

            The demo takes a few seconds. The stores are those of the policies, the origin is 'sample'. The same seed gives the
            same numbers. Change a policy and run the demo again. Nothing needs to be built.

            PATH is a folder of policies. The default is the folder of --policies.

            --editions shows two other days, of twelve devices with a policy of their own: an outage that is met by an edition,
            and a bad edition that is refused.
            """,
        options: [
            .policies, .json,
            Option("editions", help: "Show how an edition reaches devices, and how a bad one is refused"),
            Option("seed", value: "N", help: "The seed of the day (default: 1)"),
            Option(
                "out", value: "DIR", help: "Also write a metrics dump, a report and a Prometheus file to this folder"),
        ],
        run: { arguments, registry, terminal in
            let seed = try arguments.number(of: "seed", in: 0...Int.max, default: 1)
            if arguments.has("editions") {
                return try showEditions(arguments, registry: registry, seed: seed, on: terminal)
            }
            let policies = try arguments.policies(orOperandOf: "demo")
            let day = DemoDay(
                seed: UInt64(seed), policies: policies, registry: registry, environment: arguments.environment)
            guard makesFolder(arguments, terminal) else { return false }
            let progress = Progress(terminal, "demo")
            let account = try day.live { progress.show($0, $1) }
            let evening = try DemoEvening(
                seed: UInt64(seed), policies: policies, registry: registry, environment: arguments.environment
            ).live()
            progress.end()
            for warning in account.warnings { terminal.note(warning.description) }
            let table = DemoTable(rows: account.rows)
            let changes = EveningTable(evening)
            let json = JSON.joined(
                table.json(seed: seed), .present(["evening": changes.rows.isEmpty ? nil : changes.json]))
            if arguments.has("json") {
                terminal.print(json.text())
            } else {
                let offline = table.offlineLines
                let tables = table.lines + (offline.isEmpty ? [] : [""] + offline)
                let end = changes.lines.isEmpty ? [] : [""] + changes.lines
                for line in tables + [""] + table.story + end { terminal.print(line) }
            }
            try write(account.dumps(with: evening), table: json, arguments, to: terminal)
            return true
        })

    /// Makes the folder of --out before the day begins, so that a long run does not end without its files.
    private static func makesFolder(_ arguments: Arguments, _ terminal: Terminal) -> Bool {
        guard let folder = arguments.value(of: "out") else { return true }
        do { try Disk.makeFolder(folder) } catch {
            terminal.complain("\(folder.printable) cannot be written: \(error)")
            return false
        }
        return true
    }

    private static func showEditions(
        _ arguments: Arguments, registry: Registry, seed: Int, on terminal: Terminal
    ) throws -> Bool {
        guard arguments.operands.isEmpty, arguments.value(of: "policies") == nil else {
            throw UsageError(message: "--editions shows a policy of its own, so it takes no PATH and no --policies")
        }
        guard makesFolder(arguments, terminal) else { return false }
        let progress = Progress(terminal, "demo")
        let account = try EditionDays(seed: UInt64(seed), registry: registry).live { progress.show($0, $1) }
        progress.end()
        let json = account.json(seed: seed)
        let lines = DemoTable(rows: account.rows).lines + [""] + account.story
        for line in arguments.has("json") ? [json.text()] : lines { terminal.print(line) }
        try write(account.dumps, table: json, arguments, to: terminal)
        return true
    }

    /// Writes the files of --out.
    private static func write(
        _ dumps: [MetricsDump], table: JSON, _ arguments: Arguments, to terminal: Terminal
    ) throws {
        guard let folder = arguments.value(of: "out"), let last = dumps.map(\.written).max() else { return }
        func write(_ text: String, to name: String) throws {
            try Disk.replace(folder + "/" + name, with: [Array(text.utf8)], isPrivate: false)
        }
        try write(table.text() + "\n", to: "demo.json")
        // From the files, which have rounded numbers, so that 'larder report' writes the same.
        var builder = ReportBuilder(now: last)
        for (number, dump) in dumps.enumerated() {
            let name = number == 0 ? "metrics.json" : "metrics-\(number + 1).json"
            try write(dump.json.text(indented: false) + "\n", to: name)
            builder.add(DumpFile(path: folder + "/" + name))
        }
        guard let report = builder.report().report else { return }
        try write(report.dump.prometheus, to: "metrics.prom")
        try write(report.html, to: "report.html")
        let each = dumps.count == 1 ? "metrics.json (the dump)" : "metrics.json and so on (the dumps)"
        terminal.note(
            "written to \(folder.printable): demo.json (the table), \(each), metrics.prom (for Prometheus), report.html (the "
                + "report)")
    }
}
