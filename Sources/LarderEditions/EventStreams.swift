import LarderSystem

/// The streams of events that are being read.
final class EventStreams: Sendable {
    private let state = Locked<(next: Int, open: [Int: AsyncStream<EditionEvent>.Continuation]?)>((0, [:]))

    /// Returns a new stream. It keeps the last hundred events that were not read.
    func stream() -> AsyncStream<EditionEvent> {
        let (stream, continuation) = AsyncStream<EditionEvent>.makeStream(bufferingPolicy: .bufferingNewest(100))
        let number = state.withLock { state -> Int? in
            guard state.open != nil else { return nil }
            state.next += 1
            state.open?[state.next] = continuation
            return state.next
        }
        guard let number else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.open?.removeValue(forKey: number) }
        }
        return stream
    }

    func send(_ event: EditionEvent) {
        for continuation in state.withLock({ $0.open.map { Array($0.values) } ?? [] }) { continuation.yield(event) }
    }

    /// Ends all streams, and those that are asked for later.
    func end() {
        let open = state.withLock { state in
            defer { state.open = nil }
            return state.open ?? [:]
        }
        for continuation in open.values { continuation.finish() }
    }
}
