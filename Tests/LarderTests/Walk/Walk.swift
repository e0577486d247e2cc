import FoundationEssentials
import Larder
import LarderSimulation

/// A random policy and a random history of it: traffic, faults, clearings, and a clock that jumps.
struct Walk: Sendable {
    /// What is wrong with a run, and what was seen.
    struct Account: Equatable, Sendable {
        var policy = ""
        var transcript: [String] = []
        var broken: [String] = []
    }

    let seed: UInt64

    private static let moves = 40

    /// Lives through it once.
    func run() throws -> Account {
        let folder = try Folder()
        try FileManager.default.createDirectory(
            at: folder.url.appending(path: "Seeds"), withIntermediateDirectories: true)
        try folder.write(#"{"seed":true}"#, to: "Seeds/data.json")
        return try SimulatedWorld(seed: seed, interleaving: .shuffled).run { world in
            let origin = WalkOrigin(world: world, seed: seed)
            let witness = Witness(world)
            let store = FaultyStore(world: world)
            var registry = Registry.standard
            for plugin in [origin.plugin, witness.plugin, store.plugin] { try registry.register(plugin) }
            let policy = try RandomPolicy.write(
                into: folder, from: registry, witness: "witness", origin: "walked", seed: seed)
            let pantry = try await Pantry(
                policies: folder.url, registry: registry, cache: folder.url.appending(path: "cache"), world: world)
            let judge = Judge(policy, world, witness, origin)
            let walker = Walker(
                world: world, policy: policy, pantry: pantry, origin: origin, witness: witness, store: store,
                judge: judge, cache: folder.url.path + "/cache/feed")
            var dice = Dice(seed: seed &* 31 &+ 7)
            for number in 0..<Self.moves { try await walker.move(number, &dice) }
            try await walker.end()
            return Account(
                policy: policy.tree.shown.text(), transcript: judge.transcript, broken: judge.broken + witness.broken)
        }
    }
}

/// Makes the moves of a walk.
final class Walker: Sendable {
    private let world: SimulatedWorld
    private let policy: Policy
    private let pantry: Pantry
    private let origin: WalkOrigin
    private let witness: Witness
    private let store: FaultyStore
    private let judge: Judge
    private let cache: String
    private let loads = Locked<[Started<Void>]>([])

    init(
        world: SimulatedWorld, policy: Policy, pantry: Pantry, origin: WalkOrigin, witness: Witness,
        store: FaultyStore, judge: Judge, cache: String
    ) {
        self.world = world
        self.policy = policy
        self.pantry = pantry
        self.origin = origin
        self.witness = witness
        self.store = store
        self.judge = judge
        self.cache = cache
    }

    private var feed: Resource<Data> { pantry.resource("feed") }

    func move(_ number: Int, _ dice: inout Dice) async throws {
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

    private func load(_ number: Int, _ dice: inout Dice) {
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
            await judge.load(number, request, faults: { [feed] in !feed.metrics.storeFaults.isEmpty }) {
                guard asText else { return try await feed.load(request).map { Judge.text($0) } }
                return try await text.load(request).map { "\"\($0)\"" }
            }
        }
        loads.withLock { $0.append(load) }
        return load
    }

