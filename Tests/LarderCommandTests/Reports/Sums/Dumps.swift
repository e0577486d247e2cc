import LarderFoundation

import Larder
@testable import LarderSystem
@testable import LarderCore
@testable import LarderPlugins
@testable import LarderCommand

/// A folder of dumps made for a test, and the report about them.
struct Dumps {
    /// Tuesday 2026-11-17 12:00 UTC.
    static let noon = Timestamp(seconds: 1_794_916_800)

    /// The reader's clock: a week later.
    static let now = noon + .seconds(7 * 86_400)

    let folder: Folder

    init() throws { folder = try Folder() }

    /// Writes a dump of one resource, `feed`, of a process that began at noon.
    func write(
        _ name: String, instance: String = "a", host: String? = nil, minutes: Int64 = 60,
        store: StoreStatistics = StoreStatistics(), _ revisions: RevisionDump...
    ) throws {
        try write(name, Self.dump(instance: instance, host: host, minutes: minutes, store: store, revisions))
    }

    func write(_ name: String, _ dump: MetricsDump) throws {
        try folder.write(dump.json.text(), to: name)
    }

    static func dump(
        resource: String = "feed", instance: String = "a", host: String? = nil, minutes: Int64 = 60,
        store: StoreStatistics = StoreStatistics(), _ revisions: [RevisionDump]
    ) -> MetricsDump {
        var feed = ResourceDump(resource)
        feed.revisions = revisions
        feed.store = store
        return MetricsDump(
            host: host, process: "shop", instance: instance, started: noon, written: noon + .seconds(minutes * 60),
            resources: [feed])
    }

    func report(_ options: String...) async -> Output {
        await Output(["report", folder.path] + options)
    }

    /// Returns the JSON report about `feed`.
    func facts(_ options: String...) async throws -> Facts {
        let output = await Output(["report", folder.path, "--format", "json"] + options)
        return try Facts(output.out)
    }
}

extension RevisionDump {
    /// Creates a revision with these counters, and with loads and calls of these latencies.
    init(
        _ name: String, strategy: String = "network-first", isCurrent: Bool = true, _ counts: [Counter: UInt64],
        live: [Duration] = [], origin: [Duration] = [], _ periods: [FiveMinutes] = []
    ) {
        var metrics = ResourceMetrics()
        for (counter, count) in counts { metrics[counter] = count }
        for duration in live { metrics.latency[.live, default: Sketch()].record(duration) }
        for duration in origin { metrics.originLatency.record(duration) }
        self.init(name: name, strategy: strategy, isCurrent: isCurrent, metrics: metrics, periods: periods)
    }

    init(
        _ counts: [Counter: UInt64], live: [Duration] = [], origin: [Duration] = [], _ periods: [FiveMinutes] = []
    ) {
        self.init("one", counts, live: live, origin: origin, periods)
    }
}

extension FiveMinutes {
    /// Creates a period of five minutes that began this many minutes after noon.
    init(at minute: Int64, _ counts: [Counter: UInt64], oldest: Duration? = nil) {
        self.init(start: Dumps.noon + .seconds(minute * 60))
        for (counter, count) in counts { self[counter] = count }
        self.oldest = oldest
    }
}
