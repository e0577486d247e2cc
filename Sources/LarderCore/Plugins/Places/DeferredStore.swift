import LarderSystem

/// A store that is opened when its predecessor is closed. Until then it finds nothing and keeps nothing.
///
/// `Part.store(in:)` makes one for a store whose place another store still uses.
final class DeferredStore: Store {
    /// The opened store. An object, so that a peek takes no lock.
    private final class Opened: Sendable {
        let store: any Store
        init(_ store: any Store) { self.store = store }
    }

    /// A change of entries that is carried out when the store is opened.
    private enum Change {
        case remove(Selection)
        case expire(Selection)
    }

    private struct State {
        var attempt: Task<Void, Never>?
        var failure: (any Error)?
        var nextTry = Duration.zero
        var changes: [Change] = []
        var isClosed = false
        /// The listeners to the changes that others make, who wait for the store to be opened.
        var listeners: [AsyncStream<StoreChange>.Continuation] = []
    }

    private static let mostChanges = 10_000

    /// Whether this call comes from a store that waits for a place of this one. It is not passed on again.
    @TaskLocal private static var isPassedOn = false

    let use: StoreUse
    let peekedTier: String
    private let source: PlaceSource
    private let make: @Sendable (PlaceSource) throws -> any Store
    private let opened = AtomicReference<Opened>()
    private let state = Locked(State())
    /// The place that it waits for.
    private let awaited: Locked<PlaceName>

    private let world: any World
    private var turns: PlaceTurns { source.turns }

    /// - Parameters:
    ///   - name: the name of the store's plugin.
    ///   - place: the place that another store still uses.
    init(
        _ name: String, waitingFor place: PlaceName, from source: PlaceSource, in world: any World,
        make: @escaping @Sendable (PlaceSource) throws -> any Store
    ) {
        peekedTier = name
        use = source.use
        awaited = Locked(place)
        self.world = world
        self.source = source
        self.make = make
    }

    // MARK: Opening

    /// Waits for its place, and is opened then.
    func wait() { turns.open(self, when: awaited.withLock { $0 }) }

    /// Opens the store in the background, unless it is open, being opened or closed.
    func open() {
        state.withLock { now in
            if now.attempt != nil || now.isClosed || opened.use({ $0 }) != nil { return }
            now.attempt = turns.work(for: use.resource) { [self] in
                let isAgain = await tryToOpen()
                state.withLock { $0.attempt = nil }
                if isAgain { wait() }
            }
        }
    }

    /// - Returns: whether it must wait for a place again.
    private func tryToOpen() async -> Bool {
        let taken = HeldPlaces()
        let source = source.late(taken)
        do {
            // No other work uses these threads: the disk may hang.
            let made = try await world.blocking(on: "open " + source.places.path(of: awaited.withLock { $0 })) {
                [make] in try make(source)
            }
            try await install(made, in: taken)
            turns.ended(problem(""))
            for problem in taken.problems { turns.began(problem) }
            return false
        } catch {
            if let name = source.awaited.withLock({ $0 }) {
                awaited.withLock { $0 = name }
                return true
            }
            failed(error)
            return false
        }
    }

    /// Puts the store in use, after the unfinished clearings of its places and the changes that were to be made.
    private func install(_ store: any Store, in taken: HeldPlaces) async throws {
        do {
            var done: Set<String> = []
            repeat {
                try await makeChanges(in: store)
                try await finishClearings(of: taken.held, in: store, except: &done)
            } while !putInUse(store, taken)
        } catch {
            await store.close()
            throw error
        }
    }

    private func makeChanges(in store: any Store) async throws {
        while let change = state.withLock({ $0.changes.first }) {
            switch change {
            case .remove(let selection): try await store.removeWithVariants(selection)
            case .expire(let selection): try await store.expireWithVariants(selection)
            }
            state.withLock { _ = $0.changes.removeFirst() }
        }
    }

    /// Carries out the recorded clearings of places, and records that they are done there.
    private func finishClearings(
        of names: Set<PlaceName>, in store: any Store, except done: inout Set<String>
    ) async throws {
        let places = source.places
        let clearings = try await world.blocking { try places.clearings(of: names) }.filter { !done.contains($0.id) }
        if clearings.isEmpty { return }
        for clearing in clearings { try await store.removeWithVariants(clearing.selection) }
        let cleared = clearings.map { ($0.id, names.filter($0.concerns)) }
        _ = try? await world.blocking { places.cleanUp(after: Dictionary(uniqueKeysWithValues: cleared)) }
        done.formUnion(clearings.map(\.id))
    }

