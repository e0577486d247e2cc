import LarderFoundation
import Larder
import LarderSystem
import LarderSimulation

/// A random policy with a random history: traffic, faults, clearings, and jumps of the clock.
struct Walk: Sendable {
    /// The broken promises of a run, with its policy and transcript.
    struct Report: Equatable, Sendable {
        var policy = ""
        var transcript: [String] = []
        var problems: [String] = []
    }

    let seed: UInt64

    private static let moves = 40

    /// Runs the history once.
    func run() throws -> Report {
        let (files, cache) = (try TemporaryFolder(), try TemporaryFolder())
        try files.write(#"{"seed":true}"#, to: "Seeds/data.json")
        return try SimulatedWorld(seed: seed, interleaving: .shuffled).run { world in
            let origin = WalkOrigin(world: world, seed: seed)
            let recorder = FlightRecorder(world)
            let store = FaultyStore(world: world)
            var registry = Registry.standard
            for plugin in [origin.plugin, recorder.plugin, store.plugin] { try registry.register(plugin) }
            let (policy, text) = try RandomPolicy.make(
                from: registry, files: files.path, recorder: "recorder", origin: "walked", seed: seed)
            let pantry = try await Pantry(
                policies: ["feed": text], files: files.url, registry: registry, cache: cache.url, world: world)
            let checker = LoadChecker(policy, world, recorder, origin)
            let walker = Walker(
                world: world, policy: policy, pantry: pantry, origin: origin, recorder: recorder, store: store,
                checker: checker, cache: cache.path + "/feed")
            var dice = SeededGenerator(seed: seed &* 31 &+ 7)
            for number in 0..<Self.moves { try await walker.move(number, &dice) }
            try await walker.end()
            return Report(
                policy: policy.tree.shown.text(), transcript: checker.transcript,
                problems: checker.problems + recorder.problems)
        }
    }
}

/// Makes the moves of a walk.
final class Walker: Sendable {
    private let world: SimulatedWorld
    private let policy: Policy
    private let pantry: Pantry
    private let origin: WalkOrigin
    private let recorder: FlightRecorder
    private let store: FaultyStore
    private let checker: LoadChecker
    private let cache: String
    private let loads = Locked<[Started<Void>]>([])

    init(
        world: SimulatedWorld, policy: Policy, pantry: Pantry, origin: WalkOrigin, recorder: FlightRecorder,
        store: FaultyStore, checker: LoadChecker, cache: String
    ) {
        self.world = world
        self.policy = policy
        self.pantry = pantry
        self.origin = origin
        self.recorder = recorder
        self.store = store
        self.checker = checker
        self.cache = cache
    }

    private var feed: Resource<Data> { pantry.resource("feed") }

    func move(_ number: Int, _ dice: inout SeededGenerator) async throws {
        switch dice.roll(16) {
        case 0: loads.withLock { $0.isEmpty ? nil : $0[dice.roll($0.count)] }?.cancel()
        case 1 where dice.roll(2) == 0: try await clear(&dice)
        case 2: disturb(&dice)
        case 3: origin.set(WalkOrigin.Mood.allCases[dice.roll(6)])
        case 4: stepClock(&dice)
        case 5, 6: try await world.sleep(for: .milliseconds(dice.roll(100)))
        case 7: try await world.sleep(for: .milliseconds(dice.roll(60_000)))
        case 8: try await world.sleep(for: .seconds(dice.roll(8_000)))
        default: load(number, &dice)
        }
        try await checkCapacity()
    }

    private func load(_ number: Int, _ dice: inout SeededGenerator) {
        let mode: Request.Mode = [.normal, .normal, .normal, .normal, .refresh, .cachedOnly][dice.roll(6)]
        let request = feed.request(
            ["id": "\(dice.roll(3))"], scope: dice.roll(3) == 0 ? "a" : nil, mode: mode,
            deadline: dice.roll(4) == 0 ? .milliseconds(dice.roll(80)) : nil,
            priority: [.low, .normal, .high][dice.roll(3)])
        start(number, request, asText: dice.roll(4) == 0)
    }

    @discardableResult
    private func start(_ number: Int, _ request: Request, asText: Bool = false) -> Started<Void> {
        let text = pantry.resource("feed", as: String.self)
        let load = world.start { [self] in
            await checker.load(number, request, faults: { [feed] in !feed.metrics.storeFaults.isEmpty }) {
                guard asText else { return try await feed.load(request).map { LoadChecker.text($0) } }
                return try await text.load(request).map { "\"\($0)\"" }
            }
        }
        loads.withLock { $0.append(load) }
        return load
    }

