/// What a process counted, as it is handed on: to a file, to a report, to another process's.
///
/// A dump holds sketches and not percentiles, so that the dumps of many processes add up to true percentiles. It holds no
/// key, address, header or payload.
public struct MetricsDump: Sendable, Hashable {
    /// A time that ended when the dump was made.
    public enum Window: String, Sendable, Hashable, CaseIterable {
        /// The last minute.
        case minute = "1m"
        /// The last five minutes.
        case fiveMinutes = "5m"
        /// The last hour.
        case hour = "1h"

        /// How long it is.
        public var length: Duration {
            switch self {
            case .minute: .seconds(60)
            case .fiveMinutes: .seconds(300)
            case .hour: .seconds(3_600)
            }
        }
    }

    /// The machine, if it is to be known.
    public var host: String?
    /// The program.
    public var process: String
    /// This run of the program and no other: dumps of one run are states of the same counters.
    public var instance: String
    /// How many dumps of this run came before: what orders them, whatever the clock did.
    public var number = 0
    /// When the run began.
    public var started: Timestamp
    /// When the dump was made.
    public var written: Timestamp
    /// The parts of the cache folder that could not be used when the dump was made.
    public var unusable: [UnusablePart] = []
    /// How many lines are missing in the log because they could not be written; nil if there is no log.
    public var logLost: Int?
    /// The resources, by name.
    public var resources: [ResourceDump]

    /// A dump.
    public init(
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

/// A part of the cache folder that a process goes on without.
public struct UnusablePart: Sendable, Hashable {
    /// The resource whose store it is; nil for what belongs to the process.
    public var resource: String?
    /// The name of the store's plugin, or `metrics`, `log` or `policies`.
    public var part: String

    /// A part of a resource, or of the process.
    public init(resource: String?, part: String) {
        self.resource = resource
        self.part = part
    }
}

/// What one resource's loads came to.
public struct ResourceDump: Sendable, Hashable {
    /// Its name.
    public var name: String
    /// Loads that had not ended.
    public var inFlight = 0
    /// What its breaker was at; nil if it has none.
    public var breaker: BreakerLevel?
    /// How much was kept, and how looking for it went.
    public var store = StoreStatistics()
    /// What was counted under each revision of its policy, in the order in which they first came.
    public var revisions: [RevisionDump] = []

    /// A resource of which nothing is known.
    public init(_ name: String) {
        self.name = name
    }

    /// What was counted under all revisions.
    public var total: ResourceMetrics { revisions.reduce(into: ResourceMetrics()) { $0.merge($1.metrics) } }
}

/// What was counted under one revision of a policy.
public struct RevisionDump: Sendable, Hashable {
    /// The revision; empty for those that are too long ago to be told apart.
    public var name: String
    /// The name of its strategy.
    public var strategy: String
    /// Whether it was in effect when the dump was made.
    public var isCurrent: Bool
    /// What was counted since the process began.
    public var metrics: ResourceMetrics
    /// What was counted in each five minutes of the last day.
    public var periods: [Period]
    /// What was counted in the last minute, five minutes and hour.
    public var windows: [MetricsDump.Window: ResourceMetrics] = [:]

    /// A revision and what was counted under it.
    public init(
        name: String, strategy: String, isCurrent: Bool, metrics: ResourceMetrics, periods: [Period] = []
    ) {
        self.name = name
        self.strategy = strategy
        self.isCurrent = isCurrent
        self.metrics = metrics
        self.periods = periods
    }
}
