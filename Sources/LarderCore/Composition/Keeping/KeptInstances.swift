import LarderBase

/// Keeps instances of a pantry's resources on the device: fetches those that are missing, and pins all of them.
///
/// The list of what is kept is in the data folder. Everything else is found out again when the pantry is made: which
/// copies are there, and which are missing.
final class KeptInstances: Sendable {
    typealias Observer = PrefetchQueue.Observer

    /// A request of one caller that is being fetched or pinned.
    private struct Order {
        /// The number of the caller's group in the queue.
        let group: Int
        /// Whether it goes on with the list, and no handle waits for it.
        let isResumed: Bool
        let request: Request
        let observer: Observer
    }

    private struct State {
        /// The orders by their requests as the list has them.
        var orders: [Request: [Order]] = [:]
        /// The number of times that requests were taken off a list.
        var removals = 0

        func has(_ kept: Request, of group: Int) -> Bool { orders[kept]?.contains { $0.group == group } ?? false }

        mutating func take(_ kept: Request, of group: Int) -> Order? {
            guard var found = orders[kept], let place = found.firstIndex(where: { $0.group == group }) else {
                return nil
            }
            let order = found.remove(at: place)
            orders[kept] = found.isEmpty ? nil : found
            return order
        }
    }

    let list: KeptRequests
    private let world: any World
    private let state = Locked(State())
    /// Is held while the list changes and the orders with it, so that a clearing finds an instance in both or in neither.
    private let listChange = BlockingLock(())

    init(in data: DataFolder, world: any World) {
        list = KeptRequests(in: data)
        self.world = world
    }

    // MARK: Beginning

    /// Puts instances on the list, and fetches and pins them.
    ///
    /// - Parameters:
    ///   - group: the number of a new group in the queue. Cancelling the group leaves the list as it is.
    ///   - observer: called with the end of each. An instance that is there is done, even if its copy could not be
    ///     renewed.
    /// - Throws: an error if the list cannot be written.
    func keep(
        _ requests: [Request], of resource: ResourceState, codec: AnyCodec, priority: Request.Priority,
        when condition: PrefetchQueue.Condition, as group: Int, in pantry: Pantry, _ observer: @escaping Observer
    ) async throws {
        let kept = requests.map(\.asKept)
        try await changeList { [self] in
            try list.add(kept, of: resource.name)
            state.withLock { state in
                for (request, kept) in zip(requests, kept) {
                    state.orders[kept, default: []].append(
                        Order(group: group, isResumed: false, request: request, observer: observer))
                }
            }
        }
        begin(requests, of: resource, codec: codec, priority: priority, when: condition, as: group, in: pantry)
    }

    /// Goes on with what was kept before the process began, or before a reload. Copies that are there are pinned and not
    /// fetched again.
    func resume(in pantry: Pantry) {
        guard list.isNeeded else { return }
        world.spawn { [self, weak pantry] in
            guard var (removals, left) = await listed() else { return }
            var cannotPin: [String: Bool] = [:]
            while let request = left.popLast() {
                guard let pantry else { return }
                let name = request.key.resource
                guard let graph = pantry.graph(of: name) else { continue }
                // Instances that cannot be pinned would be fetched at each start.
                if cannotPin[name] == nil { cannotPin[name] = await !graph.canPin }
                if cannotPin[name] == true { continue }
                let group = pantry.prefetchQueue.nextGroup()
                switch enter(request, as: group, after: removals) {
                case .entered: await resume(request, as: group, in: pantry)
                case .isUnderWay: continue
                case .isOutdated:
                    guard let (latest, present) = await listed() else { return }
                    let stays = Set(present)
                    removals = latest
                    left = (left + [request]).filter(stays.contains)
                }
            }
        }
    }

    /// Returns all requests on the lists, the first last, and the number of removals before they were read.
    private func listed() async -> (removals: Int, requests: [Request])? {
        let removals = state.withLock { $0.removals }
        return (try? await world.blocking { [list] in list.all() }).map { (removals, $0.reversed()) }
    }

    private enum Entering { case entered, isUnderWay, isOutdated }

    /// Notes that the work for a request on the list begins, unless something was taken off the list since it was read.
    private func enter(_ request: Request, as group: Int, after removals: Int) -> Entering {
        state.withLock { state in
            if state.removals != removals { return .isOutdated }
            if state.orders[request]?.contains(where: \.isResumed) == true { return .isUnderWay }
            state.orders[request, default: []].append(
                Order(group: group, isResumed: true, request: request) { _, _ in })
            return .entered
        }
    }

    private func resume(_ request: Request, as group: Int, in pantry: Pantry) async {
        let resource = pantry.resourceState(request.key.resource)
        if (try? await resource.pinIfStored(request)) == true {
            return await finish(request, of: group, .done(bytes: 0), isPinned: true, resource)
        }
        begin(
            [request], of: resource, codec: .raw, priority: .low,
            when: PrefetchQueue.Condition(keepsScope: true, waitsForAccount: true),
            as: group, in: pantry)
    }

