import LarderSystem

/// An operation that has been given up but is still running. Operations that must keep their order can wait for its
/// end.
///
/// A store that gives up an operation puts an `UnfinishedOperation` in the error that it throws. The store ends this
/// object when the operation has ended:
///
/// ```swift
/// let operation = UnfinishedOperation()
/// var failure = StoreError("no answer within 2s")
/// failure.unfinished = [operation]
/// ```
public final class UnfinishedOperation: Sendable {
    private struct State {
        var isOver = false
        var actions: [@Sendable () -> Void] = []
    }

    private let state = Locked(State())

    /// Creates an operation that goes on.
    public init() {}

    /// Calls `action` when the operation has ended. Calls it at once if the operation has ended already.
    func whenOver(_ action: @escaping @Sendable () -> Void) {
        let isOver = state.withLock { state in
            if !state.isOver { state.actions.append(action) }
            return state.isOver
        }
        if isOver { action() }
    }

    /// Calls `action` when all of these operations have ended. Calls it at once if they have ended already.
    static func whenOver(_ all: some Collection<UnfinishedOperation>, _ action: @escaping @Sendable () -> Void) {
        guard let first = all.first else { return action() }
        let rest = Array(all.dropFirst())
        first.whenOver { whenOver(rest, action) }
    }

    /// Marks the operation as ended, and calls the waiting actions. Later calls do nothing.
    public func end() {
        let actions = state.withLock { state in
            state.isOver = true
            defer { state.actions = [] }
            return state.actions
        }
        for action in actions { action() }
    }
}
