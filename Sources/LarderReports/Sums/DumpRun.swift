import LarderSystem
import Larder

/// The heads of the dumps of one run of a program. All of them are states of the same counters.
struct DumpRun: Sendable {
    /// A dump in a file, or one in memory.
    enum Source: Sendable {
        case file(DumpFile)
        case memory(MetricsDump)
    }

    private struct Entry: Sendable {
        var number: Int
        var written: Timestamp
        var source: Source
    }

    /// The installation and the program. Runs with the same identity follow each other, or are processes of one program.
    struct Identity: Hashable, Sendable {
        var installation: String?
        var host: String?
        var process: String
    }

    let identity: Identity
    /// The identity of this run.
    let instance: String
    private(set) var started: Timestamp
    private(set) var written: Timestamp
    private var entries: [Entry] = []

    init(_ head: MetricsDump.Head, startedAt start: Timestamp) {
        identity = Identity(installation: head.installation, host: head.host, process: head.process)
        (instance, started, written) = (head.instance, start, head.written)
    }

    mutating func add(_ head: MetricsDump.Head, _ source: Source, startedAt start: Timestamp) {
        started = min(started, start)
        written = max(written, head.written)
        entries.append(Entry(number: head.number, written: head.written, source: source))
    }

    /// The number of dumps.
    var count: Int { entries.count }

    /// The dumps in the order in which they were made.
    var sources: [Source] {
        entries.sorted { ($0.number, $0.written) < ($1.number, $1.written) }.map(\.source)
    }
}

extension [DumpRun] {
    /// The time without a dump after which a run is over if another one of the same identity goes on.
    private static var silence: Duration { .seconds(3_600) }

    /// Returns for each run whether it counts as running: no other run of the same installation and program began after
    /// its last dump, or went on for an hour longer.
    var areRunning: [Bool] {
        var running = [Bool](repeating: true, count: count)
        for places in Dictionary(grouping: indices, by: { self[$0].identity }).values where places.count > 1 {
            let order = places.sorted {
                (self[$0].written, self[$0].started) < (self[$1].written, self[$1].started)
            }
            guard let last = order.last.map({ self[$0].written }) else { continue }
            var latestStart: Timestamp?
            for place in order.reversed() {
                let isFollowed = latestStart.map { $0 >= self[place].written } ?? false
                running[place] = !isFollowed && last - self[place].written <= Self.silence
                latestStart = Swift.max(latestStart ?? self[place].started, self[place].started)
            }
        }
        return running
    }
}

/// The state of a run that counts, while its dumps are read in order: the last dump, the one at the start of the report,
/// and the counts over time.
struct DumpHistory {
    private(set) var latest: MetricsDump?
    private(set) var base: MetricsDump?
    /// The number of dumps.
    private(set) var count = 0
    /// The number of periods that are left out because their times cannot be true.
    private(set) var wrongPeriods = 0
    private var periods: [String: [String: [Timestamp: FiveMinutes]]] = [:]
    /// The names of supplied policies to which revisions belong, by resource and revision.
    private(set) var supplied: [String: [String: Set<String>]] = [:]
    private let since: Timestamp?
    private let clock: DumpClock

    init(since: Timestamp?, clock: DumpClock) {
        self.since = since
        self.clock = clock
    }

    mutating func add(_ dump: MetricsDump) {
        count += 1
        if let latest, let since, latest.written <= since { base = latest }
        for resource in dump.resources {
            for revision in resource.revisions {
                for period in revision.periods where since.map({ period.end > $0 }) ?? true {
                    if clock.isPlausible(period.start) {
                        periods[resource.name, default: [:]][revision.name, default: [:]][period.start] = period
                    } else {
                        wrongPeriods += 1
                    }
                }
            }
        }
        for (resource, revision, names) in dump.supplied {
            let known = supplied[resource]?[revision] ?? []
            supplied[resource, default: [:]][revision] = Set(known.union(names).sorted().prefix(Self.mostSupplied))
        }
        latest = dump
    }

    /// The number of names that are kept for a revision. A dump may contain any.
    private static let mostSupplied = 32

    /// Returns the periods of a resource by revision, each from the last dump that has it.
    func periods(of resource: String) -> [String: [FiveMinutes]] {
        (periods[resource] ?? [:]).mapValues { $0.values.sorted { $0.start < $1.start } }
    }

    /// Whether the counts before the start of the report can be subtracted.
    var isWhole: Bool {
        guard let since, let latest else { return true }
        return base.map { $0.written + .seconds(600) >= since } ?? (latest.started >= since)
    }
}

extension MetricsDump {
    /// The names of supplied policies to which revisions belong, as the dump tells them: with each revision, or only those
    /// that are in effect.
    fileprivate var supplied: [(resource: String, revision: String, names: [String])] {
        let isTold = resources.contains { $0.revisions.contains { !$0.supplied.isEmpty } }
        return resources.flatMap { resource in
            resource.revisions.compactMap { revision in
                let running = revision.isCurrent ? supply["running"].map { [$0] } ?? [] : []
                let names = (isTold ? revision.supplied : running).map(\.inBrief)
                return names.isEmpty ? nil : (resource.name, revision.name, names)
            }
        }
    }
}
