public import Larder

extension Report {
    /// The sums as one dump, which belongs to no process. It has the formats of collectors: `dump.prometheus`.
    public var dump: MetricsDump {
        MetricsDump(
            host: nil, process: "report", instance: "report", started: times.lowerBound, written: times.upperBound,
            resources: sections.map { section in
                var resource = ResourceDump(section.name)
                (resource.inFlight, resource.store) = (section.inFlight, section.store)
                // Of several values, the last one in the order of the declaration: the worst.
                for (level, counts) in section.levelCounts { resource.levels[level] = counts.last?.value }
                resource.gauges = section.gauges
                resource.revisions = section.revisions.map {
                    RevisionDump(
                        name: $0.name, strategy: $0.strategy, isCurrent: $0.isCurrent, metrics: $0.metrics, periods: [])
                }
                return resource
            })
    }
}
