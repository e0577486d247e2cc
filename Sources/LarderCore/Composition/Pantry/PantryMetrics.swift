import LarderFoundation
import LarderSystem

/// The metrics of a pantry since it was made. They are read when they are asked for.
public struct PantryMetrics: Sendable {
    let resourceStates: [ResourceState]
    let processRun: ProcessRun
    let installation: Installation
    let world: any World
    /// The parts of the cache folder that cannot be used.
    let unusable: [CacheProblem]
    /// The number of lines missing in the log; nil if there is no log.
    let logLost: Int?
    /// The attachment that supplies policies; nil if there is none.
    let supply: (any PolicySupply)?

    /// The metrics of one resource; nil if there is no such resource.
    public subscript(resource: String) -> ResourceMetrics? {
        resourceStates.first { $0.name == resource && $0.isKnown }?.metrics
    }

    /// Returns all metrics as a dump, to be written to a file or merged with dumps of other processes.
    public func dump() async -> MetricsDump {
        let id = await installation.id()
        var dump = MetricsDump(
            host: processRun.host, process: processRun.process, instance: processRun.instance,
            started: processRun.started, written: world.now)
        dump.installation = id
        dump.number = processRun.next()
        dump.unusable = unusable.map { UnusablePart(resource: $0.resource, part: $0.part) }
        dump.logLost = logLost
        dump.supply = supply?.facts ?? [:]
        for resourceState in resourceStates where resourceState.isKnown {
            dump.resources.append(await resourceState.dump())
        }
        return dump
    }
}

/// This run of the program.
final class ProcessRun: Sendable {
    let host: String?
    let process: String
    let instance: String
    let started: Timestamp
    private let dumps = Locked(0)

    /// Returns the number of the next dump.
    func next() -> Int {
        dumps.withLock { number in
            defer { number += 1 }
            return number
        }
    }

    init(in world: any World) {
        process = ProcessInfo.processInfo.processName
        // A device's name may be its owner's, so it is left out. A server's name is needed by operations.
        #if os(Linux)
            host = Disk.hostName
        #else
            host = nil
        #endif
        instance = world.token()
        started = world.now
    }
}

extension ResourceState {
    /// Whether the resource has a policy, or had one.
    var isKnown: Bool { graph != nil || !meterHistory.all.meters.isEmpty }

    fileprivate func dump() async -> ResourceDump {
        var resource = ResourceDump(name)
        let graph = graph
        if let graph { resource.store = await graph.storeAccess.statistics() }
        for held in graph?.attachments ?? [] { await held.attachment?.measure() }
        if let values = graph?.values { (resource.levels, resource.gauges) = values }
        let (meters, earlier) = meterHistory.all
        if !earlier.isEmpty {
            resource.revisions.append(
                RevisionDump(name: "", strategy: "", isCurrent: false, metrics: earlier, periods: []))
        }
        let policies = meterHistory.policies
        for meter in meters {
            let (metrics, isCurrent) = (meter.current, meter === graph?.meter)
            resource.inFlight += meter.inFlight
            if metrics.isEmpty && !isCurrent { continue }
            var revision = RevisionDump(
                name: meter.revision, strategy: meter.strategy, isCurrent: isCurrent, metrics: metrics,
                policy: policies[meter.revision], periods: meter.periods)
            revision.supplied = meterHistory.supplies(of: meter.revision)
            for window in MetricsDump.Window.allCases { revision.windows[window] = meter.last(window.length) }
            resource.revisions.append(revision)
        }
        return resource
    }
}
