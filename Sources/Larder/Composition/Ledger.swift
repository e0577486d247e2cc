/// The meters of one resource: one for each revision that its policy has had.
final class Ledger: Sendable {
    private struct State {
        var meters: [Meter] = []
        /// What the meters counted that are not kept any more.
        var earlier = ResourceMetrics()
    }

    private static let most = 16

    private let state = Locked(State())

    /// The meter of a policy's revision; a new one if it has not been in effect lately.
    func meter(for policy: Policy, heardBy hearing: Hearing, in world: any World) -> Meter {
        state.withLock { state in
            if let meter = state.meters.first(where: { $0.revision == policy.revision }) { return meter }
            let meter = Meter(
                resource: policy.resource, revision: policy.revision, strategy: policy.strategy.plugin.name,
                told: policy.told, hearing: hearing, world: world)
            state.meters.append(meter)
            if state.meters.count > Self.most { state.earlier.merge(state.meters.removeFirst().current) }
            return meter
        }
    }

    /// The meters, in the order in which their revisions first came, and what those before them counted.
    var all: (meters: [Meter], earlier: ResourceMetrics) { state.withLock { ($0.meters, $0.earlier) } }

    /// What was counted under all revisions.
    var total: ResourceMetrics {
        let (meters, earlier) = all
        return meters.reduce(into: earlier) { $0.merge($1.current) }
    }

    /// What happened in the last `length` under all revisions.
    func last(_ length: Duration) -> ResourceMetrics {
        all.meters.reduce(into: ResourceMetrics()) { $0.merge($1.last(length)) }
    }
}
