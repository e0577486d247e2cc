import LarderSystem

extension MetricFamily {
    /// The names of the families that do not come from plugins.
    static let coreNames = Set(
        MetricsDump(
            host: nil, process: "", instance: "", started: Timestamp(nanoseconds: 0), written: Timestamp(nanoseconds: 0)
        ).allFamilies.map(\.name))

    package static let policy = MetricFamily(
        "policy", kind: .info, help: "The revision of the policy that is in effect")
    package static let supply = MetricFamily("supply", kind: .info, help: "The policies that were supplied")
    package static let logLostLines = MetricFamily(
        "log_lost_lines", kind: .counter, help: "Lines of the log that could not be written")
    package static let unusable = MetricFamily(
        "unusable", kind: .gauge, help: "Parts of the cache folder that cannot be used")
    package static let storeFaults = MetricFamily("store_faults", kind: .counter, help: "Failures of stores")
    package static let storeEntries = MetricFamily("store_entries", kind: .gauge, help: "Entries that are kept")
    package static let storeBytes = MetricFamily("store", kind: .gauge, unit: .bytes, help: "Size of the kept entries")
    package static let storeHits = MetricFamily(
        "store_hits", kind: .counter, help: "Reads of the store that found a copy which may be shown")
    package static let storeMisses = MetricFamily(
        "store_misses", kind: .counter, help: "Reads of the store that found nothing, or a copy that was refused")
    package static let storeEvictions = MetricFamily(
        "store_evictions", kind: .counter, help: "Entries removed to make room")
    package static let inFlight = MetricFamily("in_flight", kind: .gauge, help: "Loads that have not ended")
    /// The 95th percentile of the calls to the origin, over the whole run.
    package static let originP95 = MetricFamily(
        "origin_p95", kind: .gauge, unit: .seconds, help: "Time that 95 % of the calls to the origin did not exceed")
    package static let loadDuration = MetricFamily(
        "load_duration", kind: .histogram, unit: .seconds, help: "Times that callers waited, by outcome of the load")
    package static let originDuration = MetricFamily(
        "origin_duration", kind: .histogram, unit: .seconds, help: "Durations of the calls to the origin")
    package static let servedAge = MetricFamily(
        "served_age", kind: .histogram, unit: .seconds, help: "Ages of the copies that callers got")

    /// Returns the family of a percentile of all loads, over the whole run.
    package static func loadPercentile(_ percent: Int) -> MetricFamily {
        MetricFamily(
            "load_p\(percent)", kind: .gauge, unit: .seconds, help: "Time that \(percent) % of the loads did not exceed"
        )
    }
}

extension Counter {
    /// The counter's family. Its unit is a base unit, which is the suffix of the family's name.
    package var family: MetricFamily {
        switch unit {
        case .milliseconds:
            MetricFamily(String(name.dropLast("_milliseconds".count)), kind: .counter, unit: .seconds, help: help)
        case .bytes where name.hasPrefix("bytes_"):
            MetricFamily(String(name.dropFirst("bytes_".count)), kind: .counter, unit: .bytes, help: help)
        case .bytes: MetricFamily(String(name.dropLast("_bytes".count)), kind: .counter, unit: .bytes, help: help)
        case .events: MetricFamily(name, kind: .counter, help: help)
        }
    }
}

extension Gauge {
    /// The gauge's family. Its unit is the suffix of the family's name.
    package var family: MetricFamily {
        let own = unit.map { String(name.dropLast($0.rawValue.count + 1)) } ?? name
        return MetricFamily(own, kind: .gauge, unit: unit, help: help)
    }
}

extension Timing {
    /// The timing's family: the distribution of its durations.
    package var family: MetricFamily { MetricFamily(name, kind: .histogram, unit: .seconds, help: help) }
}

extension Rate {
    /// The rate's family. Its numbers are those of the whole run.
    package var family: MetricFamily { MetricFamily(name, kind: .gauge, help: help) }
}

extension Level {
    /// The level's families: a gauge for each value except the first.
    package var families: [MetricFamily] {
        values.dropFirst().map { value in
            let name = name + "_" + String(value.map { $0 == "-" ? "_" : $0 })
            return MetricFamily(name, kind: .gauge, help: "\(help): 1 while it is \(value)")
        }
    }
}
