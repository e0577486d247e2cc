import FoundationEssentials
import Larder
import LarderSimulation
import Testing

/// The windows of time, to the second and to the nanosecond.
@Suite struct AgeTests {
    private static let week = Duration.seconds(7 * 86_400)
    private static let fresh = Duration.seconds(300)
    private static let windows = #"[{ "use": "age", "fresh": "5m", "whileRevalidating": "1h", "onError": "7d" }]"#

    /// What network-first serves for a copy of this age when the origin fails; nil when it throws.
    private func standIn(_ age: Duration, _ validators: String) throws -> Loaded<Data>? {
        try SimulatedWorld().run { world in
            let kitchen = try await Kitchen(world, strategy: #""network-first""#, validators: validators)
            kitchen.stock("old", age: age)
            kitchen.origin.play(then: .failure(.status(503)))
            return try? await kitchen.feed.load()
        }
    }

    /// What cache-only shows of a copy of this age.
    private func shown(_ age: Duration, _ validators: String) throws -> Loaded<Data>? {
        try SimulatedWorld().run { world in
            let kitchen = try await Kitchen(world, strategy: #""cache-only""#, validators: validators)
            kitchen.stock("old", age: age)
            return try? await kitchen.feed.load()
        }
    }

    @Test func aWeekOfOfflineIsHalfOpenAtExactlySevenDaysTheCopyIsRefused() throws {
        let validators = #"[{ "use": "age", "fresh": "0s", "onError": "7d" }]"#
        for age in [Duration.zero, .seconds(1), Self.week - .seconds(1), Self.week - .nanoseconds(1)] {
            let copy = try #require(try standIn(age, validators))
            #expect(copy.text == "old" && copy.freshness == .stale && copy.age == age && copy.fellBack)
        }
        for age in [Self.week, Self.week + .nanoseconds(1), Self.week + .seconds(1)] {
            #expect(try standIn(age, validators) == nil)
        }
    }

    @Test func theErrorWindowStartsWhenFreshnessEndsNotWhenTheOtherWindowDoes() throws {
        #expect(try standIn(Self.fresh + Self.week - .seconds(1), Self.windows)?.freshness == .stale)
        #expect(try standIn(Self.fresh + Self.week, Self.windows) == nil)
    }

    @Test func onErrorOnlyItsOwnWindowCountsButPatienceServesWhatEitherAllows() throws {
        let revalidating = #"[{ "use": "age", "fresh": "5m", "whileRevalidating": "1h" }]"#
        let onError = #"[{ "use": "age", "fresh": "5m", "onError": "1h" }]"#
        #expect(try standIn(.seconds(600), revalidating) == nil)
        #expect(try standIn(.seconds(600), onError)?.text == "old")
        for validators in [revalidating, onError] {
            try SimulatedWorld().run { world in
                let kitchen = try await Kitchen(
                    world, strategy: #"{ "use": "cache-first", "patience": "1s" }"#, validators: validators)
                kitchen.stock("old", age: .seconds(600))
                kitchen.origin.play(.hang)
                let copy = try await kitchen.feed.load()
                #expect(copy.text == "old" && copy.freshness == .stale && world.uptime == .seconds(1))
                try await world.sleep(for: .seconds(60))
            }
        }
    }

    @Test func atExactlyFreshACopyIsStale() throws {
        #expect(try shown(Self.fresh - .nanoseconds(1), Self.windows)?.freshness == .fresh)
        #expect(try shown(Self.fresh, Self.windows)?.freshness == .stale)
    }

    @Test func atExactlyTheEndOfWhileRevalidatingACopyIsNotShownAtOnce() throws {
        for (over, calls) in [(Duration.seconds(3_599), "old"), (.seconds(3_600), "new")] {
            try SimulatedWorld().run { world in
                let kitchen = try await Kitchen(
                    world, strategy: #""stale-while-revalidate""#, validators: Self.windows)
                kitchen.stock("old", age: Self.fresh + over)
                kitchen.origin.play(then: .value("new"))
                #expect(try await kitchen.feed.load().text == calls)
            }
        }
    }

    @Test func withoutWindowsAStaleCopyIsNeverShown() throws {
        let validators = #"[{ "use": "age", "fresh": "5m" }]"#
        #expect(try shown(Self.fresh - .seconds(1), validators)?.freshness == .fresh)
        #expect(try shown(Self.fresh, validators) == nil)
        #expect(try standIn(Self.fresh, validators) == nil)
    }

    @Test func anAbsentWindowIsNoneAndWithoutAValidatorACopyIsFreshForever() throws {
        #expect(try shown(.zero, #"["age"]"#) == nil)
        #expect(try shown(Self.week * 5_000, "[]")?.freshness == .fresh)
    }

    @Test func anEntryFromTheFutureIsStaleAndNeverFresh() throws {
        let ages = [Duration.nanoseconds(-1), .seconds(-10), Self.week * -100]
        for age in ages {
            #expect(try shown(age, Self.windows)?.freshness == .stale)
            #expect(try standIn(age, Self.windows)?.freshness == .stale)
            #expect(try shown(age, #"[{ "use": "age", "fresh": "5m" }]"#) == nil)
            try SimulatedWorld().run { world in
                let kitchen = try await Kitchen(world, strategy: #""cache-first""#, validators: Self.windows)
                kitchen.stock("old", age: age)
                #expect(try await kitchen.feed.load().source == .origin)
            }
        }
    }

    @Test func aClockSetBackMakesACopyStaleAndOneSetForwardAgesIt() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await Kitchen(world, strategy: #""cache-only""#, validators: Self.windows)
            kitchen.stock("old", age: .zero)
            #expect(try await kitchen.feed.load().freshness == .fresh)
            world.stepClock(by: .seconds(-1))
            #expect(try await kitchen.feed.load().freshness == .stale)
            world.stepClock(by: .seconds(301))
            #expect(try await kitchen.feed.load().freshness == .stale)
            world.stepClock(by: Self.week)
            await #expect(throws: LoadError.self) { try await kitchen.feed.load() }
        }
    }

    @Test func ageIsCountedFromTheLastValidationNeverFromTheLastUse() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await Kitchen(world, strategy: #""cache-first""#, validators: Self.windows)
            kitchen.stock("old", age: .seconds(299), etag: "e1")
            #expect(try await kitchen.feed.load().age == .seconds(299))
            try await world.sleep(for: .seconds(1))
            kitchen.origin.play(.unchanged())
            #expect(try await kitchen.feed.load().source == .revalidated)
            try await world.sleep(for: .seconds(299))
            let copy = try await kitchen.feed.load()
            #expect(copy.source == .store("faulty") && copy.age == .seconds(299) && copy.freshness == .fresh)
            #expect(kitchen.origin.calls.count == 1)
        }
    }

    @Test func jitterOnlyShortensFreshnessAndByNoMoreThanItsShare() throws {
        let validators = #"[{ "use": "age", "fresh": "100s", "jitter": "10%" }]"#
        var lifetimes: Set<Int64> = []
        for seed in UInt64(1)...40 {
            lifetimes.insert(
                try SimulatedWorld(seed: seed).run { world in
                    let kitchen = try await Kitchen(world, strategy: #""cache-first""#, validators: validators)
                    _ = try await kitchen.feed.load()
                    while kitchen.origin.calls.count == 1 {
                        try await world.sleep(for: .milliseconds(500))
                        _ = try await kitchen.feed.load()
                    }
                    return world.uptime.components.seconds
                })
        }
        #expect(lifetimes.allSatisfy { (90...100).contains($0) })
        #expect(lifetimes.count > 5, "copies saved together expire apart")
    }
}
