public import LarderFoundation
public import LarderSystem

/// All resources composed from one folder of policies.
///
/// ```swift
/// let pantry = try await Pantry(policies: folder)
/// let videos = try await pantry.resource("feed", as: [Video].self).load()
/// print(videos.value, videos.freshness, videos.trail)
/// ```
///
/// The policies can be replaced while the pantry is in use: see ``reload()``, ``watch()`` and ``replace(policies:)``.
public final class Pantry: Sendable {
    private struct State {
        var resourceStates: [String: ResourceState] = [:]
        /// A number for each codec in use. Raw bytes have the number 0.
        var codecs: [CodecKey: Int] = [:]
    }

    let folder: String
    /// Whether the policies are in a folder, which can be watched.
    let hasFolder: Bool
    let composer: Composer
    let ifCacheUnusable: UnusableCacheAction
    let problems: CacheProblems
    let world: any World
    private let state = Locked(State())
    /// The states and codecs of which handles are made, so that making a handle takes no lock. It is replaced when a
    /// handle needs one that is missing.
    private let known = AtomicReference<KnownResources>()
    private let processRun: ProcessRun
    private let installation: Installation
    private let memoryPressure = Locked<MemoryPressure?>(nil)
    let processFiles: ProcessFiles
    let operationsFiles = Locked<OperationsFiles?>(nil)
    /// The attachments of the sections in `_larder.json`.
    let attachments = Locked(PantryAttachments())
    let eventListeners: Listeners<PantryEvent>
    let sinks: EventSinks
    /// Locked while policies are read and put in effect.
    let policies: BlockingLock<PolicyFolder>
    let ifUnsound: UnsoundPoliciesAction
    /// The file of the last sound policies; nil if it is not used.
    let keptPolicies: KeptPolicies?
    /// Whether the places that no pantry has used for a week are deleted.
    let removesUnused: Bool
    let watchState = Locked(WatchState())
    let device: Device
    /// The subscription to changes of the device, and whether its losses of the network are reported.
    let deviceChanges = Locked<(subscription: Subscription?, reportsLosses: Bool)>((nil, false))
    let agenda: Agenda
    let keptInstances: KeptInstances
    /// The clearings that are being carried out.
    let clearingsUnderWay = Locked<Set<String>>([])
    /// Tells screens of clearings.
    let clearingNotices = ClearingNotices()
    /// Whether the pantry is closed, so that its resources keep nothing.
    let isClosed = Locked(false)

    /// Reads the policies in a folder and composes each. If there is any problem, nothing is composed.
    ///
    /// If an earlier run was ended during a clearing, this finishes the clearing. A store that takes longer than 30 seconds
    /// finishes it in the background, keeps nothing until then, and is among the ``cacheProblems``.
    ///
    /// - Parameters:
    ///   - policies: the folder, with one file `NAME.json` for each resource.
    ///   - registry: the plugins that the policies may name.
    ///   - cache: the folder for stores, dumps and logs. The default is a folder for this program in the user's folder for
    ///     caches.
    ///   - data: the folder for data of users that is not a cache, such as changes that were not sent yet, and for the
    ///     identity of the installation. It is made when it is first used, and no clearing reaches it. The default is a
    ///     folder for this program in the user's folder for the data of programs.
    ///   - ifCacheUnusable: whether to go on without the parts of that folder that cannot be used. ``cacheProblems`` lists
    ///     them.
    ///   - ifUnsound: whether to start with the last sound policies if these have errors. ``warnings`` and ``events`` then
    ///     say so.
    ///   - environment: the values for `${NAME}` in policies.
    ///   - world: time, randomness, background work and blocking I/O.
    /// - Throws: ``PolicyError`` with all problems of all policies.
    public convenience init(
        policies: URL, registry: Registry, cache: URL? = nil, data: URL? = nil,
        ifCacheUnusable: UnusableCacheAction = .goOn, ifUnsound: UnsoundPoliciesAction = .fail,
        environment: [String: String] = ProcessInfo.processInfo.environment, world: any World = SystemWorld()
    ) async throws {
        try await self.init(
            reader: PolicyReader(registry: registry, folder: policies.shortPath, environment: environment),
            cache: cache, data: data, ifCacheUnusable: ifCacheUnusable, ifUnsound: ifUnsound, world: world)
    }

