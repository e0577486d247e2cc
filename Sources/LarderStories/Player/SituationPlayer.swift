public import LarderFoundation
public import Larder
import LarderSimulation
import LarderSystem

/// Plays situations against a policy in simulated time, and tells what the user notices.
///
/// The graph is the one that the policy describes, with its strategy, wrappers, validators and fallbacks. The origins and
/// the stores that are not made of others are simulated.
///
/// ```swift
/// let player = try SituationPlayer(of: "catalog", in: folder)
/// let seen = try player.play(Situation().with { $0.origin = [.init(.hangs)] })
/// #expect(seen.waited == .seconds(4))
/// ```
///
/// A player plays one situation at a time. It may be used from any thread.
public final class SituationPlayer: Sendable {
    /// The parts of the situation that is being played.
    private struct Stage: Sendable {
        var origin: SituationOrigin
        var stores: SituationStores
    }

    let plan: SimulatedPolicy
    private let reader: PolicyReader
    private let stage: BlockingLock<Void>
    private let present: Locked<Stage?>

    /// Makes a player for the policy of a resource.
    ///
    /// - Parameters:
    ///   - resource: the resource.
    ///   - folder: the folder of its policy.
    ///   - registry: the plugins that the policy may name.
    ///   - environment: the values of `${NAME}` in policies.
    /// - Throws: `PolicyError` with the problems of the policy.
    public convenience init(
        of resource: String, in folder: URL, registry: Registry = .standard, environment: [String: String] = [:]
    ) throws {
        let reader = PolicyReader(registry: registry, folder: folder.shortPath, environment: environment)
        let result = reader.check(resource + ".json")
        guard let policy = result.policy else { throw PolicyError(result.problems) }
        try self.init(
            SimulatedPolicy(policy, registry: registry, files: folder.shortPath, environment: environment))
    }

    /// Makes a player for a policy that was read before.
    package init(_ plan: SimulatedPolicy) throws {
        self.plan = plan
        stage = BlockingLock(())
        let present = Locked<Stage?>(nil)
        self.present = present
        let registry = try plan.registry.simulated(
            store: { [name = plan.policy.resource] plugin, context, traits, own in
                guard let stores = present.withLock({ $0 })?.stores, context.resource == name else { return try own() }
                return stores.next(plugin, traits)
            },
            origin: { traits, own in
                if traits.cannotFail { return try own() }
                if traits.isLocal { return LocalFallback(contentType: plan.contentType) }
                return try present.withLock({ $0 })?.origin ?? own()
            })
        reader = try PolicyReader(
            registry: registry, texts: [plan.policy.resource: plan.text], files: plan.files,
            environment: plan.environment
        ).readAhead()
    }

    /// Plays a situation.
    ///
    /// - Throws: `PolicyError` if the policy cannot be composed.
    public func play(_ situation: Situation) throws -> Observation { try playTellingFacts(situation).seen }

    /// Plays a situation, and tells which of its facts were asked for.
    ///
    /// - Throws: `PolicyError` if the policy cannot be composed.
    func playTellingFacts(_ situation: Situation) throws -> (seen: Observation, used: UsedFacts) {
        try perform { [self] stage, world in
            world.fixChances(at: situation.chance)
            let folder = try plan.needsFolder ? TemporaryFolder() : nil
            return try await play(situation, stage: stage, cache: folder?.url ?? Self.noFolder, in: world)
        }
    }

    /// Returns the promises of the policy, the first of some media types that its validators admit, and whether a part
    /// keeps files in the cache folder.
    func tryOut(_ types: [String]) throws -> (promises: Promises?, type: String?, usesFolder: Bool) {
        try perform { [self] stage, world in
            let folder = try TemporaryFolder()
            let pantry = try await open(stage, folder.url, in: world)
            let name = plan.policy.resource
            let type = types.first { type in
                let metadata = Metadata(fetchedAt: world.now, etag: "\"1\"", contentType: type)
                return pantry.admitted(Entry(Data("{\"copy\":true}".utf8), metadata), by: name) != nil
            }
            let usesFolder = try !FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty
            return (pantry.attachment(Promises.self, of: name), type, usesFolder)
        }
    }

    /// Returns the copy that the policy keeps of an answer; nil if it keeps none.
    func keptCopy() throws -> Entry? {
        try perform { [self] stage, world in
            let folder = try TemporaryFolder()
            let pantry = try await open(stage, folder.url, in: world)
            return entry("copy", age: .zero, spread: 0, pantry: pantry, stage: stage, in: world)
        }
    }

    /// Whether the policy shows a copy that only its lowest store has.
    func shows(_ copy: Entry) throws -> Bool {
        try perform { [self] stage, world in
            let folder = try TemporaryFolder()
            let pantry = try await open(stage, folder.url, in: world)
            let request = Request(plan.policy.resource, mode: .cachedOnly)
            stage.stores.put(
                Situation.Copy(age: .zero, tier: plan.tiers.count), { _, _ in copy }, for: request.key)
            return (try? await pantry.resource(plan.policy.resource).load(request)) != nil
        }
    }

