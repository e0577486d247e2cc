/// An operation that nobody waits for any more, though it has not ended: what must not overtake it can wait for it.
package final class Unfinished: Sendable {
    private struct State {
        var isOver = false
        var actions: [@Sendable () -> Void] = []
    }

    private let state = Locked(State())

    init() {}

    /// Does something when the operation has ended; at once if it has.
    func whenOver(_ action: @escaping @Sendable () -> Void) {
        let isOver = state.withLock { state in
            if !state.isOver { state.actions.append(action) }
            return state.isOver
        }
        if isOver { action() }
    }

    /// Does something when all of these operations have ended; at once if they have.
    static func whenOver(_ all: some Collection<Unfinished>, _ action: @escaping @Sendable () -> Void) {
        guard let first = all.first else { return action() }
        let rest = Array(all.dropFirst())
        first.whenOver { whenOver(rest, action) }
    }

    func end() {
        let actions = state.withLock { state in
            state.isOver = true
            defer { state.actions = [] }
            return state.actions
        }
        for action in actions { action() }
    }
}
