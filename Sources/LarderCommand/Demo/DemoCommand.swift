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

            The demo takes a few seconds. The stores are those of the policies, the origin is 'sample'. The same seed gives the
            same numbers. Change a policy and run the demo again. Nothing needs to be built.

            PATH is a folder of policies. The default is the folder of --policies.
            """,
        options: [
            .policies, .json,
            Option("seed", value: "N", help: "The seed of the day (default: 1)"),
            Option(
                "out", value: "DIR", help: "Also write a metrics dump, a report and a Prometheus file to this folder"),
        ],
        run: { arguments, registry, terminal in
            let policies = try arguments.policies(orOperandOf: "demo")
            let seed = try arguments.number(of: "seed", in: 0...Int.max, default: 1)
            let day = DemoDay(
                seed: UInt64(seed), policies: policies, registry: registry, environment: arguments.environment)
            // Before the day begins, so that a long run does not end without its files.
            if let folder = arguments.value(of: "out") {
                do { try Disk.makeFolder(folder) } catch {
                    terminal.complain("\(folder.printable) cannot be written: \(error)")
                    return false
                }
            }
            let progress = Progress(terminal, "demo")
            let account = try day.live { progress.show($0, $1) }
            progress.end()
            for warning in account.warnings { terminal.note(warning.description) }
            let table = DemoTable(rows: account.rows)
            if arguments.has("json") {
                terminal.print(table.json(seed: seed).text())
            } else {
                let offline = table.offlineLines
                let tables = table.lines + (offline.isEmpty ? [] : [""] + offline)
                for line in tables + [""] + table.story { terminal.print(line) }
            }
            if let folder = arguments.value(of: "out") {
                try leave(account.dump, table.json(seed: seed), in: folder)
                terminal.note(
                    "written to \(folder.printable): demo.json (the table), metrics.json (the dump), metrics.prom (for "
                        + "Prometheus), report.html (the report)")
            }
            return true
        })

    private static func leave(_ dump: MetricsDump, _ table: JSON, in folder: String) throws {
        func write(_ text: String, to name: String) throws {
            try Disk.replace(folder + "/" + name, with: [Array(text.utf8)], isPrivate: false)
        }
        try write(table.text() + "\n", to: "demo.json")
        try write(dump.json.text(indented: false) + "\n", to: "metrics.json")
        // From the file, which has rounded numbers, so that 'larder report' writes the same.
        var builder = ReportBuilder(now: dump.written)
        builder.add(DumpFile(path: folder + "/metrics.json"))
        guard let report = builder.report().report else { return }
        try write(report.dump.prometheus, to: "metrics.prom")
        try write(report.html, to: "report.html")
    }
}
