#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What happened to a pantry's loads since it was made, as it stands whenever it is asked.
public struct PantryMetrics: Sendable {
    let slots: [Slot]
    let life: Life
    let world: any World
    /// The parts of the cache folder that cannot be used.
    let unusable: [CacheProblem]
    /// Lines that are missing in the log; nil if there is none.
    let logLost: Int?

    /// What happened to one resource's loads; nil if there was none.
    public subscript(resource: String) -> ResourceMetrics? {
        slots.first { $0.name == resource && $0.isKnown }?.metrics
    }

    /// Everything, to be written to a file or merged with other processes' dumps.
    public func dump() async -> MetricsDump {
        var dump = MetricsDump(
            host: life.host, process: life.process, instance: life.instance, started: life.started, written: world.now)
        dump.number = life.next()
        dump.unusable = unusable.map { UnusablePart(resource: $0.resource, part: $0.part) }
        dump.logLost = logLost
        for slot in slots where slot.isKnown {
            dump.resources.append(await slot.dump())
        }
        return dump
    }
}

/// This run of the program.
final class Life: Sendable {
    let host: String?
    let process: String
    let instance: String
    let started: Timestamp
    private let dumps = Locked(0)

    /// The number of the next dump.
    func next() -> Int {
        dumps.withLock { number in
            defer { number += 1 }
            return number
        }
    }

    init(in world: any World) {
        process = ProcessInfo.processInfo.processName
        // A device's name may be its owner's; a server's is what operations know it by.
        #if os(Linux)
            host = Disk.hostName
        #else
            host = nil
        #endif
        instance = world.token()
        started = world.now
    }
}

extension Slot {
    /// Whether there is a policy for it, or was.
    var isKnown: Bool { graph != nil || !ledger.all.meters.isEmpty }

    fileprivate func dump() async -> ResourceDump {
        var resource = ResourceDump(name)
        let graph = graph
        if let graph { resource.store = await graph.shelf.statistics() }
        resource.breaker = graph?.meter.breaker
        let (meters, earlier) = ledger.all
        if !earlier.isEmpty {
            resource.revisions.append(
                RevisionDump(name: "", strategy: "", isCurrent: false, metrics: earlier, periods: []))
        }
        for meter in meters {
            let (metrics, isCurrent) = (meter.current, meter === graph?.meter)
            resource.inFlight += meter.inFlight
            if metrics.isEmpty && !isCurrent { continue }
            var revision = RevisionDump(
                name: meter.revision, strategy: meter.strategy, isCurrent: isCurrent, metrics: metrics,
                periods: meter.periods)
            for window in MetricsDump.Window.allCases { revision.windows[window] = meter.last(window.length) }
            resource.revisions.append(revision)
        }
        return resource
    }
}