    /// Reads policies that are in memory and composes each. If there is any problem, nothing is composed.
    ///
    /// ```swift
    /// let feed = #"""
    ///     { "resource": "feed", "origin": { "use": "constant", "value": 1 }, "strategy": "network-only" }
    ///     """#
    /// let pantry = try await Pantry(policies: ["feed": feed], registry: registry)
    /// ```
    ///
    /// They are read like files: messages call the policy above `feed.json`, with line and column.
    ///
    /// - Parameters:
    ///   - policies: the text of each policy by the name of its resource. A name that begins with `_` stands for a file
    ///     of that name: policies can extend `_base` as `"_base.json"`, and `_larder` has the settings of the process.
    ///   - files: the folder of the files that policies read, such as a fallback's. Without it, a policy that names a
    ///     file is an error.
    ///   - registry: the plugins that the policies may name.
    ///   - cache: the folder for stores, dumps and logs. The default is a folder for this program in the user's folder for
    ///     caches.
    ///   - data: the folder for data of users that is not a cache, such as changes that were not sent yet, and for the
    ///     identity of the installation. It is made when it is first used, and no clearing reaches it. The default is a
    ///     folder for this program in the user's folder for the data of programs.
    ///   - ifCacheUnusable: whether to go on without the parts of that folder that cannot be used. ``cacheProblems`` lists
    ///     them.
    ///   - environment: the values for `${NAME}` in policies.
    ///   - world: time, randomness, background work and blocking I/O.
    /// - Throws: ``PolicyError`` with all problems of all policies.
    public convenience init(
        policies: [String: String], files: URL? = nil, registry: Registry, cache: URL? = nil, data: URL? = nil,
        ifCacheUnusable: UnusableCacheAction = .goOn,
        environment: [String: String] = ProcessInfo.processInfo.environment, world: any World = SystemWorld()
    ) async throws {
        try await self.init(
            reader: PolicyReader(
                registry: registry, texts: policies, files: files?.shortPath, environment: environment),
            cache: cache, data: data, ifCacheUnusable: ifCacheUnusable, world: world)
    }

