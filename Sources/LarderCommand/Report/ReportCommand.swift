#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import Larder

extension Command {
    static let report = Command(
        name: "report", summary: "Adds metrics dumps up and tells what they say, for an operations review.",
        operands: "DUMP …",
        details: """
            DUMP is a file that a pantry wrote ('metrics' in _larder.json) or a folder of them; any number, of any hosts,
            revisions and times. Files that are no dump are named and left out, and the exit code is 1. Times are UTC.
            """,
        options: [
            .format(["text", "json", "prometheus", "openmetrics", "html"]),
            Option("since", "TIME", "Leave out what happened before: 2h, 7d, 2026-01-05 or 2026-01-05T14:00"),
            Option("output", "FILE", "Write there instead"),
        ],
        run: { arguments, _, terminal in
            let format = try arguments.format(["text", "json", "prometheus", "openmetrics", "html"])
            if arguments.operands.isEmpty { throw UsageError(message: "which dumps?") }
            let dumps = read(arguments.operands, terminal)
            var builder = ReportBuilder(since: try since(arguments, dumps.compactMap { try? $0.dump.get() }))
            for (file, dump) in dumps {
                switch dump {
                case .success(let dump): builder.add(dump)
                case .failure(let error):
                    builder.skip(file, error.description)
                    terminal.complain("\(file.printable): \(error.description); left out")
                }
            }
            guard let report = builder.report() else {
                terminal.complain("there is no dump to report on")
                return false
            }
            let text = report.text(format)
            guard let output = arguments.value(of: "output") else {
                terminal.write(text.utf8)
                return report.skipped.isEmpty
            }
            do {
                try Disk.put(output, Array(text.utf8))
            } catch {
                throw UnwrittenReport(description: "the report cannot be written: \(error)")
            }
            return report.skipped.isEmpty
        })

    private struct UnwrittenReport: Error, CustomStringConvertible {
        var description: String
    }

    /// Reads files, and those of folders, in the order of their names.
    private static func read(
        _ paths: [String], _ terminal: Terminal
    ) -> [(file: String, dump: Result<MetricsDump, MetricsDump.Unreadable>)] {
        var files: [String] = []
        for path in paths {
            guard Disk.item(path)?.isFolder == true, let items = try? Disk.list(path) else {
                files.append(path)
                continue
            }
            files += items.filter { !$0.isFolder && $0.name.hasSuffix(".json") }.map { path + "/" + $0.name }.sorted()
        }
        let progress = Progress(terminal, "report")
        defer { progress.end() }
        return files.enumerated().map { number, file in
            progress.show(Double(number) / Double(files.count), file)
            return (file, Result { () throws(MetricsDump.Unreadable) in try MetricsDump(file: file) })
        }
    }

    /// The moment before which nothing counts: a time, or so long before the last dump.
    private static func since(_ arguments: Arguments, _ dumps: [MetricsDump]) throws -> Timestamp? {
        guard let text = arguments.value(of: "since") else { return nil }
        if let length = Duration(spelled: text) { return dumps.map(\.written).max().map { $0 - length } }
        guard let time = Timestamp(spelled: text) else {
            throw UsageError(
                message: "--since takes a duration such as 2h, a day such as 2026-01-05, or 2026-01-05T14:00")
        }
        return time
    }
}

extension MetricsDump {
    /// The dump in a file.
    init(file: String) throws(Unreadable) {
        let bytes: [UInt8]
        do {
            bytes = try Disk.read(file, limit: Self.mostBytes)
        } catch {
            throw Unreadable(error.description)
        }
        try self.init(reading: bytes)
    }
}

extension Report {
    func text(_ format: String) -> String {
        switch format {
        case "json": json.text() + "\n"
        case "prometheus": dump.prometheus
        case "openmetrics": dump.openMetrics
        case "html": html
        default: lines.joined(separator: "\n") + "\n"
        }
    }

    /// The sums as one dump, of no process in particular.
    var dump: MetricsDump {
        MetricsDump(
            host: nil, process: "report", instance: "report", started: times.lowerBound, written: times.upperBound,
            resources: sections.map { section in
                var resource = ResourceDump(section.name)
                (resource.inFlight, resource.store) = (section.inFlight, section.store)
                // Of several the one that lets least through.
                resource.breaker = [.open, .halfOpen, .closed].first { section.breakers[$0] != nil }
                resource.revisions = section.revisions.map {
                    RevisionDump(
                        name: $0.name, strategy: $0.strategy, isCurrent: $0.isCurrent, metrics: $0.metrics, periods: [])
                }
                return resource
            })
    }
}