    /// Returns false if there are changes to be made first.
    private func putInUse(_ store: any Store, _ taken: HeldPlaces) -> Bool {
        source.graphPlaces.add(taken, endingProblemOf: peekedTier)
        let listeners = state.withLock { state -> [AsyncStream<StoreChange>.Continuation]? in
            guard state.changes.isEmpty else { return nil }
            state.failure = nil
            _ = opened.replace(with: Opened(store))
            defer { state.listeners = [] }
            return state.listeners
        }
        for listener in listeners ?? [] { pass(store.changes, to: listener) }
        return listeners != nil
    }

    private func pass(_ changes: AsyncStream<StoreChange>?, to listener: AsyncStream<StoreChange>.Continuation) {
        guard let changes else { return listener.finish() }
        let passing = world.spawn {
            for await change in changes { listener.send(change) }
            listener.finish()
        }
        listener.onTermination = { _ in passing.cancel() }
    }

    private func failed(_ error: any Error) {
        let reason = StoreError.reason(for: error)
        let nextTry = world.uptime + .seconds(1)
        state.withLock { state in
            (state.failure, state.nextTry) = (StoreError("cannot be opened: \(reason)", of: peekedTier), nextTry)
        }
        let problem = problem(reason)
        source.graphPlaces.failed(awaited.withLock { $0 }, problem)
        turns.began(problem)
    }

    private func problem(_ reason: String) -> CacheProblem {
        CacheProblem(resource: use.resource, part: peekedTier, reason: reason)
    }

    /// The opened store.
    ///
    /// - Throws: ``StoreError`` if it is not open yet or could not be opened. In this case a call tries again, at the
    ///   earliest a second after the failure.
    private func current() throws -> any Store {
        if let opened = opened.use({ $0 }) { return opened.store }
        let uptime = world.uptime
        let (failure, isDue) = state.withLock { state in
            (state.failure, state.failure != nil && state.attempt == nil && uptime >= state.nextTry)
        }
        if isDue { open() }
        throw failure ?? StoreError.notOpen(peekedTier)
    }

    // MARK: Store

    func use(_ key: Key, if accept: (Entry) -> Bool) -> Bool { opened.use { $0.store.use(key, if: accept) } ?? false }

    func read(_ reading: Reading) async throws -> Found? { try await current().read(reading) }

    func write(_ entry: Entry, for key: Key) async throws -> Bool { try await current().write(entry, for: key) }

    func renew(_ entry: Entry, for key: Key) async throws -> Bool { try await current().renew(entry, for: key) }

    func list(after cursor: StoreCursor?, most count: Int) async throws -> StorePage {
        try await current().list(after: cursor, most: count)
    }

    func setPinned(_ isPinned: Bool, for key: Key) async throws -> Bool {
        try await current().setPinned(isPinned, for: key)
    }

    func expire(_ selection: Selection) async throws {
        try await change(.expire(selection)) { try await $0.expire(selection) }
    }

    func remove(_ selection: Selection) async throws {
        try await change(.remove(selection)) { try await $0.remove(selection) }
    }

    /// Makes a change in the store that uses the place now. If there is none, the change is made when this store is
    /// opened. Waits up to a second for that, as a reload does.
    private func change(_ change: Change, by apply: (any Store) async throws -> Void) async throws {
        if let opened = opened.use({ $0 }) { return try await apply(opened.store) }
        if Self.isPassedOn { return }
        if let user = turns.store(on: awaited.withLock { $0 }, except: use) {
            return try await Self.$isPassedOn.withValue(true) { try await apply(user) }
        }
        let opened = try state.withLock { state -> Opened? in
            if let opened = self.opened.use({ $0 }) { return opened }
            if state.isClosed || state.changes.count >= Self.mostChanges { throw StoreError.notOpen(peekedTier) }
            state.changes.append(change)
            return nil
        }
        if let opened { return try await apply(opened.store) }
        // Nothing uses the place, but its copies are on the disk until the opening that is under way has ended.
        await turns.settle(of: use.resource)
    }

    /// The changes of the opened store, or those of the store that will be opened.
    var changes: AsyncStream<StoreChange>? {
        if let opened = opened.use({ $0 }) { return opened.store.changes }
        let (stream, listener) = StoreChange.makeStream()
        let isOver = state.withLock { state in
            let isOver = state.isClosed || opened.use({ $0 }) != nil
            if !isOver { state.listeners.append(listener) }
            return isOver
        }
        if isOver { pass(opened.use { $0 }?.store.changes, to: listener) }
        return stream
    }

    func relieve() { opened.use { $0 }?.store.relieve() }

    func statistics() async -> StoreStatistics {
        await opened.use { $0 }?.store.statistics() ?? StoreStatistics()
    }

    /// Closes the store if it is open. It is not opened afterwards.
    func close() async {
        let attempt = state.withLock { state in
            state.isClosed = true
            for listener in state.listeners { listener.finish() }
            state.listeners = []
            return state.attempt
        }
        await attempt?.value
        await opened.use { $0 }?.store.close()
    }
}
