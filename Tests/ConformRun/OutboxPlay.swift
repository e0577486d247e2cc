import Larder
import LarderFoundation
import LarderSimulation
import LarderSync
import LarderSystem

/// The result of a step of a row about an outbox.
struct OutboxResult: Sendable {
    /// The keys that the origin has taken in the step, in order.
    var sent: [String] = []
    /// The keys of the requests that were given up in the step.
    var dropped: [String] = []
    /// Whether what was written waits for the origin.
    var isPending = false
}

/// The error of a replay after which requests still wait.
struct ReplayFailed: Error {}

/// Plays a row about an outbox in a world of its own. Each queue is a resource.
///
/// Requests that only wait (`enqueue`) are sent by a section `outbox` alone. Values that are shown before the origin has them
/// (`put`, `get`, `collapse_same_key`) are records.
struct OutboxPlay: Sendable {
    private typealias Events = Locked<RowResult>

    private let scenario: ConformRow
    private let world: SimulatedWorld
    private let origin: ScriptedOrigin
    /// The names of the queues, whose places name the resources.
    private let queues: [String]
    private let keepsValues: Bool
    /// Whether values are shown, and sent without a replay.
    private let showsValues: Bool
    /// The letters that were told already, by queue.
    private let told = Locked<[String: Int]>([:])

    /// The queue of a step that names none.
    static let usualQueue = "q"

    private init(_ scenario: ConformRow, _ world: SimulatedWorld) throws {
        (self.scenario, self.world) = (scenario, world)
        let scale = try PayloadScale(of: scenario)
        origin = ScriptedOrigin(
            scenario.answers.map { $0.act(scenario.strategy, scale, in: world) },
            then: .throwing(OriginFailure(kind: "no-answer-left")), world: world)
        queues = Set(scenario.steps.map(\.queue) + scenario.end.queues.keys).sorted()
        showsValues = scenario.steps.contains { step in
            switch step.operation {
            case .put, .get: true
            default: false
            }
        }
        keepsValues = showsValues || scenario.strategy.collapsesKeys
    }

    /// Plays a row to its end.
    static func play(_ scenario: ConformRow) throws -> RowResult {
        let folder = FileManager.default.temporaryDirectory.appending(path: "larder-conform-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        return try SimulatedWorld().run(leaving: .anything) { world in
            try await OutboxPlay(scenario, world).run(in: folder)
        }
    }

    private func run(in folder: URL) async throws -> RowResult {
        let registry = try Registry.standard.adding(.sync).adding([origin.plugin(ConformRow.resource)])
        let texts = queues.map { (name(of: $0), policy(of: $0).text()) }
        // Requests that wait for a replay are sent by nothing else.
        let pantry = try await Pantry(
            reader: PolicyReader(
                registry: registry, texts: Dictionary(uniqueKeysWithValues: texts), files: nil, environment: [:]),
            cache: folder.appending(path: "cache"), data: folder.appending(path: "data"), world: world,
            allowsBackgroundWork: showsValues)
        let events = Events(RowResult())
        events.withLock { $0.sights = scenario.steps.map { Array(repeating: nil, count: $0.count) } }
        for (place, step) in scenario.steps.enumerated() {
            if step.at > world.uptime { try await world.sleep(for: step.at - world.uptime) }
            start(step, at: place, in: pantry, events)
        }
        let last = scenario.steps.flatMap { [$0.at, $0.expected.doneAt ?? .zero] }.max() ?? .zero
        let end = max(scenario.end.at ?? last, last) + .nanoseconds(1)
        if end > world.uptime { try await world.sleep(for: end - world.uptime) }
        var played = events.withLock { $0 }
        for queue in queues { played.queues[queue] = try await waiting(queue, pantry) }
        played.calls = origin.starts.map { RowResult.Received(start: $0) }
        await pantry.close()
        return played
    }

    private func name(of queue: String) -> String { "queue-\(queues.firstIndex(of: queue) ?? 0)" }

