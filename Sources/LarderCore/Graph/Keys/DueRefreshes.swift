import LarderSystem

/// The refreshes that wait until the device has a network again.
///
/// They begin within some seconds of its return, the most urgent first and a few at a time, so that a million devices
/// which leave the same tunnel do not call at once.
final class DueRefreshes: Sendable {
    /// A refresh that waits.
    private struct Due {
        let number: Int
        let priority: Request.Priority
        let call: Call
        let limit: Duration
    }

    /// Makes a refresh, which may take a limited time.
    typealias Refresh = @Sendable (_ call: Call, _ limit: Duration) async -> Void

    private struct State {
        var due: [Key: Due] = [:]
        var next = 0
    }

    /// The number of keys that may wait. Further keys are refreshed when they are loaded.
    private static let capacity = 1_000
    /// The number of refreshes that run at the same time.
    private static let mostAtOnce = 4
    /// The longest time until the first refresh begins.
    private static let longestDelay = Duration.seconds(2)

    private let state = Locked(State())

    /// Notes that a copy must be refreshed when the network returns. One refresh of a key waits.
    ///
    /// - Parameter limit: the longest time that the refresh may take.
    func add(_ call: Call, within limit: Duration) {
        state.withLock { state in
            guard state.due.count < Self.capacity || state.due[call.key] != nil else { return }
            let former = state.due[call.key]
            let priority = max(call.request.priority, former?.priority ?? .low)
            state.due[call.key] = Due(
                number: former?.number ?? state.next, priority: priority, call: call, limit: limit)
            state.next += 1
        }
    }

    /// Begins the refreshes that wait. `refresh` makes one of them, by the policy that is in effect now.
    func begin(in world: any World, _ refresh: @escaping Refresh) {
        let due = state.withLock { state in
            defer { state.due = [:] }
            return state.due.values.sorted { ($1.priority, $0.number) < ($0.priority, $1.number) }
        }
        if due.isEmpty { return }
        world.begin {
            try? await world.sleep(for: Self.longestDelay.scaled(by: world.chance()))
            await withTaskGroup(of: Void.self) { group in
                for (place, due) in due.enumerated() {
                    if place >= Self.mostAtOnce { await group.next() }
                    group.addTask { await refresh(due.call, due.limit) }
                }
            }
        }
    }
}
