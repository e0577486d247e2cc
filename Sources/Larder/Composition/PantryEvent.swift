/// Something that happened to the policies of a running pantry.
public enum PantryEvent: Sendable {
    /// Policies were swapped: all that changed, each in one step.
    case reloaded([PolicyChange])
    /// New policies were refused; the last good ones stay in effect.
    case rejected(PolicyError)
}

/// What became of one resource's policy.
public struct PolicyChange: Sendable, Hashable, CustomStringConvertible {
    /// The resource.
    public let resource: String
    /// The revision that was in effect; nil if the resource is new.
    public let from: String?
    /// The revision that is in effect; nil if the resource is gone.
    public let to: String?

    /// `feed: 03284ee171ef → 9a1c0c6f1d2e`.
    public var description: String { "\(resource): \(from ?? "new") → \(to ?? "gone")" }
}

/// Hands events to everyone who listens.
final class EventSource: Sendable {
    private struct State {
        var next = 0
        var listeners: [Int: AsyncStream<PantryEvent>.Continuation] = [:]
    }

    private let state = Locked(State())

    /// The events from now on; of those that nobody takes, the last hundred.
    func stream() -> AsyncStream<PantryEvent> {
        AsyncStream(bufferingPolicy: .bufferingNewest(100)) { listener in
            let number = state.withLock { state in
                state.next += 1
                state.listeners[state.next] = listener
                return state.next
            }
            listener.onTermination = { [state] _ in
                state.withLock { _ = $0.listeners.removeValue(forKey: number) }
            }
        }
    }

    func send(_ event: PantryEvent) {
        for listener in state.withLock({ Array($0.listeners.values) }) { listener.yield(event) }
    }

    deinit {
        for listener in state.withLock({ Array($0.listeners.values) }) { listener.finish() }
    }
}

/// The watch over a folder of policies: it ends when nobody holds it any more, or when it is stopped.
public final class PolicyWatch: Sendable {
    private let work: Task<Void, Never>

    init(_ work: Task<Void, Never>) {
        self.work = work
    }

    /// Ends the watch.
    public func stop() {
        work.cancel()
    }

    deinit {
        work.cancel()
    }
}
