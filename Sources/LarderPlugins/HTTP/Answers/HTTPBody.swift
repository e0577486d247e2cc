import LarderFoundation
import LarderSystem
import LarderCore

/// The body of an answer as it arrives. A transport appends bytes, and the origin reads them.
///
/// When many bytes wait to be read, the transport pauses the exchange, so that memory does not grow with the body. A body
/// that is larger than its capacity fails before the transport decodes more of it.
final class HTTPBody: Sendable {
    /// The actions by which the reader influences the exchange. They may be called from any thread.
    struct Control: Sendable {
        /// Lets the transport go on after ``HTTPBody/append(_:)`` returned ``Reception/pause``.
        var resume: @Sendable () -> Void
        /// Ends the exchange. ``HTTPBody/append(_:)`` and ``HTTPBody/finish(_:)`` have no effect from then on.
        var cancel: @Sendable () -> Void
    }

    private enum End {
        case complete
        case failed(any Error)
    }

    /// The reaction to bytes that have arrived.
    enum Reception {
        /// More bytes may be appended.
        case goOn
        /// Nothing more may be appended until the transport is told to go on.
        case pause
        /// The body has failed, and the transport must end the exchange.
        case end
    }

    private struct State {
        var waiting = Data()
        /// The number of bytes that have arrived.
        var size = 0
        var end: End?
        var isPaused = false
        var reader: Suspension<Void>?
    }

    /// The number of bytes that may wait to be read before the transport pauses.
    static let mostWaiting = 1 << 18

    private let control: Control
    private let capacity: Int
    private let state = Locked(State())

    /// Creates the body of an answer whose head has arrived.
    ///
    /// - Parameter capacity: the largest size of the body in bytes.
    init(capacity: Int, _ control: Control) {
        self.capacity = capacity
        self.control = control
    }

    deinit {
        if state.withLock({ $0.end == nil }) { control.cancel() }
    }

    // MARK: Reading

    /// Returns the bytes that have arrived, and waits if there are none. Returns nil at the end of the body.
    ///
    /// - Throws: ``HTTPFailure`` if the body does not arrive completely. `CancellationError` if the task is cancelled,
    ///   which ends the exchange.
    func next() async throws -> Data? {
        while true {
            let (bytes, end, wasPaused) = state.withLock { state in
                defer { (state.waiting, state.isPaused) = (Data(), false) }
                return (state.waiting, state.end, state.isPaused)
            }
            if wasPaused, end == nil { control.resume() }
            if !bytes.isEmpty { return bytes }
            switch end {
            case .complete: return nil
            case .failed(let error): throw error
            case nil: await arrival()
            }
        }
    }

    /// Returns when bytes or the end have arrived.
    private func arrival() async {
        await withTaskCancellationHandler {
            await Suspension.wait { reader in
                state.withLock { state in
                    guard state.end == nil, state.waiting.isEmpty else { return () }
                    state.reader = reader
                    return nil
                }
            }
        } onCancel: {
            cancel()
        }
    }

    /// Ends the exchange, unless it has ended.
    func cancel() {
        let (wasOpen, reader) = state.withLock { state in
            defer { state.reader = nil }
            guard state.end == nil else { return (false, state.reader) }
            (state.end, state.waiting) = (.failed(CancellationError()), Data())
            return (true, state.reader)
        }
        if wasOpen { control.cancel() }
        reader?.resume(returning: ())
    }

    // MARK: Arriving

    /// Adds bytes that have arrived.
    func append(_ bytes: UnsafeRawBufferPointer) -> Reception {
        let (reader, reception) = state.withLock { state -> (Suspension<Void>?, Reception) in
            defer { state.reader = nil }
            guard state.end == nil else { return (state.reader, .end) }
            guard bytes.count <= capacity - state.size else {
                (state.end, state.waiting) = (.failed(HTTPFailure.largerThanCapacity), Data())
                return (state.reader, .end)
            }
            state.size += bytes.count
            state.waiting.append(contentsOf: bytes)
            state.isPaused = state.waiting.count >= Self.mostWaiting
            return (state.reader, state.isPaused ? .pause : .goOn)
        }
        reader?.resume(returning: ())
        return reception
    }

    /// Ends the body, completely or with a failure. The reader gets the bytes that have arrived first.
    func finish(_ failure: HTTPFailure? = nil) {
        let reader = state.withLock { state in
            defer { state.reader = nil }
            if state.end == nil { state.end = failure.map { .failed($0) } ?? .complete }
            return state.reader
        }
        reader?.resume(returning: ())
    }
}

extension HTTPFailure {
    /// The failure of an answer whose body is larger than allowed.
    static let largerThanCapacity = HTTPFailure(
        .tooLarge, "the answer is larger than the capacity that the policy allows")
}
