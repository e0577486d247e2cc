public import Larder
public import LarderSystem

extension Report {
    /// An error that says that no dump can be counted.
    public struct NoDumps: Error, Sendable, CustomStringConvertible {
        /// The files that are left out and the dumps whose clock was wrong, with the reasons. A dump in memory has no file.
        public let skipped: [Skipped]

        /// The error in words, with the reason why the first dump is left out.
        public var description: String {
            let reason = skipped.first.map { "; " + ($0.file.isEmpty ? "" : $0.file.printable + ": ") + $0.reason }
            return "there is no dump to report on" + (reason ?? "")
        }
    }

    /// Reads dumps and adds them up.
    ///
    /// The calling thread waits for the disk. Of a process with several dumps, only one at a time is in memory. A file that
    /// is not a dump or cannot be read is left out and named in ``skipped``. A dump that was written more than a day after
    /// `now`, or before 2025, is not counted, and ``text``, ``html`` and ``json`` name it.
    ///
    /// - Parameters:
    ///   - paths: files, and folders of files whose names end in `.json` or `.json.gz`. A file may be compressed by gzip.
    ///   - start: the start of the report. Earlier counts are left out, as far as the dumps can tell. If all dumps are
    ///     older, the report has no sections.
    ///   - registry: the plugins whose settings advice can be about.
    ///   - now: the wall time, by which the clocks of the processes are judged.
    /// - Throws: ``NoDumps`` if no dump can be counted.
    public init(
        reading paths: [String], since start: Timestamp? = nil, registry: Registry = .standard,
        now: Timestamp = SystemWorld().now
    ) throws(NoDumps) {
        var builder = ReportBuilder(since: start.map { .time($0) }, now: now)
        // Here, `-` is the name of a file.
        for file in DumpFile.all(paths, list: { Array("-".utf8) }) { builder.add(file) }
        try self.init(builder, registry)
    }

    /// Adds up dumps, such as that of a pantry in this process.
    ///
    /// - Parameters:
    ///   - dumps: the dumps. Of several dumps of one process, the newest counts, whatever their order.
    ///   - start: the start of the report. Earlier counts are left out, as far as the dumps can tell. If all dumps are
    ///     older, the report has no sections.
    ///   - registry: the plugins whose settings advice can be about.
    ///   - now: the wall time, by which the clocks of the processes are judged.
    /// - Throws: ``NoDumps`` if no dump can be counted.
    public init(
        adding dumps: [MetricsDump], since start: Timestamp? = nil, registry: Registry = .standard,
        now: Timestamp = SystemWorld().now
    ) throws(NoDumps) {
        var builder = ReportBuilder(since: start.map { .time($0) }, now: now)
        for dump in dumps { builder.add(dump) }
        try self.init(builder, registry)
    }

    private init(_ builder: ReportBuilder, _ registry: Registry) throws(NoDumps) {
        let (report, skipped) = builder.report(registry)
        guard let report else {
            throw NoDumps(skipped: skipped + builder.apart.map { Skipped(file: $0.file, reason: $0.reason) })
        }
        self = report
    }
}