    private func clear(_ dice: inout SeededGenerator) async throws {
        let kind = dice.roll(3)
        checker.log("clear \(["all", "nobody's", "one"][kind])")
        try? await recorder.clearing {
            switch kind {
            case 0: try await pantry.clear()
            case 1: try await feed.clear(.scope(nil))
            default: try await feed.clear(["id": "0"])
            }
        }
    }

    private func disturb(_ dice: inout SeededGenerator) {
        let operation = [FaultyStore.Operation.read, .write, .remove][dice.roll(3)]
        // Damage is noticed only by a validator that checks for it.
        let damage: FaultyStore.Fault? =
            policy.validators.contains(where: \.validatorTraits.noticesDamage) ? .corrupts : nil
        store.set([nil, .fails, .takes(.milliseconds(dice.roll(40))), damage][dice.roll(4)], for: operation)
    }

    private func stepClock(_ dice: inout SeededGenerator) {
        let steps: [Duration] = [.milliseconds(50), .seconds(30), .seconds(3_600), .seconds(86_400 * 3)]
        let step = steps[dice.roll(4)]
        checker.clockStepped()
        checker.log("clock steps")
        world.stepClock(by: dice.roll(2) == 0 ? step : .zero - step)
    }

    /// Ends the walk: the origin answers "gone" to every request, which nothing may hide. Then all tasks must end.
    func end() async throws {
        for operation in [FaultyStore.Operation.read, .write, .remove] { store.set(nil, for: operation) }
        origin.set(.gone)
        try await world.sleep(for: .seconds(86_400 * 30))
        for number in 1_000..<1_003 { try await probe(number) }
        try await world.sleep(for: .seconds(86_400 * 30))
        let left = loads.withLock { $0.filter { !$0.isOver }.count }
        if left > 0 { checker.report("\(left) loads never ended") }
        if world.unfinished != 1 { checker.report("\(world.unfinished - 1) tasks never ended") }
        try await checkCapacity()
        checkMetrics()
    }

    /// Loads once more when nothing else is running. The caller must get the answer of the one flight.
    private func probe(_ number: Int) async throws {
        let request = feed.request(["id": "\(number - 1_000)"], mode: .refresh)
        let before = recorder.events(of: request.key).count
        let failures = checker.counts.failures
        _ = await start(number, request).result()
        let events = recorder.events(of: request.key)[before...]
        if events.contains(where: { $0.text == nil }), checker.counts.failures == failures {
            checker.report("load \(number): the origin's answer was masked")
        }
        guard events.contains(where: \.saysGone), policy.usesStore else { return }
        if try await feed.contains(request.parameters) {
            checker.report("load \(number): gone, but still in the store")
        }
    }

    private func checkMetrics() {
        let metrics = feed.metrics
        let counts = checker.counts
        let counted = LoadChecker.Counts(
            values: metrics.loads - metrics.failures, failures: metrics.failures, cancelled: metrics.cancelled,
            cachedOnly: metrics.cachedOnly, fallbacks: metrics.fallbacks, stale: metrics.stale)
        if counted != counts { checker.report("callers got \(counts), but the metrics have \(counted)") }
        let timed = metrics.latency.mapValues(\.count)
        let hits = (timed[.fresh] ?? 0) + (timed[.stale] ?? 0)
        let isSum =
            timed.values.reduce(0, +) == metrics.loads && timed[.failed] ?? 0 == metrics.failures
            && hits == metrics.hits && timed[.fallback] ?? 0 >= metrics.fallbacks
        if !isSum { checker.report("the parts do not add up: \(timed) of \(metrics.loads)") }
    }

    private func checkCapacity() async throws {
        guard let part = policy.store else { return }
        let statistics = try await feed.statistics()
        if let entries = part.text(of: "entries").flatMap({ Int($0) }), statistics.entries > entries {
            checker.report("\(statistics.entries) entries, but the limit is \(entries)")
        }
        if part.nested.isEmpty, let capacity = part.storeTraits.capacity, statistics.bytes > capacity {
            checker.report("\(statistics.bytes) bytes, but the capacity is \(capacity)")
        }
        for part in part.all where part.plugin.name == "file" {
            guard let folder = part.text(of: "directory"), let capacity = part.storeTraits.capacity else { continue }
            let items = (try? Disk.list(cache + "/" + folder)) ?? []
            let bytes = items.reduce(0) { $0 + $1.size }
            if bytes > capacity { checker.report("\(bytes) bytes in \(folder), but the capacity is \(capacity)") }
        }
    }
}

extension Part {
    /// This part and all parts in its settings.
    fileprivate var all: [Part] { [self] + nested.flatMap(\.all) }
}
