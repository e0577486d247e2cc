import LarderSystem

/// Lets one store at a time use a place. A store that replaces another one on the same place gets it when the other one is
/// closed.
///
/// A store is closed when the last load on it has ended.
final class PlaceTurns: Sendable {
    private struct Waiting {
        weak var store: DeferredStore?
    }

    private struct Line {
        var user: StoreUse
        /// The stores that wait for the place, the latest last.
        var waiting: [Waiting] = []
    }

    private struct Listener {
        var resources: Set<String>
        var stream: AsyncStream<Void>.Continuation
    }

    private struct State {
        var lines: [PlaceName: Line] = [:]
        /// The times at which the closings and openings under way began, by resource.
        var busy: [String: [Int: Duration]] = [:]
        var next = 0
        var listeners: [Int: Listener] = [:]
    }

    private let world: any World
    private let state = Locked(State())
    private let unfinished = Locked<(@Sendable () async -> Void)?>(nil)
    private let report: @Sendable (CacheProblem, Bool) -> Void

    /// - Parameter report: called with a problem of a store that is opened late, and whether it is over.
    init(in world: any World, report: @escaping @Sendable (CacheProblem, Bool) -> Void = { _, _ in }) {
        self.world = world
        self.report = report
    }

    /// Sets the action that finishes clearings recorded while a store was closed or opened.
    func finishClearings(by action: @escaping @Sendable () async -> Void) { unfinished.withLock { $0 = action } }

    func began(_ problem: CacheProblem) { report(problem, false) }

    func ended(_ problem: CacheProblem) { report(problem, true) }

    // MARK: Turns

    /// Takes a place for a store. Returns false if another store still uses it.
    func take(_ name: PlaceName, for use: StoreUse) -> Bool {
        state.withLock { state in
            if use.isOver { return false }
            if let line = state.lines[name] { return line.user === use }
            state.lines[name] = Line(user: use)
            return true
        }
    }

    /// The store that uses a place now, as long as anything uses it; nil while it is being closed.
    func store(on name: PlaceName, except use: StoreUse) -> (any Store)? {
        let user = state.withLock { $0.lines[name]?.user }
        return user === use ? nil : user?.store
    }

    /// Opens a store when its place is free. If several wait for the place, the latest is opened.
    func open(_ store: DeferredStore, when name: PlaceName) {
        let isFree = state.withLock { state in
            if store.use.isOver { return false }
            guard let line = state.lines[name], line.user !== store.use else {
                state.lines[name] = state.lines[name] ?? Line(user: store.use)
                return true
            }
            state.lines[name]?.waiting.removeAll { $0.store == nil }
            state.lines[name]?.waiting.append(Waiting(store: store))
            return false
        }
        if isFree { store.open() }
    }

    /// Closes a store after the last load on it has ended, and then opens those that wait for its places.
    func close(_ store: any Store, of use: StoreUse) {
        // The task gives up its reference before the next store is opened.
        let last = Locked<(any Store)?>(store)
        work(for: use.resource) { [self] in
            await last.withLock { last in
                defer { last = nil }
                return last
            }?.close()
            // Nobody else finishes clearings that were recorded in the meantime.
            if end(use) { await unfinished.withLock { $0 }?() }
        }
    }

    /// Frees the places of a store that is closed, or was never composed.
    ///
    /// - Returns: whether nobody waits for one of them.
    @discardableResult
    func end(_ use: StoreUse) -> Bool {
        let (opened, isLeft) = state.withLock { state -> ([DeferredStore], Bool) in
            use.end()
            var (opened, isLeft): ([DeferredStore], Bool) = ([], false)
            for (name, line) in state.lines.sorted(by: { $0.key < $1.key }) where line.user === use {
                let waiting = line.waiting.compactMap(\.store).filter { !$0.use.isOver }
                if let latest = waiting.last {
                    opened.append(latest)
                    state.lines[name] = Line(user: latest.use, waiting: waiting.dropLast().map { Waiting(store: $0) })
                } else {
                    state.lines[name] = nil
                    isLeft = true
                }
            }
            return (opened, isLeft)
        }
        for store in opened { store.open() }
        return isLeft
    }

    // MARK: Closings and openings

    /// Runs the closing or opening of a store of a resource.
    @discardableResult
    func work(for resource: String, _ body: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        let start = world.uptime
        let number = state.withLock { state in
            state.next += 1
            state.busy[resource, default: [:]][state.next] = start
            return state.next
        }
        return world.spawn { [self] in
            await body()
            let listeners = state.withLock { state -> [Listener] in
                state.busy[resource]?[number] = nil
                guard state.busy[resource]?.isEmpty == true else { return [] }
                state.busy[resource] = nil
                for key in state.listeners.keys { state.listeners[key]?.resources.remove(resource) }
                let done = state.listeners.filter { $0.value.resources.isEmpty }
                for key in done.keys { state.listeners[key] = nil }
                return done.sorted { $0.key < $1.key }.map(\.value)
            }
            for listener in listeners { listener.stream.finish() }
        }
    }

    /// Waits until the closings and openings under way have ended, but not for those that take longer than `limit`.
    ///
    /// - Parameter resource: the resource whose closings and openings are waited for; nil for all.
    func settle(of resource: String? = nil, within limit: Duration = .seconds(1)) async {
        let now = world.uptime
        if state.withLock({ $0.busy.isEmpty }) { return }
        let stream = AsyncStream<Void> { stream in
            let number = state.withLock { state -> Int? in
                let busy = state.busy.filter { name, begun in
                    (resource == nil || resource == name) && begun.values.allSatisfy { now - $0 < limit }
                }
                if busy.isEmpty { return nil }
                state.next += 1
                state.listeners[state.next] = Listener(resources: Set(busy.keys), stream: stream)
                return state.next
            }
            guard let number else { return stream.finish() }
            stream.onTermination = { [weak self] _ in
                self?.state.withLock { _ = $0.listeners.removeValue(forKey: number) }
            }
        }
        let wait = AwaitableWork(in: world) { for await _ in stream {} }
        _ = try? await wait.value(within: limit)
        wait.cancel()
    }
}
