import LarderSystem

/// The changes by others that the graph has not applied yet.
///
/// If more than ``capacity`` changes wait, one change of all entries takes their place.
final class WaitingChanges: Sendable {
    private struct State {
        var changes: [StoreChange] = []
        var isOver = false
        /// Whether there were too many changes since the reader last waited.
        var isTold = false
    }

    /// The largest number of changes that wait.
    static let capacity = 1_000

    private let state = Locked(State())
    private let (news, tell) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))

    /// Adds a change, and wakes the reader if it waits.
    ///
    /// - Returns: whether there are too many changes, for the first time since the reader last waited.
    func add(_ change: StoreChange) -> Bool {
        defer { tell.yield() }
        return state.withLock { state in
            if state.changes.count < Self.capacity {
                state.changes.append(change)
                return false
            }
            state.changes = [change.ofAllEntries]
            defer { state.isTold = true }
            return !state.isTold
        }
    }

    /// Returns the next change, and waits for it. Returns nil at the end. There may be only one reader.
    func next() async -> StoreChange? {
        while !Task.isCancelled {
            let next = state.withLock { state -> StoreChange?? in
                if !state.changes.isEmpty { return state.changes.removeFirst() }
                if state.isOver { return .some(nil) }
                state.isTold = false
                return nil
            }
            if let next { return next }
            for await _ in news { break }
        }
        return nil
    }

    /// Ends the changes. The reader gets those that wait.
    func finish() {
        state.withLock { $0.isOver = true }
        tell.finish()
    }
}