    /// Fetches and pins instances, except those that were taken off the list meanwhile.
    private func begin(
        _ requests: [Request], of resource: ResourceState, codec: AnyCodec, priority: Request.Priority,
        when condition: PrefetchQueue.Condition, as group: Int, in pantry: Pantry
    ) {
        pantry.prefetchQueue.add(
            requests, of: resource, codec: codec, priority: priority, when: condition, as: group, in: pantry
        ) { [weak self] request, ending in
            guard let self else { return }
            if case .cancelled = ending {
                state.withLock { $0.take(request.asKept, of: group) }?.observer(request, ending)
            } else {
                world.spawn { [self] in await ended(request, of: group, ending, resource) }
            }
        }
        let forgotten = state.withLock { state in requests.filter { !state.has($0.asKept, of: group) } }
        if forgotten.isEmpty { return }
        let removed = Set(forgotten.map(\.asKept))
        pantry.prefetchQueue.cancel([group]) { removed.contains($0.asKept) }
    }

    private func ended(
        _ request: Request, of group: Int, _ ending: PrefetchQueue.Ending, _ resource: ResourceState
    ) async {
        let kept = request.asKept
        var ending = ending
        var isPinned = false
        do {
            isPinned = try await resource.pinIfStored(kept)
            switch ending {
            case .done where !isPinned: ending = .failed(.noRoomToKeep)
            case .failed where isPinned: ending = .done(bytes: 0)
            default: break
            }
        } catch {
            ending = .failed(LoadError(.failed, "the copy cannot be pinned: \(StoreError.reason(for: error))"))
        }
        await finish(request, of: group, ending, isPinned: isPinned, resource)
    }

    private func finish(
        _ request: Request, of group: Int, _ ending: PrefetchQueue.Ending, isPinned: Bool, _ resource: ResourceState
    ) async {
        let kept = request.asKept
        if let order = state.withLock({ $0.take(kept, of: group) }) { return order.observer(request, ending) }
        // It was taken off the list meanwhile, and may be on it again.
        if isPinned { try? await settlePins([kept], of: resource) }
    }

    /// Pins the copies of those instances that are on the list of their resource, and removes the pins of the others.
    /// Repeats this for the instances that are put on the list or taken off it meanwhile.
    private func settlePins(_ kept: [Request], of resource: ResourceState) async throws {
        var (left, listed) = (kept, try await listed(of: resource))
        while !left.isEmpty {
            for request in left {
                if listed.contains(request) {
                    _ = try await resource.pinIfStored(request)
                } else {
                    // A store that cannot pin has nothing to give back.
                    do { try await resource.unpin(request) } catch let error as StoreError where error.isUnsupported {}
                }
            }
            let present = try await self.listed(of: resource)
            left.removeAll { listed.contains($0) == present.contains($0) }
            listed = present
        }
    }

    private func listed(of resource: ResourceState) async throws -> Set<Request> {
        Set(try await world.blocking { [list] in try list.requests(of: resource.name) })
    }

    // MARK: Ending

    /// Takes instances off the list of a resource, and gives their copies back.
    func unkeep(_ requests: [Request], of resource: ResourceState, in queue: PrefetchQueue) async throws {
        let kept = requests.map(\.asKept)
        let removed = Set(kept)
        let forgotten = try await changeList { [self] in
            try list.remove(kept, of: resource.name)
            return takeOrders { removed.contains($0) }
        }
        cancel(forgotten, in: queue)
        try await settlePins(kept, of: resource)
    }

    /// Takes off the lists what a clearing selects, before anything is cleared. So a crash brings nothing back.
    func clear(_ selection: Selection, of resource: String?, in queue: PrefetchQueue) async throws {
        if case .tag = selection { return }
        let (forgotten, result) = try await changeList { [self] in
            let result = Result { if list.isNeeded { try list.clear(selection, of: resource) } }
            // Also after a failure.
            let forgotten = takeOrders { request in
                (resource == nil || request.key.resource == resource) && selection.concerns(request.key, tags: [])
            }
            return (forgotten, result)
        }
        cancel(forgotten, in: queue)
        try result.get()
    }

    /// Changes the list and the orders on a thread that may block, while no other call does.
    private func changeList<Value: Sendable>(_ change: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await world.blocking { [listChange] in try listChange.withLock { _ in try change() } }
    }

    /// Forgets the orders for the selected requests, which were taken off the list.
    private func takeOrders(where isSelected: (Request) -> Bool) -> [Request: [Order]] {
        state.withLock { state in
            state.removals += 1
            let forgotten = state.orders.filter { isSelected($0.key) }
            for kept in forgotten.keys { state.orders[kept] = nil }
            return forgotten
        }
    }

    private func cancel(_ forgotten: [Request: [Order]], in queue: PrefetchQueue) {
        if forgotten.isEmpty { return }
        let orders = forgotten.values.joined()
        queue.cancel(Set(orders.map(\.group))) { forgotten[$0.asKept] != nil }
        for order in orders { order.observer(order.request, .cancelled) }
    }
}

extension LoadError {
    fileprivate static var noRoomToKeep: LoadError {
        LoadError(.failed, "the store keeps no further copy: it is full of pinned ones, or cannot hold this one")
    }
}
