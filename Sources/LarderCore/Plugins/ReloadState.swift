import LarderSystem

/// Keeps the state of a graph's parts across a reload, by each part's declaration. State that no part of the next graph
/// asks for is dropped.
final class ReloadState: Sendable {
    private struct Name: Hashable {
        var part: Int
        var type: ObjectIdentifier
    }

    private struct State {
        var former: [Name: any Sendable]
        var items: [Name: any Sendable] = [:]
    }

    private let state: Locked<State>

    init(after former: ReloadState? = nil) {
        state = Locked(State(former: former?.state.withLock { $0.items } ?? [:]))
    }

    /// Returns the item of this part and type: the former graph's item, or else a new one.
    func item<Item: Sendable>(of part: Int, _ make: () -> Item) -> Item {
        if let known: Item = known(of: part) { return known }
        // `make` runs outside the lock, because it is a plugin's code.
        let item = make()
        state.withLock { $0.items[Name(part: part, type: ObjectIdentifier(Item.self))] = item }
        return item
    }

    private func known<Item: Sendable>(of part: Int) -> Item? {
        let name = Name(part: part, type: ObjectIdentifier(Item.self))
        return state.withLock { state in
            let item = (state.items[name] ?? state.former[name]) as? Item
            if let item { state.items[name] = item }
            return item
        }
    }

    /// Keeps the values that a part of the former graph has set.
    func keepValues(of part: Int) { _ = known(of: part) as PartValues? }

    /// The values of the parts.
    var values: [PartValues] { state.withLock { $0.items.values.compactMap { $0 as? PartValues } } }

    /// Drops the former graph's items that no part has asked for.
    func dropUnused() {
        state.withLock { $0.former = [:] }
    }
}
