import LarderSystem

/// The meters of one resource: one for each revision of its policy.
final class MeterHistory: Sendable {
    private struct State {
        var meters: [Meter] = []
        /// The revisions of the meters, the present one last.
        var recent: [String] = []
        /// The policies of the revisions that were in effect last.
        var policies: [Policy] = []
        /// The names of supplied policies, by revision: see ``RevisionDump/supplied``.
        var supplies: [String: [String]] = [:]
        /// The sum of the meters that were dropped.
        var earlier = ResourceMetrics()

        func isIdle(_ revision: String) -> Bool { meters.first { $0.revision == revision }?.inFlight == 0 }
    }

    private static let most = 16
    /// The number of revisions whose policies are kept whole in dumps.
    private static let mostPolicies = 3

    private let state = Locked(State())

    /// Returns the meter of a policy's revision. If there is none, returns a new one, which is unknown here until it is
    /// in effect.
    func meter(for policy: Policy, reportingTo sinks: EventSinks, in world: any World) -> Meter {
        let known = state.withLock { $0.meters.first { $0.revision == policy.revision } }
        if let known { return known }
        return Meter(
            resource: policy.resource, revision: policy.revision, strategy: policy.answerer.plugin.name,
            loggedShare: policy.logShare, plugins: PluginMetrics(joining: policy.plugins.map(\.metrics)), sinks: sinks,
            world: world)
    }

    /// Notes that a meter is in effect. If there are too many, drops the one that has not been in effect for the
    /// longest time and has no running loads.
    func enter(_ meter: Meter, of policy: Policy) {
        state.withLock { state in
            if !state.meters.contains(where: { $0 === meter }) { state.meters.append(meter) }
            state.recent.removeAll { $0 == meter.revision }
            state.recent.append(meter.revision)
            let last = state.recent.suffix(Self.mostPolicies)
            state.policies.removeAll { $0.revision == policy.revision || !last.contains($0.revision) }
            state.policies.append(policy)
            while state.meters.count > Self.most,
                let idle = state.recent.dropLast().first(where: { state.isIdle($0) }),
                let place = state.meters.firstIndex(where: { $0.revision == idle })
            {
                state.earlier.merge(state.meters.remove(at: place).current)
                state.recent.removeAll { $0 == idle }
                state.supplies[idle] = nil
            }
        }
    }

    /// Notes that a revision is in effect under supplied policies.
    func noteSupply(_ name: String, of revision: String) {
        state.withLock { state in
            let others = (state.supplies[revision] ?? []).filter { $0 != name }
            state.supplies[revision] = others.suffix(RevisionDump.mostSupplies - 1) + [name]
        }
    }

    func supplies(of revision: String) -> [String] { state.withLock { $0.supplies[revision] ?? [] } }

    /// The meters, in the order of their revisions' first use, and the sum of dropped ones.
    var all: (meters: [Meter], earlier: ResourceMetrics) { state.withLock { ($0.meters, $0.earlier) } }

    /// The policies of the revisions that were in effect last, by revision.
    var policies: [String: JSON] {
        let policies = state.withLock { $0.policies }
        return Dictionary(uniqueKeysWithValues: policies.map { ($0.revision, $0.outline) })
    }

    /// The metrics of all revisions together.
    var total: ResourceMetrics {
        let (meters, earlier) = all
        return meters.reduce(into: earlier) { $0.merge($1.current) }
    }

    /// Returns the metrics of the last `length` of all revisions together.
    func last(_ length: Duration) -> ResourceMetrics {
        all.meters.reduce(into: ResourceMetrics()) { $0.merge($1.last(length)) }
    }
}
