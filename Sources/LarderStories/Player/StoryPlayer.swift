public import LarderFoundation
public import Larder
import LarderSimulation
import LarderSystem

/// Plays stories against a policy in simulated time, and tells what the user notices.
///
/// The graph is the one that the policy describes, with its strategy, wrappers, validators and fallbacks. The origins and
/// the stores that are not made of others are simulated.
///
/// ```swift
/// let player = try StoryPlayer(of: "catalog", in: folder)
/// let seen = try player.play(Story().with { $0.origin = [.init(.hangs)] })
/// #expect(seen.waited == .seconds(4))
/// ```
///
/// A player plays one story at a time. It may be used from any thread.
public final class StoryPlayer: Sendable {
    let resource: String
    let reader: PolicyReader
    /// The media type of payloads that are made.
    let contentType: String
    let stores: StoryStores.Kind
    /// Whether the policy's own origin is simulated as a whole: it is not made of others.
    let isOriginSimple: Bool
    /// Whether a part keeps files in the cache folder.
    let needsFolder: Bool
    /// The time after which nothing that a load began goes on.
    private let horizon: Duration
    private let turn = BlockingLock(())
    /// The stage of the story that is being played.
    private let present: Locked<StoryStage?>

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
        try self.init(SimulatedPolicy(of: resource, in: folder, registry: registry, environment: environment))
    }

    /// Makes a player for a policy that was read before.
    package init(_ policy: SimulatedPolicy) throws {
        let present = Locked<StoryStage?>(nil)
        self.present = present
        (resource, contentType, stores) = (policy.resource, policy.contentType, .simulated)
        (isOriginSimple, needsFolder, horizon) = (policy.isOriginSimple, policy.needsFolder, policy.horizon)
        let registry = try policy.registry.simulated(
            store: { [resource] plugin, context, traits, own in
                guard let stores = present.withLock({ $0 })?.stores, context.resource == resource else {
                    return try own()
                }
                return try stores.next(plugin, traits, own: own)
            },
            origin: { [contentType] traits, own in
                if traits.cannotFail { return try own() }
                if traits.isLocal { return LocalFallback(contentType: contentType) }
                return try present.withLock({ $0 })?.origin ?? own()
            })
        reader = try PolicyReader(
            registry: registry, texts: [policy.resource: policy.text], files: policy.files,
            environment: policy.environment
        ).readAhead()
    }

    /// Makes a player that keeps the policy's own stores and the origins of this device.
    ///
    /// - Parameter canFail: whether the stores can have faults, or copies in single tiers.
    init(
        withOwnStoresOf resource: String, in folder: URL, registry: Registry, environment: [String: String],
        canFail: Bool
    ) throws {
        let present = Locked<StoryStage?>(nil)
        self.present = present
        (self.resource, contentType, stores) = (resource, "application/json", .own)
        (needsFolder, horizon) = (true, .zero)
        let registry = try registry.simulated(
            store: { plugin, context, traits, own in
                guard canFail, let stores = present.withLock({ $0 })?.stores, context.resource == resource else {
                    return try own()
                }
                return try stores.next(plugin, traits, own: own)
            },
            origin: { traits, own in
                if traits.isLocal || traits.cannotFail { return try own() }
                return try present.withLock({ $0 })?.origin ?? own()
            })
        reader = PolicyReader(registry: registry, folder: folder.shortPath, environment: environment).withoutProcess
            .needing(resource)
        // An origin that is made of others plays itself, and each of them follows the story.
        isOriginSimple = reader.check(resource + ".json").policy?.origin?.plugin.isMadeOfOthers != true
    }

    /// Plays a story, and returns what the user of its first load notices. The calls of other loads count too.
    ///
    /// - Throws: `PolicyError` if the policy cannot be composed.
    public func play(_ story: Story) throws -> ObservedLoad { try playTellingFacts(story).seen }

    /// Plays a story, and tells which of its facts were asked for.
    ///
    /// - Throws: `PolicyError` if the policy cannot be composed.
    func playTellingFacts(_ story: Story) throws -> (seen: ObservedLoad, used: UsedFacts) {
        let history = Locked(StoryHistory(story, of: resource))
        return try perform(story) { [horizon] stage in
            try await stage.play(story, recordingIn: history)
            let last = story.loads.map { $0.at + $0.pause }.max() ?? .zero
            try await stage.world.sleep(for: last - stage.origin.now + horizon)
            let history = stage.finished(history)
            let seen = history.answers.first.map { ObservedLoad($0, in: history) } ?? ObservedLoad(ending: .never)
            return (seen, UsedFacts(calls: history.calls, until: stage.origin.now, storeUses: stage.stores.uses))
        }
    }

    /// Plays a story until all its loads have ended, or nothing can happen any more, and some time longer.
    ///
    /// - Parameter aftermath: the time after the last answer in which work in the background can end.
    /// - Throws: `PolicyError` if the policy cannot be composed.
    func history(of story: Story, aftermath: Duration) throws -> StoryHistory {
        let history = Locked(StoryHistory(story, of: resource))
        let played = Locked<StoryStage?>(nil)
        do {
            try perform(story) { stage in
                played.withLock { $0 = stage }
                for load in try await stage.play(story, recordingIn: history) { await load.value }
                try await stage.world.sleep(for: aftermath)
                // The task that plays the story is no work of it.
                history.withLock { $0.running = stage.world.unfinished - 1 }
            }
        } catch is SimulatedWorld.Stuck {
            // A load waits for ever. Its answer has no end.
        }
        return played.withLock { $0 }?.finished(history) ?? history.withLock { $0 }
    }

    /// Opens the pantry of the usual story and returns what `body` finds in it.
    func tryOut<Value: Sendable>(
        _ body: @escaping @Sendable (StoryStage, Pantry) async throws -> Value
    ) throws -> Value {
        try perform(Story()) { stage in try await body(stage, stage.open()) }
    }

    /// Runs `body` in a world of its own.
    private func perform<Value: Sendable>(
        _ story: Story, _ body: @escaping @Sendable (StoryStage) async throws -> Value
    ) throws -> Value {
        try turn.withLock { _ in
            let world = SimulatedWorld(
                seed: story.order ?? 1, interleaving: story.order == nil ? .inOrder : .shuffled)
            if let chance = story.chance { world.fixChances(at: chance) }
            let stage = try StoryStage(self, story, in: world)
            present.withLock { $0 = stage }
            defer { present.withLock { $0 = nil } }
            return try world.run(leaving: .anything) { _ in
                // The tasks that close its attachments need a world that runs.
                defer { stage.release() }
                return try await body(stage)
            }
        }
    }
}

