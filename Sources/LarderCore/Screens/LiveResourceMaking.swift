public import LarderFoundation

extension Resource {
    /// Returns one instance for a screen, and begins to load it. See ``LiveResource``.
    ///
    /// ```swift
    /// let article = articles.live(["id": "42"])
    /// ```
    ///
    /// The parameters are those of ``load(_:scope:mode:deadline:priority:fields:body:purpose:noOlderThan:)``.
    ///
    /// - Parameter isolation: the actor in which the phase changes. By default that of the caller, so on the main actor no
    ///   phase changes while a view is drawn.
    public func live(
        _ parameters: Parameters = [:], scope: String? = nil, deadline: Duration? = nil,
        priority: Request.Priority = .normal, fields: Fields = [:], body: Data? = nil,
        noOlderThan: Duration? = nil, isolation: isolated (any Actor)? = #isolation
    ) -> LiveResource<Value> {
        live(
            request(
                parameters, scope: scope, deadline: deadline, priority: priority, fields: fields, body: body,
                noOlderThan: noOlderThan),
            isolation: isolation)
    }

    /// Returns the instance of a request for a screen, and begins to load it. The mode of the request has no effect. See
    /// ``LiveResource``.
    ///
    /// - Parameters:
    ///   - request: the request. If it is for another resource, the phase is a failure.
    ///   - isolation: the actor in which the phase changes. By default that of the caller.
    public func live(
        _ request: Request, isolation: isolated (any Actor)? = #isolation
    ) -> LiveResource<Value> {
        let live = LiveResource(self, request, on: isolation)
        live.begin()
        return live
    }
}
