import Synchronization

/// The clearings that a store failed to carry out: nothing that they select is shown before it has.
final class FailedClearings: Sendable {
    private struct State {
        var selections: [Selection] = []
        var nextTry = Duration.zero
    }

    /// Past so many, everything counts as selected.
    private static let capacity = 100

    private let state = Locked(State())
    private let isAny = Atomic(false)

    /// Whether there are none; costs next to nothing.
    @inline(__always)
    var isEmpty: Bool { !isAny.load(ordering: .relaxed) }

    /// Whether one of them may be about this key.
    func select(_ key: Key) -> Bool {
        !isEmpty && state.withLock { $0.selections.contains { $0.mayContain(key) } }
    }

    /// Remembers one.
    func add(_ selection: Selection) {
        state.withLock { state in
            if state.selections.contains(where: { $0.isSame(as: selection) || $0 == .all }) { return }
            let isAll = selection == .all || state.selections.count >= Self.capacity
            state.selections = isAll ? [.all] : state.selections + [selection]
            isAny.store(true, ordering: .relaxed)
        }
    }

    /// Forgets one that was carried out, and all if everything was removed.
    func remove(_ selection: Selection) {
        if isEmpty { return }
        state.withLock { state in
            state.selections.removeAll { selection == .all || $0.isSame(as: selection) }
            isAny.store(!state.selections.isEmpty, ordering: .relaxed)
        }
    }

    /// Those to be tried again now that a copy under `key` is looked for; none while they were tried a moment ago.
    func takeTry(for key: Key, at uptime: Duration) -> [Selection] {
        state.withLock { state in
            if uptime < state.nextTry { return [] }
            state.nextTry = uptime + .seconds(1)
            return state.selections.filter { $0.mayContain(key) }
        }
    }
}

extension Selection {
    /// Whether both select the same, byte for byte: texts that merely look alike name different accounts and tags.
    fileprivate func isSame(as other: Selection) -> Bool {
        switch (self, other) {
        case (.scope(let one), .scope(let other)): one.map { Array($0.utf8) } == other.map { Array($0.utf8) }
        case (.tag(let one), .tag(let other)): Array(one.utf8) == Array(other.utf8)
        default: self == other
        }
    }
}
