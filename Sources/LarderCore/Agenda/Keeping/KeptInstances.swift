import LarderSystem

/// Keeps instances of a pantry's resources on the device: fetches those that are missing, and pins all of them.
///
/// The list of what is kept is in the data folder. Everything else is found out again when the pantry is made: the
/// present copies and the missing ones.
final class KeptInstances: Sendable {
    private struct State {
        /// The downloads that callers have begun.
        var begun: [FetchJob] = []
        /// The downloads that go on with the lists.
        var resumed: [KeptAccount: FetchJob] = [:]

        /// All of them, in an order that is the same in each replay.
        var jobs: [FetchJob] {
            func name(_ account: KeptAccount) -> (String, String) { (account.resource, account.scope ?? "") }
            return begun + resumed.sorted { name($0.key) < name($1.key) }.map(\.value)
        }
    }

    let list: KeptRequests
    private let agenda: Agenda
    private let state = Locked(State())
    /// Is held while the list changes and the downloads with it. So a clearing finds an instance in both or in neither.
    private let listChange = BlockingLock(())

    private var world: any World { agenda.world }

    init(in data: DataFolder, on agenda: Agenda) {
        list = KeptRequests(in: data)
        self.agenda = agenda
    }

    /// Puts instances on the list, and fetches and pins them. Takes them over from the downloads that go on with the
    /// list.
    ///
    /// - Parameter observer: called with the end of each. An instance that is there is done, even if its copy could not
    ///   be renewed.
    /// - Returns: the downloads, one for each account. Cancelling them leaves the list as it is.
    /// - Throws: an error if the list cannot be written.
    func keep(
        _ requests: [Request], of resource: any FetchedResource, priority: Request.Priority,
        when conditions: AgendaConditions, _ observer: @escaping FetchJob.Observer
    ) async throws -> [FetchJob] {
        // An account that is signed out must not hold up the others.
        var accounts: [KeptAccount] = []
        var groups: [KeptAccount: [Request]] = [:]
        for request in requests {
            let account = KeptAccount(of: request)
            if groups[account] == nil { accounts.append(account) }
            groups[account, default: []].append(request)
        }
        let jobs = accounts.map { account in
            job(groups[account] ?? [], for: account, of: resource, priority: priority, when: conditions, observer)
        }
        let (kept, wanted) = (requests.map(\.asKept), Set(accounts))
        let dropped = try await changeList { [self] in
            try list.add(kept.map(KeptRequests.line), of: resource.name)
            let resumed = state.withLock { state in
                state.begun.removeAll(where: \.isOver)
                state.begun += jobs
                return state.resumed.filter { wanted.contains($0.key) && !$0.value.isOver }.values
            }
            let selected = Set(kept)
            return drop(of: resumed) { selected.contains($0.asKept) }
        }
        stop(dropped)
        for job in jobs { agenda.add(job) }
        return jobs
    }

    private func job(
        _ requests: [Request], for account: KeptAccount, of resource: any FetchedResource,
        priority: Request.Priority = .low, when conditions: AgendaConditions,
        _ observer: @escaping FetchJob.Observer = { _, _ in }
    ) -> FetchJob {
        let keeping = FetchJob.Keeping(
            account: account, followOthers: { [weak self] in await self?.followOthers(of: resource) },
            settle: { [weak self] kept in try? await self?.settlePins([kept], of: resource) })
        return FetchJob(
            requests, of: resource, priority: priority, when: conditions, keeping: keeping, on: agenda, observer)
    }

    /// Goes on with what was kept before the process began, or before a reload. Copies that are there are pinned and not
    /// fetched again.
    ///
    /// - Parameter find: returns the resource of this name; nil if it has no policy.
    func resume(_ find: @escaping @Sendable (String) -> (any FetchedResource)?) {
        guard list.isNeeded else { return }
        world.spawn { [weak self] in
            guard let jobs = try? await self?.recheck(find) else { return }
            var canPin: [String: Bool] = [:]
            for job in jobs {
                let name = job.resource.name
                // Instances that cannot be pinned would be fetched at each start.
                if canPin[name] == nil { canPin[name] = await job.resource.canPin }
                if canPin[name] == true { self?.agenda.add(job) } else { self?.agenda.cancel(job) }
            }
        }
    }

