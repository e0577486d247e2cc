import LarderSystem

/// Keeps instances of a pantry's resources on the device: fetches those that are missing, and pins all of them.
///
/// The list of what is kept is in the data folder. Everything else is found out again when the pantry is made: the
/// present copies and the missing ones. Of a long list, a few hundred instances are in the queue of prefetches at a
/// time, and the others wait as lines of the list.
final class KeptInstances: Sendable {
    typealias Observer = PrefetchQueue.Observer

    /// A request of one download that is being fetched or pinned.
    private struct Order {
        let download: KeptDownload
        let request: Request
        /// The graph of the resource when the request began.
        weak var graph: LoaderGraph?
    }

    private struct State {
        /// The orders by their requests as the list has them.
        var orders: [Request: [Order]] = [:]
        /// The requests that wait, by the numbers of their downloads.
        var waiting: [Int: (download: KeptDownload, backlog: KeptBacklog)] = [:]
        /// The instances on the lists whose copies have not been looked for, when the lists are resumed.
        var unchecked: ArraySlice<KeptRequests.Line> = []
        /// The removals from the lists since then.
        var removals: [KeptRemoval] = []
        /// The number of times that the lists were resumed.
        var passes = 0
        /// Whether the last pass through the lists goes on.
        var isChecking = false

        mutating func take(_ kept: Request, of download: KeptDownload) -> Order? {
            guard var found = orders[kept], let place = found.firstIndex(where: { $0.download === download }) else {
                return nil
            }
            let order = found.remove(at: place)
            orders[kept] = found.isEmpty ? nil : found
            return order
        }

        mutating func wait(_ line: KeptRequests.Line, _ request: Request, kept: Request, of download: KeptDownload) {
            waiting[download.number, default: (download, KeptBacklog())].backlog.append(line, request, kept: kept)
        }
    }

    /// The requests that a removal from a list concerns.
    private struct Forgotten {
        var orders: [Request: [Order]] = [:]
        var waiting: [(download: KeptDownload, backlog: KeptBacklog)] = []
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

    deinit { for (download, backlog) in state.withLock({ $0.waiting.values }) { download.cancelled(backlog) } }

    // MARK: Beginning

    /// Puts instances on the list, and fetches and pins them.
    ///
    /// - Parameter observer: called with the end of each. An instance that is there is done, even if its copy could not
    ///   be renewed.
    /// - Returns: the numbers of the groups in the queue. Cancelling them leaves the list as it is.
    /// - Throws: an error if the list cannot be written.
    func keep(
        _ requests: [Request], of resource: ResourceState, codec: AnyCodec, priority: Request.Priority,
        when condition: PrefetchQueue.Condition, in pantry: Pantry, _ observer: @escaping Observer
    ) async throws -> [Int] {
        // An account that is signed out must not hold up the others.
        var downloads: [KeptAccount: KeptDownload] = [:]
        for request in requests where downloads[KeptAccount(of: request)] == nil {
            downloads[KeptAccount(of: request)] = KeptDownload(
                of: resource, scope: request.key.scope, codec: codec, priority: priority, when: condition,
                isResumed: false, in: pantry, observer)
        }
        try await changeList { [self, downloads] in
            var waiting: [Int: (download: KeptDownload, backlog: KeptBacklog)] = [:]
            var lines: [KeptRequests.Line] = []
            for request in requests {
                guard let download = downloads[KeptAccount(of: request)] else { continue }
                let kept = request.asKept
                let line = KeptRequests.line(kept)
                lines.append(line)
                waiting[download.number, default: (download, KeptBacklog())].backlog.append(line, request, kept: kept)
            }
            try list.add(lines, of: resource.name)
            state.withLock { $0.waiting.merge(waiting) { $1 } }
        }
        let begun = downloads.values.sorted { $0.number < $1.number }
        for download in begun { download.begin() }
        return begun.map(\.number)
    }

    /// Takes the next requests of a download that wait.
    func next(_ count: Int, of download: KeptDownload) -> [Request] {
        let graph = download.resource.graph
        return state.withLock { state in
            var requests: [Request] = []
            while requests.count < count, let request = state.waiting[download.number]?.backlog.popFirst() {
                state.orders[request.asKept, default: []].append(
                    Order(download: download, request: request, graph: graph))
                requests.append(request)
            }
            if state.waiting[download.number]?.backlog.isEmpty == true { state.waiting[download.number] = nil }
            return requests
        }
    }

    /// Counts the requests of a download that wait as cancelled. They stay on the list.
    func cancelWaiting(of download: KeptDownload) {
        let waiting = state.withLock { $0.waiting.removeValue(forKey: download.number) }
        if let waiting { download.cancelled(waiting.backlog) }
    }

    // MARK: Going on

