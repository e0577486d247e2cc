import Synchronization

/// Those who want to hear of every load. While there are none, asking costs a nanosecond.
package final class Listeners: Sendable {
    package typealias Listener = @Sendable (LoadReport) -> Void

    private struct State {
        var next = 0
        var listeners: [Int: Listener] = [:]
    }

    private let state = Locked(State())
    private let someone = Atomic(false)

    var isEmpty: Bool { !someone.load(ordering: .relaxed) }

    /// Calls `listener` for each load from now on, on whatever thread it ends; until the number is removed.
    package func add(_ listener: @escaping Listener) -> Int {
        someone.store(true, ordering: .relaxed)
        return state.withLock { state in
            state.next += 1
            state.listeners[state.next] = listener
            return state.next
        }
    }

    package func remove(_ number: Int) {
        state.withLock { state in
            state.listeners[number] = nil
            someone.store(!state.listeners.isEmpty, ordering: .relaxed)
        }
    }

    func send(_ report: LoadReport) {
        for listener in state.withLock({ Array($0.listeners.values) }) { listener(report) }
    }
}
