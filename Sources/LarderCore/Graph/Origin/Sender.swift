import LarderSystem

/// Sends requests that change something at the origin.
struct Sender: Sendable {
    let access: OriginAccess
    /// Whether the origin can change anything.
    let isAccepted: Bool
    let meter: Meter

    /// Sends a request.
    ///
    /// - Throws: ``LoadError``; `CancellationError` if the task is cancelled.
    func send(_ request: Request, method: String) async throws -> Loaded<Entry> {
        let call = Call(sending: request, method: method)
        do {
            var answer = try await access.load(
                call, unless: isAccepted ? nil : LoadError(.failed, "this origin does not accept changes"))
            answer.isStored = false
            answer.provenance.sign(after: call.trail.steps, by: meter.revision)
            meter.sent(nil)
            return answer
        } catch {
            guard var failure = error as? LoadError else {
                meter.sent("cancelled")
                throw error
            }
            failure.trail.revision = meter.revision
            meter.sent(failure.message)
            throw failure
        }
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
