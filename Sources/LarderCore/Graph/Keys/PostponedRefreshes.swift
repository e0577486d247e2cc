import LarderSystem

// The refreshes that wait until the device has a network again.
//
// They begin within some seconds of its return, the most urgent first and a few at a time, so that a million devices which
// leave the same tunnel do not call at once.
extension KeyTable {
    /// The number of keys that may wait. Further keys are refreshed when they are loaded.
    private static let mostPostponed = 1_000
    /// The number of refreshes that run at the same time.
    private static let mostAtOnce = 4
    /// The longest time until the first refresh begins.
    private static let longestDelay = Duration.seconds(2)

    /// Notes that a copy must be refreshed when the network returns. One refresh of a key waits.
    ///
    /// - Parameter limit: the longest time that the refresh may take.
    func postponeRefresh(of call: Call, within limit: Duration) {
        let (number, position) = (number(), position)
        let isFull = postponedRefreshes >= Self.mostPostponed
        change(call.key) { state in
            let former = state.waitingRefresh
            if isFull, former == nil { return }
            var request = call.request
            request.priority = max(request.priority, former?.request.priority ?? .low)
            state.waitingRefresh = PostponedRefresh(
                request, codec: call.codec, limit: limit, number: former?.number ?? number, since: position)
        }
    }

    /// Begins the refreshes that wait. `refresh` makes one of them, by the policy that is in effect now.
    func beginRefreshes(in world: any World, _ refresh: @escaping PostponedRefresh.Refresh) {
        if postponedRefreshes == 0 { return }
        var due: [(PostponedRefresh, Ticket)] = []
        changeAll(where: { $0.waitingRefresh != nil }) { state in
            guard let refresh = state.waitingRefresh else { return }
            state.waitingRefresh = nil
            // A refresh whose copy is cleared before it begins is not made.
            due.append((refresh, ticket(for: state, since: refresh.position)))
        }
        due.sort { ($1.0.request.priority, $0.0.number) < ($0.0.request.priority, $1.0.number) }
        world.begin { [due] in
            try? await world.sleep(for: Self.longestDelay.scaled(by: world.chance()))
            await withTaskGroup(of: Void.self) { group in
                for (place, (due, ticket)) in due.enumerated() {
                    if place >= Self.mostAtOnce { await group.next() }
                    var call = Call(due.request, codec: due.codec)
                    call.ticket = ticket
                    group.addTask { [call] in await refresh(call, due.limit) }
                }
            }
        }
    }
}
