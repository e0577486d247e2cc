import LarderFoundation
import LarderSystem
import LarderSimulation
import Testing

@testable import Larder
@testable import LarderCore

/// Plays each strategy and each validator in each situation twice: in a graph that shows copies at once, and in one whose
/// loads are awaited. Everything that anybody can see must be the same.
@Suite struct DirectHitTests {
    /// A copy in memory, and a request that may be answered by it.
    enum Situation: String, CaseIterable, Sendable {
        case fresh, ageing, fromTheFuture, atTheEdge, justBeforeTheEdge, stale, staleBeyondOneWindow, tooOld
        case expired, withFacts, arrivedOld, empty, none
        case refreshed, cachedOnly, prefetched, ofAnAge, withFields
        case varies, loggedFresh, loggedStale, reported, anotherResource

        var age: Duration {
            switch self {
            case .fromTheFuture: .seconds(-60)
            case .ageing: .seconds(250)
            case .atTheEdge: .seconds(300)
            case .justBeforeTheEdge: .seconds(300) - .nanoseconds(1)
            case .stale, .loggedStale: .seconds(900)
            case .staleBeyondOneWindow: .seconds(3 * 3_600)
            case .tooOld: .seconds(40 * 86_400)
            default: .seconds(30)
            }
        }

        func request(_ feed: Resource<Data>) -> Request {
            switch self {
            case .refreshed: feed.request(mode: .refresh)
            case .cachedOnly: feed.request(mode: .cachedOnly)
            case .prefetched: feed.request(purpose: .prefetch)
            case .ofAnAge: feed.request(noOlderThan: .seconds(10))
            case .withFields, .varies: feed.request(fields: ["Accept-Language": "de"])
            case .anotherResource: Request("other")
            default: feed.request()
            }
        }
    }

    private static let strategies = [
        #""cache-first""#, #"{ "use": "cache-first", "refreshAhead": 0.5 }"#, #""stale-while-revalidate""#,
        #"{ "use": "stale-while-revalidate", "refreshAhead": 0.5 }"#, #""cache-only""#, #""network-first""#,
        #""network-only""#,
    ]

    private static let age = #""use": "age", "fresh": "5m", "whileRevalidating": "1h", "onError": "7d""#
    private static let validators = [
        "[]", "[{ \(age) }]", #"[{ \#(age), "jitter": 0.2 }, "checksum"]"#, #"[{ \#(age) }, "moody"]"#,
        #"["checksum", { "use": "max-size", "capacity": "1MB" }]"#,
        #"[{ "use": "entry-version", "version": 1 }, { \#(age) }]"#,
        #"[{ "use": "age", "fresh": "forever" }]"#,
    ]

