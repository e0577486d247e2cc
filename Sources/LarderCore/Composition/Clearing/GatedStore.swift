import LarderSystem
import Synchronization

/// A store that finishes the clearings of its places before it answers.
///
/// The composer wraps a store in it when an earlier clearing of one of its places was not finished.
final class GatedStore: WrappingStore {
    private struct Removal {
        var task: Task<Void, Never>
        let failure: Locked<(any Error)?>
    }

    /// A removal that failed. It is not tried again within a second. It is not tried at all while an abandoned removal
    /// is still running. The abandoned one could delete entries that are saved later. When it ends, the removal is
    /// tried again at once.
    private struct FailedRemoval {
        var error: any Error
        var nextTry: Duration
        var isUnfinished: Bool
    }

    let wrapped: any Store
    private let clearings: [Clearing]
    private let world: any World
    private let report: @Sendable (ClearingReport) -> Void
    private let opened: @Sendable ([Clearing]) async -> Void
    private let isOpen = Atomic(false)
    private let removal = Locked<Removal?>(nil)
    private let failed = Locked<FailedRemoval?>(nil)

    /// - Parameters:
    ///   - clearings: the clearings that must be finished first.
    ///   - report: called when the removal failed or is done, and when the store is released.
    ///   - opened: called when all of them are finished.
    init(
        _ store: any Store, after clearings: [Clearing], world: any World,
        report: @escaping @Sendable (ClearingReport) -> Void = { _ in },
        opened: @escaping @Sendable ([Clearing]) async -> Void
    ) {
        wrapped = store
        self.clearings = clearings
        self.world = world
        self.report = report
        self.opened = opened
    }

    deinit { report(.released) }

    /// Returns whether the store carries out a clearing before it answers.
    func covers(_ clearing: Clearing) -> Bool { clearings.contains { $0.id == clearing.id } }

    /// Returns when all clearings are finished. All callers wait for the same attempt.
    ///
    /// - Throws: the store's error. A later call tries again, at the earliest one second after the failure. A removal that
    ///   takes longer than ``LimitedStore/selectionLimit`` goes on, and the store answers when it has ended.
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
        failed.withLock { $0 = FailedRemoval(error: error, nextTry: nextTry, isUnfinished: !unfinished.isEmpty) }
        report(.unfinished(StoreError.clearingReason(for: error)))
        if unfinished.isEmpty { return }
        UnfinishedOperation.whenOver(unfinished) { [weak self] in self?.tryAgain() }
    }

    private func tryAgain() {
        failed.withLock { $0 = nil }
        world.spawn { [weak self] in try? await self?.open() }
    }

    private func clear() async throws {
        if isOpen.load(ordering: .acquiring) { return }
        let limit = LimitedStore.selectionLimit
        try await AwaitableWork.limited(to: limit, in: world, isCancellable: false) { [wrapped, clearings] in
            for clearing in clearings { try await wrapped.removeWithVariants(clearing.selection) }
        }
        isOpen.store(true, ordering: .releasing)
        report(.finished)
        await opened(clearings)
    }

    func use(_ key: Key, if accept: (Entry) -> Bool) -> Bool {
        isOpen.load(ordering: .acquiring) && wrapped.use(key, if: accept)
    }

    func read(_ reading: Reading) async throws -> Found? {
        try await open()
        return try await wrapped.read(reading)
    }

    func write(_ entry: Entry, for key: Key) async throws -> Bool {
        try await open()
        return try await wrapped.write(entry, for: key)
    }

    func renew(_ entry: Entry, for key: Key) async throws -> Bool {
        try await open()
        return try await wrapped.renew(entry, for: key)
    }

    func expire(_ selection: Selection) async throws {
        try await open()
        try await wrapped.expire(selection)
    }

    func list(after cursor: StoreCursor?, most count: Int) async throws -> StorePage {
        try await open()
        return try await wrapped.list(after: cursor, most: count)
    }

    func setPinned(_ isPinned: Bool, for key: Key) async throws -> Bool {
        try await open()
        return try await wrapped.setPinned(isPinned, for: key)
    }

    func remove(_ selection: Selection) async throws {
        try await open()
        try await wrapped.remove(selection)
    }

    func statistics() async -> StoreStatistics {
        try? await open()
        return await wrapped.statistics()
    }
}
