import Larder

/// Adds up dumps.
///
/// Dumps of one process are states of the same counters. The last one counts, and earlier ones add the history.
struct ReportBuilder {
    private var dumps: [String: [MetricsDump]] = [:]
    private var skipped: [Report.Skipped] = []
    /// The start of the report. Earlier counts are left out, as far as the dumps can tell.
    private let since: Timestamp?

    init(since: Timestamp?) {
        self.since = since
    }

    mutating func add(_ dump: MetricsDump) {
        dumps[dump.instance, default: []].append(dump)
    }

    mutating func skip(_ file: String, _ reason: String) {
        skipped.append(Report.Skipped(file: file, reason: reason))
    }

    /// The report; nil if there was no dump.
    func report() -> Report? {
        let processes = dumps.sorted { $0.key < $1.key }.map {
            $0.value.sorted { ($0.number, $0.written) < ($1.number, $1.written) }
        }
        let all = processes.flatMap { $0 }
        guard let first = all.map(\.started).min(), let last = all.map(\.written).max() else { return nil }
        // After a clock was set back, a process may end before it began.
        let start = min(max(first, since ?? first), last)
        let counted = processes.filter { process in
            since.map { since in process.contains { $0.written > since } } ?? true
        }
        var report = Report(
            times: start...last, hosts: Set(counted.flatMap { $0.compactMap(\.host) }).sorted(),
            processes: counted.count,
            dumps: counted.reduce(0) { $0 + $1.count }, skipped: skipped)
        if counted.isEmpty { report.notes.append("No dump was made since the time asked for.") }
        var sections: [String: Report.Section] = [:]
        var isWhole = true
        // Of several runs of a program, only the last is still running.
        let living = Set(
            Dictionary(grouping: counted.compactMap(\.last)) { [$0.host ?? "", $0.process] }.values
                .compactMap { runs in runs.max { $0.written < $1.written }?.instance })
        for process in counted {
            guard let latest = process.last else { continue }
            let base = since.flatMap { since in process.dropLast().last { $0.written <= since } }
            if let since, base.map({ $0.written + .seconds(600) < since }) ?? (latest.started < since) {
                isWhole = false
            }
            for resource in latest.resources {
                let earlier = base?.resources.first { $0.name == resource.name }
                let periods = periods(of: resource.name, in: process)
                sections[resource.name, default: Report.Section(name: resource.name)]
                    .add(resource, since: earlier, periods, isLiving: living.contains(latest.instance))
            }
        }
        if !isWhole {
            report.notes.append(
                "No dump was made at the time asked for: totals, rates and percentiles go back to the last one before it, "
                    + "or to the beginning. What is shown over time does not.")
        }
        report.notes += Self.notes(on: counted.compactMap(\.last))
        report.sections = sections.values.sorted { $0.name < $1.name }.map { section in
            var section = section
            section.findings = Findings(section).sentences
            return section
        }
        return report
    }

    /// Notes about parts of cache folders that could not be used, and about lines missing in logs.
    private static func notes(on dumps: [MetricsDump]) -> [String] {
        var processes: [String: Int] = [:]
        var unfinished: [String: Int] = [:]
        for part in dumps.flatMap(\.unusable) {
            if let resource = part.resource, part.part == UnusablePart.clearing {
                unfinished[resource, default: 0] += 1
                continue
            }
            let text = part.resource.map { "the store '\(part.part)' of '\($0)' kept nothing" }
            processes[text ?? "'\(part.part)' could not be written", default: 0] += 1
        }
        let lost = dumps.reduce(0) { $0.plus($1.logLost ?? 0) }
        return processes.sorted { $0.key < $1.key }.map { text, count in
            "In \(counted(count, "process", "processes")) \(text): the cache folder cannot be used."
        }
            + unfinished.sorted { $0.key < $1.key }.map { resource, count in
                "In \(counted(count, "process", "processes")) a clearing of '\(resource)' was not finished at the last dump."
            } + (lost == 0 ? [] : ["Lines that could not be written are missing in logs: \(lost)."])
    }

