package import LarderSystem

/// The relation between the policies in effect and those in the folder.
struct WatchState {
    /// The error of the last reload; nil if the last reload succeeded.
    var refusal: PolicyError?
    /// Whether the kept policies of an earlier run are in effect.
    var usesKeptPolicies = false
    /// Whether the policies in effect are kept for the next run.
    var isKept = false
    /// Whether the folder could not be read at the last look.
    var isUnreadable = false
    /// The time at which to look again for missing files; nil if no file is missing.
    var nextLook: Duration?
}

extension Pantry {
    /// The events of the policies and the cache folder: first the problems that exist now, then each new event. Each
    /// access returns a new stream, which ends with the pantry.
    public var events: AsyncStream<PantryEvent> {
        eventListeners.stream(
            most: 100,
            after: {
                let refusal = watchState.withLock { $0.refusal }.map { [PantryEvent.rejected($0)] } ?? []
                return refusal + cacheProblems.map { .cacheUnusable($0) }
            })
    }

    /// Reads the policies whose files changed, or whose extended files changed. If all of them are sound, the changed
    /// policies are put in effect. All other resources keep their graphs.
    ///
    /// Running loads finish on the policy that they started with. A store whose declaration did not change keeps its
    /// contents. A store whose declaration changed is opened anew, and the old one is closed after its last use. If both
    /// use the same place, the new one is opened when the old one is closed. Until then its loads find no copy and keep
    /// none, and their trails say so. Usually that is over when this returns.
    /// Later loads join running calls if the origin, wrappers and validators did not change either.
    ///
    /// - Returns: the changes.
    /// - Throws: ``PolicyError`` with all problems. The last sound policies then stay in effect.
    @discardableResult
    public func reload() async throws -> [PolicyChange] {
        try await reload(.anything)
    }

    /// Replaces all policies in effect with policies that are in memory, as ``reload()`` does with those of the folder.
    ///
    /// Afterwards the pantry reads no folder of policies: ``reload()`` finds nothing new. Files that policies read stay
    /// relative to the same folder.
    ///
    /// - Parameter policies: the text of each policy by the name of its resource, as in the initialiser. A resource
    ///   that is not listed has no policy afterwards.
    /// - Returns: the changes.
    /// - Throws: ``PolicyError`` with all problems. Nothing changes then.
    @discardableResult
    public func replace(policies: [String: String]) async throws -> [PolicyChange] {
        do {
            return try await apply { [self] in try swap(.anything, to: policies) }
        } catch let error as PolicyError {
            reportRejection(error)
            throw error
        }
    }

    private func apply(_ swap: @escaping @Sendable () throws -> [PolicyChange]) async throws -> [PolicyChange] {
        await finish(try await world.blocking(swap))
    }

    /// Does what follows after policies were put in effect, and reports the changes.
    ///
    /// - Returns: the changes, with the numbers of copies that they put out of use.
    @discardableResult
    private func finish(_ changes: [PolicyChange]) async -> [PolicyChange] {
        await composer.turns.settle()
        await finishClearings()
        // Another policy may permit what waits, and another store may have no copies of what is kept.
        if !changes.isEmpty { resumeBackgroundWork() }
        var changes = changes
        for index in changes.indices where changes[index].isOtherSource {
            changes[index].unusedCopies = await countUnusedCopies(of: changes[index].resource)
        }
        reportSuccess(changes)
        return changes
    }

    /// Reloads the files of the folder that `change` names.
    @discardableResult
    package func reload(_ change: FolderChange) async throws -> [PolicyChange] {
        do {
            return try await apply { [self] in try swap(change) }
        } catch let error as PolicyError {
            reportRejection(error)
            throw error
        }
    }

    /// Makes a change that ``events`` describes, and reports the event that the change returns.
    func report(_ change: () -> PantryEvent?) {
        Self.report(change, listeners: eventListeners, sinks: sinks, at: world.now)
    }

    @discardableResult
    static func report(
        _ change: () -> PantryEvent?, listeners: Listeners<PantryEvent>, sinks: EventSinks, at now: Timestamp
    ) -> PantryEvent? {
        guard let event = listeners.send(noting: change) else { return nil }
        if case .reloaded = event { sinks.repeatedDecisions.endRefusals() }
        for decision in event.decisions(at: now).compactMap(sinks.repeatedDecisions.told) {
            sinks.decisions.send(decision)
        }
        return event
    }

