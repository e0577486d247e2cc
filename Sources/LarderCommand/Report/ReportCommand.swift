#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import LarderBase
import Larder

extension Command {
    static let report = Command(
        name: "report", summary: "Adds up metrics dumps and reports what stands out.",
        operands: "DUMP …",
        details: """
            DUMP is a file that a pantry wrote ('metrics' in _larder.json), or a folder of such files. Dumps of several
            hosts, revisions and times can be combined. A file that is not a dump is named and left out, and the exit code
            is 1. Times are in UTC.
            """,
        options: [
            .json, .format(["text", "json", "prometheus", "openmetrics", "html"]),
            Option("since", "TIME", "Leave out everything before: 2h, 7d, 2026-01-05 or 2026-01-05T14:00"),
            Option("output", "FILE", "Write the report to this file"),
        ],
        run: { arguments, registry, terminal in
            let format = try arguments.format(["text", "json", "prometheus", "openmetrics", "html"])
            if arguments.operands.isEmpty { throw UsageError(message: "report takes at least one DUMP") }
            let dumps = read(arguments.operands, registry, terminal)
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

    /// Reads files, and the files in folders in the order of their names.
    private static func read(
        _ paths: [String], _ registry: Registry, _ terminal: Terminal
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
            return (file, Result { () throws(MetricsDump.Unreadable) in try MetricsDump(file: file, registry) })
        }
    }

    /// The start of the report: a time, or a duration before the newest dump.
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
    /// Reads the dump in a file. An old dump declares no counters or levels; those of the registry's plugins are known.
    init(file: String, _ registry: Registry) throws(Unreadable) {
        let bytes: [UInt8]
        do {
            bytes = try Disk.read(file, limit: Self.mostBytes)
        } catch {
            throw Unreadable(error.description)
        }
        try self.init(reading: bytes, counters: registry.counters, levels: registry.levels)
    }
}

extension Report {
    /// The report in one of the formats of the command.
    func text(_ format: String) -> String {
        switch format {
        case "json": json.text() + "\n"
        case "prometheus": dump.prometheus
        case "openmetrics": dump.openMetrics
        case "html": html
        default: lines.joined(separator: "\n") + "\n"
        }
    }

    /// The sums as one dump, which belongs to no process.
    var dump: MetricsDump {
        MetricsDump(
            host: nil, process: "report", instance: "report", started: times.lowerBound, written: times.upperBound,
            resources: sections.map { section in
                var resource = ResourceDump(section.name)
                (resource.inFlight, resource.store) = (section.inFlight, section.store)
                // Of several values, the last one in the order of the declaration: the worst.
                for (level, counts) in section.levelCounts { resource.levels[level] = counts.last?.value }
                resource.revisions = section.revisions.map {
                    RevisionDump(
                        name: $0.name, strategy: $0.strategy, isCurrent: $0.isCurrent, metrics: $0.metrics, periods: [])
                }
                return resource
            })
    }
}
