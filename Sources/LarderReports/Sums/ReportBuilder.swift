package import LarderSystem
package import Larder

/// Adds up dumps.
///
/// Dumps of one process are states of the same counters. The last one counts, and earlier ones add the history. The builder
/// first gets the heads of all dumps, and then reads the dumps of one process after the other. So its memory does not grow
/// with their contents.
package struct ReportBuilder {
    /// The start of the report.
    package enum Start: Sendable {
        case time(Timestamp)
        /// A time before the newest dump.
        case beforeNewest(Duration)
    }

    private var runs: [String: DumpRun] = [:]
    private var skipped: [Report.Skipped] = []
    package private(set) var apart: [Report.SetApart] = []
    private let start: Start?
    private let clock: DumpClock

    /// Creates a builder.
    ///
    /// - Parameters:
    ///   - start: the start of the report. Earlier counts are left out, as far as the dumps can tell.
    ///   - now: the wall time, by which clocks are judged.
    package init(since start: Start? = nil, now: Timestamp) {
        self.start = start
        clock = DumpClock(now: now)
    }

    mutating func add(_ dump: MetricsDump) { add(dump.head, .memory(dump), file: "") }

    /// Adds the dump in a file. Only its head is read now.
    package mutating func add(_ file: DumpFile) {
        do throws(MetricsDump.Unreadable) {
            add(try file.head(), .file(file), file: file.path)
        } catch {
            if file.isOtherKind { return }
            skipped.append(
                Report.Skipped(file: file.path, reason: error.description, isForeign: file.isForeign))
        }
    }

    mutating func skip(_ file: String, _ reason: String) {
        skipped.append(Report.Skipped(file: file, reason: reason))
    }

    private mutating func add(_ head: MetricsDump.Head, _ source: DumpRun.Source, file: String) {
        if let fault = clock.fault(of: head.written) {
            apart.append(Report.SetApart(file: file, written: head.written, reason: fault))
            return
        }
        let start = clock.start(of: head)
        runs[head.instance, default: DumpRun(head, startedAt: start)].add(head, source, startedAt: start)
    }

    /// Reads the dumps.
    ///
    /// - Parameters:
    ///   - registry: the plugins whose settings advice can be about.
    ///   - progress: called with the number of dumps that were read, and the number of all.
    /// - Returns: the report, or nil if there was no dump, and the files that are left out.
    package func report(
        _ registry: Registry = .standard, progress: (Int, Int) -> Void = { _, _ in }
    ) -> (report: Report?, skipped: [Report.Skipped]) {
        let all = runs.sorted { $0.key < $1.key }.map(\.value)
        guard let first = all.map(\.started).min(), let last = all.map(\.written).max() else {
            return (nil, skipped)
        }
        let since = start.map { start in
            switch start {
            case .time(let time): time
            case .beforeNewest(let length): last - length
            }
        }
        let counted = all.filter { run in since.map { run.written > $0 } ?? true }
        var sums = ReportSums(skipped: skipped, apart: apart)
        let total = counted.reduce(0) { $0 + $1.count }
        var read = 0
        for (run, isRunning) in zip(counted, counted.areRunning) {
            var history = DumpHistory(since: since, clock: clock)
            for source in run.sources {
                progress(read, total)
                read += 1
                do throws(MetricsDump.Unreadable) {
                    switch source {
                    case .memory(let dump): history.add(dump)
                    case .file(let file):
                        let dump = try file.dump()
                        guard dump.instance == run.instance else {
                            throw MetricsDump.Unreadable("it was just replaced")
                        }
                        history.add(dump)
                    }
                } catch {
                    if case .file(let file) = source { sums.skip(file.path, error.description) }
                }
            }
            sums.add(history, of: run, isRunning: isRunning)
        }
        if sums.processes == 0, !counted.isEmpty { return (nil, sums.skipped) }
        // After a clock was set back, a process may end before it began.
        return (sums.report(from: min(max(first, since ?? first), last), to: last, with: registry), sums.skipped)
    }
}
