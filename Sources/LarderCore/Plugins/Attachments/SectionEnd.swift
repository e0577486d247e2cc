import LarderSystem

/// The end of a section. The work that it has begun ends with it, also if its attachment forgets that.
final class SectionEnd: Sendable {
    private let state = Locked<(hasCome: Bool, actions: [@Sendable () -> Void])>((false, []))

    /// Does an action at the end, or at once if the section has ended.
    func add(_ action: @escaping @Sendable () -> Void) {
        let hasCome = state.withLock { state in
            if !state.hasCome { state.actions.append(action) }
            return state.hasCome
        }
        if hasCome { action() }
    }

    func come() {
        let actions = state.withLock { state in
            defer { state = (true, []) }
            return state.actions
        }
        for action in actions { action() }
    }
}
