import LarderSystem

/// The use of places by the store of one graph, from its composition until it is closed.
final class StoreUse: Sendable {
    private struct State {
        weak var storeAccess: StoreAccess?
        var isOver = false
    }

    let resource: String
    private let state = Locked(State())

    init(of resource: String) {
        self.resource = resource
    }

    /// The store, as long as loads or a graph use it.
    var store: (any Store)? { state.withLock { $0.storeAccess }?.store }

    /// Whether the store is closed, or was never composed.
    var isOver: Bool { state.withLock { $0.isOver } }

    func begin(_ storeAccess: StoreAccess) { state.withLock { $0.storeAccess = storeAccess } }

    func end() { state.withLock { $0.isOver = true } }
}
