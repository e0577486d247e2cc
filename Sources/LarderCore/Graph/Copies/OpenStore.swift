import LarderSystem
import Synchronization

/// A store that is open until it is closed or released.
final class OpenStore: Sendable {
    private let opened: any Store
    private let isClosed = Atomic(false)
    /// Whether the entries outlive this store.
    let isPersistent: Bool
    /// Listens to the changes that others make.
    private let listening = Locked<Task<Void, Never>?>(nil)
    private let onEnd: @Sendable (any Store, _ isClosed: Bool) -> Void

    /// - Parameter onEnd: called with the store after its last use, and whether it is closed already.
    init(
        _ store: any Store, isPersistent: Bool, onEnd: @escaping @Sendable (any Store, _ isClosed: Bool) -> Void
    ) {
        opened = store
        self.isPersistent = isPersistent
        self.onEnd = onEnd
    }

    deinit {
        listening.withLock { $0 }?.cancel()
        onEnd(opened, !isOpen)
    }

    /// Runs a task that listens to the changes that others make, until the store is released.
    func listen(_ begin: (AsyncStream<StoreChange>) -> Task<Void, Never>) {
        if let changes = opened.changes { listening.withLock { $0 = begin(changes) } }
    }

    /// Whether the store is not closed.
    var isOpen: Bool { !isClosed.load(ordering: .relaxed) }

    /// The store. It keeps nothing when it is closed.
    var store: any Store { isOpen ? opened : EmptyStore() }

    /// Closes the store, even if loads still use it. They find nothing and keep nothing from now on.
    func close() async {
        if !isClosed.exchange(true, ordering: .relaxed) { await opened.close() }
    }
}
