#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import LarderBase
import Larder
@_spi(Demo) import LarderPlugins

extension Command {
    static let demo = Command(
        name: "demo", summary: "Runs a day of traffic in simulated time, and shows what users get.",
        operands: "[PATH]",
        details: """
            The day has a morning rush, a slow hour, an outage of the service, an afternoon without network, and a recovery.
            It takes a few seconds. The stores are those of the policies, the origin is 'sample'. The same seed gives the same
            numbers. Change a policy and run the demo again. Nothing needs to be built.

            PATH is a folder of policies. The default is the folder of --policies.
            """,
        options: [
            .policies, .json,
            Option("seed", "N", "The seed of the day (default: 1)"),
            Option("out", "DIR", "Also write a metrics dump, a report and a Prometheus file to this folder"),
        ],
        run: { arguments, registry, terminal in
            let operands = arguments.operands
            guard operands.count <= 1 else { throw UsageError(message: "demo takes one PATH") }
            if !operands.isEmpty, arguments.value(of: "policies") != nil {
                throw UsageError(message: "PATH and --policies exclude each other")
            }
            let policies = operands.first.map { URL(filePath: $0, directoryHint: .isDirectory) } ?? arguments.policies
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
                for line in table.lines + [""] + table.story { terminal.print(line) }
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
        var builder = ReportBuilder(now: dump.written)
        builder.add(dump)
        guard let report = builder.report().report else { return }
        let files = [
            ("demo.json", table.text() + "\n"), ("metrics.json", dump.json.text(indented: false) + "\n"),
            ("metrics.prom", report.text("prometheus")), ("report.html", report.text("html")),
        ]
        for (name, text) in files {
            try Disk.replace(folder + "/" + name, with: [Array(text.utf8)], isPrivate: false)
        }
    }
}
