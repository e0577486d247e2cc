import Larder

/// The sums of a report, to which one process after the other is added.
struct ReportSums {
    /// The number of processes so far.
    private(set) var processes = 0
    private var dumps = 0
    private var hosts: Set<String> = []
    private var installations: Set<String> = []
    private var skippedFiles: [Report.Skipped]
    private let apart: [Report.SetApart]
    private var sections: [String: SectionSums] = [:]
    private var isWhole = true
    private var wrongPeriods = 0
    private var remarks = DumpRemarks()
    private var editions = EditionSums()

    init(skipped: [Report.Skipped], apart: [Report.SetApart]) {
        skippedFiles = skipped
        self.apart = apart
    }

    /// The files that are left out, in the order of their names.
    var skipped: [Report.Skipped] { skippedFiles.sorted { $0.file < $1.file } }

    /// Notes that a file cannot be read.
    mutating func skip(_ file: String, _ reason: String) {
        skippedFiles.append(Report.Skipped(file: file, reason: reason))
    }

    /// Adds a process, unless none of its dumps can be read.
    mutating func add(_ history: DumpHistory, of run: DumpRun, isRunning: Bool) {
        guard let latest = history.latest else { return }
        processes += 1
        dumps += history.count
        if let host = latest.host { hosts.insert(host) }
        if let installation = latest.installation { installations.insert(installation) }
        isWhole = isWhole && history.isWhole
        wrongPeriods = wrongPeriods.plus(history.wrongPeriods)
        remarks.add(latest)
        editions.add(history, of: run, isRunning: isRunning)
        for resource in latest.resources {
            sections[resource.name, default: SectionSums()].add(
                resource, since: history.base?.resources.first { $0.name == resource.name },
                history.periods(of: resource.name), of: run.identity.installation ?? run.instance, from: run.started,
                isRunning: isRunning)
        }
    }

    /// The report about everything that was added.
    ///
    /// - Parameter registry: the plugins whose settings advice can be about.
    func report(from start: Timestamp, to end: Timestamp, with registry: Registry) -> Report {
        var report = Report(
            times: start...end, hosts: hosts.sorted(), installations: installations.count, processes: processes,
            dumps: dumps, skipped: skipped, apart: apart.sorted { $0.file < $1.file })
        if processes == 0 { report.notes.append("No dump was made since the time asked for.") }
        if !isWhole {
            report.notes.append(
                "No dump was made at the time asked for: totals, rates and percentiles go back to the last one before it, "
                    + "or to the beginning. What is shown over time does not.")
        }
        if wrongPeriods > 0 {
            report.notes.append(
                "Counts of \(counted(wrongPeriods, one: "period")) of five minutes are not shown over time, because a clock was "
                    + "wrong then. Totals contain them.")
        }
        report.notes += remarks.notes
        report.channels = editions.figures
        report.sections = sections.sorted { $0.key < $1.key }.map { name, sums in
            var section = sums.section(name)
            section.comparisons = RevisionComparison.all(of: section.revisions)
            section.incidents = Incident.all(in: section.periods, of: section.processes)
            section.trend = Trend(section.periods)
            section.findings = Findings(section).sentences
            section.advice = Advice.all(on: section, with: registry)
            return section
        }
        return report
    }
}

/// Counts processes with parts of cache folders that could not be used, and lines missing in logs.
private struct DumpRemarks {
    private var processes: [String: Int] = [:]
    private var unfinished: [String: Int] = [:]
    private var lost = 0

    mutating func add(_ dump: MetricsDump) {
        for part in dump.unusable {
            if let resource = part.resource, part.part == UnusablePart.clearing {
                unfinished[resource.printable, default: 0] += 1
                continue
            }
            let text = part.resource.map { "the store '\(part.part.printable)' of '\($0.printable)' kept nothing" }
            processes[text ?? "'\(part.part.printable)' could not be written", default: 0] += 1
        }
        lost = lost.plus(dump.logLost ?? 0)
    }

    var notes: [String] {
        processes.sorted { $0.key < $1.key }.map { text, count in
            "In \(counted(count, one: "process", many: "processes")) \(text): the cache folder cannot be used."
        }
            + unfinished.sorted { $0.key < $1.key }.map { resource, count in
                "In \(counted(count, one: "process", many: "processes")) a clearing of '\(resource)' was not finished at the last dump."
            } + (lost == 0 ? [] : ["Lines that could not be written are missing in logs: \(lost)."])
    }
}
