import LarderBase

/// The prefetches of a pantry: runs a few at a time, lets them wait for a network, and tries again after failures.
///
/// It takes requests from ``Prefetch`` and from other parts that need instances to be cached, and tells how each ends.
final class PrefetchQueue: Sendable {
    /// The end of a request.
    enum Ending: Sendable {
        /// The instance is cached and fresh. These bytes were fetched for it.
        case done(bytes: Int)
        /// The request failed for good.
        case failed(LoadError)
        /// The request was cancelled, concerned by a clearing, or in the queue of a pantry that was closed.
        case cancelled
    }

    /// Is told of the end of each request, on any thread.
    typealias Observer = @Sendable (Request, Ending) -> Void

    /// The state of the device that requests wait for.
    struct Condition: Sendable {
        var network = NetworkCondition.online
        /// Whether any network will do while the device is being charged.
        var orCharging = false
        /// Whether the scope of the requests is final. If not, they become those of the account that is signed in.
        var keepsScope = false
        /// Whether requests wait until their account is signed in. If not, they fail.
        var waitsForAccount = false

        func isMet(by device: Device) -> Bool {
            network.isMet(by: device.network) || orCharging && device.isCharging
        }
    }

    /// The state of the device at one moment. The power takes time to read, so it is not read under a lock.
    struct Device {
        let network: NetworkState
        let isCharging: Bool
    }

    /// The resource of some requests.
    struct Source: Sendable {
        let state: ResourceState
        let codec: AnyCodec
        let load: @Sendable (Request) async throws -> Loaded<Entry>
    }

    private struct State {
        var order = PrefetchOrder()
        var groups = 0
        var workers: [Int: Task<Void, Never>?] = [:]
        var lastWorker = 0
        var pauses: [Int: Alarm] = [:]
        var following: Subscription?
        var clearings: Subscription?
        /// Looks again whether the device is being charged and who is signed in, which nobody tells by itself.
        var check: Alarm?
        var isClosed = false
        /// Whether any group has asked for the power.
        var needsPower = false

        /// Forgets the pauses of items that were removed.
        ///
        /// - Returns: the tasks that run them.
        mutating func stop(_ items: [PrefetchOrder.Item]) -> [Task<Void, Never>] {
            items.compactMap { item in
                pauses.removeValue(forKey: item.number)?.cancel()
                guard case .running(let worker) = item.stage else { return nil }
                return workers[worker] ?? nil
            }
        }
    }

    /// The number of requests that run at the same time.
    static let mostAtOnce = 4
    /// The number of requests that the queue holds.
    static let capacity = 20_000
    /// The pauses after failures.
    static let pauses: [Duration] = [.seconds(5), .seconds(30)]
    /// The time after which the power and the account are looked at again.
    static let checkInterval = Duration.seconds(60)

    private let world: any World
    private let state = Locked(State())

    init(in world: any World) { self.world = world }

    deinit { close() }

    // MARK: Adding and cancelling

    /// Returns the number of a new group of requests.
    func nextGroup() -> Int {
        state.withLock { state in
            state.groups += 1
            return state.groups
        }
    }

    /// Adds requests of a resource. Equal requests share a place in the queue.
    ///
    /// - Parameter group: the number of the group, from ``nextGroup()``.
    func add(
        _ requests: [Request], of resource: ResourceState, codec: AnyCodec, priority: Request.Priority,
        when condition: Condition = Condition(), as group: Int, in pantry: Pantry, _ observer: @escaping Observer
    ) {
        followClearings(of: pantry)
        let source = Source(state: resource, codec: codec) { [weak pantry] request in
            guard let pantry else { throw CancellationError() }
            if condition.keepsScope { return try await resource.loadInItsScope(request, codec: codec, in: pantry) }
            return try await resource.load(request, codec: codec, in: pantry)
        }
        let owned = requests.map {
            condition.keepsScope || !$0.key.isOf(resource.resourceName) ? $0 : resource.owned($0)
        }
        let endings = state.withLock { state -> [(Request, Ending)] in
            if condition.orCharging { state.needsPower = true }
            let group = PrefetchOrder.Group(
                number: group, condition: condition, source: source, observer: observer)
            var endings: [(Request, Ending)] = []
            for request in owned {
                if state.isClosed {
                    endings.append((request, .cancelled))
                } else if !request.key.isOf(resource.resourceName) {
                    endings.append((request, .failed(LoadError.otherResource)))
                } else if !state.order.add(request, priority, for: group, capacity: Self.capacity) {
                    endings.append((request, .failed(.prefetchQueueIsFull)))
                }
            }
            return endings
        }
        for (request, ending) in endings { observer(request, ending) }
        startWorkers()
    }

