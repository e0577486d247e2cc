#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import LarderBase

/// The body of an answer as it arrives. A transport appends bytes, and the origin reads them.
///
/// When many bytes wait to be read, the transport pauses the exchange, so that memory does not grow with the body.
final class HTTPBody: Sendable {
    /// The actions by which the reader influences the exchange. They may be called from any thread.
    struct Control: Sendable {
        /// Lets the transport go on after ``HTTPBody/append(_:)`` returned false.
        var resume: @Sendable () -> Void
        /// Ends the exchange. ``HTTPBody/append(_:)`` and ``HTTPBody/finish(_:)`` have no effect from then on.
        var cancel: @Sendable () -> Void
    }

    private enum End {
        case complete
        case failed(any Error)
    }

    private struct State {
        var waiting = Data()
        var end: End?
        var isPaused = false
        var reader: CheckedContinuation<Void, Never>?
    }

    /// The number of bytes that may wait to be read before the transport pauses.
    static let capacity = 1 << 18

    private let control: Control
    private let state = Locked(State())

    /// Creates the body of an answer whose head has arrived.
    init(_ control: Control) {
        self.control = control
    }

    deinit {
        if state.withLock({ $0.end == nil }) { control.cancel() }
    }

    // MARK: Reading

    /// Returns the bytes that have arrived, and waits if there are none. Returns nil at the end of the body.
    ///
    /// - Throws: ``HTTPFailure`` if the body does not arrive completely; `CancellationError` if the task is cancelled,
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
            await withCheckedContinuation { reader in
                let mustWait = state.withLock { state in
                    guard state.end == nil, state.waiting.isEmpty else { return false }
                    state.reader = reader
                    return true
                }
                if !mustWait { reader.resume() }
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
        reader?.resume()
    }

    // MARK: Arriving

    /// Adds bytes that have arrived.
    ///
    /// - Returns: false if the transport must append nothing more until it is told to go on.
    func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let (reader, goesOn) = state.withLock { state in
            defer { state.reader = nil }
            guard state.end == nil else { return (state.reader, true) }
            state.waiting.append(contentsOf: bytes)
            state.isPaused = state.waiting.count >= Self.capacity
            return (state.reader, !state.isPaused)
        }
        reader?.resume()
        return goesOn
    }

    /// Ends the body, completely or with a failure. The reader gets the bytes that have arrived first.
    func finish(_ failure: HTTPFailure? = nil) {
        let reader = state.withLock { state in
            defer { state.reader = nil }
            if state.end == nil { state.end = failure.map { .failed($0) } ?? .complete }
            return state.reader
        }
        reader?.resume()
    }
}
