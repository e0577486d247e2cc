/// What may have changed in a folder.
public enum FolderChange: Sendable, Hashable {
    /// The files of these names, and nothing else.
    case files(Set<String>)
    /// Anything.
    case anything

    /// One change and another.
    func and(_ other: FolderChange) -> FolderChange {
        guard case (.files(let names), .files(let others)) = (self, other) else { return .anything }
        return .files(names.union(others))
    }
}

extension AsyncStream<FolderChange> {
    /// A stream in which changes that nobody has taken yet become one.
    static func changes(_ start: (Continuation) -> Void) -> AsyncStream<FolderChange> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1), start)
    }
}

extension AsyncStream<FolderChange>.Continuation {
    /// Tells of a change, and once more of what stood there before it. Several may tell at the same time: each change that
    /// drops out is told again by the one who pushed it out.
    func tell(_ change: FolderChange) {
        var change = change
        while case .dropped(let former) = yield(change), former.and(change) != change { change = former.and(change) }
    }
}
