import LarderFoundation
import LarderSystem
import Larder
import LarderSimulation

/// The result of playing a row.
struct RowResult: Sendable {
    /// The answer that one caller got.
    struct CallerResult: Sendable {
        /// The value; nil for a step that asks for none.
        var result: Result<Loaded<Data>?, any Error>
        var at: Duration
    }

    /// A call to the origin.
    struct Received: Sendable {
        var start: Duration
        var etag: String?
        var lastModified: String?
    }

    /// The answers to the callers of each step; nil for a caller without an answer.
    var sights: [[CallerResult?]] = []
    var calls: [Received] = []
    var bodyWrites = 0
    /// The content of each tier, by the keys of the row.
    var stored: [[String: String]] = []
    /// The failures of each tier at the end of each step that expects some, and at the end of the row.
    var faults: [[String: UInt64]] = []
    var faultsAtEnd: [String: UInt64] = [:]
    /// The results of the steps of a row about an outbox, by their places, and the keys that wait at the end.
    var outbox: [Int: OutboxResult] = [:]
    var queues: [String: [String]] = [:]
}

/// The error of a scripted origin.
struct OriginFailure: Error {
    var kind: String
}

/// Plays a row in a world of its own.
struct ConformPlay: Sendable {
    private typealias Events = Locked<RowResult>

    private let scenario: ConformRow
    private let scale: PayloadScale
    private let world: SimulatedWorld
    private let origin: ScriptedOrigin
    private let stores: [FaultyStore]

    private init(_ scenario: ConformRow, _ world: SimulatedWorld) throws {
        self.scenario = scenario
        self.world = world
        let scale = try PayloadScale(of: scenario)
        self.scale = scale
        origin = ScriptedOrigin(
            scenario.answers.map { $0.act(scenario.strategy, scale, in: world) },
            then: .throwing(OriginFailure(kind: "no-answer-left")), world: world)
        stores = scenario.tiers.enumerated().map { place, tier in
            // A damaged or lost payload is noticed only if the copy comes from outside the process.
            let isForeign =
                tier.name != "memory" || scenario.strategy.checksPayloads
                || scenario.seeds.contains { $0.tier == place && $0.body == nil }
            return FaultyStore(ConformRow.pluginName(of: place), isForeign: isForeign, world: world)
        }
    }