    private static let stores = [#""memory""#, #"{ "use": "tiered", "tiers": ["memory", "faulty"] }"#]

    @Test(arguments: strategies, validators)
    func copyIsShownAtOnceAsInAnAwaitedLoad(strategy: String, validators: String) throws {
        for situation in Situation.allCases {
            for store in validators == Self.validators[1] ? Self.stores : [Self.stores[0]] {
                let straight = try Self.play(situation, strategy, validators, store, isStraight: true)
                let layered = try Self.play(situation, strategy, validators, store, isStraight: false)
                for (one, other) in zip(straight, layered) where one != other {
                    Issue.record("\(situation), \(store): \(one) instead of \(other)")
                }
                #expect(straight.count == layered.count)
            }
        }
    }

    /// A world whose rough time is as far behind as it may be.
    private struct LaggingWorld: World {
        let base: SimulatedWorld
        var now: Timestamp { base.now }
        var roughNow: Timestamp { base.now - .milliseconds(20) }
        var uptime: Duration { base.uptime }
        func random() -> UInt64 { base.random() }
        func sleep(for duration: Duration) async throws { try await base.sleep(for: duration) }
        func spawn(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> { base.spawn(work) }
        func blocking<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
            try await base.blocking(work)
        }
    }

    @Test func copyNearTheEndOfItsFreshnessIsJudgedByTheExactTime() throws {
        let policy = """
            { "resource": "feed", "origin": { "use": "constant", "value": 1 }, "strategy": "cache-first",
              "validators": [{ "use": "age", "fresh": "5m" }], "store": "memory" }
            """
        try SimulatedWorld().run { base in
            let pantry = try await Pantry(
                policies: ["feed": policy], cache: TemporaryFolder().url, world: LaggingWorld(base: base))
            let feed = pantry.resource("feed")
            _ = try await feed.load()
            // The rough time is before the copy was fetched.
            #expect(feed.answer(feed.request())?.age == .zero)
            try await base.sleep(for: .seconds(60))
            #expect(feed.answer(feed.request())?.age == .seconds(60) - .milliseconds(20))
            try await base.sleep(for: .seconds(240) - .nanoseconds(1))
            #expect(feed.answer(feed.request())?.freshness == .fresh)
            try await base.sleep(for: .nanoseconds(1))
            #expect(feed.answer(feed.request()) == nil)
            await pantry.close()
        }
    }

    /// Returns a pantry with a copy in memory.
    private static func stocked(
        _ world: SimulatedWorld, _ strategy: String, age: Duration
    ) async throws -> SimulatedPantry {
        let simulated = try await SimulatedPantry(
            world, strategy: strategy, validators: "[{ \(Self.age) }]", isStoreForeign: false)
        let entry = Entry(Data("old".utf8), Metadata(fetchedAt: world.now - age))
        _ = try await simulated.feed.stock(entry, for: simulated.feed.request())
        return simulated
    }

    @Test(arguments: [#""cache-first""#, #""stale-while-revalidate""#, #""cache-only""#])
    func freshCopyIsShownAtOnceToThoseWhoListen(_ strategy: String) throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.stocked(world, strategy, age: .seconds(30))
            let feed = simulated.feed
            let reports = Locked(0)
            let listening = simulated.pantry.sinks.loads.add { _ in reports.withLock { $0 += 1 } }
            for _ in 1...3 { #expect(feed.answer(feed.request())?.text == "old") }
            #expect(reports.withLock { $0 } == 3 && feed.metrics.hitRate == 1)
            withExtendedLifetime(listening) {}
        }
    }

    @Test(arguments: [#""network-first""#, #""cache-first""#])
    func staleCopyIsShownAtOnceWhileOriginRests(_ strategy: String) throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.stocked(world, strategy, age: .seconds(900))
            let feed = simulated.feed
            #expect(feed.answer(feed.request()) == nil)
            simulated.origin.play(then: .failure(.status(503)))
            #expect(try await feed.load().text == "old")
            #expect(feed.answer(feed.request())?.text == "old")
            #expect(feed.answer(feed.request(["id": "other"])) == nil)
            #expect(feed.metrics.fallbackRate == 1 && feed.metrics.loads == 2)
        }
    }

    /// Returns everything that can be seen of loads in a situation.
    private static func play(
        _ situation: Situation, _ strategy: String, _ validators: String, _ store: String, isStraight: Bool
    ) throws -> [String] {
        let asked = Locked(0)
        return try SimulatedWorld().run(leaving: .anything) { world in
            let simulated = try await SimulatedPantry(
                world, strategy: #"{ "use": "passes", "to": \#(strategy) }"#, validators: validators,
                store: store, isStoreForeign: false, plugins: [passing(isStraight, asked), moody])
            let feed = simulated.feed
            let seen = Locked<[String]>([])
            try await prepare(situation, simulated)
            let listening = listen(situation, simulated.pantry, seen)
            asked.withLock { $0 = 0 }
            var lines: [String] = []
            for _ in 0..<3 {
                do {
                    lines.append(line(of: try await feed.load(situation.request(feed))))
                } catch {
                    lines.append("\(error) \((error as? LoadError)?.trail.description ?? "")")
                }
                try await world.sleep(for: .milliseconds(1))
            }
            if isStraight, situation == .loggedFresh, strategy.contains("cache-"), !validators.contains("moody") {
                #expect(asked.withLock { $0 } == 0, "a hit passes the loaders")
            }
            let metrics = feed.metrics
            lines.append("\(metrics.loads) loads, \(metrics.hitRate) \(metrics.staleRate) \(metrics.fallbackRate)")
            withExtendedLifetime(listening) {}
            return lines + seen.withLock { $0 }
        }
    }

    private static func prepare(_ situation: Situation, _ simulated: SimulatedPantry) async throws {
        let (world, feed) = (simulated.world, simulated.feed)
        if situation != .none {
            var metadata = Metadata(fetchedAt: world.now - situation.age, etag: nil, spread: 0.25)
            if situation == .withFacts {
                metadata.etag = "e1"; metadata.tags = ["t"]; metadata.notes = ["n": .text("x")]
            }
            if situation == .arrivedOld { metadata.initialAge = .seconds(60) }
            if situation == .varies { metadata.variesBy = ["accept-language"] }
            let entry = Entry(Data((situation == .empty ? "" : "old").utf8), metadata)
            _ = try await feed.stock(entry, for: feed.request())
        }
        if situation == .expired { try await feed.expire() }
        simulated.origin.play(then: .value("new", after: .milliseconds(20)))
        if situation == .varies { _ = try? await feed.load(situation.request(feed)) }
    }

    private static func listen(_ situation: Situation, _ pantry: Pantry, _ seen: Locked<[String]>) -> Subscription? {
        switch situation {
        case .loggedFresh, .loggedStale:
            pantry.sinks.decisions.add { decision in
                seen.withLock { $0.append(decision.json.text(indented: false)) }
            }
        case .reported:
            pantry.sinks.loads.add { report in
                seen.withLock { $0.append("\(report.mode) \(report.outcome.map { "\($0)" } ?? "") \(report.took)") }
            }
        default: nil
        }
    }

    private static func line(of loaded: Loaded<Data>?) -> String {
        guard let loaded else { return "nothing" }
        let metadata = loaded.metadata
        let facts = metadata.map {
            "\($0.fetchedAt) \($0.initialAge) \($0.etag ?? "") \($0.tags) \($0.notes.sorted { $0.key < $1.key }) \($0.isExpired)"
        }
        return """
            \(loaded.text) from \(loaded.source), \(loaded.freshness), \(loaded.age.map { "\($0)" } ?? "no age"), \
            \(loaded.isStored) \(loaded.fellBack), \(loaded.permissions), \(loaded.trail), \
            \(loaded.trail.revision ?? "no revision"), \(facts ?? "no facts")
            """
    }

    /// A strategy that passes everything on to another one. It counts how often it is asked for an answer.
    private struct Passing: Loader {
        let next: any Loader
        let isStraight: Bool
        let asked: Locked<Int>

        var hitRule: HitRule? { isStraight ? next.hitRule : nil }

        func load(_ call: Call) async throws -> Loaded<Entry> {
            asked.withLock { $0 += 1 }
            return try await next.load(call)
        }
    }

    private static func passing(_ isStraight: Bool, _ asked: Locked<Int>) -> Plugin {
        .strategy("passes", "Passes on.", Setting("to", .part(.strategy), help: "Another strategy")) { sides, part in
            Passing(next: try part.strategy(over: sides), isStraight: isStraight, asked: asked)
        }
    }

    /// Permits copies with an even age in seconds, with a reason in any case.
    private struct Moody: Validator {
        func permit(_ metadata: Metadata, for request: Request, at now: Timestamp) -> Permissions {
            let isEven = metadata.age(at: now).components.seconds % 2 == 0
            return isEven ? Permissions(.all).because(.fresh, "even") : Permissions(.all).refusing(.fresh, "odd")
        }
    }

    private static let moody = Plugin.validator("moody", "Permits even ages.") { (_: Context) in Moody() }
}
