#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// All resources composed from one folder of policies.
///
/// ```swift
/// let pantry = try await Pantry(policies: folder)
/// let videos = try await pantry.resource("feed", as: [Video].self).load()
/// print(videos.value, videos.freshness, videos.trail)
/// ```
///
/// The policies can be swapped while the pantry is in use: see ``reload()`` and ``watch()``.
public final class Pantry: Sendable {
    private struct State {
        var slots: [String: Slot] = [:]
        /// A number for each codec in use; zero is raw bytes.
        var codecs: [KnownCodec: Int] = [:]
    }

    let folder: String
    let composer: Composer
    private let ifCacheUnusable: UnusableCacheAction
    let problems: CacheProblems
    let world: any World
    private let state = Locked(State())
    private let life: Life
    private let pressure = Locked<MemoryPressure?>(nil)
    private let housekeeping = Locked<Housekeeping?>(nil)
    private let swaps: Listeners<PantryEvent>
    package let hearing: Hearing
    /// Held while policies are read and swapped.
    let policies: Exclusive<PolicyFolder>
    let ifUnsound: UnsoundPoliciesAction
    let kept: KeptPolicies
    let watched = Locked(WatchState())

    /// Reads the policies in a folder and composes each; on any problem nothing is composed.
    ///
    /// - Parameters:
    ///   - policies: the folder. One file `NAME.json` for each resource.
    ///   - registry: the plugins the policies may name.
    ///   - cache: the folder that stores may write to; by default one for this program in the user's
    ///     folder for caches.
    ///   - ifCacheUnusable: whether to go on without what cannot be used in that folder. ``cacheProblems`` tells what that is.
    ///   - ifUnsound: whether to begin with the last sound policies if these are not. ``warnings`` and ``events`` tell.
    ///   - environment: where `${NAME}` in policies is looked up.
    ///   - world: time, randomness, background work and blocking I/O.
    /// - Throws: ``PolicyError`` with everything that is wrong with any of them.
    public convenience init(
        policies: URL, registry: Registry = .standard, cache: URL? = nil,
        ifCacheUnusable: UnusableCacheAction = .goOn, ifUnsound: UnsoundPoliciesAction = .fail,
        environment: [String: String] = ProcessInfo.processInfo.environment, world: any World = SystemWorld()
    ) async throws {
        try await self.init(
            reader: PolicyReader(registry: registry, folder: policies.shortPath, environment: environment),
            cache: cache, ifCacheUnusable: ifCacheUnusable, ifUnsound: ifUnsound, world: world)
    }

    /// The policies that `reader` gives, perhaps with something in the place of their own origins.
    package init(
        reader: PolicyReader, cache: URL?, ifCacheUnusable: UnusableCacheAction = .goOn,
        ifUnsound: UnsoundPoliciesAction = .fail, world: any World,
        substitute: OriginSubstitute? = nil,
        isMeasured: Bool = true
    ) async throws {
        folder = reader.folder
        // Each program has its own: two may well have a resource of the same name.
        let program = "larder/" + PlaceName.folder(of: ProcessInfo.processInfo.processName)
        let caches = FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first
        guard let cacheDirectory = (cache ?? caches?.appending(path: program))?.path else {
            throw PolicyError([Problem("the user has no folder for caches; name one", file: folder)])
        }
        policies = Exclusive(PolicyFolder(reader))
        composer = Composer(
            registry: reader.registry, world: world, cacheDirectory: cacheDirectory, ifCacheUnusable: ifCacheUnusable,
            substitute: substitute, isMeasured: isMeasured)
        self.ifCacheUnusable = ifCacheUnusable
        self.ifUnsound = ifUnsound
        kept = KeptPolicies(of: reader.folder, in: cacheDirectory)
        let (swaps, hearing) = (Listeners<PantryEvent>(), Hearing())
        (self.swaps, self.hearing) = (swaps, hearing)
        problems = CacheProblems { Self.tell($0, swaps, hearing, at: world.now) }
        self.world = world
        life = Life(in: world)
        do {
            _ = try await world.blocking { [self] in try swap(.anything) }
        } catch let error as PolicyError where ifUnsound == .useLastSound {
            guard try await world.blocking({ [self] in standIn() }) else { throw error }
            refused(error)
        }
        await finishClearings()
        pressure.withLock { $0 = MemoryPressure { [weak self] in self?.relieve() } }
    }

    // MARK: Resources

    /// The names of all resources, in order.
    public var resources: [String] { graphs.map(\.policy.resource) }

