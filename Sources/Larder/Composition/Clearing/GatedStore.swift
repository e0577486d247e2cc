import Synchronization

/// A store of whose places clearings were not finished: it answers nothing before they are.
final class GatedStore: Store {
    private struct Removal {
        var task: Task<Void, Never>
        let failure: Locked<(any Error)?>
    }

    /// A removal that failed. It is not tried again at once, nor while an operation that was given up goes on.
    private struct Failed {
        var error: any Error
        var nextTry: Duration
        var isUnfinished: Bool
    }

    private let store: any Store
    private let due: [Clearing]
    private let world: any World
    private let opened: @Sendable ([Clearing]) async -> Void
    private let isOpen = Atomic(false)
    private let removal = Locked<Removal?>(nil)
    private let failed = Locked<Failed?>(nil)

    /// - Parameter opened: is called when all that was due is done.
    init(
        _ store: any Store, due: [Clearing], world: any World,
        opened: @escaping @Sendable ([Clearing]) async -> Void
    ) {
        self.store = store
        self.due = due
        self.world = world
        self.opened = opened
    }

    /// Whether a clearing is carried out before anything else.
    func covers(_ clearing: Clearing) -> Bool { due.contains { $0.id == clearing.id } }

    /// Returns when everything is cleared that was to be. All who come meanwhile wait for the same try.
    ///
    /// - Throws: what the store throws. The next call tries again.
    func open() async throws {
        if isOpen.load(ordering: .acquiring) { return }
        let uptime = world.uptime
        if let failed = failed.withLock({ $0 }), failed.isUnfinished || uptime < failed.nextTry { throw failed.error }
        let removal = self.removal.withLock { removal in
            if let removal { return removal }
            let failure = Locked<(any Error)?>(nil)
            let task = world.spawn { [self] in
                do {
                    try await clear()
                } catch {
                    failure.withLock { $0 = error }
                    pause(after: error)
                }
                self.removal.withLock { $0 = nil }
            }
            let started = Removal(task: task, failure: failure)
            removal = started
            return started
        }
        await removal.task.value
        if let failure = removal.failure.withLock({ $0 }) { throw failure }
    }

    private func pause(after error: any Error) {
        let unfinished = (error as? StoreError)?.unfinished ?? []
        let nextTry = world.uptime + .seconds(1)
        failed.withLock { $0 = Failed(error: error, nextTry: nextTry, isUnfinished: !unfinished.isEmpty) }
        // A removal that is given up now may still delete entries that are saved later.
        Unfinished.whenOver(unfinished) { [failed] in failed.withLock { $0?.isUnfinished = false } }
    }

    private func clear() async throws {
        if isOpen.load(ordering: .acquiring) { return }
        for clearing in due { try await store.remove(clearing.selection) }
        isOpen.store(true, ordering: .releasing)
        await opened(due)
    }

    func peek(_ key: Key, if accept: (Entry) -> Bool) -> Entry? {
        isOpen.load(ordering: .acquiring) ? store.peek(key, if: accept) : nil
    }

    var nearest: String { store.nearest }

    func read(_ key: Key) async throws -> Found? {
        try await open()
        return try await store.read(key)
    }

    func read(_ key: Key, below found: Found) async throws -> Found? {
        try await open()
        return try await store.read(key, below: found)
    }

    func write(_ entry: Entry, for key: Key) async throws -> Bool {
        try await open()
        return try await store.write(entry, for: key)
    }

    func promote(_ found: Found, for key: Key) async throws {
        try await open()
        try await store.promote(found, for: key)
    }

    func expire(_ key: Key) async throws {
        try await open()
        try await store.expire(key)
    }

    func remove(_ selection: Selection) async throws {
        try await open()
        try await store.remove(selection)
    }

    func relieve() { store.relieve() }

    func statistics() async -> StoreStatistics {
        try? await open()
        return await store.statistics()
    }
}
