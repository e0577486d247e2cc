import FoundationEssentials
import Larder
import LarderSimulation
import Testing

/// How a request wants to be answered, whatever the strategy: modes and deadlines.
@Suite struct ModeTests {
    private static let windows = #"[{ "use": "age", "fresh": "5m", "whileRevalidating": "1h", "onError": "7d" }]"#
    static let strategies = ["network-first", "cache-first", "stale-while-revalidate", "cache-only", "network-only"]
    private static let keeping = ["network-first", "cache-first", "stale-while-revalidate", "cache-only"]

    private func kitchen(
        _ world: SimulatedWorld, _ strategy: String, age: Duration? = .seconds(60), foreignStore: Bool = true
    ) async throws -> Kitchen {
        let kitchen = try await Kitchen(
            world, strategy: "\"\(strategy)\"", validators: Self.windows, foreignStore: foreignStore)
        if let age { kitchen.stock("old", age: age) }
        return kitchen
    }

    // MARK: Modes

    @Test(arguments: strategies, [true, false])
    func refreshAsksTheOriginNowWhateverTheStrategy(_ strategy: String, _ foreignStore: Bool) throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world, strategy, foreignStore: foreignStore)
            kitchen.origin.play(then: .value("new", after: .milliseconds(20)))
            let loaded = try await kitchen.feed.load(mode: .refresh)
            #expect(loaded.text == "new" && loaded.source == .origin && world.uptime == .milliseconds(20))
            #expect(kitchen.origin.calls.count == 1)
        }
    }

    @Test(arguments: ["network-first", "cache-first", "stale-while-revalidate"])
    func refreshSavesAndLetsACopyStandInOnlyWhenTheOriginFails(_ strategy: String) throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world, strategy)
            kitchen.origin.play(.value("new"), .failure(.status(503)))
            #expect(try await kitchen.feed.load(mode: .refresh).isStored)
            let copy = try await kitchen.feed.load(mode: .refresh)
            #expect(copy.text == "new" && copy.fellBack && copy.freshness == .fresh)
        }
    }

    @Test func refreshIsNotCutShortByPatience() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await Kitchen(
                world, strategy: #"{ "use": "network-first", "patience": "10ms" }"#, validators: Self.windows)
            kitchen.stock("old", age: .zero)
            kitchen.origin.play(.value("new", after: .seconds(5)))
            #expect(try await kitchen.feed.load(mode: .refresh).text == "new")
        }
    }

    @Test(arguments: keeping, [true, false])
    func cachedOnlyShowsWhatMayBeShownAndNeverAsksTheOrigin(_ strategy: String, _ foreignStore: Bool) throws {
        let hour = Duration.seconds(3_600)
        for (age, freshness) in [
            (Duration.seconds(60), Freshness.fresh), (hour / 2, .stale), (hour * 3, .stale), (hour * 200, nil),
        ] {
            try SimulatedWorld().run { world in
                let kitchen = try await kitchen(world, strategy, age: age, foreignStore: foreignStore)
                let result = await kitchen.start(mode: .cachedOnly).result()
                #expect((try? result.get())?.freshness == freshness)
                #expect((try? result.get())?.fellBack != true)
                try await world.sleep(for: .seconds(1))
                #expect(kitchen.origin.calls.isEmpty, "not even behind it")
                #expect(kitchen.feed.metrics.cachedOnly == 1 && kitchen.feed.metrics.loads == 0)
            }
        }
    }

    @Test(arguments: strategies) func cachedOnlyWithoutACopySaysSo(_ strategy: String) throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world, strategy, age: nil)
            #expect(try await kitchen.start(mode: .cachedOnly).failure().code == .notCached)
            #expect(kitchen.origin.calls.isEmpty)
        }
    }

    @Test func networkOnlyHasNoCopyEvenWhereTheStoreHas() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world, "network-only")
            #expect(try await kitchen.start(mode: .cachedOnly).failure().code == .notCached)
            #expect(kitchen.store.count(of: .read) == 0)
        }
    }

    // MARK: Deadlines

    @Test(arguments: ["network-first", "cache-first", "stale-while-revalidate", "network-only"])
    func withNothingToShowTheDeadlineThrowsAndTheCallGoesOn(_ strategy: String) throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world, strategy, age: nil)
            kitchen.origin.play(.value("new", after: .seconds(3)))
            let impatient = kitchen.start(deadline: .seconds(1))
            let patient = kitchen.start()
            #expect(try await impatient.failure().code == .deadline)
            #expect(impatient.endedAt == .seconds(1))
            #expect(try await patient.value().text == "new" && kitchen.origin.calls.count == 1)
        }
    }

    @Test func theCallGoesOnAfterADeadlineEvenWhenNobodyElseWaits() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world, "cache-first", age: nil)
            kitchen.origin.play(.value("new", after: .seconds(3)))
            #expect(try await kitchen.start(deadline: .seconds(1)).failure().code == .deadline)
            try await world.sleep(for: .seconds(3))
            #expect(kitchen.held() == "new" && world.unfinished == 1)
        }
    }

    @Test func atTheDeadlineACopyThatMayBeShownIs() throws {
        for (age, shows) in [(60, true), (1_800, true), (7_200, true), (8 * 86_400, false)] {
            try SimulatedWorld().run { world in
                let kitchen = try await kitchen(world, "network-first", age: .seconds(age))
                kitchen.origin.play(.value("new", after: .seconds(3)))
                let load = kitchen.start(deadline: .seconds(1))
                if shows {
                    let copy = try await load.value()
                    #expect(copy.text == "old" && copy.fellBack)
                } else {
                    #expect(try await load.failure().code == .deadline)
                }
                #expect(load.endedAt == .seconds(1))
                try await world.sleep(for: .seconds(2))
            }
        }
    }

    @Test func atTheDeadlineAFallbackStandsIn() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await Kitchen(
                world, strategy: #""network-first""#, fallbacks: #"[{ "use": "constant", "value": 1 }]"#)
            kitchen.origin.play(.hang)
            let loaded = try await kitchen.feed.load(deadline: .seconds(1))
            #expect(loaded.source == .fallback("constant") && loaded.fellBack && world.uptime == .seconds(1))
            try await world.sleep(for: .seconds(60))
        }
    }

    @Test func theEarlierOfPatienceAndDeadlineCounts() throws {
        for (patience, deadline, ends) in [("500ms", 1_000, 500), ("1s", 300, 300)] {
            try SimulatedWorld().run { world in
                let kitchen = try await Kitchen(
                    world, strategy: #"{ "use": "network-first", "patience": "\#(patience)" }"#,
                    validators: Self.windows)
                kitchen.stock("old", age: .zero)
                kitchen.origin.play(.hang)
                let load = kitchen.start(deadline: .milliseconds(deadline))
                #expect(try await load.value().text == "old" && load.endedAt == .milliseconds(ends))
                try await world.sleep(for: .seconds(60))
            }
        }
    }

    @Test func patienceWithNothingToShowWaitsOnUntilTheDeadline() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await Kitchen(
                world, strategy: #"{ "use": "network-first", "patience": "100ms" }"#, validators: Self.windows)
            kitchen.origin.play(.value("new", after: .milliseconds(800)), .hang)
            #expect(try await kitchen.feed.load(deadline: .seconds(1)).text == "new")
            try await kitchen.feed.clear()
            let load = kitchen.start(deadline: .seconds(1))
            #expect(try await load.failure().code == .deadline)
            #expect(load.endedAt == .milliseconds(1_800))
            try await world.sleep(for: .seconds(60))
        }
    }

    @Test func theDeadlineCountsFromTheLoadNotFromTheCallItJoins() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world, "network-first", age: nil)
            kitchen.origin.play(.hang)
            let first = kitchen.start(deadline: .seconds(1))
            try await world.sleep(for: .milliseconds(700))
            let second = kitchen.start(deadline: .seconds(1))
            _ = await first.result()
            _ = await second.result()
            #expect(first.endedAt == .seconds(1) && second.endedAt == .milliseconds(1_700))
            try await world.sleep(for: .seconds(60))
        }
    }

    @Test func aDeadlineOfNothingIsNoDeadlineForACopyInHand() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world, "cache-first")
            #expect(try await kitchen.feed.load(deadline: .zero).text == "old")
            #expect(kitchen.origin.calls.isEmpty)
        }
    }
}
