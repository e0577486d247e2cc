/// The meters of one resource: one for each revision that its policy has had.
final class Ledger: Sendable {
    private struct State {
        var meters: [Meter] = []
        /// Their revisions, the one in effect last.
        var recent: [String] = []
        /// What the meters counted that are not kept any more.
        var earlier = ResourceMetrics()

        func isIdle(_ revision: String) -> Bool { meters.first { $0.revision == revision }?.inFlight == 0 }
    }

    private static let most = 16

    private let state = Locked(State())

    /// The meter of a policy's revision; a new one, which nobody knows before it is in effect, if it was not lately.
    func meter(for policy: Policy, heardBy hearing: Hearing, in world: any World) -> Meter {
        let known = state.withLock { $0.meters.first { $0.revision == policy.revision } }
        return known
            ?? Meter(
                resource: policy.resource, revision: policy.revision, strategy: policy.strategy.plugin.name,
                told: policy.told, hearing: hearing, world: world)
    }

    /// A meter is in effect now. The one that was not for the longest time is let go, when nothing counts with it.
    func enter(_ meter: Meter) {
        state.withLock { state in
            if !state.meters.contains(where: { $0 === meter }) { state.meters.append(meter) }
            state.recent.removeAll { $0 == meter.revision }
            state.recent.append(meter.revision)
            while state.meters.count > Self.most,
                let idle = state.recent.dropLast().first(where: { state.isIdle($0) }),
                let place = state.meters.firstIndex(where: { $0.revision == idle })
            {
                state.earlier.merge(state.meters.remove(at: place).current)
                state.recent.removeAll { $0 == idle }
            }
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