    /// Cancels the requests of a group that have not ended.
    func cancel(_ group: Int) { cancel([group]) { _ in true } }

    /// Cancels the selected requests of some groups that have not ended.
    func cancel(_ groups: Set<Int>, where isSelected: (Request) -> Bool) {
        let (requests, running) = state.withLock { state in
            let (requests, removed) = state.order.removeGroups(groups, where: isSelected)
            return (requests, state.stop(removed))
        }
        for task in running { task.cancel() }
        for (request, group) in requests { group.observer(request, .cancelled) }
    }

    /// Cancels all requests. Later ones are cancelled when they are added.
    func close() {
        let subscriptions = state.withLock { state in
            state.isClosed = true
            state.check?.cancel()
            defer { (state.following, state.clearings, state.check) = (nil, nil, nil) }
            return [state.following, state.clearings]
        }
        for subscription in subscriptions { subscription?.stop() }
        cancel { _ in true }
    }

    private func cancel(where isSelected: (PrefetchOrder.Item) -> Bool) {
        let (removed, running) = state.withLock { state in
            let removed = state.order.removeAll(where: isSelected)
            return (removed, state.stop(removed))
        }
        for task in running { task.cancel() }
        for item in removed { item.end(.cancelled) }
    }

    private func followClearings(of pantry: Pantry) {
        let isFollowed = state.withLock { $0.isClosed || $0.clearings != nil }
        if isFollowed { return }
        let clearings = pantry.clearingNotices.listen { [weak self] news in
            guard case .began(let notice) = news else { return }
            // The tags of what is not fetched yet are not known.
            if case .tag = notice.selection { return }
            self?.cancel { item in
                let key = item.identity.request.key
                return (notice.resource == nil || notice.resource == key.resource) && notice.selection.mayConcern(key)
            }
        }
        let isNeeded = state.withLock { state in
            if state.isClosed || state.clearings != nil { return false }
            state.clearings = clearings
            return true
        }
        if !isNeeded { clearings.stop() }
    }

    // MARK: Working

    private func startWorkers() {
        let workers = state.withLock { state -> [Int] in
            if state.isClosed { return [] }
            let count = max(0, min(Self.mostAtOnce - state.workers.count, state.order.waiting))
            return (0..<count).map { _ in
                state.lastWorker += 1
                state.workers[state.lastWorker] = .some(nil)
                return state.lastWorker
            }
        }
        for worker in workers {
            // A worker does not keep the queue alive.
            let task = world.spawn { [weak self] in
                while let item = self?.next(for: worker) {
                    let ending = await item.run()
                    self?.ended(item, ending)
                    if Task.isCancelled { break }
                }
                self?.workerEnded(worker)
            }
            state.withLock { if $0.workers[worker] != nil { $0.workers[worker] = task } }
        }
    }

    private func workerEnded(_ worker: Int) {
        let task = state.withLock { $0.workers.removeValue(forKey: worker) }
        withExtendedLifetime(task) {}
        // Requests may have been added since it looked.
        startWorkers()
    }

    private func next(for worker: Int) -> PrefetchOrder.Item? {
        let device = device
        var hasHeld = false
        defer { if hasHeld { followDevice() } }
        while !Task.isCancelled, let item = take(for: worker) {
            // Outside the lock, because rules of sections and accounts are code of others.
            if isAllowed(item, on: device) {
                // It may have been cancelled meanwhile, or another group may have joined.
                if let item = state.withLock({ $0.order.items[item.number] }) { return item }
                continue
            }
            state.withLock { $0.order.hold(item) }
            hasHeld = true
        }
        return nil
    }

    private func take(for worker: Int) -> PrefetchOrder.Item? {
        state.withLock { state in
            guard let item = state.order.next() else { return nil }
            state.order.move(item.number, to: .running(worker: worker))
            return item
        }
    }

    private var device: Device {
        let (network, needsPower) = (world.network, state.withLock { $0.needsPower })
        return Device(
            network: network,
            isCharging: needsPower && !NetworkCondition.wifi.isMet(by: network) && world.isCharging == true)
    }

