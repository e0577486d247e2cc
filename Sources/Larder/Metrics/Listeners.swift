import Synchronization

/// Those who want to hear of something. While there are none, asking whether there are costs a nanosecond.
package final class Listeners<Event: Sendable>: Sendable {
    package typealias Listener = @Sendable (Event) -> Void

    private struct State {
        var next = 0
        var listeners: [Int: Listener] = [:]
        var streams: [Int: AsyncStream<Event>.Continuation] = [:]
    }

    private let state = Locked(State())
    private let someone = Atomic(false)

    package init() {}

    deinit {
        for stream in state.withLock({ Array($0.streams.values) }) { stream.finish() }
    }

    var isEmpty: Bool { !someone.load(ordering: .relaxed) }

    /// Calls `listener` for each event from now on, on whatever thread it happens; until the number is removed.
    package func add(_ listener: @escaping Listener) -> Int {
        change { $0.listeners[$1] = listener }
    }

    /// `first` and the events from now on; of those that nobody takes, the last `most`.
    func stream(most: Int, after first: [Event] = []) -> AsyncStream<Event> {
        AsyncStream(bufferingPolicy: .bufferingNewest(most)) { stream in
            for event in first { stream.yield(event) }
            let number = change { $0.streams[$1] = stream }
            stream.onTermination = { [weak self] _ in self?.remove(number) }
        }
    }

    package func remove(_ number: Int) {
        _ = state.withLock { state in
            let last = (state.listeners.removeValue(forKey: number), state.streams.removeValue(forKey: number))
            someone.store(!state.listeners.isEmpty || !state.streams.isEmpty, ordering: .relaxed)
            // Let go of outside the lock: what they hold may be anything.
            return last
        }
    }

    private func change(_ add: (inout State, Int) -> Void) -> Int {
        state.withLock { state in
            state.next += 1
            add(&state, state.next)
            someone.store(true, ordering: .relaxed)
            return state.next
        }
    }

    func send(_ event: Event) {
        let (listeners, streams) = state.withLock { state in
            (
                state.listeners.sorted { $0.key < $1.key }.map(\.value),
                state.streams.sorted { $0.key < $1.key }.map(\.value)
            )
        }
        for listener in listeners { listener(event) }
        for stream in streams { stream.yield(event) }
    }
}
