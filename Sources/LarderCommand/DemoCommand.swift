#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import Larder

extension Command {
    static let demo = Command(
        name: "demo", summary: "Lives through a day with the policies, in simulated time, and shows what users felt.",
        details: """
            A morning rush online, a slow hour, an outage of the service, an afternoon without network, and recovery, all
            in a few seconds, on the policies' own stores and the stand-in origin 'sample'. The same seed gives the same
            numbers. Change a policy and look again; nothing needs to be built.
            """,
        options: [
            .policies,
            Option("seed", "N", "Another seed, another day (default: 1)"),
            Option("out", "DIR", "Leave a dump of the metrics, a report and a Prometheus file there too"),
        ],
        run: { arguments, registry, terminal in
            guard arguments.operands.isEmpty else { throw UsageError(message: "demo takes no operands") }
            let seed = try arguments.number(of: "seed", in: 0...Int.max, default: 1)
            let day = DemoDay(
                seed: UInt64(seed), policies: arguments.policies, registry: registry,
                environment: arguments.environment)
            // A folder that cannot be had is told before the day is lived, not after.
            if let folder = arguments.value(of: "out") {
                do { try Disk.makeFolder(folder) } catch {
                    terminal.complain("nothing can be left in \(folder): \(error)")
                    return false
                }
            }
            let progress = Progress(terminal, "demo")
            let account = try day.live { progress.show($0, $1) }
            progress.end()
            for warning in account.warnings { terminal.note(warning.description) }
            let table = DemoTable(rows: account.rows)
            for line in table.lines + [""] + table.story { terminal.print(line) }
            if let folder = arguments.value(of: "out") {
                try leave(account.dump, table.json(seed: seed), in: folder)
                terminal.note(
                    "left in \(folder): demo.json (the table), metrics.json (the dump), metrics.prom (for Prometheus), "
                        + "report.html (open it)")
            }
            return true
        })

    private static func leave(_ dump: MetricsDump, _ table: JSON, in folder: String) throws {
        var builder = ReportBuilder(since: nil)
        builder.add(dump)
        guard let report = builder.report() else { return }
        let files = [
            ("demo.json", table.text() + "\n"), ("metrics.json", dump.json.text(indented: false) + "\n"),
            ("metrics.prom", report.text("prometheus")), ("report.html", report.text("html")),
        ]
        for (name, text) in files {
            try Disk.replace(folder + "/" + name, with: [Array(text.utf8)], isPrivate: false)
        }
    }
}
