import LarderBase

/// Keeps instances of a pantry's resources on the device: fetches those that are missing, and pins all of them.
///
/// The list of what is kept is in the data folder. Everything else is found out again when the pantry is made: which
/// copies are there, and which are missing.
final class KeptInstances: Sendable {
    typealias Observer = PrefetchQueue.Observer

    /// An instance that is being fetched or pinned.
    private struct Work {
        /// The number of its group in the queue; nil until it is there.
        var group: Int?
        var observers: [Observer] = []
    }

    let list: KeptRequests
    private let world: any World
    /// The instances that are being fetched or pinned, by their requests as the list has them.
    private let work = Locked<[Request: Work]>([:])

    init(in data: DataFolder, world: any World) {
        list = KeptRequests(in: data)
        self.world = world
    }

    // MARK: Beginning

    /// Goes on with what was kept before the process began, or before a reload. Copies that are there are pinned and not
    /// fetched again.
    func resume(in pantry: Pantry) {
        guard list.isNeeded else { return }
        world.spawn { [self, weak pantry, world, list] in
            guard let requests = try? await world.blocking({ list.all() }) else { return }
            for request in requests {
                guard let pantry, pantry.graph(of: request.key.resource) != nil else { continue }
                let state = pantry.resourceState(request.key.resource)
                if (try? await state.pinIfStored(request)) == true { continue }
                begin([request], of: state, codec: .raw, in: pantry) { _, _ in }
            }
        }
    }

    /// Fetches and pins instances that are on the list.
    ///
    /// - Parameter observer: called with the end of each. An instance that is there is done, even if its copy could not be
    ///   renewed.
    /// - Returns: the requests as the list has them.
    @discardableResult
    func begin(
        _ requests: [Request], of state: ResourceState, codec: AnyCodec, priority: Request.Priority = .low,
        when condition: PrefetchQueue.Condition = PrefetchQueue.Condition(), in pantry: Pantry,
        _ observer: @escaping Observer
    ) -> [Request] {
        requests.map { request in
            let kept = request.asKept
            let isNew = work.withLock { work in
                defer { work[kept, default: Work()].observers.append(observer) }
                return work[kept] == nil
            }
            guard isNew else { return kept }
            let group = pantry.prefetchQueue.add(
                [request], of: state, codec: codec, priority: priority, when: condition, in: pantry
            ) { [weak self] request, ending in
                guard let self else { return }
                world.spawn { [self] in await ended(request, kept, ending, state) }
            }
            work.withLock { $0[kept]?.group = group }
            return kept
        }
    }

    private func ended(_ request: Request, _ kept: Request, _ ending: PrefetchQueue.Ending, _ state: ResourceState)
        async
    {
        var ending = ending
        var isPinned = false
        switch ending {
        case .cancelled: break
        case .done, .failed:
            do {
                isPinned = try await state.pinIfStored(kept)
                switch ending {
                case .done where !isPinned: ending = .failed(.noRoomToKeep)
                case .failed where isPinned: ending = .done(bytes: 0)
                default: break
                }
            } catch {
                ending = .failed(LoadError(.failed, "the copy cannot be pinned: \(StoreError.reason(for: error))"))
            }
        }
        let work = work.withLock { $0.removeValue(forKey: kept) }
        // It was given back meanwhile.
        if work == nil, isPinned { try? await state.unpin(kept) }
        for observer in work?.observers ?? [] { observer(request, ending) }
    }

    // MARK: Ending

    /// Stops to fetch instances. They stay on the list.
    func stop(_ kept: [Request], in queue: PrefetchQueue) {
        for group in work.withLock({ work in kept.compactMap { work[$0]?.group } }) { queue.cancel(group) }
    }

    /// Takes instances off the list of a resource, and gives their copies back.
    func unkeep(_ requests: [Request], of state: ResourceState, in queue: PrefetchQueue) async throws {
        let kept = requests.map(\.asKept)
        try await world.blocking { [list] in try list.remove(kept, of: state.name) }
        forget(kept, in: queue)
        for request in kept {
            // A store that cannot pin has nothing to give back.
            do { try await state.unpin(request) } catch let error as StoreError where error.isUnsupported {}
        }
    }

    /// Takes off the lists what a clearing selects, before anything is cleared. So a crash brings nothing back.
    func clear(_ selection: Selection, of resource: String?, in queue: PrefetchQueue) async throws {
        guard list.isNeeded else { return }
        try await world.blocking { [list] in try list.clear(selection, of: resource) }
        if case .tag = selection { return }
        forget(
            work.withLock { $0.keys }.filter { request in
                (resource == nil || request.key.resource == resource) && selection.concerns(request.key, tags: [])
            }, in: queue)
    }

    private func forget(_ kept: [Request], in queue: PrefetchQueue) {
        let forgotten = work.withLock { work in
            kept.compactMap { request in work.removeValue(forKey: request).map { (request, $0) } }
        }
        for (request, work) in forgotten {
            if let group = work.group { queue.cancel(group) }
            for observer in work.observers { observer(request, .cancelled) }
        }
    }
}

extension LoadError {
    fileprivate static var noRoomToKeep: LoadError {
        LoadError(.failed, "the store keeps no further copy: it is full of pinned ones, or cannot hold this one")
    }
}