    /// Makes a pantry of the policies that `reader` gives. `substitute` replaces the origin of each policy.
    ///
    /// - Parameters:
    ///   - removesUnused: whether to delete the places that no pantry has used for a week.
    ///   - ignoresSources: whether copies of every source are found, and not only those of the policy's own.
    ///   - allowsBackgroundWork: whether the pantry and its sections may start work of their own.
    ///   - allowsDueWork: whether ``runDue(within:)`` is called. By default, if they may start work of their own.
    package init(
        reader: PolicyReader, cache: URL?, data: URL? = nil, ifCacheUnusable: UnusableCacheAction = .goOn,
        ifUnsound: UnsoundPoliciesAction = .fail, world: any World,
        substitute: OriginSubstitute? = nil,
        isMeasured: Bool = true, removesUnused: Bool = true, ignoresSources: Bool = false,
        allowsBackgroundWork: Bool = true,
        allowsDueWork: Bool? = nil
    ) async throws {
        self.removesUnused = removesUnused
        folder = reader.folder
        hasFolder = !reader.files.isInMemory
        // Finding these folders takes longer than composing a policy, so it is not done in vain.
        func standardFolder(_ kind: FileManager.SearchPathDirectory) -> URL? {
            // Each program has its own folder, because two programs may have a resource of the same name.
            let program = "larder/" + PlaceName.folder(of: ProcessInfo.processInfo.processName)
            return FileManager.default.urls(for: kind, in: .userDomainMask).first?.appending(path: program)
        }
        guard let cacheDirectory = (cache ?? standardFolder(.cachesDirectory))?.path else {
            throw PolicyError([
                Problem("no folder for caches is known; pass `cache:` to Pantry", file: hasFolder ? folder : "policies")
            ])
        }
        let dataDirectory = (data ?? standardFolder(.applicationSupportDirectory))?.path
        policies = BlockingLock(PolicyFolder(reader))
        let (eventListeners, sinks) = (Listeners<PantryEvent>(), EventSinks())
        (self.eventListeners, self.sinks) = (eventListeners, sinks)
        let problems = CacheProblems { Self.report($0, listeners: eventListeners, sinks: sinks, at: world.now) }
        self.problems = problems
        composer = Composer(
            registry: reader.registry, world: world, cacheDirectory: cacheDirectory, dataDirectory: dataDirectory,
            ifCacheUnusable: ifCacheUnusable, problems: problems,
            substitute: substitute, ignoresSources: ignoresSources, isMeasured: isMeasured)
        self.ifCacheUnusable = ifCacheUnusable
        self.ifUnsound = ifUnsound
        keptPolicies = ifUnsound == .useLastSound ? KeptPolicies(of: reader.folder, in: cacheDirectory) : nil
        self.world = world
        device = Device(in: world)
        agenda = Agenda(in: world, on: device)
        keptInstances = KeptInstances(in: composer.data, on: agenda)
        processRun = ProcessRun(in: world)
        installation = Installation(in: composer.data, world: world)
        processFiles = ProcessFiles(in: cacheDirectory)
        composer.pantry.refer(to: self)
        followDevice()
        composer.pantry.allowsBackgroundWork = allowsBackgroundWork
        composer.pantry.allowsDueWork = allowsDueWork ?? allowsBackgroundWork
        do {
            _ = try await world.blocking { [self] in try swap(.anything) }
        } catch let error as PolicyError where ifUnsound == .useLastSound {
            guard try await world.blocking({ [self] in useKeptPolicies() }) else { throw error }
            reportRejection(error)
        }
        composer.turns.finishClearings { [weak self] in await self?.finishClearings() }
        await finishClearings()
        resumeBackgroundWork()
        memoryPressure.withLock { $0 = MemoryPressure { [weak self] in self?.relieve() } }
    }

    // MARK: Resources

    /// The names of all resources, in order.
    public var resources: [String] { graphs.map(\.policy.resource) }

    /// The plugins that the policies may name.
    public var registry: Registry { composer.registry }

    /// The policy that is in effect for a resource; nil if there is no such resource.
    public func policy(of resource: String) -> Policy? {
        state.withLock { $0.resourceStates[resource] }?.graph?.policy
    }

    /// Returns an entry as the validators of a resource admit it when it arrives from the origin; nil if they
    /// refuse it or do not let it be kept.
    package func admitted(_ entry: Entry, by resource: String) -> Entry? {
        var entry = entry
        guard let graph = state.withLock({ $0.resourceStates[resource] })?.graph else { return entry }
        do {
            let admission = try graph.validators.admit(&entry, from: .origin, for: Request(resource))
            entry.metadata.source = graph.policy.source?.own
            return admission == .keep ? entry : nil
        } catch {
            return nil
        }
    }

    /// The warnings about the policies in effect: they can be used, but something may not work as their author expects.
    public var warnings: [Problem] {
        let keptAreUsed = Problem("not sound; the last sound policies are in effect", .warning, file: folder)
        return (watchState.withLock { $0.usesKeptPolicies } ? [keptAreUsed] : []) + graphs.flatMap(\.policy.warnings)
    }

    /// The warnings about the policy of one resource.
    package func warnings(of resource: String) -> [Problem] { graph(of: resource)?.policy.warnings ?? [] }

    /// The parts of the cache folder that cannot be used now. The pantry goes on without them.
    public var cacheProblems: [CacheProblem] { problems.all }

    /// Returns a handle for the bytes of a resource. If there is no such resource, its loads throw.
    public func resource(_ name: String) -> Resource<Data> {
        Resource(resourceState: knownState(name) ?? resourceState(name), codec: .raw, pantry: self)
    }

    /// Returns a handle for a resource whose payloads are JSON.
    public func resource<Value: Decodable & Sendable>(_ name: String, as type: Value.Type) -> Resource<Value> {
        resource(name, codec: JSONCodec<Value>())
    }

