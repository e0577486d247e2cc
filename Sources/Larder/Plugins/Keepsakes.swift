/// What parts keep across a reload, by their declarations. What no part of the next graph asks for goes with the last.
final class Keepsakes: Sendable {
    private struct Name: Hashable {
        var part: Int
        var type: ObjectIdentifier
    }

    private struct State {
        var former: [Name: any Sendable]
        var items: [Name: any Sendable] = [:]
    }

    private let state: Locked<State>

    init(after former: Keepsakes? = nil) {
        state = Locked(State(former: former?.state.withLock { $0.items } ?? [:]))
    }

    /// The item of this part and type: the former graph's, or else a new one.
    func item<Item: Sendable>(of part: Int, _ make: () -> Item) -> Item {
        let name = Name(part: part, type: ObjectIdentifier(Item.self))
        let kept = state.withLock { state -> Item? in
            let item = (state.items[name] ?? state.former[name]) as? Item
            if let item { state.items[name] = item }
            return item
        }
        if let kept { return kept }
        // Made outside the lock: it is somebody else's code.
        let item = make()
        state.withLock { $0.items[name] = item }
        return item
    }

    /// Lets go of what was not asked for.
    func settle() {
        state.withLock { $0.former = [:] }
    }
}
