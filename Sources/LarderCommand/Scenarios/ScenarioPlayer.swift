#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import LarderBase
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
        var ask: Ask
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
            try SimulatedWorld().run(leaving: .anything) { [policies, registry, environment] world in
                let origin = ScenarioOrigin(scenario.origin, world: world)
                played.withLock { $0 = origin }
                func open() async throws -> Pantry {
                    let reader = PolicyReader(
                        registry: registry, folder: policies.shortPath, environment: environment)
                    return try await Pantry(
                        reader: reader.withoutProcess, cache: cache, world: world, substitute: { _ in origin },
                        allowsBackgroundWork: false)
                }
                var pantry = try await open()
                let notes = try await Self.stock(scenario.cached, in: pantry.resource(resource), world)
                history.withLock { $0.notes = notes }
                if scenario.isRestarted { pantry = try await open() }
                try await Self.ask(scenario.asks, pantry.resource(resource), world, history)
                try await world.sleep(for: Self.aftermath)
            }
        } catch is SimulatedWorld.Stuck {
            // A request waits for ever. Its answer has no end.
        }
        return history.withLock { history in
            history.calls = played.withLock { $0 }?.calls ?? []
            return history
        }
    }

    /// Puts the copies into the store.
    ///
    /// - Returns: notes about copies that are not kept.
    private static func stock(
        _ copies: [CachedCopy], in resource: Resource<Data>, _ world: SimulatedWorld
    ) async throws -> [String] {
        var notes: [String] = []
        for copy in copies {
            let metadata = Metadata(
                fetchedAt: world.now - copy.age, etag: copy.etag, contentType: copy.contentType)
            let entry = Entry(Data(copy.value.text(indented: false).utf8), metadata)
            let request = resource.request(copy.parameters, scope: copy.scope)
            do {
                if try await !resource.stock(entry, for: request) { notes.append("cached: not kept by the store") }
            } catch let refusal as Refusal {
                notes.append("cached: refused: \(refusal.reason)")
            } catch let error as StoreError {
                notes.append("cached: not kept: \(error.message)")
            }
        }
        return notes
    }

    private static func ask(
        _ asks: [Ask], _ resource: Resource<Data>, _ world: SimulatedWorld, _ history: Locked<ScenarioHistory>
    ) async throws {
        let start = world.uptime
        try await withThrowingTaskGroup { group in
            for (number, ask) in asks.enumerated() {
                group.addTask {
                    try await world.sleep(for: ask.at)
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
