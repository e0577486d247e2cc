import LarderSystem

/// The changes by others that the graph has not applied yet.
///
/// If more than ``capacity`` changes wait, one change of all entries takes their place.
final class WaitingChanges: Sendable {
    private struct State {
        var changes: [StoreChange] = []
        var reader: CheckedContinuation<StoreChange?, Never>?
        var isOver = false
        /// Whether there were too many changes since the reader last waited.
        var isTold = false
    }

    /// The largest number of changes that wait.
    static let capacity = 1_000

    private let state = Locked(State())

    /// Adds a change, or gives it to the reader that waits.
    ///
    /// - Returns: whether there are too many changes, for the first time since the reader last waited.
    func add(_ change: StoreChange) -> Bool {
        let (reader, isNews) = state.withLock { state -> (CheckedContinuation<StoreChange?, Never>?, Bool) in
            if let reader = state.reader.take() { return (reader, false) }
            if state.changes.count < Self.capacity {
                state.changes.append(change)
                return (nil, false)
            }
            state.changes = [change.ofAllEntries]
            defer { state.isTold = true }
            return (nil, !state.isTold)
        }
        reader?.resume(returning: change)
        return isNews
    }

    /// Returns the next change, and waits for it. Returns nil at the end. There may be only one reader.
    func next() async -> StoreChange? {
        await withCheckedContinuation { reader in
            let next = state.withLock { state -> StoreChange?? in
                if !state.changes.isEmpty { return state.changes.removeFirst() }
                if state.isOver { return .some(nil) }
                state.isTold = false
                state.reader = reader
                return nil
            }
            if let next { reader.resume(returning: next) }
        }
    }

    /// Ends the changes. The reader gets those that wait.
    func finish() {
        let reader = state.withLock { state in
            state.isOver = true
            return state.reader.take()
        }
        reader?.resume(returning: nil)
    }
}
