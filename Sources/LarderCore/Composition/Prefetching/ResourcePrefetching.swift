public import LarderSystem

extension Resource {
    /// Fetches instances that may be wanted later, so that they are cached by then.
    ///
    /// ```swift
    /// let prefetch = articles.prefetch(next.map { ["id": $0] })
    /// await prefetch.finished()
    /// ```
    ///
    /// Returns at once. A pantry prefetches four instances at a time, and each of its resources in the order of the calls.
    /// An instance whose copy is fresh needs no call, and an instance that is queued already is not queued again. Loads go
    /// first: the calls have the purpose ``Request/Purpose-swift.enum/prefetch`` and the priority `priority`, and a load of
    /// the same instance that arrives meanwhile joins the call and raises it.
    ///
    /// - While the device has no network, or none that `condition` allows, the requests wait.
    /// - After a failure of the origin, a request is tried again after about 5 s and again after about 30 s, or later if the
    ///   origin asks for that. Then it has failed.
    /// - An error that is the origin's answer, such as a 404, is not tried again. Nor is an answer that is not kept.
    /// - A clearing that concerns an instance, such as a logout, cancels its request. ``Pantry/close(within:)`` cancels all.
    ///
    /// The requests wait in their list, and a few hundred of each call are in the queue at a time.
    ///
    /// - Parameters:
    ///   - requests: the instances. Their ``Request/mode``, ``Request/deadline``, ``Request/priority`` and
    ///     ``Request/purpose-swift.property`` have no effect.
    ///   - priority: the priority, in the queue and of the calls.
    ///   - condition: the network to wait for.
    ///   - isAllowedWhileCharging: whether to go on with any network while the device is being charged.
    @discardableResult
    public func prefetch(
        _ requests: [Request], priority: Request.Priority = .low, when condition: NetworkCondition = .online,
        orWhileCharging isAllowedWhileCharging: Bool = false
    ) -> Prefetch {
        let prefetch = Prefetch(total: requests.count)
        let group = pantry.prefetchQueue.nextGroup()
        pantry.prefetchQueue.add(
            requests, of: resourceState, codec: codec, priority: priority,
            when: PrefetchQueue.Condition(network: condition, orCharging: isAllowedWhileCharging), as: group,
            in: pantry
        ) { prefetch.ended($0, $1) }
        prefetch.onCancel { [weak queue = pantry.prefetchQueue] in queue?.cancel(group) }
        return prefetch
    }

    /// Fetches instances that may be wanted later, to have them cached by then: see
    /// ``prefetch(_:priority:when:orWhileCharging:)``.
    ///
    /// - Parameters:
    ///   - parameters: the parameters of each instance.
    ///   - scope: the account that the instances belong to, as for a load.
    ///   - priority: the priority, in the queue and of the calls.
    ///   - condition: the network to wait for.
    ///   - isAllowedWhileCharging: whether to go on with any network while the device is being charged.
    @discardableResult
    public func prefetch(
        _ parameters: [Parameters], scope: String? = nil, priority: Request.Priority = .low,
        when condition: NetworkCondition = .online, orWhileCharging isAllowedWhileCharging: Bool = false
    ) -> Prefetch {
        prefetch(
            parameters.map { request($0, scope: scope, purpose: .prefetch) }, priority: priority, when: condition,
            orWhileCharging: isAllowedWhileCharging)
    }
}