    /// Lets the downloads of all accounts on the lists begin anew. Leaves out what a caller's download has still to do.
    private func recheck(_ find: @escaping @Sendable (String) -> (any FetchedResource)?) async throws -> [FetchJob] {
        try await changeList { [self] in
            var accounts: [KeptAccount] = []
            var lines: [KeptAccount: [KeptRequests.Line]] = [:]
            let begun = state.withLock { $0.begun }.flatMap(\.requests)
            let taken = Set(begun.map { KeptRequests.line($0.asKept) })
            for line in list.all() where !taken.contains(line) {
                guard let account = KeptRequests.request(line).map(KeptAccount.init) else { continue }
                if lines[account] == nil { accounts.append(account) }
                lines[account, default: []].append(line)
            }
            return state.withLock { state in
                for (account, job) in state.resumed where lines[account] == nil { job.check([]) }
                return accounts.compactMap { account in
                    guard let resource = find(account.resource) else { return nil }
                    let job =
                        state.resumed[account]
                        ?? job([], for: account, of: resource, when: AgendaConditions(permitted: [.prefetch]))
                    job.check(lines[account] ?? [])
                    state.resumed[account] = job
                    return job
                }
            }
        }
    }

    // MARK: Ending

    /// Takes instances off the list of a resource, and gives their copies back.
    func unkeep(_ requests: [Request], of resource: any FetchedResource) async throws {
        let kept = requests.map(\.asKept)
        let selected = Set(kept)
        let dropped = try await changeList { [self] in
            try list.remove(kept.map(KeptRequests.line), of: resource.name)
            return drop(of: jobs(of: resource.name)) { selected.contains($0.asKept) }
        }
        stop(dropped)
        try await settlePins(kept, of: resource, listed: [])
    }

    /// Takes off the lists what a clearing selects, before anything is cleared. So a crash brings nothing back.
    func clear(_ selection: Selection, of resource: String?) async throws {
        if case .tag = selection { return }
        let (dropped, result) = try await changeList { [self] in
            let result = Result { if list.isNeeded { try list.clear(selection, of: resource) } }
            // Also after a failure.
            return (drop(of: jobs(of: resource)) { selection.concerns($0.key, tags: []) }, result)
        }
        stop(dropped)
        try result.get()
    }

    /// Gives up the instances that another process has taken off the list of a resource, by a clearing for example.
    private func followOthers(of resource: any FetchedResource) async {
        let dropped = try? await changeList { [self] () -> [DroppedFetches] in
            guard let lines = try list.linesChangedElsewhere(of: resource.name) else { return [] }
            let listed = Set(lines)
            return drop(of: jobs(of: resource.name)) { !listed.contains(KeptRequests.line($0.asKept)) }
        }
        stop(dropped ?? [])
    }

    private func jobs(of resource: String?) -> [FetchJob] {
        state.withLock { $0.jobs }.filter { resource == nil || $0.resource.name == resource }
    }

    private func drop(
        of jobs: some Sequence<FetchJob>, where isSelected: @escaping (Request) -> Bool
    ) -> [DroppedFetches] {
        jobs.map { DroppedFetches(job: $0, drop: $0.drop(where: isSelected)) }
    }

    private func stop(_ dropped: [DroppedFetches]) {
        for dropped in dropped { agenda.stop(dropped.drop, of: dropped.job) }
    }

    private struct DroppedFetches: Sendable {
        let job: FetchJob
        let drop: AgendaDrop
    }

    /// Changes the list and the downloads on a thread that may block, while no other call does.
    private func changeList<Value: Sendable>(_ change: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await world.blocking { [listChange] in try listChange.withLock { _ in try change() } }
    }

    // MARK: Pins

    /// Pins the copies of those instances that are on the list of their resource, and removes the pins of the others.
    /// Repeats this for the instances that are put on the list or taken off it meanwhile.
    ///
    /// - Parameter listed: the lines on the list. Nil if they are not known.
    private func settlePins(
        _ kept: [Request], of resource: any FetchedResource, listed known: Set<KeptRequests.Line>? = nil
    ) async throws {
        var left = kept.map { ($0, KeptRequests.line($0)) }
        let lines = Set(left.map(\.1))
        var listed: Set<KeptRequests.Line>
        if let known { listed = known } else { listed = try await self.listed(lines, of: resource) }
        while !left.isEmpty {
            for (request, line) in left {
                if listed.contains(line) {
                    _ = try await resource.pin(request)
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
        _ lines: Set<KeptRequests.Line>, of resource: any FetchedResource
    ) async throws -> Set<KeptRequests.Line> {
        try await world.blocking { [list] in try list.listed(lines, of: resource.name) }
    }
}
