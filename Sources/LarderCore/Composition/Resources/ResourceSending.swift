public import LarderFoundation

extension Resource {
    /// Sends a request that changes something at the origin, and returns the origin's answer.
    ///
    /// ```swift
    /// let order = orders.request(["id": "7"], body: json)
    /// try await orders.send(order, invalidating: [.key(orders.request(["id": "7"]).key), .tag("orders")])
    /// ```
    ///
    /// The call passes the wrappers of the policy, such as `breaker`, `limit` and `timeout`. It is never answered by a
    /// copy or a fallback, never shared, and its answer is not kept. It is not repeated, unless the policy says that
    /// the origin can bear it: see the setting `sends` of `retry`, and sections such as `outbox`. The mode of the request has
    /// no effect.
    ///
    /// An error does not mean that nothing was changed. After a timeout, for example, the origin may have carried out
    /// the change. After an error with a status from 200 to 399, the copies count as out of date too: the origin did not
    /// refuse the change, but its answer could not be used.
    ///
    /// - Parameters:
    ///   - request: the parameters, fields and body for the origin.
    ///   - method: the kind of change, for origins that know several: see ``Call/method``.
    ///   - selections: the copies of this resource that are out of date after the change. They are then not fresh any
    ///     more. Loads that began before the end of the change save nothing that is selected. An origin can add copies by
    ///     rules of its own, as `http` does: see ``OriginTraits/invalidates``.
    /// - Returns: the origin's answer. With a section that keeps changes and sends them later, the answer may also be one
    ///   without a payload, whose source is that section: see ``SendingAttachment``.
    /// - Throws: ``LoadError``, also if the origin does not accept changes; `CancellationError` if the task is cancelled. A
    ///   section that keeps changes sends the change all the same.
    public func send(
        _ request: Request, method: String = "POST", invalidating selections: [Selection] = []
    ) async throws -> Loaded<Data> {
        if let attachment = attachment((any SendingAttachment).self), try graph().sender.isAccepted {
            guard request.key.isOf(resourceState.resourceName) else { throw LoadError.otherResource }
            let request = resourceState.owned(request)
            // Nothing is kept that can never be sent.
            try graph().sender.access.parameters?.check(request)
            if let answer = try await attachment.send(request, method: method, invalidating: selections) {
                return answer
            }
        }
        return try await send(request, method: method, invalidating: selections, onlyTo: nil)
    }

    /// Sends a request past the sections.
    ///
    /// - Parameter source: the mark that the origin must have; nil for any.
    fileprivate func send(
        _ request: Request, method: String, invalidating selections: [Selection], onlyTo source: String?
    ) async throws -> Loaded<Data> {
        let graph = try graph()
        try graph.sourceMarks.check(source)
        guard request.key.isOf(resourceState.resourceName) else { throw LoadError.otherResource }
        let request = resourceState.owned(request)
        do {
            var answer = try await graph.sender.send(request, method: method)
            let named = graph.invalidates?(request, method, answer.value.metadata) ?? []
            answer.provenance.add(await invalidate(selections + named.filter { !selections.contains($0) }))
            return answer.map(\.payload.bytes)
        } catch let error as LoadError where error.status.map({ 200...399 ~= $0 }) ?? false {
            // The origin did not refuse the change.
            let named = graph.invalidates?(request, method, Metadata()) ?? []
            _ = await invalidate(selections + named.filter { !selections.contains($0) })
            throw error
        }
    }

    private func invalidate(_ selections: [Selection]) async -> [Trail.Step] {
        var steps: [Trail.Step] = []
        for (storeAccess, _) in resourceState.stores {
            for selection in selections { steps += await storeAccess.invalidate(selection) }
        }
        return steps
    }
}

extension SectionContext {
    /// Sends a request of the section itself that changes something at the resource's origin, and returns the origin's answer.
    /// It is the counterpart of ``fetch(_:onlyFrom:)`` for changes.
    ///
    /// It does what ``Resource/send(_:method:invalidating:)`` does, but no section can take the request.
    ///
    /// - Parameters:
    ///   - request: the parameters, fields and body for the origin.
    ///   - method: the kind of change.
    ///   - selections: the copies of this resource that are out of date after the change.
    ///   - source: the mark that the origin must have, so that a change that was made for one service does not reach another
    ///     one after a reload; nil for any. See ``Resource/sourceMarks``.
    /// - Throws: ``LoadError``; `CancellationError` if the task is cancelled or the pantry was released.
    public func send(
        _ request: Request, method: String = "POST", invalidating selections: [Selection] = [],
        onlyTo source: String? = nil
    ) async throws -> Loaded<Data> {
        guard let resource = ownResource else { throw CancellationError() }
        return try await resource.send(request, method: method, invalidating: selections, onlyTo: source)
    }
}