    /// The periods of a process, each from the last dump that has it.
    private func periods(of resource: String, in process: [MetricsDump]) -> [String: [Period]] {
        var revisions: [String: [Timestamp: Period]] = [:]
        for dump in process {
            for revision in dump.resources.first(where: { $0.name == resource })?.revisions ?? [] {
                for period in revision.periods where since.map({ period.end > $0 }) ?? true {
                    revisions[revision.name, default: [:]][period.start] = period
                }
            }
        }
        return revisions.mapValues { $0.values.sorted { $0.start < $1.start } }
    }
}

extension Report.Section {
    /// Adds the counts of one process, less its counts before the start of the report.
    fileprivate mutating func add(
        _ resource: ResourceDump, since earlier: ResourceDump?, _ added: [String: [Period]], isLiving: Bool
    ) {
        for revision in resource.revisions {
            let metrics =
                earlier.map { revision.metrics.since($0.metrics(of: revision.name, in: resource)) } ?? revision.metrics
            total.merge(metrics)
            let own = added[revision.name] ?? []
            let times = own.first.flatMap { first in own.last.map { first.start...$0.end } }
            if let place = revisions.firstIndex(where: { $0.name == revision.name }) {
                revisions[place].metrics.merge(metrics)
                revisions[place].isCurrent = revisions[place].isCurrent || revision.isCurrent && isLiving
                revisions[place].times = revisions[place].times.joined(with: times)
            } else if !metrics.isEmpty || revision.isCurrent {
                revisions.append(
                    Report.Revision(
                        name: revision.name, strategy: revision.strategy,
                        isCurrent: revision.isCurrent && isLiving,
                        metrics: metrics, times: times))
            }
        }
        revisions.sort { ($0.times?.lowerBound ?? .distantPast) < ($1.times?.lowerBound ?? .distantPast) }
        var merged = Dictionary(uniqueKeysWithValues: periods.map { ($0.start, $0) })
        for period in added.values.joined() { merged[period.start, default: Period(start: period.start)].merge(period) }
        periods = merged.values.sorted { $0.start < $1.start }
        add(resource.store, since: earlier?.store ?? StoreStatistics(), isLiving: isLiving)
        guard isLiving else { return }
        inFlight = inFlight.plus(resource.inFlight)
        for (level, value) in resource.levels {
            // Processes of different versions may declare different values.
            let known = levels.index(forKey: level).map { levels.remove(at: $0) }
            let counts = (known?.value ?? [:]).merging([value: 1]) { $0 + $1 }
            levels[known?.key.united(with: level) ?? level] = counts
        }
    }

    /// Takes entries and bytes from the newer statistics, and subtracts the older counts.
    private mutating func add(_ kept: StoreStatistics, since earlier: StoreStatistics, isLiving: Bool) {
        if isLiving {
            store.entries = store.entries.plus(kept.entries)
            store.bytes = store.bytes.plus(kept.bytes)
        }
        store.hits = store.hits.plus(max(0, kept.hits - earlier.hits))
        store.misses = store.misses.plus(max(0, kept.misses - earlier.misses))
        store.evictions = store.evictions.plus(max(0, kept.evictions - earlier.evictions))
    }
}

extension ResourceDump {
    /// The earlier counts of a revision. The oldest revisions are counted together later on, so that earlier counts of
    /// several revisions can belong to one.
    fileprivate func metrics(of name: String, in later: ResourceDump) -> ResourceMetrics {
        revisions.filter { revision in
            revision.name == name || name.isEmpty && !later.revisions.contains { $0.name == revision.name }
        }.reduce(into: ResourceMetrics()) { $0.merge($1.metrics) }
    }
}

extension Period {
    /// The end of the period.
    var end: Timestamp { start + .seconds(300) }
}

extension Timestamp {
    fileprivate static var distantPast: Timestamp { Timestamp(nanoseconds: .min) }
}

extension ClosedRange<Timestamp>? {
    fileprivate func joined(with other: ClosedRange<Timestamp>?) -> ClosedRange<Timestamp>? {
        guard let self, let other else { return self ?? other }
        return min(self.lowerBound, other.lowerBound)...max(self.upperBound, other.upperBound)
    }
}