    private func policy(of queue: String) -> JSON {
        var outbox: [JSON.Member] = []
        if let retention = scenario.strategy.retention {
            outbox += [.init("retention", .string(retention.spelled)), .init("limit", "1s")]
        }
        let named: [JSON.Member] = [
            .init("resource", .string(name(of: queue))), .init("origin", .string(ConformRow.resource)),
        ]
        if !keepsValues {
            return .object(named + [.init("strategy", "network-only"), .init("outbox", .object(outbox))])
        }
        let call: JSON = ["parameters": ["key": "{id}"]]
        let push: JSON = ["use": "rest", "create": call, "update": call, "parallel": 1]
        outbox += [.init("gather", "0s"), .init("onRead", .bool(scenario.strategy.looksFirst))]
        return .object(
            named + [.init("records", ["id": "/key", "push": push]), .init("outbox", .object(outbox))])
    }

    private func start(_ step: ConformRow.Step, at place: Int, in pantry: Pantry, _ events: Events) {
        for caller in 0..<step.count {
            world.spawn {
                var outcome = OutboxResult()
                let result: Result<Loaded<Data>?, any Error>
                do { result = .success(try await perform(step, pantry, &outcome)) } catch { result = .failure(error) }
                let sight = RowResult.CallerResult(result: result, at: world.uptime)
                events.withLock { [outcome] in
                    $0.sights[place][caller] = sight
                    $0.outbox[place] = outcome
                }
            }
        }
    }

    private func perform(
        _ step: ConformRow.Step, _ pantry: Pantry, _ outcome: inout OutboxResult
    ) async throws -> Loaded<Data>? {
        let records = pantry.records(name(of: step.queue))
        let calls = origin.calls.count
        defer { outcome.sent = sent(after: calls) }
        switch step.operation {
        case .enqueue(let method, let body) where !keepsValues:
            let resource = pantry.resource(name(of: step.queue))
            world.network = .offline
            _ = try await resource.send(resource.request(["key": step.key], body: body), method: method)
        case .enqueue(_, let body): try await records.put(record(step.key, body ?? Data()))
        case .put(let body):
            try await records.put(record(step.key, body))
            // The try that follows at once.
            try await world.sleep(for: .nanoseconds(1))
            outcome.isPending = try await waiting(step.queue, pantry).contains(step.key)
        case .replay:
            world.network = NetworkState(.online)
            try await records.sync()
            outcome.dropped = try await dropped(step.queue, records)
            if try await !waiting(step.queue, pantry).isEmpty { throw ReplayFailed() }
        case .get:
            guard let record = try await records.get(step.key).record else {
                throw LoadError(.notCached, "nothing was written")
            }
            try await world.sleep(for: .nanoseconds(1))
            return Loaded(Data((record.value["value"]?.string ?? "").utf8), from: .store("records"))
        // No row about an outbox has such a step.
        case .getLocal, .send, .drop, .sweep: break
        }
        return nil
    }

    private func record(_ key: String, _ body: Data) -> JSONText {
        JSONText(object: [
            ("key", JSONText(string: key)), ("value", JSONText(string: String(decoding: body, as: UTF8.self))),
        ])
    }

    /// Returns the keys of the calls after some which the origin has taken.
    private func sent(after count: Int) -> [String] {
        zip(origin.calls, scenario.answers).dropFirst(count).compactMap { call, answer in
            guard case .status(let status) = answer.ending, status < 400 else { return nil }
            return call.request.parameters["key"]
        }
    }

    /// Returns the keys of the requests that wait, in order.
    private func waiting(_ queue: String, _ pantry: Pantry) async throws -> [String] {
        try await pantry.records(name(of: queue)).query().records
            .filter { $0.state == .pending }.compactMap { key(of: $0.value) }
    }

    /// Returns the keys of the requests that were given up since the last call of this, in order.
    private func dropped(_ queue: String, _ records: Records<JSONText>) async throws -> [String] {
        let letters = try await records.rejected().reversed().filter { $0.reason == .expired }
        let known = told.withLock { told in
            defer { told[queue] = letters.count }
            return told[queue] ?? 0
        }
        return letters.dropFirst(known).compactMap { $0.value.flatMap(key(of:)) }
    }

    private func key(of record: JSONText) -> String? {
        (keepsValues ? record["key"] : record["parameters"]?["key"])?.string
    }
}
