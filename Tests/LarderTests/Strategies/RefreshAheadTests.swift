import LarderSystem
import LarderFoundation
import Larder
import LarderSimulation
import Testing

/// The setting `refreshAhead`: a fresh copy that is served late in its fresh time is refreshed in the background.
@Suite struct RefreshAheadTests {
    static let strategies = ["cache-first", "stale-while-revalidate"]

    private func simulated(
        _ world: SimulatedWorld, _ strategy: String, share: String? = "0.8", age: Duration,
        isStoreForeign: Bool = true, jitter: String = "0"
    ) async throws -> SimulatedPantry {
        let ahead = share.map { #", "refreshAhead": \#($0)"# } ?? ""
        let simulated = try await SimulatedPantry(
            world, strategy: #"{ "use": "\#(strategy)", "background": "10s"\#(ahead) }"#,
            validators: #"[{ "use": "age", "fresh": "5m", "jitter": \#(jitter) }]"#, isStoreForeign: isStoreForeign)
        simulated.stock("old", age: age, etag: "e1")
        simulated.origin.play(then: .value("new", after: .seconds(1)))
        return simulated
    }

    @Test(arguments: strategies, [true, false])
    func copyPastItsShareIsServedAndRefreshed(
        _ strategy: String, _ isStoreForeign: Bool
    ) throws {
        for (age, calls) in [(Duration.seconds(240) - .nanoseconds(1), 0), (.seconds(240), 1), (.seconds(299), 1)] {
            try SimulatedWorld().run { world in
                let simulated = try await simulated(world, strategy, age: age, isStoreForeign: isStoreForeign)
                let shown = try await simulated.feed.load()
                #expect(shown.text == "old" && shown.freshness == .fresh && !shown.fellBack && world.uptime == .zero)
                try await world.sleep(for: .seconds(2))
                #expect(simulated.origin.calls.count == calls && simulated.held() == (calls == 1 ? "new" : "old"))
                #expect(simulated.origin.calls.allSatisfy { $0.known?.metadata.etag == "e1" })
                #expect(simulated.origin.calls.allSatisfy { $0.request.priority == .low })
                let metrics = simulated.feed.metrics
                #expect(metrics.refreshes == UInt64(calls) && metrics.hitRate == 1 && metrics.staleRate == 0)
            }
        }
    }

    @Test(arguments: strategies) func manyLoadsStartOneRefresh(_ strategy: String) throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world, strategy, age: .seconds(250))
            for load in (0..<20).map({ _ in simulated.start() }) { #expect(try await load.value().text == "old") }
            try await world.sleep(for: .seconds(2))
            // Its life has begun anew, and with it the share.
            for _ in 0..<3 { #expect(try await simulated.feed.load().text == "new") }
            #expect(simulated.origin.calls.count == 1)
        }
    }

    @Test(arguments: strategies) func unchangedCopyRestartsItsFreshTime(_ strategy: String) throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world, strategy, age: .seconds(250))
            simulated.origin.play(.unchanged())
            _ = try await simulated.feed.load()
            try await world.sleep(for: .seconds(200))
            let shown = try await simulated.feed.load()
            #expect(shown.text == "old" && shown.freshness == .fresh && shown.age == .seconds(200))
            #expect(simulated.origin.calls.count == 1)
        }
    }

    @Test(arguments: strategies) func failedRefreshIsHiddenAndBacksOff(_ strategy: String) throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world, strategy, age: .seconds(250))
            simulated.origin.play(then: .failure(.status(503)))
            for _ in 0..<20 {
                let shown = try await simulated.feed.load()
                #expect(shown.text == "old" && shown.freshness == .fresh && !shown.fellBack)
                try await world.sleep(for: .seconds(1))
            }
            // After about 5 s, and about 10 s more.
            #expect(simulated.origin.starts.count == 3)
            #expect(simulated.feed.metrics.revalidationErrorRate == 1 && simulated.feed.metrics.fallbackRate == 0)
        }
    }

    @Test(arguments: strategies) func hangingRefreshIsCancelledAfterBackgroundLimit(_ strategy: String) throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world, strategy, age: .seconds(250))
            simulated.origin.play(.hang)
            _ = try await simulated.feed.load()
            try await world.sleep(for: .seconds(11))
            #expect(simulated.origin.underWay == 0 && simulated.feed.metrics.refreshErrors == 1)
        }
    }

    @Test(arguments: strategies) func freshCopyIsNotRefreshedByDefault(_ strategy: String) throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world, strategy, share: nil, age: .seconds(299))
            _ = try await simulated.feed.load()
            try await world.settle()
            #expect(simulated.origin.calls.isEmpty)
        }
    }

    @Test(arguments: [("0", 0, 1), (#""10%""#, 29, 0), (#""10%""#, 30, 1), ("1", 299, 0)])
    func shareIsTakenOfWholeFreshTime(_ share: String, _ age: Int, _ calls: Int) throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world, "cache-first", share: share, age: .seconds(age))
            _ = try await simulated.feed.load()
            try await world.sleep(for: .seconds(2))
            #expect(simulated.origin.calls.count == calls)
        }
    }

    @Test func shareIsTakenOfFreshTimeAfterJitter() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world, "cache-first", age: .zero, jitter: "0.5")
            // Half of five minutes: fresh for 150 s, of which 80 % are 120 s.
            for (age, calls) in [(119, 0), (120, 1)] {
                let metadata = Metadata(fetchedAt: world.now - .seconds(age), spread: 1)
                simulated.store.put(Entry(Data("old".utf8), metadata), for: simulated.key())
                #expect(try await simulated.feed.load().text == "old")
                try await world.settle()
                #expect(simulated.origin.calls.count == calls)
            }
            try await world.sleep(for: .seconds(2))
        }
    }
}
