import LarderSystem

/// The prefetches of a pantry: runs a few at a time, lets them wait for a network, and tries again after failures. Of
/// each group it holds a few hundred requests, and takes the others from where they wait.
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

    /// A group whose requests have not all been in the queue.
    private struct Supplied {
        let group: PrefetchOrder.Group
        let priority: Request.Priority
        let supply: any PrefetchSupply
    }

    private struct State {
        var order = PrefetchOrder()
        /// The groups with requests that wait outside of the queue, by their numbers.
        var supplied: [Int: Supplied] = [:]
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

        /// Adds requests that wait outside of the queue, for each group that has few in it.
        mutating func refill() {
            if supplied.isEmpty { return }
            for (number, supplied) in supplied.count < 2 ? Array(supplied) : supplied.sorted(by: { $0.key < $1.key }) {
                let count = order.count(of: number)
                if count > PrefetchQueue.capacity / 2 { continue }
                let requests = supplied.supply.next(PrefetchQueue.capacity - count)
                for request in requests { order.add(request, supplied.priority, for: supplied.group) }
                if requests.count < PrefetchQueue.capacity - count { self.supplied[number] = nil }
            }
        }

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
    /// The number of requests of one group that the queue holds. The others wait where they came from.
    static let capacity = 500
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
        var owned: [Request] = []
        for request in requests {
            if request.key.isOf(resource.resourceName) {
                owned.append(resource.owned(request))
            } else {
                observer(request, .failed(LoadError.otherResource))
            }
        }
        add(
            ListedPrefetches(owned, observer), of: resource, codec: codec, priority: priority, when: condition,
            as: group, in: pantry, observer)
    }

    /// Adds the requests of a supply, a few hundred at a time. The supply may be added again when it has got more.
    ///
    /// - Parameter group: the number of the group, from ``nextGroup()``.
    func add(
        _ supply: any PrefetchSupply, of resource: ResourceState, codec: AnyCodec, priority: Request.Priority,
        when condition: Condition, as group: Int, in pantry: Pantry, _ observer: @escaping Observer
    ) {
        followClearings(of: pantry)
        let source = Source(state: resource, codec: codec) { [weak pantry] request in
            guard let pantry else { throw CancellationError() }
            if condition.keepsScope { return try await resource.loadInItsScope(request, codec: codec, in: pantry) }
            return try await resource.load(request, codec: codec, in: pantry)
        }
        let isClosed = state.withLock { state in
            if state.isClosed { return true }
            if condition.orCharging { state.needsPower = true }
            let members = PrefetchOrder.Group(number: group, condition: condition, source: source, observer: observer)
            state.supplied[group] = Supplied(group: members, priority: priority, supply: supply)
            return false
        }
        if isClosed { return supply.cancelAll() }
        startWorkers()
    }

    /// Cancels the requests of a group that have not ended.
    func cancel(_ group: Int) {
        let supplied = state.withLock { $0.supplied.removeValue(forKey: group) }
        cancel([group]) { _ in true }
        supplied?.supply.cancelAll()
    }

    /// Cancels the selected requests of some groups that have not ended.
    func cancel(_ groups: Set<Int>, where isSelected: (Request) -> Bool) {
        let (requests, running, supplied) = state.withLock { state in
            let (requests, removed) = state.order.removeGroups(groups, where: isSelected)
            return (requests, state.stop(removed), groups.compactMap { state.supplied[$0] })
        }
        for task in running { task.cancel() }
        for (request, group) in requests { group.observer(request, .cancelled) }
        for group in supplied { group.supply.cancel(where: isSelected) }
        startWorkers()
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
        let supplied = state.withLock { state in
            defer { state.supplied = [:] }
            return state.supplied.values
        }
        cancel { _ in true }
        for group in supplied { group.supply.cancelAll() }
    }

    private func cancel(where isSelected: (Request) -> Bool) {
        let (removed, running, supplied) = state.withLock { state in
            let removed = state.order.removeAll { isSelected($0.identity.request) }
            return (removed, state.stop(removed), state.supplied.values)
        }
        for task in running { task.cancel() }
        for item in removed { item.end(.cancelled) }
        for group in supplied { group.supply.cancel(where: isSelected) }
        startWorkers()
    }

    private func followClearings(of pantry: Pantry) {
        let isFollowed = state.withLock { $0.isClosed || $0.clearings != nil }
        if isFollowed { return }
        let clearings = pantry.clearingNotices.listen { [weak self] news in
            guard case .began(let notice) = news else { return }
            // The tags of what is not fetched yet are not known.
            if case .tag = notice.selection { return }
            self?.cancel { request in
                let key = request.key
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
            state.refill()
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
            if state.isClosed { return nil }
            state.refill()
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
