import LarderFoundation
import LarderSystem
import Larder
import LarderReports

extension Command {
    static let report = Command(
        name: "report", summary: "Adds up metrics dumps and reports what stands out.",
        operands: "DUMP …",
        details: """
            DUMP is a file that a pantry wrote ('metrics' in _larder.json), or a folder of such files: those whose names end
            in .json or .json.gz. With '-', the names of files are read from the input, one a line:
              find dumps -name '*.json.gz' | larder report -
            Dumps of any number of installations, hosts, revisions and times can be combined. A file may be compressed by
            gzip. A file that is not a dump is named and left out, and the exit code is 1. Of other JSON files in a folder, only
            the number is told.

            A dump is set apart and named, but not counted, if its clock was wrong: it was written more than a day after the
            time of this computer, or before 2025. Times are in UTC.
            """,
        options: [
            .json, .format(["text", "json", "prometheus", "openmetrics", "html"]),
            Option("since", value: "TIME", help: "Leave out everything before: 2h, 7d, 2026-01-05 or 2026-01-05T14:00"),
            Option("output", value: "FILE", help: "Write the report to this file; .html and .json are formats, too"),
        ],
        run: { arguments, registry, terminal in
            var format = try arguments.format(["text", "json", "prometheus", "openmetrics", "html"])
            if format == "text", arguments.value(of: "format") == nil, let output = arguments.value(of: "output") {
                format = ["html", "json"].first { output.hasSuffix("." + $0) } ?? format
            }
            if arguments.operands.isEmpty { throw UsageError(message: "report takes at least one DUMP") }
            guard let report = try Report.read(arguments, registry: registry, terminal: terminal) else { return false }
            try terminal.write(report.written(as: format), asAsked: arguments)
            return report.isWhole
        })
}

extension Report {
    /// Reads the dumps that a command was called with, and adds them up. Tells which ones cannot be read.
    ///
    /// - Returns: nil if there is no dump.
    static func read(_ arguments: Arguments, registry: Registry, terminal: Terminal) throws -> Report? {
        if arguments.operands.count(where: { $0 == "-" }) > 1 {
            throw UsageError(message: "'-' can be given only once")
        }
        let builder = ReportBuilder(since: try start(arguments), now: terminal.now())
        let files = DumpFile.all(arguments.operands, list: terminal.input)
        // Before the dumps are read, which can take long.
        _ = try arguments.output(besides: files.map(\.path))
        return read(files, builder: builder, registry: registry, terminal: terminal)
    }

    /// Whether every file was read, but for JSON files of another kind.
    var isWhole: Bool { skipped.allSatisfy(\.isForeign) }

    /// The share of the time that reading the heads of dumps takes, roughly.
    private static let headShare = 0.15

    /// Reads files and adds them up. Tells which ones cannot be read.
    private static func read(
        _ files: [DumpFile], builder: ReportBuilder, registry: Registry, terminal: Terminal
    ) -> Report? {
        var builder = builder
        let progress = Progress(terminal, "report")
        for (number, file) in files.enumerated() {
            progress.show(headShare * Double(number) / Double(files.count), file.path)
            builder.add(file)
        }
        let (report, skipped) = builder.report(registry) { read, all in
            progress.show(
                headShare + (1 - headShare) * Double(read) / Double(all), "\(read) of \(counted(all, one: "dump"))")
        }
        progress.end()
        let named = skipped.filter { !$0.isForeign }
        for file in named.prefix(Report.mostNamed) {
            terminal.complain("\(file.file.printable): \(file.reason); left out")
        }
        if named.count > Report.mostNamed {
            terminal.complain("\(counted(named.count - Report.mostNamed, one: "more file")) left out")
        }
        if named.count < skipped.count, report == nil {
            terminal.complain(DumpFile.skipped(foreign: skipped.count - named.count))
        }
        if report == nil {
            for dump in builder.apart.prefix(Report.mostNamed) {
                terminal.complain("\(dump.file.printable): \(dump.reason); set apart")
            }
            terminal.complain("there is no dump to report on")
        }
        return report
    }

    /// The start of the report: a time, or a duration before the newest dump.
    private static func start(_ arguments: Arguments) throws -> ReportBuilder.Start? {
        guard let text = arguments.value(of: "since") else { return nil }
        if let length = Duration(spelled: text) { return .beforeNewest(length) }
        guard let time = Timestamp(spelled: text) else {
            throw UsageError(
                message: "--since takes a duration such as 2h, a day such as 2026-01-05, or 2026-01-05T14:00")
        }
        return .time(time)
    }
}

extension Terminal {
    /// Writes a report to the file that the option `output` names, or else to the output.
    func write(_ text: String, asAsked arguments: Arguments) throws {
        let text = text.withoutControlsInLines
        guard let output = arguments.value(of: "output") else { return write(text.utf8) }
        do {
            try Disk.put(output, Array(text.utf8))
        } catch {
            throw CommandFailure("the report cannot be written: \(error)")
        }
    }
}

extension Report {
    /// The report in one of the formats of the command.
    func written(as format: String) -> String {
        switch format {
        case "json": json.text() + "\n"
        case "prometheus": dump.prometheus
        case "openmetrics": dump.openMetrics
        case "html": html
        default: text
        }
    }
}