    /// Goes on with what was kept before the process began, or before a reload. Copies that are there are pinned and not
    /// fetched again.
    func resume(in pantry: Pantry) {
        guard list.isNeeded else { return }
        world.spawn { [self, weak pantry] in
            guard let pass = try? await beginPass() else { return }
            var canPin: [String: Bool] = [:]
            var downloads: [KeptAccount: KeptDownload] = [:]
            while let request = nextUnchecked(in: pass) {
                guard let pantry else { return }
                let name = request.key.resource
                guard let graph = pantry.graph(of: name) else { continue }
                // Instances that cannot be pinned would be fetched at each start.
                if canPin[name] == nil { canPin[name] = await graph.canPin }
                if canPin[name] == false { continue }
                let account = KeptAccount(of: request)
                let download = downloads[account] ?? Self.resumed(request, in: pantry)
                downloads[account] = download
                if enter(request, of: download, in: pass) { await resume(request, of: download) }
            }
        }
    }

    /// Returns the download of an account's instances that goes on with the list.
    private static func resumed(_ request: Request, in pantry: Pantry) -> KeptDownload {
        KeptDownload(
            of: pantry.resourceState(request.key.resource), scope: request.key.scope,
            when: PrefetchQueue.Condition(keepsScope: true, waitsForAccount: true), isResumed: true, in: pantry
        ) { _, _ in }
    }

    /// Reads the lists. A former pass through them ends.
    private func beginPass() async throws -> Int {
        try await changeList { [self] in
            let lines = list.all()
            return state.withLock { state in
                state.passes += 1
                state.isChecking = true
                (state.unchecked, state.removals) = (lines[...], [])
                state.waiting = state.waiting.filter { !$0.value.download.isResumed }
                return state.passes
            }
        }
    }

    /// Returns the next request on the lists; nil at the end, or if another pass has begun.
    private func nextUnchecked(in pass: Int) -> Request? {
        state.withLock { state in
            while state.passes == pass, let line = state.unchecked.popFirst() {
                guard let request = KeptRequests.request(line) else { continue }
                if state.removals.contains(where: { $0.concerns(line, request) }) { continue }
                return request
            }
            if state.passes == pass { (state.isChecking, state.removals) = (false, []) }
            return nil
        }
    }

    /// Notes that the work for a request on the list begins. Returns false if it has begun before, or if the request was
    /// taken off the list.
    private func enter(_ request: Request, of download: KeptDownload, in pass: Int) -> Bool {
        let line = KeptRequests.line(request)
        return state.withLock { state in
            if state.orders[request]?.contains(where: \.download.isResumed) == true { return false }
            if state.passes != pass || state.removals.contains(where: { $0.concerns(line, request) }) { return false }
            state.orders[request, default: []].append(Order(download: download, request: request))
            return true
        }
    }

    private func resume(_ request: Request, of download: KeptDownload) async {
        let graph = download.resource.graph
        let isPinned = (try? await download.resource.pinIfStored(request)) == true
        if isPinned, graph === download.resource.graph {
            return await finish(request, of: download, .done(bytes: 0), isPinned: true)
        }
        let isWanted = state.withLock { state in
            guard state.take(request, of: download) != nil else { return false }
            state.wait(KeptRequests.line(request), request, kept: request, of: download)
            return true
        }
        if isWanted { return download.begin() }
        if isPinned { try? await settlePins([request], of: download.resource) }
    }

    // MARK: The ends of requests

    /// Is told how a request of a download has ended in the queue.
    func queueEnded(_ request: Request, of download: KeptDownload, _ ending: PrefetchQueue.Ending) {
        if case .cancelled = ending {
            let order = state.withLock { $0.take(request.asKept, of: download) }
            if let order { download.observer(order.request, ending) }
        } else {
            world.spawn { [self] in await ended(request, of: download, ending) }
        }
    }

    private func ended(_ request: Request, of download: KeptDownload, _ ending: PrefetchQueue.Ending) async {
        let kept = request.asKept
        var ending = ending
        var isPinned = false
        do {
            isPinned = try await download.resource.pinIfStored(kept)
            switch ending {
            case .done where !isPinned: ending = .failed(.noRoomToKeep)
            case .failed where isPinned: ending = .done(bytes: 0)
            default: break
            }
        } catch {
            ending = .failed(LoadError(.failed, "the copy cannot be pinned: \(StoreError.reason(for: error))"))
        }
        if case .failed = ending, waitAgain(kept, of: download) { return download.begin() }
        await finish(request, of: download, ending, isPinned: isPinned)
    }

    /// Lets a request wait for another try if the policy has changed since it began: its answer may have gone to the
    /// former store.
    private func waitAgain(_ kept: Request, of download: KeptDownload) -> Bool {
        guard let graph = download.resource.graph else { return false }
        let line = KeptRequests.line(kept)
        return state.withLock { state in
            let order = state.orders[kept]?.first { $0.download === download }
            guard let order, order.graph !== graph else { return false }
            _ = state.take(kept, of: download)
            state.wait(line, order.request, kept: kept, of: download)
            return true
        }
    }