    private func clear(_ dice: inout Dice) async throws {
        let kind = dice.roll(3)
        judge.tell("clear \(["all", "nobody's", "one"][kind])")
        try? await witness.clearing {
            switch kind {
            case 0: try await pantry.clear()
            case 1: try await feed.clear(scope: nil)
            default: try await feed.clear(["id": "0"])
            }
        }
    }

    private func disturb(_ dice: inout Dice) {
        let operation = [FaultyStore.Operation.read, .write, .remove][dice.roll(3)]
        // Nobody notices damage unless told to look.
        let damage: FaultyStore.Fault? = policy.validators.contains(where: \.traits.noticesDamage) ? .corrupts : nil
        store.set([nil, .fails, .takes(.milliseconds(dice.roll(40))), damage][dice.roll(4)], for: operation)
    }

    private func stepClock(_ dice: inout Dice) {
        let steps: [Duration] = [.milliseconds(50), .seconds(30), .seconds(3_600), .seconds(86_400 * 3)]
        let step = steps[dice.roll(4)]
        judge.stepped()
        judge.tell("clock steps")
        world.stepClock(by: dice.roll(2) == 0 ? step : .zero - step)
    }

    /// The origin says of everything that it is gone, and nothing may hide that. Then all must come to rest.
    func end() async throws {
        for operation in [FaultyStore.Operation.read, .write, .remove] { store.set(nil, for: operation) }
        origin.set(.gone)
        try await world.sleep(for: .seconds(86_400 * 30))
        for number in 1_000..<1_003 { try await probe(number) }
        try await world.sleep(for: .seconds(86_400 * 30))
        let left = loads.withLock { $0.filter { !$0.isOver }.count }
        if left > 0 { judge.report("\(left) loads never ended") }
        if world.unfinished != 1 { judge.report("\(world.unfinished - 1) tasks never ended") }
        try await checkCapacity()
        checkMetrics()
    }

    /// Asks again when all is quiet: what the one flight brings is what the caller must get.
    private func probe(_ number: Int) async throws {
        let request = feed.request(["id": "\(number - 1_000)"], mode: .refresh)
        let before = witness.events(of: request.key).count
        let failures = judge.tally.failures
        _ = await start(number, request).result()
        let events = witness.events(of: request.key)[before...]
        if events.contains(where: { $0.text == nil }), judge.tally.failures == failures {
            judge.report("load \(number): the origin's answer was masked")
        }
        guard events.contains(where: \.saysGone), policy.strategy.plugin.needs.contains(.store) else { return }
        if try await feed.contains(request.parameters) { judge.report("load \(number): gone, and still kept") }
    }

    private func checkMetrics() {
        let metrics = feed.metrics
        let tally = judge.tally
        let counted = Judge.Tally(
            values: metrics.loads - metrics.failures, failures: metrics.failures, cancelled: metrics.cancelled,
            cachedOnly: metrics.cachedOnly, fallbacks: metrics.fallbacks, stale: metrics.stale)
        if counted != tally { judge.report("callers got \(tally), but counted was \(counted)") }
        let timed = metrics.latency.mapValues(\.count)
        let hits = (timed[.fresh] ?? 0) + (timed[.stale] ?? 0)
        let isSum =
            timed.values.reduce(0, +) == metrics.loads && timed[.failed] ?? 0 == metrics.failures
            && hits == metrics.hits && timed[.fallback] ?? 0 >= metrics.fallbacks
        if !isSum { judge.report("the parts do not add up: \(timed) of \(metrics.loads)") }
    }

    private func checkCapacity() async throws {
        guard let part = policy.store else { return }
        let statistics = try await feed.statistics()
        if let entries = part.text(of: "entries").flatMap({ Int($0) }), statistics.entries > entries {
            judge.report("\(statistics.entries) entries where \(entries) are allowed")
        }
        if part.nested.isEmpty, let capacity = part.traits.capacity, statistics.bytes > capacity {
            judge.report("\(statistics.bytes) bytes where \(capacity) are allowed")
        }
        for part in part.all where part.plugin.name == "file" {
            guard let folder = part.text(of: "directory"), let capacity = part.traits.capacity else { continue }
            let items = (try? Disk.list(cache + "/" + folder)) ?? []
            let bytes = items.reduce(0) { $0 + $1.size }
            if bytes > capacity { judge.report("\(bytes) bytes lie in \(folder), where \(capacity) are allowed") }
        }
    }
}

extension Part {
    /// It and every part among its settings.
    fileprivate var all: [Part] { [self] + nested.flatMap(\.all) }
}
