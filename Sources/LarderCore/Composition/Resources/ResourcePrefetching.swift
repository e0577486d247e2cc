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
    /// An instance whose copy is fresh needs no call, so an instance that is in two lists is fetched once. Loads go
    /// first: the calls have the purpose ``Request/Purpose-swift.enum/prefetch`` and the priority `priority`, and a load of
    /// the same instance that arrives meanwhile joins the call and raises it.
    ///
    /// - While the device has no network, or none that `condition` allows, the requests wait.
    /// - After a failure of the origin, a request is tried again after about 5 s and again after about 30 s, or later if the
    ///   origin asks for that. Then it has failed.
    /// - An error that is the origin's answer, such as a 404, is not tried again. Nor is an answer that is not kept.
    /// - A clearing that concerns an instance, such as a logout, cancels its request. ``Pantry/close(within:)`` cancels all.
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
        var owned: [Request] = []
        for request in requests {
            if request.key.isOf(resourceState.resourceName) {
                owned.append(resourceState.owned(request))
            } else {
                prefetch.ended(request, .failed(LoadError.otherResource))
            }
        }
        let job = FetchJob(
            owned, of: BackgroundResource(resourceState, codec: codec, in: pantry), priority: priority,
            when: AgendaConditions(
                network: condition, orWhileCharging: isAllowedWhileCharging, permitted: [.prefetch]),
            on: pantry.agenda
        ) { prefetch.ended($0, $1) }
        prefetch.onCancel(pantry.agenda.cancelling([job]))
        pantry.agenda.add(job)
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