    private func finish(
        _ request: Request, of download: KeptDownload, _ ending: PrefetchQueue.Ending, isPinned: Bool
    ) async {
        let kept = request.asKept
        if let order = state.withLock({ $0.take(kept, of: download) }) {
            return download.observer(order.request, ending)
        }
        // It was taken off the list meanwhile, and may be on it again.
        if isPinned { try? await settlePins([kept], of: download.resource) }
    }

    /// Pins the copies of those instances that are on the list of their resource, and removes the pins of the others.
    /// Repeats this for the instances that are put on the list or taken off it meanwhile.
    ///
    /// - Parameter listed: the lines on the list. Nil if they are not known.
    private func settlePins(
        _ kept: [Request], of resource: ResourceState, listed known: Set<KeptRequests.Line>? = nil
    ) async throws {
        var left = kept.map { ($0, KeptRequests.line($0)) }
        let lines = Set(left.map(\.1))
        var listed: Set<KeptRequests.Line>
        if let known { listed = known } else { listed = try await self.listed(lines, of: resource) }
        while !left.isEmpty {
            for (request, line) in left {
                if listed.contains(line) {
                    _ = try await resource.pinIfStored(request)
                } else {
                    // A store that cannot pin has nothing to give back.
                    do { try await resource.unpin(request) } catch let error as StoreError where error.isUnsupported {}
                }
            }
            let present = try await self.listed(lines, of: resource)
            left.removeAll { listed.contains($0.1) == present.contains($0.1) }
            listed = present
        }
    }

    private func listed(
        _ lines: Set<KeptRequests.Line>, of resource: ResourceState
    ) async throws -> Set<KeptRequests.Line> {
        try await world.blocking { [list] in try list.listed(lines, of: resource.name) }
    }

    // MARK: Ending

    /// Takes instances off the list of a resource, and gives their copies back.
    func unkeep(_ requests: [Request], of resource: ResourceState, in queue: PrefetchQueue) async throws {
        let kept = requests.map(\.asKept)
        let forgotten = try await changeList { [self] in
            let lines = kept.map(KeptRequests.line)
            try list.remove(lines, of: resource.name)
            return forget(.lines(Set(lines), of: resource.name), orders: Set(kept))
        }
        cancel(forgotten, in: queue)
        try await settlePins(kept, of: resource, listed: [])
    }

    /// Takes off the lists what a clearing selects, before anything is cleared. So a crash brings nothing back.
    func clear(_ selection: Selection, of resource: String?, in queue: PrefetchQueue) async throws {
        if case .tag = selection { return }
        let (forgotten, result) = try await changeList { [self] in
            let result = Result { if list.isNeeded { try list.clear(selection, of: resource) } }
            // Also after a failure.
            return (forget(.selection(selection, of: resource)), result)
        }
        cancel(forgotten, in: queue)
        try result.get()
    }

    /// Changes the list and the orders on a thread that may block, while no other call does.
    private func changeList<Value: Sendable>(_ change: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await world.blocking { [listChange] in try listChange.withLock { _ in try change() } }
    }

    /// Forgets the requests that were taken off the list.
    ///
    /// - Parameter selected: the requests, if they are known.
    private func forget(_ removal: KeptRemoval, orders selected: Set<Request>? = nil) -> Forgotten {
        state.withLock { state in
            if state.isChecking { state.removals.append(removal) }
            var forgotten = Forgotten()
            forgotten.orders = state.orders.filter { order in
                selected.map { $0.contains(order.key) } ?? removal.concerns("", order.key)
            }
            for kept in forgotten.orders.keys { state.orders[kept] = nil }
            for number in state.waiting.keys.sorted() {
                guard let download = state.waiting[number]?.download, let isSelected = removal.lines(of: download),
                    let removed = state.waiting[number]?.backlog.remove(where: isSelected), !removed.isEmpty
                else { continue }
                forgotten.waiting.append((download, removed))
                if state.waiting[number]?.backlog.isEmpty == true { state.waiting[number] = nil }
            }
            return forgotten
        }
    }

    private func cancel(_ forgotten: Forgotten, in queue: PrefetchQueue) {
        if !forgotten.orders.isEmpty {
            let orders = forgotten.orders.values.joined()
            queue.cancel(Set(orders.map(\.download.number))) { forgotten.orders[$0.asKept] != nil }
            for order in orders { order.download.observer(order.request, .cancelled) }
        }
        for (download, backlog) in forgotten.waiting { download.cancelled(backlog) }
    }
}

/// An account of a resource. Equivalent names of Unicode are different accounts.
private struct KeptAccount: Hashable {
    let resource: String
    let scope: [UInt8]?

    init(of request: Request) {
        resource = request.key.resource
        scope = request.key.scope.map { Array($0.utf8) }
    }
}

extension LoadError {
    fileprivate static var noRoomToKeep: LoadError {
        LoadError(.failed, "the store keeps no further copy: it is full of pinned ones, or cannot hold this one")
    }
}