    /// Returns a handle for a resource whose payloads are decoded by a codec.
    public func resource<C: Codec>(_ name: String, codec: C) -> Resource<C.Value> {
        let key = CodecKey(codec: codec)
        let id = known.use { $0.codecs[key] } ?? codecID(key)
        return Resource(
            resourceState: knownState(name) ?? resourceState(name), codec: AnyCodec(codec, id: id), pantry: self)
    }

    /// The metrics of all loads so far, for reading and for dumping.
    public var metrics: PantryMetrics {
        PantryMetrics(
            resourceStates: resourceStates, processRun: processRun, installation: installation, world: world,
            unusable: cacheProblems, logLost: operationsFiles.withLock { $0 }?.linesLost,
            supply: attachments.withLock { $0 }.supply)
    }

    /// The notable decisions from now on: loads that were not answered with live or fresh data, failures of stores,
    /// reports of plugins, and changes of policies. Each access returns a new stream, which ends with the pantry and
    /// keeps the last thousand decisions that were not read. The `log` of a policy sets the share of its decisions that
    /// is reported.
    public var decisions: AsyncStream<Decision> { sinks.decisions.stream(most: 1_000) }

    /// Records every load from now on in a file, one line of JSON each: its start, the resource, a hash of its key, and
    /// its outcome. `larder simulate --trace` replays the file.
    ///
    /// The hash has a new salt for each recording, which is not stored anywhere. So two lines of one recording show
    /// whether they are about the same key, but not which key it is. New lines are appended to those in the file.
    ///
    /// - Throws: the reason of the system if the file cannot be written.
    public func record(to file: URL) throws -> Recording {
        try Recording(file.path, listeners: sinks.loads, in: world)
    }

    // MARK: States of resources

    var resourceStates: [ResourceState] { state.withLock { $0.resourceStates.values.sorted { $0.name < $1.name } } }

    var graphs: [LoaderGraph] { resourceStates.compactMap(\.graph) }

    /// Returns the present graph of a resource; nil if there is no such resource.
    func graph(of resource: String) -> LoaderGraph? { state.withLock { $0.resourceStates[resource] }?.graph }

    /// Returns the state of a resource that has a policy. Takes no lock.
    private func knownState(_ name: String) -> ResourceState? { known.use { $0.states[name] } }

    /// Makes the states of resources known to ``resource(_:)``.
    func makeKnown(_ names: [String]) {
        if known.use({ known in names.allSatisfy { known.states[$0] != nil } }) == true { return }
        state.withLock { makeKnown($0) }
    }

    /// Called with the lock of the state held, because only one thread may replace a reference at a time.
    private func makeKnown(_ state: State) {
        let former = known.replace(with: KnownResources(states: state.resourceStates, codecs: state.codecs))
        withExtendedLifetime(former) {}
    }

    /// Returns the number of a codec, and gives it one on first use.
    private func codecID(_ codec: CodecKey) -> Int {
        state.withLock { state in
            if let id = state.codecs[codec] { return id }
            let id = state.codecs.count + 1
            state.codecs[codec] = id
            makeKnown(state)
            return id
        }
    }

    /// The parts of which handles are made.
    private final class KnownResources: Sendable {
        let states: [String: ResourceState]
        let codecs: [CodecKey: Int]

        init(states: [String: ResourceState], codecs: [CodecKey: Int]) { (self.states, self.codecs) = (states, codecs) }
    }

    /// Returns the state of a resource, and makes it on first use.
    func resourceState(_ name: String) -> ResourceState {
        state.withLock { state in
            if let resourceState = state.resourceStates[name] { return resourceState }
            let resourceState = ResourceState(
                name, reportingTo: sinks, problems: problems, cleared: composer.places.cleared)
            resourceState.postponeRefreshes(on: agenda)
            state.resourceStates[name] = resourceState
            return resourceState
        }
    }
}

extension URL {
    /// The path of a file, relative to the working directory if the file is below it.
    package var shortPath: String {
        let here = FileManager.default.currentDirectoryPath + "/"
        let path = path
        return path.hasPrefix(here) && path != here ? String(path.dropFirst(here.count)) : path
    }
}
