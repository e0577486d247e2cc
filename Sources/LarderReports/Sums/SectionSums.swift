import LarderSystem
import Larder

/// The sums of one resource in a report.
struct SectionSums {
    private var revisions: [Report.Revision] = []
    /// For each revision the time after which it took effect, by the start of its process and the revisions before it.
    private var starts: [Timestamp] = []
    private var places: [String: Int] = [:]
    /// The metrics of revisions that are not shown, because they counted nothing. They have the counters of plugins.
    private var idle = ResourceMetrics()
    private var periods: [Timestamp: FiveMinutes] = [:]
    private var processes: [Timestamp: Int] = [:]
    private var store = StoreStatistics()
    private var inFlight = 0
    private var levels: [Level: [String: Int]] = [:]
    private var gauges: [Gauge: Double] = [:]

    /// Adds the counts of one process, less its counts before the start of the report.
    ///
    /// - Parameters:
    ///   - unit: the installation, or the process if its installation is not known.
    ///   - start: the start of the process.
    mutating func add(
        _ resource: ResourceDump, since earlier: ResourceDump?, _ added: [String: [FiveMinutes]], of unit: String,
        from start: Timestamp, isRunning: Bool
    ) {
        var start = start
        for revision in resource.revisions {
            let own = added[revision.name] ?? []
            add(
                revision, metrics: resource.metrics(of: revision, since: earlier), own: own, of: unit,
                isRunning: isRunning)
            if let first = own.first { start = max(start, first.start) }
            if let place = places[revision.name] { starts[place] = min(starts[place], start) }
        }
        for period in added.values.joined() {
            periods[period.start, default: FiveMinutes(start: period.start)].merge(period)
        }
        for start in Set(added.values.joined().map(\.start)) { processes[start, default: 0] += 1 }
        add(resource.store, since: earlier?.store ?? StoreStatistics(), isRunning: isRunning)
        guard isRunning else { return }
        inFlight = inFlight.plus(resource.inFlight)
        gauges.merge(resource.gauges)
        for (level, value) in resource.levels {
            // Processes of different versions may declare different values.
            let known = levels.index(forKey: level).map { levels.remove(at: $0) }
            let counts = (known?.value ?? [:]).merging([value: 1]) { $0 + $1 }
            levels[known?.key.united(with: level) ?? level] = counts
        }
    }

    private mutating func add(
        _ revision: RevisionDump, metrics: ResourceMetrics, own: [FiveMinutes], of unit: String, isRunning: Bool
    ) {
        guard let place = places[revision.name] ?? makePlace(revision, if: !metrics.isEmpty || revision.isCurrent)
        else {
            return idle.merge(metrics)
        }
        let times = own.first.flatMap { first in own.last.map { first.start...$0.end } }
        revisions[place].metrics.merge(metrics)
        revisions[place].isCurrent = revisions[place].isCurrent || revision.isCurrent && isRunning
        revisions[place].times = revisions[place].times.joined(with: times)
        revisions[place].policy = revisions[place].policy ?? revision.policy
        revisions[place].sums.add(own, unit: unit)
    }

    private mutating func makePlace(_ revision: RevisionDump, if isShown: Bool) -> Int? {
        guard isShown else { return nil }
        places[revision.name] = revisions.count
        starts.append(Timestamp(nanoseconds: .max))
        revisions.append(
            Report.Revision(
                name: revision.name, strategy: revision.strategy, isCurrent: false, metrics: ResourceMetrics()))
        return revisions.count - 1
    }

    /// Takes entries and bytes from the newer statistics, and subtracts the older counts.
    private mutating func add(_ kept: StoreStatistics, since earlier: StoreStatistics, isRunning: Bool) {
        if isRunning {
            store.entries = store.entries.plus(kept.entries)
            store.bytes = store.bytes.plus(kept.bytes)
        }
        store.hits = store.hits.plus(max(0, kept.hits - earlier.hits))
        store.misses = store.misses.plus(max(0, kept.misses - earlier.misses))
        store.evictions = store.evictions.plus(max(0, kept.evictions - earlier.evictions))
    }

    /// The section of a report, without findings.
    func section(_ name: String) -> Report.Section {
        var section = Report.Section(name: name)
        section.total = revisions.reduce(into: idle) { $0.merge($1.metrics) }
        section.revisions = zip(revisions, starts).enumerated().sorted { one, other in
            let (first, second) = (
                one.element.0.start(after: one.element.1), other.element.0.start(after: other.element.1)
            )
            return first == second ? one.offset < other.offset : first < second
        }.map(\.element.0)
        section.periods = periods.values.sorted { $0.start < $1.start }
        section.processes = processes
        (section.store, section.inFlight, section.levels) = (store, inFlight, levels)
        section.gauges = gauges
        return section
    }
}

extension ResourceDump {
    /// The metrics of a revision without those of an earlier dump.
    func metrics(of revision: RevisionDump, since earlier: ResourceDump?) -> ResourceMetrics {
        earlier.map { revision.metrics.since($0.metrics(of: revision.name, in: self)) } ?? revision.metrics
    }

    /// The earlier counts of a revision. The oldest revisions are counted together later on, so that earlier counts of
    /// several revisions can belong to one.
    fileprivate func metrics(of name: String, in later: ResourceDump) -> ResourceMetrics {
        revisions.filter { revision in
            revision.name == name || name.isEmpty && !later.revisions.contains { $0.name == revision.name }
        }.reduce(into: ResourceMetrics()) { $0.merge($1.metrics) }
    }
}

extension Report.Revision {
    /// The time of the first count; of a revision without counts over time, the time after which it took effect. The sum
    /// of the oldest revisions comes first.
    fileprivate func start(after time: Timestamp) -> Timestamp {
        times?.lowerBound ?? (name.isEmpty ? Timestamp(nanoseconds: .min) : time)
    }
}

extension FiveMinutes {
    /// The end of the period.
    var end: Timestamp { start + .seconds(300) }
}

extension ClosedRange<Timestamp>? {
    fileprivate func joined(with other: ClosedRange<Timestamp>?) -> ClosedRange<Timestamp>? {
        guard let self, let other else { return self ?? other }
        return min(self.lowerBound, other.lowerBound)...max(self.upperBound, other.upperBound)
    }
}

extension [Gauge: Double] {
    /// Adds the values of another process.
    mutating func merge(_ others: [Gauge: Double]) {
        for (gauge, number) in others { self[gauge] = self[gauge].map { gauge.combined($0, number) } ?? number }
    }
}
