import LarderSystem

/// The meter of the graph that is in effect. An attachment outlives graphs, and so it counts through this.
final class CurrentMeter: Sendable {
    private let state: Locked<Meter>

    init(_ meter: Meter) {
        state = Locked(meter)
    }

    var meter: Meter { state.withLock { $0 } }

    func change(to meter: Meter) { state.withLock { $0 = meter } }
}
