/// Tells whoever wants to know of the entries that are saved.
final class Observers: Sendable {
    /// An entry that was to be saved.
    struct Saved: Sendable {
        var entry: Entry
        var isKept: Bool
    }

    private struct State {
        var next = 0
        var listeners: [Key: [Int: AsyncStream<Saved>.Continuation]] = [:]
    }

    private let state = Locked(State())

    /// The entries saved under `key` from now on; of those that nobody takes, the newest.
    func entries(for key: Key) -> AsyncStream<Saved> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { listener in
            let number = state.withLock { state in
                state.next += 1
                state.listeners[key, default: [:]][state.next] = listener
                return state.next
            }
            listener.onTermination = { [state] _ in
                state.withLock { state in
                    state.listeners[key]?[number] = nil
                    if state.listeners[key]?.isEmpty == true { state.listeners[key] = nil }
                }
            }
        }
    }

    func saved(_ entry: Entry, isKept: Bool, for key: Key) {
        let listeners = state.withLock { $0.listeners[key]?.sorted { $0.key < $1.key }.map(\.value) ?? [] }
        for listener in listeners { listener.yield(Saved(entry: entry, isKept: isKept)) }
    }
}