    /// Reads the changed policies, composes them, and only then puts them in effect. Blocks the thread.
    ///
    /// - Parameter texts: policies by resource that replace all present ones; nil to read the present source.
    func swap(
        _ change: FolderChange, to texts: [String: String]? = nil, graceAt uptime: Duration? = nil
    ) throws(PolicyError) -> [PolicyChange] {
        try policies.withLock { current throws(PolicyError) in
            guard let texts else { return try swap(&current, change, graceAt: uptime) }
            var next = current
            try next.take(texts)
            let changes = try swap(&next, change)
            current = next
            return changes
        }
    }

    private func swap(
        _ folder: inout PolicyFolder, _ change: FolderChange, graceAt uptime: Duration? = nil
    ) throws(PolicyError) -> [PolicyChange] {
        defer { watchState.withLock { ($0.isUnreadable, $0.nextLook) = (folder.isUnreadable, folder.nextLook) } }
        let found = try folder.changes(after: change, graceAt: uptime)
        let former = folder.process.bytes
        let settings = try folder.settings(graceAt: uptime)
        let attachments = try attachments(for: settings)
        var changes = try attachments.supply.flatMap { supply throws(PolicyError) in
            try install(suppliedBy: supply, in: folder, settings: settings, with: attachments, removing: found.removed)
        }
        let isSupplied = changes != nil
        if changes == nil {
            // Supplied policies may be in effect for any resource.
            let policies = folder.isSupplied ? try folder.whole() : found.policies
            changes = try install(
                PolicyFolder.Changes(policies: policies, removed: found.removed), settings: settings,
                with: attachments, change: change, needing: folder.reader.needed)
            attachments.supply?.supplied(.inEffect)
        }
        folder.tookEffect(isSupplied: isSupplied)
        if let name = attachments.supply?.facts["running"] {
            for resource in resourceStates {
                if let graph = resource.graph { resource.meterHistory.noteSupply(name, of: graph.policy.revision) }
            }
        }
        let isSame = found.policies.isEmpty && found.removed.isEmpty && folder.process.bytes == former
        let isKept = ifUnsound == .useLastSound && !folder.reader.files.isInMemory
        if isKept, !isSame || !watchState.withLock({ $0.isKept }) { keep(folder.texts) }
        return changes ?? []
    }

    /// Composes policies, and puts them in effect if all of them can be composed.
    ///
    /// - Parameters:
    ///   - needed: the only resource whose policy has to be composed; nil if all have to be.
    ///   - isTrial: whether nothing is put in effect.
    func install(
        _ found: PolicyFolder.Changes, settings: ProcessSettings, with attachments: PantryAttachments,
        change: FolderChange = .anything, needing needed: String? = nil, isTrial: Bool = false
    ) throws(PolicyError) -> [PolicyChange] {
        var problems: [Problem] = []
        let isClosed = isClosed.withLock { $0 }
        var next: [(resourceState: ResourceState, graph: LoaderGraph?)] = []
        for policy in found.policies + repaired(change, except: found) {
            let resourceState = resourceState(policy.resource)
            let former = resourceState.graph
            if !isTrial, let former, former.policy.isSame(as: policy), !composer.isRepaired(former) { continue }
            do throws(PolicyError) {
                next.append(
                    (
                        resourceState,
                        try composer.compose(
                            policy, after: former, in: resourceState, with: attachments, isClosed: isClosed)
                    ))
            } catch {
                if needed == nil || needed == policy.resource { problems += error.problems }
            }
        }
        if !problems.isEmpty { throw PolicyError(problems) }
        let operationsFiles = try operationsFiles(for: settings)
        if isTrial { return [] }
        for name in found.removed.sorted() {
            let resourceState = resourceState(name)
            if resourceState.graph != nil { next.append((resourceState, nil)) }
        }
        let changes = next.compactMap { resourceState, graph -> PolicyChange? in
            if let graph, resourceState.graph?.policy.isSame(as: graph.policy) == true { return nil }
            let former = resourceState.graph?.policy
            var change = PolicyChange(resource: resourceState.name, from: former?.revision, to: graph?.policy.revision)
            if let mark = former?.source?.own {
                change.isOtherSource = graph?.policy.source?.contains(mark) == false
            }
            return change
        }
        try? composer.places.sync()
        for (resourceState, graph) in next {
            let former = resourceState.graph?.meter
            resourceState.replace(with: graph)
            if let graph { graph.meter.follow(former, device) } else { former?.setOffline(false) }
            self.problems.replace(graph?.problems ?? [], of: resourceState.name)
        }
        makeKnown(next.map(\.0.name))
        followNetwork(for: next.compactMap(\.graph))
        putInEffect(attachments)
        let last = self.operationsFiles.withLock { current in
            defer { current = operationsFiles }
            return current
        }
        withExtendedLifetime(last) {}
        // The work of new sections may begin now.
        agenda.deviceChanged()
        return changes
    }

