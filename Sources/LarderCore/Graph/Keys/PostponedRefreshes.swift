import LarderSystem

/// A refresh that has waited, with the ticket of its call. It is not made if its copy is cleared before it begins.
struct DueRefresh: Sendable {
    let refresh: PostponedRefresh
    let ticket: Ticket

    var call: Call {
        var call = Call(refresh.request, codec: refresh.codec)
        call.ticket = ticket
        return call
    }

    /// Returns whether this refresh begins before another.
    func isBefore(_ other: DueRefresh) -> Bool {
        (other.refresh.request.priority, refresh.number) < (refresh.request.priority, other.refresh.number)
    }
}

// The refreshes that wait until the device has a network again.
extension KeyTable {
    /// The number of keys that may wait. Further keys are refreshed when they are loaded.
    private static let mostPostponed = 1_000

    /// Notes that a copy must be refreshed when the network returns. One refresh of a key waits.
    ///
    /// - Parameter limit: the longest time that the refresh may take.
    func postponeRefresh(of call: Call, within limit: Duration) {
        let (number, position) = (number(), position)
        let isFull = postponedRefreshes >= Self.mostPostponed
        let isNew = change(call.key) { state in
            let former = state.waitingRefresh
            if isFull, former == nil { return false }
            var request = call.request
            request.priority = max(request.priority, former?.request.priority ?? .low)
            state.waitingRefresh = PostponedRefresh(
                request, codec: call.codec, limit: limit, number: former?.number ?? number, since: position)
            return former == nil
        }
        if isNew { whenPostponed.withLock { $0 }?() }
    }

    /// Takes the refreshes that wait and that `isMeant` selects out of the records of their keys.
    func takePostponedRefreshes(where isMeant: (PostponedRefresh) -> Bool) -> [DueRefresh] {
        if postponedRefreshes == 0 { return [] }
        var due: [DueRefresh] = []
        changeAll(where: { $0.waitingRefresh.map(isMeant) == true }) { state in
            guard let refresh = state.waitingRefresh else { return }
            state.waitingRefresh = nil
            due.append(DueRefresh(refresh: refresh, ticket: ticket(for: state, since: refresh.position)))
        }
        return due
    }
}
