#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import Larder
import LarderSimulation

/// What came of a row.
struct Played: Sendable {
    /// What one caller saw.
    struct Sight: Sendable {
        var result: Result<Loaded<Data>, any Error>
        var at: Duration
    }

    /// One call as the origin saw it.
    struct Received: Sendable {
        var start: Duration
        var etag: String?
        var lastModified: String?
    }

    /// For each step its callers; nil for one that was not answered.
    var sights: [[Sight?]] = []
    var calls: [Received] = []
    var bodyWrites = 0
    /// The content of each tier, by the keys of the row.
    var stored: [[String: String]] = []
    var faults: [String: UInt64] = [:]
}

/// What a scripted origin fails with.
struct OriginFailure: Error {
    var kind: String
}

/// One playing of a row, in a world of its own.
struct ConformPlay: Sendable {
    private typealias Sights = Locked<[[Played.Sight?]]>

    private let scenario: ConformRow
    private let world: SimulatedWorld
    private let origin: ScriptedOrigin
    private let stores: [FaultyStore]

    private init(_ scenario: ConformRow, _ world: SimulatedWorld) {
        self.scenario = scenario
        self.world = world
        origin = ScriptedOrigin(
            scenario.answers.map { $0.act(scenario.strategy.conditions) },
            then: .throwing(OriginFailure(kind: "no-answer-left")), world: world)
        stores = scenario.tiers.enumerated().map { place, tier in
            // A lost payload is noticed where a copy comes from outside.
            let isLost = scenario.seeds.contains { $0.tier == place && $0.value == nil }
            return FaultyStore(
                ConformRow.pluginName(of: place), isForeign: tier.name != "memory" || isLost, world: world)
        }
    }

    /// Plays a row to its end.
    ///
    /// - Throws: ``Unsupported`` where no policy says what the row does.
    static func play(_ scenario: ConformRow, registry: Registry) throws -> Played {
        let folder = FileManager.default.temporaryDirectory.appending(path: "larder-conform-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let text = try scenario.policy(registry).text()
        try Data(text.utf8).write(to: folder.appending(path: ConformRow.resource + ".json"))
        return try SimulatedWorld().run(leaving: .anything) { world in
            try await ConformPlay(scenario, world).run(policies: folder, registry)
        }
    }

    private func run(policies: URL, _ registry: Registry) async throws -> Played {
        var registry = registry
        try registry.register(origin.plugin(ConformRow.resource))
        for store in stores { try registry.register(store.plugin(keepingIn: ConformRow.innerStore)) }
        let pantry = try await Pantry(
            policies: policies, registry: registry, cache: policies.appending(path: "cache"), environment: [:],
            world: world)
        let resource = pantry.resource(ConformRow.resource)
        try await stock(resource)
        let sights = Sights(scenario.steps.map { Array(repeating: nil, count: $0.count) })
        for (place, step) in scenario.steps.enumerated() {
            if step.at > world.uptime { try await world.sleep(for: step.at - world.uptime) }
            start(step, place, resource, sights)
        }
        var played = Played()
        let times = scenario.steps.flatMap { [$0.at, $0.cancelAt ?? .zero, $0.expected.doneAt ?? .zero] }
        let last = times.max() ?? .zero
        try await sleep(past: scenario.end.at ?? last)
        played.bodyWrites = stores.first?.bodyWrites ?? 0
        played.stored = try await stored(resource)
        for (tier, count) in pantry.metrics[ConformRow.resource]?.storeFaults ?? [:] { played.faults[tier] = count }
        try await sleep(past: last)
        played.sights = sights.withLock { $0 }
        played.calls = zip(origin.starts, origin.calls).map { start, call in
            Played.Received(
                start: start, etag: call.known?.metadata.etag, lastModified: call.known?.metadata.lastModified)
        }
        return played
    }

    /// Waits for the end of all that happens at `moment`.
    private func sleep(past moment: Duration) async throws {
        let end = moment + .nanoseconds(1)
        if end > world.uptime { try await world.sleep(for: end - world.uptime) }
    }

    /// Puts in what is there from the beginning, and then lets things go wrong.
    private func stock(_ resource: Resource<Data>) async throws {
        for seed in scenario.seeds {
            // What was there before had the shortest lifetime: a jitter lengthens later ones only.
            var metadata = Metadata(
                fetchedAt: world.now - seed.age, etag: seed.etag, lastModified: seed.lastModified, spread: 1)
            let bytes = Data((seed.value ?? "").utf8)
            let sum = Checksum.of(Array(bytes))
            metadata.checksum = seed.value == nil ? ~sum : sum
            try await stores[seed.tier].stock(Entry(bytes, metadata), for: resource.request(["key": seed.key]).key)
        }
        for (tier, store) in zip(scenario.tiers, stores) {
            for (operation, fault) in tier.faults { store.set(fault, for: operation) }
        }
    }

    private func start(_ step: ConformRow.Step, _ place: Int, _ resource: Resource<Data>, _ sights: Sights) {
        for caller in 0..<step.count {
            let load = world.spawn {
                let result: Result<Loaded<Data>, any Error>
                do { result = .success(try await resource.load(["key": step.key])) } catch { result = .failure(error) }
                let sight = Played.Sight(result: result, at: world.uptime)
                sights.withLock { $0[place][caller] = sight }
            }
            guard let cancelAt = step.cancelAt else { continue }
            world.spawn {
                try? await world.sleep(for: cancelAt - step.at)
                load.cancel()
            }
        }
    }

    /// What each tier holds.
    private func stored(_ resource: Resource<Data>) async throws -> [[String: String]] {
        let keys = Set(scenario.seeds.map(\.key) + scenario.steps.map(\.key))
        let names = Dictionary(keys.map { (resource.request(["key": $0]).key, $0) }) { first, _ in first }
        var stored: [[String: String]] = []
        for store in stores {
            var content: [String: String] = [:]
            for (key, entry) in try await store.kept() {
                content[names[key] ?? key.text] = String(decoding: entry.payload.bytes, as: UTF8.self)
            }
            stored.append(content)
        }
        return stored
    }
}

extension ConformRow.Answer {
    /// What the origin does, telling only those conditions under which it may be asked again.
    fileprivate func act(_ conditions: [String]) -> ScriptedOrigin.Act {
        switch ending {
        case .value(let text, let etag, let lastModified):
            .value(
                text, after: after, etag: conditions.contains("etag") ? etag : nil,
                lastModified: conditions.contains("last-modified") ? lastModified : nil)
        case .unchanged: .unchanged(after: after)
        case .status(let status): .failure(.status(status), after: after)
        case .failure(let kind): .throwing(OriginFailure(kind: kind), after: after)
        }
    }
}