    /// Runs `body` in a world of its own.
    private func perform<Value: Sendable>(
        _ body: @escaping @Sendable (Stage, SimulatedWorld) async throws -> Value
    ) throws -> Value {
        try stage.withLock { _ in
            let world = SimulatedWorld()
            let stage = Stage(
                origin: SituationOrigin(contentType: plan.contentType, in: world),
                stores: SituationStores(in: world))
            present.withLock { $0 = stage }
            defer { present.withLock { $0 = nil } }
            return try world.run(leaving: .anything) { try await body(stage, $0) }
        }
    }

    private func open(_ stage: Stage, _ cache: URL, in world: SimulatedWorld) async throws -> Pantry {
        let origin = stage.origin
        let script: OriginSubstitute = { _ in origin }
        let substitute = plan.isOriginSimple ? script : nil
        return try await Pantry(
            reader: reader, cache: cache, data: cache, world: world, substitute: substitute, removesUnused: false,
            allowsBackgroundWork: false)
    }

    private func play(
        _ situation: Situation, stage: Stage, cache: URL, in world: SimulatedWorld
    ) async throws -> (seen: Observation, used: UsedFacts) {
        var pantry = try await open(stage, cache, in: world)
        let (name, start) = (plan.policy.resource, world.uptime)
        let request = Request(name)
        if let copy = situation.copy {
            // The copy is as old when the load begins as the situation says, and younger before.
            stage.stores.put(
                copy,
                {
                    self.entry(
                        $0, age: $1 - situation.lead, spread: copy.spread, pantry: pantry, stage: stage, in: world)
                },
                for: request.key)
        }
        stage.stores.set(situation.stores)
        stage.origin.play(situation.earlierOrigin, isOwn: false)
        for load in situation.earlier {
            let pause = situation.lead - load.before - (world.uptime - start)
            if pause > .zero { try await world.sleep(for: pause) }
            let request = load.isOther ? Request(name, ["other": "1"]) : request
            world.spawn { [pantry] in _ = try? await pantry.resource(name).load(request) }
        }
        let pause = situation.lead - (world.uptime - start)
        if pause > .zero { try await world.sleep(for: pause) }
        if situation.isRestarted {
            stage.stores.restart()
            pantry = try await open(stage, cache, in: world)
        }
        if situation.clockBack > .zero { world.stepClock(by: .zero - situation.clockBack) }
        world.network = situation.networkState
        stage.origin.play(situation.origin, isOwn: true)
        if situation.pause > .zero { try await world.sleep(for: situation.pause) }
        let judged = Request(name, mode: situation.mode, deadline: situation.deadline)
        let seen = try await observe(judged, pantry: pantry, stage: stage, in: world)
        return (seen, UsedFacts(calls: stage.origin.waits, storeUses: stage.stores.uses))
    }

    private func observe(
        _ request: Request, pantry: Pantry, stage: Stage, in world: SimulatedWorld
    ) async throws -> Observation {
        let start = world.uptime
        let seen = Locked(Observation(ending: .never))
        let resource = pantry.resource(plan.policy.resource)
        world.spawn {
            do {
                let loaded = try await resource.load(request)
                let text = SituationOrigin.sound(String(decoding: loaded.value, as: UTF8.self))
                let date = stage.origin.date(of: text)
                // An origin on the device is not simulated, so that its payload is unknown.
                let isOwn = date == nil && loaded.source == .origin
                let age = isOwn ? .zero : date.map { world.now - $0 }
                seen.withLock {
                    $0.ending = .value(age: age)
                    $0.waited = world.uptime - start
                    $0.isLive = isOwn || text.hasPrefix("{\"answer\"") && stage.origin.answeredAt != nil
                    $0.isStale = loaded.freshness == .stale
                    if case .fallback = loaded.source { $0.isFallback = true }
                }
            } catch {
                guard let failure = LoadError.meaning(of: error) else { return }
                seen.withLock {
                    $0.ending = .error(code: "\(failure.code)", status: failure.status)
                    $0.waited = world.uptime - start
                }
            }
        }
        try await world.sleep(for: plan.horizon)
        return seen.withLock { seen in
            seen.calls = stage.origin.calls
            seen.refreshedAfter = stage.origin.answeredAt.map { $0 - start }
            return seen
        }
    }

    /// Returns an entry that is in a store when the situation begins.
    private func entry(
        _ name: String, age: Duration, spread: Double, pantry: Pantry, stage: Stage, in world: SimulatedWorld
    ) -> Entry? {
        let text = "{\"\(name)\":true}"
        let fetchedAt = world.now - age
        stage.origin.note(text, at: fetchedAt)
        let metadata = Metadata(
            fetchedAt: fetchedAt, etag: "\"\(name)\"", contentType: plan.contentType, spread: spread)
        return pantry.admitted(Entry(Data(text.utf8), metadata), by: plan.policy.resource)
    }

    /// A folder that is not there. No part of the policy asks for a place in it.
    private static let noFolder = URL(filePath: "/nonexistent/larder")
}
