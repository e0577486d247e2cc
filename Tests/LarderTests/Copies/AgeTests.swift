import LarderFoundation
import Larder
import LarderSimulation
import Testing

/// The exact ends of the time windows.
@Suite struct AgeTests {
    private static let week = Duration.seconds(7 * 86_400)
    private static let fresh = Duration.seconds(300)
    private static let windows = #"[{ "use": "age", "fresh": "5m", "whileRevalidating": "1h", "onError": "7d" }]"#

    /// Returns the answer of network-first for a copy of this age when the origin fails, or nil if it throws.
    private func standIn(_ age: Duration, _ validators: String) throws -> Loaded<Data>? {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(world, strategy: #""network-first""#, validators: validators)
            simulated.stock("old", age: age)
            simulated.origin.play(then: .failure(.status(503)))
            return try? await simulated.feed.load()
        }
    }

    /// Returns the answer of cache-only for a copy of this age.
    private func shown(_ age: Duration, _ validators: String) throws -> Loaded<Data>? {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(world, strategy: #""cache-only""#, validators: validators)
            simulated.stock("old", age: age)
            return try? await simulated.feed.load()
        }
    }

    @Test func copyIsRefusedAtExactlyTheEndOfOnError() throws {
        let validators = #"[{ "use": "age", "fresh": "0s", "onError": "7d" }]"#
        for age in [Duration.zero, .seconds(1), Self.week - .seconds(1), Self.week - .nanoseconds(1)] {
            let copy = try #require(try standIn(age, validators))
            #expect(copy.text == "old" && copy.freshness == .stale && copy.age == age && copy.fellBack)
        }
        for age in [Self.week, Self.week + .nanoseconds(1), Self.week + .seconds(1)] {
            #expect(try standIn(age, validators) == nil)
        }
    }

    @Test func onErrorStartsWhenFreshnessEnds() throws {
        #expect(try standIn(Self.fresh + Self.week - .seconds(1), Self.windows)?.freshness == .stale)
        #expect(try standIn(Self.fresh + Self.week, Self.windows) == nil)
    }

    @Test func originErrorUsesOnErrorWindowAndPatienceUsesEitherWindow() throws {
        let revalidating = #"[{ "use": "age", "fresh": "5m", "whileRevalidating": "1h" }]"#
        let onError = #"[{ "use": "age", "fresh": "5m", "onError": "1h" }]"#
        #expect(try standIn(.seconds(600), revalidating) == nil)
        #expect(try standIn(.seconds(600), onError)?.text == "old")
        for validators in [revalidating, onError] {
            try SimulatedWorld().run { world in
                let simulated = try await SimulatedPantry(
                    world, strategy: #"{ "use": "cache-first", "patience": "1s" }"#, validators: validators)
                simulated.stock("old", age: .seconds(600))
                simulated.origin.play(.hang)
                let copy = try await simulated.feed.load()
                #expect(copy.text == "old" && copy.freshness == .stale && world.uptime == .seconds(1))
                try await world.sleep(for: .seconds(60))
            }
        }
    }

    @Test func copyIsStaleAtExactlyTheFreshLimit() throws {
        #expect(try shown(Self.fresh - .nanoseconds(1), Self.windows)?.freshness == .fresh)
        #expect(try shown(Self.fresh, Self.windows)?.freshness == .stale)
    }

    @Test func copyIsNotServedAtOnceAtExactlyTheEndOfWhileRevalidating() throws {
        for (over, calls) in [(Duration.seconds(3_599), "old"), (.seconds(3_600), "new")] {
            try SimulatedWorld().run { world in
                let simulated = try await SimulatedPantry(
                    world, strategy: #""stale-while-revalidate""#, validators: Self.windows)
                simulated.stock("old", age: Self.fresh + over)
                simulated.origin.play(then: .value("new"))
                #expect(try await simulated.feed.load().text == calls)
            }
        }
    }

    @Test func staleCopyIsNeverServedWithoutWindows() throws {
        let validators = #"[{ "use": "age", "fresh": "5m" }]"#
        #expect(try shown(Self.fresh - .seconds(1), validators)?.freshness == .fresh)
        #expect(try shown(Self.fresh, validators) == nil)
        #expect(try standIn(Self.fresh, validators) == nil)
    }

    @Test func copyIsFreshForeverWithoutValidator() throws {
        #expect(try shown(.zero, #"["age"]"#) == nil)
        #expect(try shown(Self.week * 5_000, "[]")?.freshness == .fresh)
    }

    @Test func entryFromTheFutureIsStale() throws {
        let ages = [Duration.nanoseconds(-1), .seconds(-10), Self.week * -100]
        for age in ages {
            #expect(try shown(age, Self.windows)?.freshness == .stale)
            #expect(try standIn(age, Self.windows)?.freshness == .stale)
            #expect(try shown(age, #"[{ "use": "age", "fresh": "5m" }]"#) == nil)
            try SimulatedWorld().run { world in
                let simulated = try await SimulatedPantry(world, strategy: #""cache-first""#, validators: Self.windows)
                simulated.stock("old", age: age)
                #expect(try await simulated.feed.load().source == .origin)
            }
        }
    }

    @Test func clockSetBackMakesCopyStaleAndClockSetForwardAgesIt() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(world, strategy: #""cache-only""#, validators: Self.windows)
            simulated.stock("old", age: .zero)
            #expect(try await simulated.feed.load().freshness == .fresh)
            world.stepClock(by: .seconds(-1))
            #expect(try await simulated.feed.load().freshness == .stale)
            world.stepClock(by: .seconds(301))
            #expect(try await simulated.feed.load().freshness == .stale)
            world.stepClock(by: Self.week)
            await #expect(throws: LoadError.self) { try await simulated.feed.load() }
        }
    }

    @Test func ageCountsFromLastValidationNotFromLastUse() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(world, strategy: #""cache-first""#, validators: Self.windows)
            simulated.stock("old", age: .seconds(299), etag: "e1")
            #expect(try await simulated.feed.load().age == .seconds(299))
            try await world.sleep(for: .seconds(1))
            simulated.origin.play(.unchanged())
            #expect(try await simulated.feed.load().source == .revalidated)
            try await world.sleep(for: .seconds(299))
            let copy = try await simulated.feed.load()
            #expect(copy.source == .store("faulty") && copy.age == .seconds(299) && copy.freshness == .fresh)
            #expect(simulated.origin.calls.count == 1)
        }
    }

    @Test func jitterShortensFreshnessByAtMostItsShare() throws {
        let validators = #"[{ "use": "age", "fresh": "100s", "jitter": "10%" }]"#
        var lifetimes: Set<Int64> = []
        for seed in UInt64(1)...40 {
            lifetimes.insert(
                try SimulatedWorld(seed: seed).run { world in
                    let simulated = try await SimulatedPantry(
                        world, strategy: #""cache-first""#, validators: validators)
                    _ = try await simulated.feed.load()
                    while simulated.origin.calls.count == 1 {
                        try await world.sleep(for: .milliseconds(500))
                        _ = try await simulated.feed.load()
                    }
                    return world.uptime.components.seconds
                })
        }
        #expect(lifetimes.allSatisfy { (90...100).contains($0) })
        #expect(lifetimes.count > 5, "copies saved together expire apart")
    }
}