extension StoryHistory {
    /// The history of a story that has not begun.
    fileprivate init(_ story: Story, of resource: String) {
        answers = story.loads.enumerated().map { number, load in
            Answer(number: number, load: load, key: load.request(resource).key, start: load.at + load.pause)
        }
    }
}

extension StoryStage {
    /// Opens the pantry and makes all loads of a story.
    ///
    /// - Returns: the loads that are judged.
    @discardableResult
    fileprivate func play(
        _ story: Story, recordingIn history: Locked<StoryHistory>
    ) async throws -> [Task<Void, Never>] {
        try await open()
        let notes = try await stock(story.copies, lead: story.lead)
        history.withLock { $0.notes = notes }
        if story.isRestarted { try await open() }
        stores.set(story.stores)
        for load in story.earlier {
            try await sleep(until: load.at)
            let resource = try resource
            // The calls of an app go on although it is started anew.
            world.spawn { [pantry] in
                _ = try? await resource.load(load.request(resource.name))
                _ = pantry
            }
        }
        try await sleep(until: .zero)
        origin.play(story.origin)
        // A load at zero is prepared before anything else happens then.
        let first = story.loads.first.flatMap { $0.at <= .zero ? $0 : nil }
        if let first { try await prepare(first) }
        for network in story.networks {
            if network.from <= .zero {
                world.network = network.state
            } else {
                world.spawn { [world] in
                    guard (try? await world.sleep(for: network.from)) != nil else { return }
                    world.network = network.state
                }
            }
        }
        if let first, first.pause > .zero { try await world.sleep(for: first.pause) }
        for time in story.clearings { world.spawn { [self] in try? await clear(at: time) } }
        return story.loads.enumerated().map { number, load in
            let task = world.spawn { [self] in
                let ending = await make(load, isPrepared: number == 0 && first != nil)
                // A load that ends only because the story ends has no answer.
                if !Task.isCancelled || load.cancelledAfter != nil { record(ending, of: number, in: history) }
            }
            if let time = load.cancelledAfter {
                world.spawn { [self] in
                    try? await sleep(until: load.at + load.pause + time)
                    task.cancel()
                }
            }
            return task
        }
    }

    private func clear(at time: Duration) async throws {
        try await sleep(until: time)
        try await pantry?.clear()
    }

    /// Does what happens right before a load.
    private func prepare(_ load: Story.Load) async throws {
        if load.isRestarted { try await open() }
        if load.clockBack > .zero { world.stepClock(by: .zero - load.clockBack) }
    }

    private func make(_ load: Story.Load, isPrepared: Bool) async -> StoryHistory.Ending {
        do {
            if !isPrepared {
                try await world.sleep(for: load.at)
                try await prepare(load)
                if load.pause > .zero { try await world.sleep(for: load.pause) }
            }
            return .value(try await self.load(load))
        } catch {
            return LoadError.meaning(of: error).map { .error($0) } ?? .cancelled
        }
    }

    private func sleep(until time: Duration) async throws {
        let pause = time - origin.now
        if pause > .zero { try await world.sleep(for: pause) }
    }

    private func record(_ ending: StoryHistory.Ending, of number: Int, in history: Locked<StoryHistory>) {
        let end = origin.now
        history.withLock { [origin, world] history in
            history.answers[number].end = end
            history.answers[number].ending = ending
            guard case .value(let loaded) = ending else { return }
            let text = String(decoding: loaded.value, as: UTF8.self)
            history.answers[number].age = origin.date(of: text).map { world.now - $0 }
            history.answers[number].isLive = origin.isLive(text)
        }
    }

    /// Returns a history with the calls of the origin.
    fileprivate func finished(_ history: Locked<StoryHistory>) -> StoryHistory {
        history.withLock { [origin] history in
            history.calls = origin.calls
            history.stores = stores.tiers.map(\.store)
            history.answeredAt = origin.answeredAt
            return history
        }
    }
}