    /// The policy a resource runs on now; nil when there is no such resource.
    public func policy(of resource: String) -> Policy? {
        state.withLock { $0.slots[resource] }?.graph?.policy
    }

    /// What is not wrong with the policies, but perhaps not what their author thinks.
    public var warnings: [Problem] {
        let standIn = Problem("not sound; the last sound policies are in effect", .warning, file: folder)
        return (watched.withLock { $0.isStoodIn } ? [standIn] : []) + graphs.flatMap(\.policy.warnings)
    }

    /// The parts of the cache folder that cannot be used now, so that the pantry goes on without them.
    public var cacheProblems: [CacheProblem] { problems.all }

    /// A handle for the bytes of a resource. If there is no such resource, its loads say so.
    public func resource(_ name: String) -> Resource<Data> {
        Resource(slot: slot(name), codec: .raw, pantry: self)
    }

    /// A handle for a resource whose payloads are JSON.
    public func resource<Value: Decodable & Sendable>(_ name: String, as type: Value.Type) -> Resource<Value> {
        resource(name, codec: JSONCodec<Value>())
    }

    /// A handle for a resource whose payloads are read by a codec.
    public func resource<C: Codec>(_ name: String, codec: C) -> Resource<C.Value> {
        let id = state.withLock { state in
            let key = KnownCodec(codec: codec)
            if let id = state.codecs[key] { return id }
            let id = state.codecs.count + 1
            state.codecs[key] = id
            return id
        }
        return Resource(slot: slot(name), codec: AnyCodec(codec, id: id), pantry: self)
    }

    /// What happened to all loads so far, for reading and for dumping.
    public var metrics: PantryMetrics {
        PantryMetrics(
            slots: slots, life: life, world: world, unusable: cacheProblems,
            logLost: housekeeping.withLock { $0 }?.linesLost)
    }

    /// Waits until answers that have arrived are saved, and writes the last dump of the metrics and the rest of the log,
    /// where `_larder.json` wants them: at the end of the process. Loads go on, and are counted in no file any more.
    public func close() async {
        for slot in slots { await slot.settle() }
        await housekeeping.withLock { $0 }?.close()
    }

    /// What is not plain from now on: loads that were not answered with live or fresh data, stores that failed, breakers
    /// and policies that changed. Every access gives a stream of its own, which ends with the pantry; of what nobody takes,
    /// the last thousand are kept. A policy's `log` says how much of it is told.
    public var decisions: AsyncStream<Decision> { hearing.decisions.stream(most: 1_000) }

    /// Records every load from now on in a file, one line of JSON each: when it began, the resource, a hash of its key, and
    /// how it ended. `larder simulate --trace` replays it.
    ///
    /// The hash is salted anew for each recording, and the salt is kept nowhere: two lines of one recording tell whether
    /// they are about the same instance, and nothing tells which. What is in the file already stays.
    ///
    /// - Throws: a description of what the system refused when the file cannot be written.
    public func record(to file: URL) throws -> Recording {
        try Recording(file.path, hearing.loads, world)
    }

    // MARK: Swapping policies

    /// What happens to the policies and to the cache folder from now on, after what is wrong with them now. Every access
    /// gives a stream of its own, which ends with the pantry.
    public var events: AsyncStream<PantryEvent> {
        let refusal = watched.withLock { $0.refusal }.map { [PantryEvent.rejected($0)] } ?? []
        return swaps.stream(most: 100, after: refusal + cacheProblems.map { .cacheUnusable($0) })
    }

    /// Reads the policies whose files changed, or files that they extend, and, if all of them are sound, swaps those that
    /// say something else. All others keep what they have.
    ///
    /// Loads under way finish on the policy they started on. A store whose declaration did not change keeps its contents,
    /// and calls under way are joined by later loads if origin, wrappers and validators did not change either. One that
    /// did change is opened anew, and the old one goes with its last user.
    ///
    /// - Returns: what changed.
    /// - Throws: ``PolicyError`` with everything that is wrong; then the last good policies stay in effect.
    @discardableResult
    public func reload() async throws -> [PolicyChange] {
        try await reload(.anything)
    }

    /// The same, where it is known which files of the folder may have changed.
    @discardableResult
    package func reload(_ change: FolderChange) async throws -> [PolicyChange] {
        do {
            let changes = try await world.blocking { [self] in try swap(change) }
            await finishClearings()
            accepted(changes)
            return changes
        } catch let error as PolicyError {
            refused(error)
            throw error
        }
    }