    /// Returns the unchanged policies whose stores could not use their folders before and can now.
    private func repaired(_ change: FolderChange, except found: PolicyFolder.Changes) -> [Policy] {
        guard change == .anything, !problems.all.isEmpty else { return [] }
        let others = found.removed.union(found.policies.map(\.resource))
        return graphs.filter { !others.contains($0.policy.resource) && composer.isRepaired($0) }.map(\.policy)
    }

    /// Returns the writer of the files that the settings name. It is the present one if the settings are the same or it
    /// is closed.
    private func operationsFiles(for settings: ProcessSettings) throws(PolicyError) -> OperationsFiles {
        if let current = operationsFiles.withLock({ $0 }),
            current.settings.namesSameFiles(as: settings) || current.isClosed
        {
            return current
        }
        return try OperationsFiles(
            settings, processFiles, isRequired: ifCacheUnusable == .fail, problems: problems,
            sinks: sinks, world: world, tell: { [weak self] note in self?.report { .interrupted(note) } }
        ) { [weak self] in await self?.metrics.dump() }
    }

    /// Reloads for a watch, which gives missing files a second to come back.
    ///
    /// - Returns: the time at which to look again, if files are missing.
    func follow(_ change: FolderChange) async -> Duration? {
        let (wasLost, start) = (watchState.withLock { $0.isUnreadable }, world.uptime)
        do {
            await finish(try await world.blocking { [self] in try swap(change, graceAt: world.uptime) })
        } catch let error as PolicyError {
            // A missing folder is reported once.
            if !wasLost || !watchState.withLock({ $0.isUnreadable }) { reportRejection(error) }
        } catch {}
        // Files that were due before the start of this look have been looked at.
        return watchState.withLock { $0.nextLook }.flatMap { $0 > start ? $0 : nil }
    }

    func reportSuccess(_ changes: [PolicyChange]) {
        report {
            let wasRefused = watchState.withLock { state in
                defer { (state.refusal, state.usesKeptPolicies) = (nil, false) }
                return state.refusal != nil
            }
            return wasRefused || !changes.isEmpty ? .reloaded(changes) : nil
        }
    }

    func reportRejection(_ error: PolicyError) {
        report {
            watchState.withLock { $0.refusal = error }
            return .rejected(error)
        }
    }

    /// Puts the kept policies in effect in place of those with errors. Blocks the thread.
    ///
    /// - Returns: whether there are any kept policies that can be composed.
    func useKeptPolicies() -> Bool {
        policies.withLock { folder in
            guard let texts = keptPolicies?.read() else { return false }
            let reader = folder.reader.reading(texts)
            guard let policies = try? reader.readAll(), let settings = try? reader.process(),
                let attachments = try? attachments(for: settings),
                (try? install(
                    PolicyFolder.Changes(policies: policies, removed: []), settings: settings, with: attachments))
                    != nil
            else { return false }
            folder.markReplaced(policies.map(\.resource))
            watchState.withLock { $0.usesKeptPolicies = true }
            return true
        }
    }

    func keep(_ texts: [String: [UInt8]]) {
        do {
            try keptPolicies?.write(texts)
            watchState.withLock { $0.isKept = true }
            problems.end("policies", of: nil)
        } catch {
            watchState.withLock { $0.isKept = false }
            problems.begin(CacheProblem(resource: nil, part: "policies", reason: error.description))
        }
    }
}