    private func isAllowed(_ item: PrefetchOrder.Item, on device: Device) -> Bool {
        item.groups.contains { group in
            // Without a policy, the load tells the error.
            guard let graph = group.source.state.graph else { return true }
            return graph.mayPrefetch(when: group.condition, on: device) && !waitsForAccount(item, in: group)
        }
    }

    private func waitsForAccount(_ item: PrefetchOrder.Item, in group: PrefetchOrder.Group) -> Bool {
        guard group.condition.waitsForAccount else { return false }
        return group.source.state.graph?.isSignedOut(item.identity.request.key.scope) ?? false
    }

    private func ended(_ item: PrefetchOrder.Item, _ ending: PrefetchOrder.Item.TryEnding) {
        switch ending {
        case .ended(.failed(let error)) where error.code == .notSignedIn: notSignedIn(item, error)
        case .ended(let ending):
            state.withLock { $0.order.remove(item.number) }?.end(ending)
        case .again(let error): tryAgain(item, after: error)
        case .cancelled:
            // It is still there if the worker was cancelled because of the item before.
            state.withLock { _ = $0.order.move(item.number, to: .waiting) }
        }
    }

    /// Ends the groups of an item that do not wait for the account. If there are others, the item is tried again.
    private func notSignedIn(_ item: PrefetchOrder.Item, _ error: LoadError) {
        let (left, item) = state.withLock { state in
            let left = state.order.removeGroups(of: item.number) { !$0.condition.waitsForAccount }
            return (left, state.order.items[item.number])
        }
        for (request, group) in left { group.observer(request, .failed(error)) }
        if let item { tryAgain(item, after: error) }
    }

    private func tryAgain(_ item: PrefetchOrder.Item, after error: LoadError) {
        // A failure without a network or an account says nothing about the origin.
        if !isAllowed(item, on: device) { return state.withLock { _ = $0.order.move(item.number, to: .waiting) } }
        guard item.tries < Self.pauses.count else {
            state.withLock { $0.order.remove(item.number) }?.end(.failed(error))
            return
        }
        pause(item, for: max(error.retryAfter ?? .zero, Self.pauses[item.tries].scaled(by: 0.75 + world.chance() / 2)))
    }

    private func pause(_ item: PrefetchOrder.Item, for pause: Duration) {
        let isThere = state.withLock { $0.order.move(item.number, to: .pausing, tries: item.tries + 1) }
        if !isThere { return }
        let alarm = world.alarm(after: pause) { [weak self] in
            self?.state.withLock { state in
                state.pauses[item.number] = nil
                if state.order.items[item.number]?.stage == .pausing { state.order.move(item.number, to: .waiting) }
            }
            self?.startWorkers()
        }
        let isPausing = state.withLock { state in
            guard state.order.items[item.number]?.stage == .pausing else { return false }
            state.pauses[item.number] = alarm
            return true
        }
        if !isPausing { alarm.cancel() }
    }

    // MARK: The device

    private func followDevice() {
        let isFollowed = state.withLock { $0.isClosed || $0.following != nil }
        if !isFollowed {
            let following = world.onNetworkChange { [weak self] in self?.deviceChanged() }
            state.withLock { state in
                if !state.isClosed, state.following == nil { state.following = following }
            }
        }
        // The network may have changed meanwhile.
        deviceChanged()
    }

    /// Puts the requests that may run now back into the queue.
    func deviceChanged() {
        let device = device
        let held = state.withLock { $0.order.held }
        let allowed = held.filter { isAllowed($0, on: device) }
        let hasFreed = state.withLock { state in
            var hasFreed = false
            for item in allowed where state.order.items[item.number]?.stage == .held {
                state.order.move(item.number, to: .waiting)
                hasFreed = true
            }
            return hasFreed
        }
        let needsCheck = held.contains { item in
            item.groups.contains { $0.condition.orCharging || waitsForAccount(item, in: $0) }
        }
        if needsCheck { checkLater() }
        if hasFreed { startWorkers() }
    }

    private func checkLater() {
        let alarm = world.alarm(after: Self.checkInterval) { [weak self] in
            self?.state.withLock { $0.check = nil }
            self?.deviceChanged()
        }
        let isNeeded = state.withLock { state in
            if state.isClosed || state.check != nil { return false }
            state.check = alarm
            return true
        }
        if !isNeeded { alarm.cancel() }
    }
}
