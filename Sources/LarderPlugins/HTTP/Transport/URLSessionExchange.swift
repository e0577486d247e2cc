import LarderFoundation
import LarderSystem
import LarderCore

/// One request of a `URLSession` and its answer.
///
/// It knows nothing of the session but the actions on a task, so that tests play it on every system.
final class URLSessionExchange: Sendable {
    /// The actions on the task of the session. They may be called from any thread.
    struct Actions: Sendable {
        var resume: @Sendable () -> Void
        var suspend: @Sendable () -> Void
        var cancel: @Sendable () -> Void
        /// Runs work on the queue of the session's events, after those that have arrived.
        var enqueue: @Sendable (@escaping @Sendable () -> Void) -> Void
    }

    private struct State {
        /// The body after the head has arrived. When its reader drops it, the exchange ends.
        weak var body: HTTPBody?
        var hasHead = false
        var isOver = false
        var alarms: [Alarm] = []
        /// Whether the task is suspended until the reader has taken what waits.
        var isSuspended = false
        /// The number of bytes that the body still lacks, if it is known.
        var missing: Int?
        /// The largest size of the body.
        var capacity = 0
    }

    private let task: Actions
    /// The answer when its head has arrived.
    let pending = PendingAnswer()
    private let method: String
    private let state = Locked(State())

    /// - Parameter method: the method of the request. Answers to HEAD have no body.
    init(_ task: Actions, method: String) {
        (self.task, self.method) = (task, method)
    }

    /// Sends the request.
    func start(within limits: HTTPLimits, of world: any World) {
        let alarms = [
            world.alarm(after: limits.firstByte) { [weak self] in
                self?.end(HTTPFailure(.firstByteTimeout, "no answer within the limit"), unlessAnswered: true)
            },
            world.alarm(after: limits.whole) { [weak self] in
                self?.end(HTTPFailure(.timeout, "the answer was not complete within the limit"))
            },
        ]
        let isOver = state.withLock { state in
            state.capacity = limits.capacity
            if !state.isOver { state.alarms = alarms }
            return state.isOver
        }
        if isOver { for alarm in alarms { alarm.cancel() } }
        task.resume()
    }

    /// Ends the exchange because nobody waits for it any more.
    func cancel() { end(CancellationError()) }

    /// Ends the exchange with an error.
    func end(_ error: any Error, unlessAnswered: Bool = false) {
        guard close(error, unlessAnswered: unlessAnswered) else { return }
        task.cancel()
    }

    // MARK: Events, on the session's queue

    /// Takes the head of the answer, with its fields as a session tells them.
    func arrived(status: Int, fields: [AnyHashable: Any]) {
        guard status >= 200 else { return }
        let head: HTTPHead
        do { head = try HTTPHead(status: status, sessionFields: fields) } catch { return end(error) }
        let body = HTTPBody(
            capacity: state.withLock { $0.capacity },
            HTTPBody.Control(
                resume: { self.task.enqueue { self.resume() } },
                cancel: { self.cancel() }))
        let isFirst = state.withLock { state in
            guard !state.isOver, !state.hasHead else { return false }
            (state.body, state.hasHead, state.missing) = (body, true, head.decodedLength(to: method))
            return true
        }
        guard isFirst else { return }
        pending.succeed(
            HTTPAnswer(
                status: head.status, fields: head.decodedFields, version: head.version, isDecoded: head.isEncoded,
                body: body))
    }

    /// Takes bytes of the body.
    func received(_ bytes: Data) {
        let body = state.withLock { state in
            state.missing? -= bytes.count
            return state.body
        }
        switch body.map({ body in bytes.withUnsafeBytes { body.append($0) } }) {
        case nil, .goOn: break
        case .end: cancel()
        case .pause:
            state.withLock { $0.isSuspended = true }
            task.suspend()
        }
    }

    private func resume() {
        let wasSuspended = state.withLock { state in
            defer { state.isSuspended = false }
            return state.isSuspended
        }
        if wasSuspended { task.resume() }
    }

    /// Takes the end of the answer, with the failure that the session tells of.
    func completed(_ failure: HTTPFailure?) {
        let isIncomplete = state.withLock { !$0.hasHead || ($0.missing ?? 0) > 0 }
        _ = close(
            failure
                ?? (isIncomplete ? HTTPFailure(.reset, "the connection ended before the answer was complete") : nil)
        )
    }

    /// Ends the exchange for the reader of the answer.
    ///
    /// - Returns: whether it was not over.
    private func close(_ error: (any Error)?, unlessAnswered: Bool = false) -> Bool {
        let ended = state.withLock { state -> State? in
            if state.isOver || unlessAnswered && state.hasHead { return nil }
            defer { (state.isOver, state.alarms) = (true, []) }
            return state
        }
        guard let ended else { return false }
        for alarm in ended.alarms { alarm.cancel() }
        if !ended.hasHead {
            pending.fail(error ?? CancellationError())
        } else if let error, !(error is HTTPFailure) {
            ended.body?.cancel()
        } else {
            ended.body?.finish(error as? HTTPFailure)
        }
        return true
    }
}
