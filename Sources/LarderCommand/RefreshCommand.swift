import LarderFoundation
import Larder
import LarderReports

extension Command {
    static let refresh = Command(
        name: "refresh", summary: "Does the work that is due, such as refreshes on a schedule, and ends.",
        operands: "[PATH]",
        details: """
            PATH is a folder of policies. The default is the folder of --policies. Call this from cron or a systemd timer. Each
            call does what is due by the sections of the policies, such as 'refresh', and nothing else. The cache folder
            remembers the last run, so it must be the same one in each call.

            Work that is under way at the end of the budget is cancelled. Saving what has arrived may take five seconds more.

            Exit code: 0 if nothing failed and nothing was cut off. Work that waits for a network is no failure.
            """,
        options: [
            .policies, .cache, .data, .json,
            Option("budget", value: "DURATION", help: "The longest time for the work (default: 30s)"),
        ],
        run: { arguments, registry, terminal in
            let folder = try arguments.policies(orOperandOf: "refresh")
            let budget = try arguments.duration(of: "budget") ?? .seconds(30)
            guard budget > .zero else { throw UsageError(message: "--budget takes a duration of more than nothing") }
            let world = SystemWorld()
            let start = world.uptime
            let reader = arguments.reader(registry, folder.shortPath)
            // The dumps belong to a longer run.
            let pantry = try await Pantry(
                reader: reader.withoutProcess, cache: arguments.cache(for: folder), data: arguments.data(for: folder),
                world: world,
                allowsBackgroundWork: false, allowsDueWork: true)
            for warning in pantry.warnings { terminal.note(warning.description) }
            for problem in pantry.cacheProblems { terminal.note(problem.description) }
            let telling = terminal.tellStoreFaults(of: pantry, in: arguments.cache(for: folder))
            defer { telling.stop() }
            let closing = pantry.closeOnSignals()
            defer { closing.stop() }
            let report = await pantry.runDue(within: budget - (world.uptime - start))
            await pantry.close()
            guard !report.items.isEmpty else {
                terminal.complain(
                    "\(folder.shortPath.printable): no policy has work that becomes due, as 'refresh' has")
                return false
            }
            let table = DueTable(report: report)
            if arguments.has("json") {
                terminal.print(table.json.text())
            } else {
                for line in table.lines { terminal.print(line) }
            }
            return report.failed.isEmpty && !report.items.contains { $0.result == .unfinished }
        })
}

/// A report of due work as lines of text and as JSON.
private struct DueTable {
    let report: DueReport

    var lines: [String] {
        Table(
            [["resource", "section", "result", "next", "reason"]]
                + report.items.map { item in
                    let (result, reason) = item.result.words
                    return [
                        item.resource?.printable ?? "–", item.section.printable, result, item.next?.spelled ?? "–",
                        reason?.printable ?? "",
                    ]
                }, left: 5
        ).lines.map { $0.trimmingEnd }
    }

    var json: JSON {
        [
            "ran": .int(report.ran.count), "failed": .int(report.failed.count), "left": .int(report.left.count),
            "next": Self.json(report.next),
            "work": .list(
                report.items.map { item in
                    let (result, reason) = item.result.words
                    return [
                        "resource": item.resource.map(JSON.string) ?? .null, "section": .string(item.section),
                        "result": .string(result), "reason": reason.map(JSON.string) ?? .null,
                        "next": Self.json(item.next),
                    ]
                }),
        ]
    }

    private static func json(_ time: Timestamp?) -> JSON { time.map { .number($0.inSeconds) } ?? .null }
}

extension DueResult {
    /// The result in a word or two, and its reason.
    fileprivate var words: (result: String, reason: String?) {
        switch self {
        case .ran: ("ran", nil)
        case .failed(let reason): ("failed", reason)
        case .waiting(let reason): ("waits", reason)
        case .notDue: ("not due", nil)
        case .unfinished: ("unfinished", nil)
        }
    }
}

extension String {
    /// The text without the spaces at its end.
    var trimmingEnd: String { String(self[..<(lastIndex { $0 != " " }.map(index(after:)) ?? startIndex)]) }
}
