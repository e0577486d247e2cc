public import LarderSystem

/// The metrics of one process, in a form for files and reports.
///
/// A dump holds sketches and not percentiles, so that percentiles over many processes can be computed from their dumps.
/// It holds no key, address, header or payload.
public struct MetricsDump: Sendable, Hashable {
    /// A span of time that ended when the dump was made.
    package enum Window: String, Sendable, Hashable, CaseIterable {
        /// The last minute.
        case minute = "1m"
        /// The last five minutes.
        case fiveMinutes = "5m"
        /// The last hour.
        case hour = "1h"

        /// The length of the window.
        package var length: Duration {
            switch self {
            case .minute: .seconds(60)
            case .fiveMinutes: .seconds(300)
            case .hour: .seconds(3_600)
            }
        }
    }

    /// The name of the machine; nil if it is not to be published.
    public var host: String?
    /// The identity of the installation of the program: random digits that are the same in all of its runs. They tell
    /// nothing about the device or its user. Nil if there is no data folder to keep them.
    package var installation: String?
    /// The name of the program.
    public var process: String
    /// The identity of this run of the program. Dumps with the same instance are states of the same counters.
    public var instance: String
    /// The number of earlier dumps of this run. It orders the dumps, also when the clock was changed.
    package var number = 0
    /// The time at which the run began.
    public var started: Timestamp
    /// The time at which the dump was made.
    public var written: Timestamp
    /// The parts of the cache folder that could not be used when the dump was made.
    package var unusable: [UnusablePart] = []
    /// The number of lines that could not be written to the log; nil if there is no log.
    package var logLost: Int?
    /// The facts about the policies that were supplied: see ``PolicySupply/facts``.
    package var supply: [String: String] = [:]
    /// The resources, sorted by name.
    public var resources: [ResourceDump]

    /// Creates a dump.
    package init(
        host: String?, process: String, instance: String, started: Timestamp, written: Timestamp,
        resources: [ResourceDump] = []
    ) {
        self.host = host
        self.process = process
        self.instance = instance
        self.started = started
        self.written = written
        self.resources = resources
    }
}

extension MetricsDump {
    /// The counters of plugins in this dump, sorted by name.
    var pluginCounters: [Counter] { distinct(resources.flatMap(\.revisions).flatMap(\.metrics.counts.plugins)) }

    /// The gauges in this dump, sorted by name.
    var gauges: [Gauge] { distinct(resources.flatMap(\.gauges.keys)) }

    /// The timings in this dump, sorted by name.
    var timings: [Timing] { distinct(resources.flatMap(\.revisions).flatMap(\.metrics.timings.keys)) }

    /// Returns one metric of each name, sorted by name: the first one that has a description, if any has one.
    private func distinct<Metric: NamedMetric>(_ metrics: [Metric]) -> [Metric] {
        var known: [String: Metric] = [:]
        for metric in metrics where known[metric.name]?.help.isEmpty ?? true { known[metric.name] = metric }
        return known.values.sorted { $0.name < $1.name }
    }

    /// The levels in this dump, sorted by name.
    var levels: [Level] {
        resources.flatMap { $0.levels.keys }.reduce(into: [String: Level]()) { levels, level in
            levels[level.name] = levels[level.name]?.united(with: level) ?? level
        }.values.sorted { $0.name < $1.name }
    }
}

/// A part of the cache folder that a process cannot use and goes on without.
package struct UnusablePart: Sendable, Hashable {
    /// The resource to whose store the part belongs; nil if the part belongs to the process.
    package var resource: String?
    /// The name of the store's plugin, or `metrics`, `log` or `policies`. `clearing` stands for a clearing that is not
    /// finished.
    package var part: String

    /// The part of a clearing that is not finished.
    package static let clearing = "clearing"

    /// Creates a part of a resource or of the process.
    package init(resource: String?, part: String) {
        self.resource = resource
        self.part = part
    }
}

/// The metrics of one resource.
public struct ResourceDump: Sendable, Hashable {
    /// The name of the resource.
    public var name: String
    /// The number of loads that had not ended.
    package var inFlight = 0
    /// The values of the plugins' levels.
    public var levels: [Level: String] = [:]
    /// The values of the plugins' gauges. A gauge that no part has set is missing.
    public var gauges: [Gauge: Double] = [:]
    /// The statistics of the store.
    public var store = StoreStatistics()
    /// The metrics of each revision of the policy, in the order in which the revisions took effect first.
    public var revisions: [RevisionDump] = []

    /// Creates an empty dump of a resource.
    package init(_ name: String) {
        self.name = name
    }

    /// The sum of the metrics of all revisions.
    public var total: ResourceMetrics { revisions.reduce(into: ResourceMetrics()) { $0.merge($1.metrics) } }
}

/// The metrics of one revision of a policy.
public struct RevisionDump: Sendable, Hashable {
    /// The revision; empty for the sum of old revisions, which are not kept apart.
    public var name: String
    /// The name of the policy's strategy.
    public var strategy: String
    /// Whether the revision was in effect when the dump was made.
    public var isCurrent: Bool
    /// The policy in effect, without values that could be secret: see ``SettingType/isShownInDumps``. Dumps contain the
    /// policies of the last three revisions; nil for the others.
    package var policy: JSON?
    /// The values of the fact `running` of ``PolicySupply/facts`` while the revision was in effect, the last one at the end.
    package var supplied: [String] = []
    static let mostSupplies = 16
    /// The metrics since the process began.
    public var metrics: ResourceMetrics
    /// The counts in each five minutes of the last day.
    package var periods: [FiveMinutes]
    /// The metrics of the last minute, five minutes and hour.
    package var windows: [MetricsDump.Window: ResourceMetrics] = [:]

    /// Creates the metrics of a revision.
    package init(
        name: String, strategy: String, isCurrent: Bool, metrics: ResourceMetrics, policy: JSON? = nil,
        periods: [FiveMinutes] = []
    ) {
        self.name = name
        self.strategy = strategy
        self.isCurrent = isCurrent
        self.metrics = metrics
        self.policy = policy
        self.periods = periods
    }
}
