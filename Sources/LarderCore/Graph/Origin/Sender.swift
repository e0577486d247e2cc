import LarderSystem

/// Sends requests that change something at the origin. They pass the wrappers of the policy and nothing else: neither
/// the strategy nor the store, no fallback and no call under way.
struct Sender: Sendable {
    /// The origin with the wrappers around it; nil if the policy does not use an origin.
    let origin: (any Loader)?
    /// Whether the origin can change anything.
    let isAccepted: Bool
    /// The parameters that the origin takes and needs; nil if they are not checked.
    let parameters: OriginParameters?
    let meter: Meter
    let world: any World

    /// Sends a request.
    ///
    /// - Throws: ``LoadError``; `CancellationError` if the task is cancelled.
    func send(_ request: Request, method: String) async throws -> Loaded<Entry> {
        var call = Call(sending: request, method: method)
        call.deadline = request.deadline.map { world.uptime + $0 }
        do {
            var answer = try await self.answer(to: call)
            answer.isStored = false
            answer.provenance.sign(after: call.trail.steps, by: meter.revision)
            meter.sent(nil)
            return answer
        } catch {
            guard var failure = LoadError.failure(error) else {
                meter.sent("cancelled")
                throw CancellationError()
            }
            call.trail.note("origin", failure.event)
            failure.trail = Trail(call.trail.steps)
            failure.trail.revision = meter.revision
            meter.sent(failure.message)
            throw failure
        }
    }

    private func answer(to call: Call) async throws -> Loaded<Entry> {
        guard let origin else { throw LoadError(.failed, "nothing can be sent: the policy uses no origin") }
        guard isAccepted else { throw LoadError(.failed, "this origin does not accept changes") }
        try parameters?.check(call.request)
        guard let deadline = call.deadline else { return try await origin.load(call) }
        if let answer = try await origin.load(call, within: deadline - world.uptime, in: world) { return answer }
        throw LoadError.overdue
    }
}

extension Meter {
    /// Counts and logs a change that was sent, or the reason why it failed.
    fileprivate func sent(_ failure: String?) {
        count(.sends)
        if failure != nil { count(.failedSends) }
        send(.send, failure.map { "a change failed: \($0)" } ?? "a change was sent")
    }
}
