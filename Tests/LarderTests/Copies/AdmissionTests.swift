import LarderSystem
import LarderFoundation
import Larder
import LarderSimulation
import Testing

/// Payloads that may be used but not kept.
@Suite struct AdmissionTests {
    /// A validator that lets payloads with the field `no-store` only be used, and refuses those with the field `bad`.
    private struct Discreet: Validator {
        func admit(
            _ entry: inout Entry, from arrival: Arrival, for request: Request
        ) throws(Refusal) -> Admission {
            if entry.metadata.fields["bad"] != nil { throw Refusal("it is bad") }
            return entry.metadata.fields["no-store"] == nil ? .keep : .useOnly
        }
    }

    private static let discreet = Plugin.validator("discreet", "Keeps no secrets.") { _ in Discreet() }
    private static let validators = #"["discreet", { "use": "age", "fresh": "5m", "onError": "1h" }]"#
    private static let unkept = "store: the answer may be used but not kept"

    private static func secret(_ text: String, after: Duration = .zero) -> ScriptedOrigin.Act {
        .answering(after: after) { _ in Entry(Data(text.utf8), Metadata(etag: "e", fields: ["No-Store": ""])) }
    }

    private static func simulated(
        _ world: SimulatedWorld, strategy: String = #"{ "use": "cache-first", "rest": "0s" }"#,
        store: String = #""faulty""#, fallbacks: String = "[]", plugins: [Plugin] = []
    ) async throws -> SimulatedPantry {
        try await SimulatedPantry(
            world, strategy: strategy, validators: validators, fallbacks: fallbacks, store: store,
            plugins: plugins + [discreet])
    }

    // MARK: Answers of the origin

    @Test(arguments: FlightTests.strategies.filter { !$0.contains("network-only") } + [#""race""#])
    func answerThatMayNotBeKeptIsUsedByEveryCallerAndKeptByNoTier(_ strategy: String) throws {
        try SimulatedWorld().run { world in
            let (upper, lower) = (
                FaultyStore("upper", isForeign: false, world: world), FaultyStore("lower", world: world)
            )
            let simulated = try await Self.simulated(
                world, strategy: strategy, store: #"{ "use": "tiered", "tiers": ["upper", "lower"] }"#,
                plugins: [upper.plugin, lower.plugin])
            simulated.origin.play(then: Self.secret("secret", after: .milliseconds(50)))
            let loads = (0..<3).map { number in
                world.start {
                    try await world.sleep(for: .milliseconds(number * 20))
                    return try await simulated.feed.load()
                }
            }
            for load in loads {
                let loaded = try await load.value()
                #expect(loaded.text == "secret" && loaded.source == .origin && !loaded.isStored && !loaded.fellBack)
                #expect(loaded.trail.lines.contains(Self.unkept))
                #expect(loaded.metadata?.fields["no-store"] == "")
            }
            #expect(simulated.origin.calls.count == 1 && upper.entries.isEmpty && lower.entries.isEmpty)
            #expect(upper.count(of: .write) == 0 && lower.count(of: .write) == 0)
            let step = try #require(try await simulated.feed.load().trail.steps.first { $0.event.kind == .notKept })
            #expect(step.part == "store" && simulated.origin.calls.count == 2)
        }
    }

    @Test func olderCopyIsShownOnlyWhenTheOriginFailsAfterAnAnswerThatMayNotBeKept() throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.simulated(world)
            simulated.stock("old", age: .seconds(1))
            simulated.origin.play(Self.secret("secret"), Self.secret("secret 2"), .failure(.status(503)))
            #expect(try await simulated.feed.load().text == "old")
            #expect(try await simulated.feed.load(mode: .refresh).text == "secret")
            #expect(try await simulated.feed.load().text == "secret 2")
            let copy = try await simulated.feed.load()
            #expect(copy.text == "old" && copy.freshness == .stale && copy.fellBack)
            #expect(simulated.store.bodyWrites == 0)
        }
    }

