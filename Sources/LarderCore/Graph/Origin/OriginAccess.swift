import LarderSystem

/// The way to the origin of a graph through its wrappers and nothing else: past the strategy and the store, without a
/// fallback, and without a call under way.
struct OriginAccess: Sendable {
    /// The origin with the wrappers around it; nil if the policy uses no origin.
    let origin: (any Loader)?
    /// The parameters that the origin takes and needs; nil if they are not checked.
    let parameters: OriginParameters?
    let world: any World

    /// Returns the origin's answer within the deadline of the request.
    ///
    /// - Parameters:
    ///   - call: a call without a deadline. Its trail gets the failure.
    ///   - refusal: the reason why the origin cannot be called; nil if it can.
    /// - Throws: ``LoadError``, with the trail of the call; `CancellationError` if the task is cancelled.
    func load(_ call: Call, unless refusal: LoadError? = nil) async throws -> Loaded<Entry> {
        do {
            if let refusal, origin != nil { throw refusal }
            return try await answer(to: call)
        } catch {
            guard var failure = LoadError.failure(error) else { throw CancellationError() }
            call.trail.note("origin", failure.event)
            failure.trail = Trail(call.trail.steps)
            throw failure
        }
    }

    private func answer(to call: Call) async throws -> Loaded<Entry> {
        guard let origin else {
            throw LoadError(.failed, "nothing can be \(call.isSend ? "sent" : "fetched"): the policy uses no origin")
        }
        try parameters?.check(call.request)
        guard let limit = call.request.deadline else { return try await origin.load(call) }
        var call = call
        call.deadline = world.uptime + limit
        if let answer = try await origin.load(call, within: limit, in: world) { return answer }
        throw LoadError.overdue
    }
}
