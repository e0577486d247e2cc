import FoundationEssentials
import Larder
import LarderSimulation
import Testing

/// The setting `refreshAhead`: a fresh copy that is shown late in its life is refreshed behind the caller.
@Suite struct RefreshAheadTests {
    static let strategies = ["cache-first", "stale-while-revalidate"]

    private func kitchen(
        _ world: SimulatedWorld, _ strategy: String, share: String? = "0.8", age: Duration,
        foreignStore: Bool = true, jitter: String = "0"
    ) async throws -> Kitchen {
        let ahead = share.map { #", "refreshAhead": \#($0)"# } ?? ""
        let kitchen = try await Kitchen(
            world, strategy: #"{ "use": "\#(strategy)", "background": "10s"\#(ahead) }"#,
            validators: #"[{ "use": "age", "fresh": "5m", "jitter": \#(jitter) }]"#, foreignStore: foreignStore)
        kitchen.stock("old", age: age, etag: "e1")
        kitchen.origin.play(then: .value("new", after: .seconds(1)))
        return kitchen
    }

    @Test(arguments: strategies, [true, false])
    func aCopyThatHasLivedThroughItsShareIsShownAtOnceAndRefreshedBehind(
        _ strategy: String, _ foreignStore: Bool
    ) throws {
        for (age, calls) in [(Duration.seconds(240) - .nanoseconds(1), 0), (.seconds(240), 1), (.seconds(299), 1)] {
            try SimulatedWorld().run { world in
                let kitchen = try await kitchen(world, strategy, age: age, foreignStore: foreignStore)
                let shown = try await kitchen.feed.load()
                #expect(shown.text == "old" && shown.freshness == .fresh && !shown.fellBack && world.uptime == .zero)
                try await world.sleep(for: .seconds(2))
                #expect(kitchen.origin.calls.count == calls && kitchen.held() == (calls == 1 ? "new" : "old"))
                #expect(kitchen.origin.calls.allSatisfy { $0.known?.metadata.etag == "e1" })
                #expect(kitchen.origin.calls.allSatisfy { $0.request.priority == .low })
                let metrics = kitchen.feed.metrics
                #expect(metrics.refreshes == UInt64(calls) && metrics.hitRate == 1 && metrics.staleRate == 0)
            }
        }
    }

    @Test(arguments: strategies) func manyLoadsStartOneRefreshAndLaterOnesSeeWhatItBrought(_ strategy: String) throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world, strategy, age: .seconds(250))
            for load in (0..<20).map({ _ in kitchen.start() }) { #expect(try await load.value().text == "old") }
            try await world.sleep(for: .seconds(2))
            // Its life has begun anew, and with it the share.
            for _ in 0..<3 { #expect(try await kitchen.feed.load().text == "new") }
            #expect(kitchen.origin.calls.count == 1)
        }
    }

    @Test(arguments: strategies) func anUnchangedCopyBeginsAnewToo(_ strategy: String) throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world, strategy, age: .seconds(250))
            kitchen.origin.play(.unchanged())
            _ = try await kitchen.feed.load()
            try await world.sleep(for: .seconds(200))
            let shown = try await kitchen.feed.load()
            #expect(shown.text == "old" && shown.freshness == .fresh && shown.age == .seconds(200))
            #expect(kitchen.origin.calls.count == 1)
        }
    }

    @Test(arguments: strategies) func aRefreshThatFailsIsNotSeenAndBacksOff(_ strategy: String) throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world, strategy, age: .seconds(250))
            kitchen.origin.play(then: .failure(.status(503)))
            for _ in 0..<20 {
                let shown = try await kitchen.feed.load()
                #expect(shown.text == "old" && shown.freshness == .fresh && !shown.fellBack)
                try await world.sleep(for: .seconds(1))
            }
            // After about 5 s, and about 10 s more.
            #expect(kitchen.origin.starts.count == 3)
            #expect(kitchen.feed.metrics.revalidationErrorRate == 1 && kitchen.feed.metrics.fallbackRate == 0)
        }
    }

    @Test(arguments: strategies) func aRefreshThatHangsIsGivenUpAfterBackground(_ strategy: String) throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world, strategy, age: .seconds(250))
            kitchen.origin.play(.hang)
            _ = try await kitchen.feed.load()
            try await world.sleep(for: .seconds(11))
            #expect(kitchen.origin.underWay == 0 && kitchen.feed.metrics.refreshErrors == 1)
        }
    }

    @Test(arguments: strategies) func withoutItAFreshCopyIsLeftAlone(_ strategy: String) throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world, strategy, share: nil, age: .seconds(299))
            _ = try await kitchen.feed.load()
            try await world.settle()
            #expect(kitchen.origin.calls.isEmpty)
        }
    }

    @Test(arguments: [("0", 0, 1), (#""10%""#, 29, 0), (#""10%""#, 30, 1), ("1", 299, 0)])
    func sharesAreOfTheWholeFreshTime(_ share: String, _ age: Int, _ calls: Int) throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world, "cache-first", share: share, age: .seconds(age))
            _ = try await kitchen.feed.load()
            try await world.sleep(for: .seconds(2))
            #expect(kitchen.origin.calls.count == calls)
        }
    }

    @Test func whereFreshnessIsShortenedAtRandomTheShareIsOfWhatIsLeft() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world, "cache-first", age: .zero, jitter: "0.5")
            // Half of five minutes: fresh for 150 s, of which 80 % are 120 s.
            for (age, calls) in [(119, 0), (120, 1)] {
                let metadata = Metadata(fetchedAt: world.now - .seconds(age), spread: 1)
                kitchen.store.put(Entry(Data("old".utf8), metadata), for: kitchen.key())
                #expect(try await kitchen.feed.load().text == "old")
                try await world.settle()
                #expect(kitchen.origin.calls.count == calls)
            }
            try await world.sleep(for: .seconds(2))
        }
    }
}