    @Test func answerThatMayNotBeKeptIsNotSaidToBeSaved() throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.simulated(world)
            simulated.stock("old", age: .seconds(1))
            simulated.store.set(.takes(.seconds(10)), for: .expire)
            simulated.origin.play(then: Self.secret("secret"))
            let loaded = try await simulated.feed.load(mode: .refresh, deadline: .seconds(1))
            #expect(loaded.text == "secret" && !loaded.isStored && world.uptime == .seconds(1))
            #expect(!loaded.trail.lines.contains("store: saving goes on"))
            try await world.sleep(for: .seconds(20))
        }
    }

    @Test func fallbackThatMayNotBeKeptIsShown() throws {
        try SimulatedWorld().run { world in
            let seed = ScriptedOrigin(then: Self.secret("seed"), world: world)
            let simulated = try await Self.simulated(world, fallbacks: #"["seed"]"#, plugins: [seed.plugin("seed")])
            simulated.origin.play(then: .failure(.status(503)))
            let loaded = try await simulated.feed.load()
            #expect(loaded.text == "seed" && loaded.source == .fallback("seed") && simulated.held() == nil)
            #expect(loaded.metadata?.etag == "e")
        }
    }

    // MARK: Copies

    @Test func copyFromADiskThatMayNotBeKeptIsUsedOnceAndRemoved() throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.simulated(world)
            simulated.store.put(
                Entry(Data("secret".utf8), Metadata(fetchedAt: world.now, fields: ["no-store": ""])),
                for: simulated.key())
            let copy = try await simulated.feed.load()
            #expect(copy.text == "secret" && copy.source == .store("faulty") && !copy.isStored)
            #expect(copy.trail.lines.contains("faulty: copy removed: it may not be kept"))
            #expect(simulated.held() == nil && simulated.feed.metrics.corrupt == 0)
            #expect(try await simulated.feed.load().source == .origin)
        }
    }

    @Test func copyInALowerTierThatMayNotBeKeptIsReplacedByTheOneAbove() throws {
        try SimulatedWorld().run { world in
            let (upper, lower) = (
                FaultyStore("upper", isForeign: false, world: world), FaultyStore("lower", world: world)
            )
            let simulated = try await Self.simulated(
                world, store: #"{ "use": "tiered", "tiers": ["upper", "lower"] }"#,
                plugins: [upper.plugin, lower.plugin])
            upper.put(Entry(text: "older", fetchedAt: world.now - .seconds(400)), for: simulated.key())
            var secret = Entry(text: "secret", fetchedAt: world.now)
            secret.metadata.fields["no-store"] = ""
            lower.put(secret, for: simulated.key())
            simulated.origin.play(then: .failure(.status(503)))
            let copy = try await simulated.feed.load()
            #expect(copy.text == "older" && copy.freshness == .stale && simulated.feed.metrics.corrupt == 0)
            #expect(lower.entries[simulated.key()]?.text == "older")
        }
    }

    // MARK: Unchanged

    @Test func confirmedCopyThatMayNotBeKeptIsUsedOnceAndRemoved() throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.simulated(world)
            simulated.stock("old", age: .seconds(400), etag: "e")
            simulated.origin.play(.unchanged { $0.fields["no-store"] = "" })
            let loaded = try await simulated.feed.load()
            #expect(loaded.text == "old" && loaded.source == .revalidated && !loaded.isStored)
            #expect(loaded.trail.lines.contains(Self.unkept) && simulated.held() == nil)
        }
    }

    @Test func copyThatMayNotBeKeptAndCannotBeRemovedIsNotShown() throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.simulated(world)
            simulated.stock("old", age: .seconds(400), etag: "e")
            simulated.origin.play(.unchanged { $0.fields["no-store"] = "" }, .failure(.status(503)))
            simulated.store.set(.fails, for: .remove)
            #expect(try await simulated.feed.load().text == "old")
            let failure = try await simulated.start().failure()
            #expect(failure.status == 503)
            #expect(
                failure.trail.lines.contains("store: copy not used: it may not be kept, and could not be removed"))
            simulated.store.set(nil, for: .remove)
            _ = try? await simulated.feed.load(mode: .cachedOnly)
            try await world.settle()
            #expect(simulated.held() == nil)
        }
    }

    @Test func refusedConfirmationIsAFailureOfTheOrigin() throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.simulated(world)
            simulated.stock("old", age: .seconds(400), etag: "e")
            simulated.origin.play(.unchanged { $0.fields["bad"] = "" })
            let copy = try await simulated.feed.load()
            #expect(copy.text == "old" && copy.fellBack && copy.metadata?.fields["bad"] == nil)
            #expect(copy.trail.lines.contains("origin: payload refused: it is bad"))
            #expect(simulated.store.count(of: .write) == 0)
        }
    }
}
