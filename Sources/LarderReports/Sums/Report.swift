public import LarderSystem
public import Larder

/// The sum of the metrics dumps of any number of processes.
///
/// ```swift
/// let report = try Report(reading: ["/var/lib/shop/dumps"])
/// for section in report.sections { print(section.name, section.findings) }
/// let page = report.html
/// ```
public struct Report: Sendable {
    /// The sums of one resource.
    public struct Section: Sendable {
        /// The name of the resource.
        public internal(set) var name: String
        /// The counts of all revisions in all processes.
        public internal(set) var total = ResourceMetrics()
        /// The revisions of its policy, the oldest first.
        package internal(set) var revisions: [Revision] = []
        /// The counts of each five minutes, in order. Five minutes without counts are left out.
        var periods: [FiveMinutes] = []
        /// The number of processes that counted something in the five minutes that begin at a time.
        var processes: [Timestamp: Int] = [:]
        var store = StoreStatistics()
        var inFlight = 0
        /// The number of processes with a plugin's level at each value.
        var levels: [Level: [String: Int]] = [:]
        /// The values of the plugins' gauges, of all processes that run together: see `Gauge` of LarderCore.
        public internal(set) var gauges: [Gauge: Double] = [:]
        /// The revisions compared: first each with the one before it, then the others.
        var comparisons: [RevisionComparison] = []
        /// The times in which many loads fell back or failed, the worst first.
        var incidents: [Incident] = []
        /// The first and the last third of the time, if one was much worse than the other.
        var trend: Trend?
        /// The findings, in plain sentences. There is at least one, such as `nothing stands out`.
        public internal(set) var findings: [String] = []
        /// The advice to change the policy.
        package internal(set) var advice: [Advice] = []
    }

    /// One revision of a policy.
    package struct Revision: Sendable {
        var name: String
        var strategy: String
        package internal(set) var isCurrent: Bool
        var metrics: ResourceMetrics
        /// The times of its first and last count, as far as the periods tell.
        var times: ClosedRange<Timestamp>?
        /// The policy; nil if no dump contains it.
        package internal(set) var policy: JSON?
        /// The counts over time, by groups of installations.
        var sums = RevisionSums()
    }

    /// A file that is not a dump or cannot be read.
    public struct Skipped: Sendable {
        /// The path of the file; empty for a dump in memory.
        public internal(set) var file: String
        /// The reason why it is left out, in words.
        public internal(set) var reason: String
        /// Whether it lay in a folder of dumps and is another kind of JSON file. That is no error.
        public internal(set) var isForeign = false
    }

    /// A dump that is not counted, because its clock was wrong.
    package struct SetApart: Sendable {
        package internal(set) var file: String
        /// The time of the dump by that clock.
        var written: Timestamp
        package internal(set) var reason: String
    }

    /// The time from the start of the first process, or from the start of the report, to the last dump.
    public internal(set) var times: ClosedRange<Timestamp>
    var hosts: [String]
    /// The number of installations, as far as dumps tell theirs.
    var installations: Int
    /// The number of processes and the number of dumps.
    var processes: Int
    var dumps: Int
    /// The files that are left out, in the order of their names.
    public internal(set) var skipped: [Skipped]
    var apart: [SetApart]
    /// Notes that are needed to read the figures correctly.
    var notes: [String] = []
    /// The channels from which installations get their policies, in the order of their names.
    var channels: [ChannelFigures] = []
    /// The sums of each resource, in the order of their names.
    public internal(set) var sections: [Section] = []
}

extension Report.Section {
    /// The levels by name, each with its values that some process has, from the usual one to the worst.
    var levelCounts: [(level: Level, counts: [(value: String, processes: Int)])] {
        levels.sorted { $0.key.name < $1.key.name }.map { level, counts in
            (level, level.values.compactMap { value in counts[value].map { (value, $0) } })
        }
    }
}
