/// A change that may have happened in a folder.
public enum FolderChange: Sendable, Hashable {
    /// Only the files with these names may have changed.
    case files(Set<String>)
    /// Anything may have changed.
    case anything

    /// Returns a change that covers both changes.
    func and(_ other: FolderChange) -> FolderChange {
        guard case (.files(let names), .files(let others)) = (self, other) else { return .anything }
        return .files(names.union(others))
    }
}

extension AsyncStream<FolderChange> {
    /// Returns a stream that merges the changes which its reader has not taken yet.
    static func changes(_ start: (Continuation) -> Void) -> AsyncStream<FolderChange> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1), start)
    }
}

extension AsyncStream<FolderChange>.Continuation {
    /// Sends a change, merged with the change that the reader has not taken yet.
    ///
    /// Several threads may send at the same time. A thread whose change replaces another one sends both again, merged,
    /// so that no change is lost.
    package func send(_ change: FolderChange) {
        var change = change
        while case .dropped(let former) = yield(change), former.and(change) != change { change = former.and(change) }
    }
}
