import LarderSystem

/// Instances that are being prefetched: how far that is, and the way to cancel it.
///
/// ```swift
/// let prefetch = articles.prefetch(next.map { ["id": $0] })
/// for await progress in prefetch.progress { bar.value = progress.share }
/// ```
///
/// The prefetch goes on without this object. It ends when every request has ended, ``cancel()`` is called, or the
/// pantry is closed or released.
public final class Prefetch: Sendable {
    /// The number of requests that have ended, by their endings.
    public struct Progress: Hashable, Sendable {
        /// The number of requests.
        public let total: Int
        /// The requests whose instance is cached and fresh now, whether it had to be fetched or not.
        public internal(set) var done = 0
        /// The requests that failed for good.
        public internal(set) var failed = 0
        /// The requests that were cancelled: by ``Prefetch/cancel()``, by a clearing, or because the pantry was closed.
        public internal(set) var cancelled = 0
        /// The bytes of payload that were fetched.
        public internal(set) var bytes = 0

        /// The requests that have not ended.
        public var left: Int { total - done - failed - cancelled }

        /// The share of requests that have ended, from 0 to 1.
        public var share: Double { total == 0 ? 1 : 1 - Double(left) / Double(total) }
    }

    /// A request that failed for good.
    public struct Failure: Sendable {
        /// The request.
        public let request: Request
        /// The error of its last try.
        public let error: LoadError
    }

    private struct State {
        var present: Progress
        var failures: [Failure] = []
        var streams: [Int: AsyncStream<Progress>.Continuation] = [:]
        var next = 0
    }

    /// The number of failures that are kept.
    private static let mostFailures = 100

    private let state: Locked<State>
    private let cancelling = Locked<(@Sendable () -> Void)?>(nil)

    init(total: Int) { state = Locked(State(present: Progress(total: total))) }

    deinit { for stream in state.withLock({ $0.streams.values }) { stream.finish() } }

    /// The progress now.
    public var present: Progress { state.withLock { $0.present } }

    /// The first hundred failures.
    public var failures: [Failure] { state.withLock { $0.failures } }

    /// A stream of the present progress and then each change, until every request has ended. A slow reader misses
    /// progress that was replaced, never the latest. Each access returns a new stream.
    public var progress: AsyncStream<Progress> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { stream in
            let number = state.withLock { state -> Int? in
                stream.yield(state.present)
                if state.present.left == 0 { return nil }
                state.next += 1
                state.streams[state.next] = stream
                return state.next
            }
            guard let number else { return stream.finish() }
            stream.onTermination = { [weak self] _ in
                let ended = self?.state.withLock { $0.streams.removeValue(forKey: number) }
                withExtendedLifetime(ended) {}
            }
        }
    }

    /// Waits until every request has ended, and returns the progress then. If the caller's task is cancelled, returns the
    /// progress at once, and the prefetch goes on.
    @discardableResult
    public func finished() async -> Progress {
        for await _ in progress {}
        return present
    }

    /// Cancels the requests that have not ended. Instances that are fetched already stay cached. A call that others wait
    /// for goes on for them.
    public func cancel() { cancelling.withLock { $0.take() }?() }

    // MARK: For the agenda

    /// Sets the action of ``cancel()``.
    func onCancel(_ action: @escaping @Sendable () -> Void) { cancelling.withLock { $0 = action } }

    /// Counts a request that has ended.
    func ended(_ request: Request, _ ending: FetchEnding) {
        let finished = state.withLock { state -> [AsyncStream<Progress>.Continuation] in
            switch ending {
            case .done(let bytes):
                state.present.done += 1
                state.present.bytes += bytes
            case .failed(let error):
                state.present.failed += 1
                if state.failures.count < Self.mostFailures {
                    state.failures.append(Failure(request: request, error: error))
                }
            case .cancelled: state.present.cancelled += 1
            }
            // Under the lock, so that all readers get the latest progress last.
            for (_, stream) in state.streams { stream.yield(state.present) }
            if state.present.left > 0 { return [] }
            defer { state.streams = [:] }
            return Array(state.streams.values)
        }
        for stream in finished { stream.finish() }
    }
}