    /// Plays a row to its end.
    ///
    /// - Throws: ``Unsupported`` if no policy can express the row.
    static func play(_ scenario: ConformRow, registry: Registry) throws -> RowResult {
        if scenario.strategy.kind == .outbox { return try OutboxPlay.play(scenario) }
        let folder = FileManager.default.temporaryDirectory.appending(path: "larder-conform-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let text = try scenario.policy().text()
        try Data(text.utf8).write(to: folder.appending(path: ConformRow.resource + ".json"))
        return try SimulatedWorld().run(leaving: .anything) { world in
            try await ConformPlay(scenario, world).run(policies: folder, registry)
        }
    }

    private func run(policies: URL, _ registry: Registry) async throws -> RowResult {
        var registry = registry
        for plugin in ConformPlugins.all + [origin.plugin(ConformRow.resource)] { try registry.register(plugin) }
        for store in stores { try registry.register(store.plugin(keepingIn: ConformRow.innerStore)) }
        let pantry = try await Pantry(
            policies: policies, registry: registry, cache: policies.appending(path: "cache"), environment: [:],
            world: world)
        let resource = pantry.resource(ConformRow.resource)
        try await stock(resource, admittedBy: try validators(of: pantry, registry))
        for (tier, store) in zip(scenario.tiers, stores) { tier.setFaults(of: store) }
        let events = Events(RowResult())
        events.withLock {
            $0.sights = scenario.steps.map { Array(repeating: nil, count: $0.count) }
            $0.faults = scenario.steps.map { _ in [:] }
        }
        for (place, step) in scenario.steps.enumerated() {
            if step.at > world.uptime { try await world.sleep(for: step.at - world.uptime) }
            start(step, place, resource, events)
        }
        let times = scenario.steps.flatMap { [$0.at, $0.cancelAt ?? .zero, $0.expected.doneAt ?? .zero] }
        let last = times.max() ?? .zero
        try await sleep(past: scenario.end.at ?? last)
        let bodyWrites = stores.first?.bodyWrites ?? 0
        let stored = try await stored(resource)
        let faults = resource.metrics.storeFaults
        // The counts of failures are read a moment after the last time.
        try await sleep(past: last + .nanoseconds(1))
        var played = events.withLock { $0 }
        played.bodyWrites = bodyWrites
        played.stored = stored
        played.faultsAtEnd = faults
        played.calls = zip(origin.starts, origin.calls).map { start, call in
            RowResult.Received(
                start: start, etag: call.known?.metadata.etag, lastModified: call.known?.metadata.lastModified)
        }
        return played
    }

    /// Waits until everything that happens at `moment` has ended.
    private func sleep(past moment: Duration) async throws {
        let end = moment + .nanoseconds(1)
        if end > world.uptime { try await world.sleep(for: end - world.uptime) }
    }

    private func start(_ step: ConformRow.Step, _ place: Int, _ resource: Resource<Data>, _ events: Events) {
        for caller in 0..<step.count {
            let work = world.spawn {
                let result: Result<Loaded<Data>?, any Error>
                do { result = .success(try await perform(step, resource)) } catch { result = .failure(error) }
                let sight = RowResult.CallerResult(result: result, at: world.uptime)
                events.withLock { $0.sights[place][caller] = sight }
            }
            guard let cancelAt = step.cancelAt else { continue }
            world.spawn {
                try? await world.sleep(for: cancelAt - step.at)
                work.cancel()
            }
        }
        if step.expected.storeErrors.isEmpty { return }
        world.spawn {
            try? await sleep(past: step.expected.doneAt ?? step.at)
            events.withLock { $0.faults[place] = resource.metrics.storeFaults }
        }
    }

    private func perform(_ step: ConformRow.Step, _ resource: Resource<Data>) async throws -> Loaded<Data>? {
        var fields = Fields()
        for header in step.requestHeaders { fields[header.name] = header.value }
        let request = resource.request(["key": step.key], fields: fields)
        switch step.operation {
        case .get: return try await load(request, resource)
        case .getLocal:
            return try await load(resource.request(["key": step.key], mode: .cachedOnly, fields: fields), resource)
        case .send(let method, let body):
            // A method that changes nothing leaves the copy as it is.
            let isSafe = ["GET", "HEAD", "OPTIONS", "TRACE"].contains(method.uppercased())
            let sent = resource.request(["key": step.key], fields: fields, body: body)
            return try await resource.send(
                sent, method: method, invalidating: isSafe ? [] : [.key(request.key)]
            ).map { scale.body($0) }
        case .put(let body):
            let saved = try await resource.save(scale.payload(body), for: request)
            // A value that no store has room for is no failure.
            if !saved.isStored, saved.trail.steps.contains(where: { $0.event.kind == .storeFailed }) {
                throw StoreError("no store keeps it")
            }
        case .drop(let tier): try await stores[tier].lose(request.key)
        // A store enforces its limits at each write and each read, so there is nothing left to do.
        case .sweep: break
        // Only a row about an outbox has such a step.
        case .enqueue, .replay: break
        }
        return nil
    }

    private func load(_ request: Request, _ resource: Resource<Data>) async throws -> Loaded<Data> {
        try await resource.load(request).map { scale.body($0) }
    }

    // MARK: The stores

    private func validators(of pantry: Pantry, _ registry: Registry) throws -> Validators {
        let context = StoreContext(resource: ConformRow.resource, world: world, cacheDirectory: "")
        let parts = pantry.policy(of: ConformRow.resource)?.validators ?? []
        return Validators(try parts.map { try $0.validator(in: context) })
    }

    /// Puts the first entries into the stores, the oldest first.
    private func stock(_ resource: Resource<Data>, admittedBy validators: Validators) async throws {
        let order = scenario.seeds.enumerated().sorted { ($1.element.age, $0.offset) < ($0.element.age, $1.offset) }
        for seed in order.map(\.element) {
            let request = resource.request(["key": seed.key])
            let body = scale.payload(seed.body ?? Data("what is lost".utf8))
            var entry = Entry(
                seed.hasOtherChecksum ? body + [0] : body, seed.metadata(at: world.now, scenario.strategy))
            guard try validators.admit(&entry, from: .origin, for: request) == .keep else { continue }
            entry = Entry(seed.body == nil ? Data() : body, entry.metadata)
            try await stores[seed.tier].stock(entry, for: request.key)
        }
    }

    /// The content of each tier.
    private func stored(_ resource: Resource<Data>) async throws -> [[String: String]] {
        let keys = Set(scenario.seeds.map(\.key) + scenario.steps.map(\.key))
        let names = Dictionary(keys.map { (resource.request(["key": $0]).key, $0) }) { first, _ in first }
        var stored: [[String: String]] = []
        for store in stores {
            var content: [String: String] = [:]
            for (key, entry) in try await store.kept() {
                content[names[key] ?? key.text] = String(decoding: scale.body(entry.payload.bytes), as: UTF8.self)
            }
            stored.append(content)
        }
        return stored
    }
}

extension ConformRow.Seed {
    /// The metadata of the entry. The first entries have the shortest lifetime: a jitter lengthens only later ones.
    fileprivate func metadata(at now: Timestamp, _ strategy: ConformRow.Strategy) -> Metadata {
        var metadata = Metadata(
            fetchedAt: now - age, etag: validators.etag, lastModified: validators.lastModified, spread: 1)
        if strategy.honoursHTTP {
            // The age of an entry in a row is its whole age, whatever its headers say.
            var fields = Fields(headers)
            fields["age"] = nil
            metadata = Metadata(httpStatus: 200, fields: fields, askedAt: now - age, arrivedAt: now - age)
            (metadata.fetchedAt, metadata.spread) = (now - age, 1)
            (metadata.etag, metadata.lastModified) = (validators.etag, validators.lastModified)
        } else {
            for header in headers { metadata.fields[header.name] = header.value }
        }
        if !strategy.honoursHTTP, ttl != strategy.ttl, let ttl { metadata[.lifetime] = Int(ttl.nanoseconds) }
        return metadata
    }
}

extension ConformRow.Tier {
    /// Makes operations of a store fail as the row says.
    fileprivate func setFaults(of store: FaultyStore) {
        for operation in [FaultyStore.Operation.read, .write, .renew, .expire, .remove] {
            let faults = faults.filter { $0.concerns(operation) }
            for number in 1..<(1 + (faults.compactMap(\.number).max() ?? 0)) {
                store.play(.of(faults.filter { $0.number == nil || $0.number == number }), for: operation)
            }
            store.set(.of(faults.filter { $0.number == nil }), for: operation)
        }
    }
}

extension ConformRow.Fault {
    /// Whether the fault can happen in an operation of a store. A full disk allows all but writing payloads, and only
    /// that is counted as a write.
    fileprivate func concerns(_ operation: FaultyStore.Operation) -> Bool {
        switch operation {
        case .read: ["read", "any"].contains(self.operation)
        case .write: ["write", "any"].contains(self.operation)
        case .renew: self.operation == "any" || self.operation == "write" && error != "enospc" && number == nil
        case .remove: ["remove", "any"].contains(self.operation)
        default: self.operation == "any"
        }
    }
}

extension FaultyStore.Fault? {
    /// Returns what happens in an operation with all of these faults.
    fileprivate static func of(_ faults: [ConformRow.Fault]) -> FaultyStore.Fault? {
        let delay = faults.compactMap(\.delay).reduce(Duration.zero, +)
        let errors = Set(faults.compactMap(\.error))
        if errors == ["corrupt"] { return .corrupts }
        if !errors.isEmpty { return delay == .zero ? .fails : .failsAfter(delay) }
        return delay == .zero ? nil : .takes(delay)
    }
}

extension ResourceMetrics {
    /// The numbers of failures of stores, by tier.
    fileprivate var storeFaults: [String: UInt64] {
        faults.reduce(into: [:]) { tiers, fault in tiers[fault.key.tier, default: 0] += fault.value }
    }
}