    func tell(_ event: PantryEvent) { Self.tell(event, swaps, hearing, at: world.now) }

    private static func tell(
        _ event: PantryEvent, _ swaps: Listeners<PantryEvent>, _ hearing: Hearing, at now: Timestamp
    ) {
        swaps.send(event)
        for decision in event.decisions(at: now) { hearing.decisions.send(decision) }
    }

    /// Reads what changed, composes it, and only then puts it in place. Blocks.
    func swap(_ change: FolderChange, patientAt uptime: Duration? = nil) throws(PolicyError) -> [PolicyChange] {
        try policies.withLock { folder throws(PolicyError) in
            defer { watched.withLock { ($0.isLost, $0.doubtEnds) = (folder.isLost, folder.doubtEnds) } }
            let news = try folder.look(at: change, patientAt: uptime)
            let former = folder.process.bytes
            let changes = try install(news, try folder.settings(patientAt: uptime), change)
            folder.tookEffect()
            let isSame = news.policies.isEmpty && news.gone.isEmpty && folder.process.bytes == former
            if ifUnsound == .useLastSound, !isSame || !watched.withLock({ $0.isKept }) { keep(folder.texts) }
            return changes
        }
    }

    /// Composes policies, and puts them in place if all of them can be.
    func install(
        _ news: PolicyFolder.News, _ settings: ProcessSettings, _ change: FolderChange = .anything
    ) throws(PolicyError) -> [PolicyChange] {
        var problems: [Problem] = []
        var next: [(slot: Slot, graph: LoaderGraph?)] = []
        for policy in news.policies + mended(change, except: news) {
            let slot = slot(policy.resource)
            let former = slot.graph
            if let former, former.policy.isSame(as: policy), !composer.isMended(former) { continue }
            do throws(PolicyError) {
                next.append((slot, try composer.compose(policy, after: former, in: slot)))
            } catch {
                problems += error.problems
            }
        }
        if !problems.isEmpty { throw PolicyError(problems) }
        let housekeeping = try housekeeping(for: settings)
        for name in news.gone.sorted() {
            let slot = slot(name)
            if slot.graph != nil { next.append((slot, nil)) }
        }
        let changes = next.compactMap { slot, graph -> PolicyChange? in
            if let graph, slot.graph?.policy.isSame(as: graph.policy) == true { return nil }
            return PolicyChange(
                resource: slot.name, from: slot.graph?.policy.revision, to: graph?.policy.revision)
        }
        try? composer.places.sync()
        for (slot, graph) in next {
            slot.replace(with: graph)
            self.problems.replace(graph?.places.problems ?? [], of: slot.name)
        }
        let last = self.housekeeping.withLock { kept in
            defer { kept = housekeeping }
            return kept
        }
        withExtendedLifetime(last) {}
        return changes
    }

    /// Policies that say what they did, but whose stores can have the folders now that they could not have before.
    private func mended(_ change: FolderChange, except news: PolicyFolder.News) -> [Policy] {
        guard change == .anything, !problems.all.isEmpty else { return [] }
        let others = news.gone.union(news.policies.map(\.resource))
        return graphs.filter { !others.contains($0.policy.resource) && composer.isMended($0) }.map(\.policy)
    }

    /// What writes the files that the settings name: the one there is, if they are the same or nothing is written any more.
    private func housekeeping(for settings: ProcessSettings) throws(PolicyError) -> Housekeeping {
        if let kept = housekeeping.withLock({ $0 }), kept.settings == settings || kept.isClosed { return kept }
        return try Housekeeping(
            settings, in: composer.cacheDirectory, isRequired: ifCacheUnusable == .fail, problems: problems,
            hearing: hearing, world: world, tell: { [weak self] in self?.tell(.interrupted($0)) }
        ) { [weak self] in await self?.metrics.dump() }
    }

    // MARK: Slots

    var slots: [Slot] { state.withLock { $0.slots.values.sorted { $0.name < $1.name } } }

    var graphs: [LoaderGraph] { slots.compactMap(\.graph) }

    private func slot(_ name: String) -> Slot {
        state.withLock { state in
            if let slot = state.slots[name] { return slot }
            let slot = Slot(name, heardBy: hearing)
            state.slots[name] = slot
            return slot
        }
    }
}

extension URL {
    /// The path of a file, from the working directory where it lies below that.
    package var shortPath: String {
        let here = FileManager.default.currentDirectoryPath + "/"
        let path = path
        return path.hasPrefix(here) && path != here ? String(path.dropFirst(here.count)) : path
    }
}
