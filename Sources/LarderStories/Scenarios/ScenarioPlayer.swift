import LarderFoundation
import LarderSystem
import Larder
import LarderSimulation

/// The history of a scenario. Times are since it began.
struct ScenarioHistory: Sendable {
    /// The end of a request.
    enum Ending: Sendable {
        case value(Loaded<Data>)
        case error(LoadError)
    }

    struct Answer: Sendable {
        var ask: ScenarioRequest
        var key: Key
        var start: Duration
        var end: Duration?
        /// The end of the request; nil if it still waits when nothing can happen any more.
        var ending: Ending?

        var took: Duration? { end.map { $0 - start } }
    }

    var answers: [Answer]
    var calls: [ScenarioOrigin.Record] = []
    /// Notes about copies that could not be put into the store.
    var notes: [String] = []

    /// The number of calls to the origin up to an answer.
    func calls(by answer: Answer) -> Int {
        calls.count { call in answer.end.map { call.start <= $0 } ?? true }
    }
}

/// Plays scenarios against policies. Each has a world and a cache folder of its own, and only the origin is simulated.
struct ScenarioPlayer {
    let policies: URL
    let registry: Registry
    let environment: [String: String]

    /// The time after the last answer in which background work can end, so that a drawing shows its end.
    private static let aftermath: Duration = .seconds(120)
    /// That time if an expectation is about it.
    private static let longAftermath: Duration = .seconds(6 * 3_600)

    func play(_ scenario: Scenario, of resource: String) throws -> ScenarioHistory {
        let cache = FileManager.default.temporaryDirectory.appending(path: "larder-test-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: cache) }
        let history = Locked(
            ScenarioHistory(
                answers: scenario.asks.map {
                    ScenarioHistory.Answer(ask: $0, key: $0.request(resource).key, start: $0.at)
                }))
        let played = Locked<ScenarioOrigin?>(nil)
        do {
            try SimulatedWorld().run(leaving: .anything) { [self] world in
                if let chance = scenario.chance { world.fixChances(at: chance) }
                let origin = ScenarioOrigin(scenario.origin, world: world)
                played.withLock { $0 = origin }
                let stage = try ScenarioStage(
                    scenario, of: resource, player: self, cache: cache, origin: origin, in: world)
                try await stage.open()
                let notes = try await stage.stock(scenario.cached)
                history.withLock { $0.notes = notes }
                if scenario.isRestarted { try await stage.open() }
                stage.setFaults(scenario.stores)
                try await ask(scenario, stage: stage, in: world, history: history)
                let isLong = scenario.asks.contains {
                    $0.expectation?.callsAtMost != nil || $0.expectation?.freshWithin != nil
                }
                let longest = scenario.asks.compactMap(\.expectation?.freshWithin).max() ?? .zero
                try await world.sleep(for: isLong ? Self.longAftermath + longest : Self.aftermath)
            }
        } catch is SimulatedWorld.Stuck {
            // A request waits for ever. Its answer has no end.
        }
        return history.withLock { history in
            history.calls = played.withLock { $0 }?.calls ?? []
            return history
        }
    }

    private func ask(
        _ scenario: Scenario, stage: ScenarioStage, in world: SimulatedWorld, history: Locked<ScenarioHistory>
    ) async throws {
        let start = world.uptime
        try await withThrowingTaskGroup { group in
            for phase in scenario.network {
                group.addTask {
                    try await world.sleep(for: phase.from)
                    world.network = phase.state
                }
            }
            for (number, ask) in scenario.asks.enumerated() {
                group.addTask {
                    try await world.sleep(for: ask.at)
                    if ask.isRestarted { try await stage.open() }
                    if ask.clockBack > .zero { world.stepClock(by: .zero - ask.clockBack) }
                    let resource = try stage.resource
                    let ending: ScenarioHistory.Ending
                    do {
                        ending = .value(try await resource.load(ask.request(resource.name)))
                    } catch {
                        ending = .error(LoadError.meaning(of: error) ?? LoadError(.failed, "was cancelled"))
                    }
                    // A request that ends only because the scenario ends has no answer.
                    try Task.checkCancellation()
                    let end = world.uptime - start
                    history.withLock { history in
                        history.answers[number].end = end
                        history.answers[number].ending = ending
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}
