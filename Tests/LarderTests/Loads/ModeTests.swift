import LarderFoundation
import Larder
import LarderSimulation
import Testing

/// The modes and deadlines of requests, which apply to every strategy.
@Suite struct ModeTests {
    private static let windows = #"[{ "use": "age", "fresh": "5m", "whileRevalidating": "1h", "onError": "7d" }]"#
    static let strategies = ["network-first", "cache-first", "stale-while-revalidate", "cache-only", "network-only"]
    private static let keeping = ["network-first", "cache-first", "stale-while-revalidate", "cache-only"]

    private func simulated(
        _ world: SimulatedWorld, _ strategy: String, age: Duration? = .seconds(60), isStoreForeign: Bool = true
    ) async throws -> SimulatedPantry {
        let simulated = try await SimulatedPantry(
            world, strategy: "\"\(strategy)\"", validators: Self.windows, isStoreForeign: isStoreForeign)
        if let age { simulated.stock("old", age: age) }
        return simulated
    }

    // MARK: Modes

    @Test(arguments: strategies, [true, false])
    func refreshCallsOriginWithEveryStrategy(_ strategy: String, _ isStoreForeign: Bool) throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world, strategy, isStoreForeign: isStoreForeign)
            simulated.origin.play(then: .value("new", after: .milliseconds(20)))
            let loaded = try await simulated.feed.load(mode: .refresh)
            #expect(loaded.text == "new" && loaded.source == .origin && world.uptime == .milliseconds(20))
            #expect(simulated.origin.calls.count == 1)
        }
    }

    @Test(arguments: ["network-first", "cache-first", "stale-while-revalidate"])
    func refreshSavesAndServesCopyOnlyOnFailure(_ strategy: String) throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world, strategy)
            simulated.origin.play(.value("new"), .failure(.status(503)))
            #expect(try await simulated.feed.load(mode: .refresh).isStored)
            let copy = try await simulated.feed.load(mode: .refresh)
            #expect(copy.text == "new" && copy.fellBack && copy.freshness == .fresh)
        }
    }

    @Test func refreshIgnoresPatience() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(
                world, strategy: #"{ "use": "network-first", "patience": "10ms" }"#, validators: Self.windows)
            simulated.stock("old", age: .zero)
            simulated.origin.play(.value("new", after: .seconds(5)))
            #expect(try await simulated.feed.load(mode: .refresh).text == "new")
        }
    }

    @Test(arguments: keeping, [true, false])
    func cachedOnlyServesPermittedCopyWithoutCall(_ strategy: String, _ isStoreForeign: Bool) throws {
        let hour = Duration.seconds(3_600)
        for (age, freshness) in [
            (Duration.seconds(60), Freshness.fresh), (hour / 2, .stale), (hour * 3, .stale), (hour * 200, nil),
        ] {
            try SimulatedWorld().run { world in
                let simulated = try await simulated(world, strategy, age: age, isStoreForeign: isStoreForeign)
                let result = await simulated.start(mode: .cachedOnly).result()
                #expect((try? result.get())?.freshness == freshness)
                #expect((try? result.get())?.fellBack != true)
                try await world.sleep(for: .seconds(1))
                #expect(simulated.origin.calls.isEmpty, "not even behind it")
                #expect(simulated.feed.metrics.cachedOnly == 1 && simulated.feed.metrics.loads == 0)
            }
        }
    }

    @Test(arguments: [Request.Mode.normal, .cachedOnly]) func deadlineEndsReadOfCopy(_ mode: Request.Mode) throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(world, strategy: #""cache-first""#)
            simulated.stock("old", age: .zero)
            simulated.store.set(.takes(.seconds(9)), for: .read)
            let feed = simulated.feed
            let load = world.start { try await feed.load(mode: mode, deadline: .seconds(1)) }
            await #expect { try await load.value() } throws: { ($0 as? LoadError)?.code == .deadline }
            #expect(load.endedAt == .seconds(1))
            try await world.sleep(for: .seconds(60))
        }
    }

    @Test(arguments: strategies) func cachedOnlyWithoutCopyThrowsNotCached(_ strategy: String) throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world, strategy, age: nil)
            #expect(try await simulated.start(mode: .cachedOnly).failure().code == .notCached)
            #expect(simulated.origin.calls.isEmpty)
        }
    }

    @Test func networkOnlyServesNoStoredCopy() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world, "network-only")
            #expect(try await simulated.start(mode: .cachedOnly).failure().code == .notCached)
            #expect(simulated.store.count(of: .read) == 0)
        }
    }

    // MARK: Deadlines

    @Test(arguments: ["network-first", "cache-first", "stale-while-revalidate", "network-only"])
    func deadlineWithoutCopyThrowsAndCallContinues(_ strategy: String) throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world, strategy, age: nil)
            simulated.origin.play(.value("new", after: .seconds(3)))
            let impatient = simulated.start(deadline: .seconds(1))
            let patient = simulated.start()
            #expect(try await impatient.failure().code == .deadline)
            #expect(impatient.endedAt == .seconds(1))
            #expect(try await patient.value().text == "new" && simulated.origin.calls.count == 1)
        }
    }

    @Test func callContinuesAfterDeadlineWithoutWaiters() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world, "cache-first", age: nil)
            simulated.origin.play(.value("new", after: .seconds(3)))
            #expect(try await simulated.start(deadline: .seconds(1)).failure().code == .deadline)
            try await world.sleep(for: .seconds(3))
            #expect(simulated.held() == "new" && world.unfinished == 1)
        }
    }

    @Test func permittedCopyIsServedAtDeadline() throws {
        for (age, shows) in [(60, true), (1_800, true), (7_200, true), (8 * 86_400, false)] {
            try SimulatedWorld().run { world in
                let simulated = try await simulated(world, "network-first", age: .seconds(age))
                simulated.origin.play(.value("new", after: .seconds(3)))
                let load = simulated.start(deadline: .seconds(1))
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

    @Test func fallbackIsServedAtDeadline() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(
                world, strategy: #""network-first""#, fallbacks: #"[{ "use": "constant", "value": 1 }]"#)
            simulated.origin.play(.hang)
            let loaded = try await simulated.feed.load(deadline: .seconds(1))
            #expect(loaded.source == .fallback("constant") && loaded.fellBack && world.uptime == .seconds(1))
            try await world.sleep(for: .seconds(60))
        }
    }

    @Test func earlierOfPatienceAndDeadlineCounts() throws {
        for (patience, deadline, ends) in [("500ms", 1_000, 500), ("1s", 300, 300)] {
            try SimulatedWorld().run { world in
                let simulated = try await SimulatedPantry(
                    world, strategy: #"{ "use": "network-first", "patience": "\#(patience)" }"#,
                    validators: Self.windows)
                simulated.stock("old", age: .zero)
                simulated.origin.play(.hang)
                let load = simulated.start(deadline: .milliseconds(deadline))
                #expect(try await load.value().text == "old" && load.endedAt == .milliseconds(ends))
                try await world.sleep(for: .seconds(60))
            }
        }
    }

    @Test func patienceWithoutCopyWaitsUntilDeadline() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(
                world, strategy: #"{ "use": "network-first", "patience": "100ms" }"#, validators: Self.windows)
            simulated.origin.play(.value("new", after: .milliseconds(800)), .hang)
            #expect(try await simulated.feed.load(deadline: .seconds(1)).text == "new")
            try await simulated.feed.clear()
            let load = simulated.start(deadline: .seconds(1))
            #expect(try await load.failure().code == .deadline)
            #expect(load.endedAt == .milliseconds(1_800))
            try await world.sleep(for: .seconds(60))
        }
    }

    @Test func deadlineCountsFromStartOfLoad() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world, "network-first", age: nil)
            simulated.origin.play(.hang)
            let first = simulated.start(deadline: .seconds(1))
            try await world.sleep(for: .milliseconds(700))
            let second = simulated.start(deadline: .seconds(1))
            _ = await first.result()
            _ = await second.result()
            #expect(first.endedAt == .seconds(1) && second.endedAt == .milliseconds(1_700))
            try await world.sleep(for: .seconds(60))
        }
    }

    @Test func zeroDeadlineServesCopyInMemory() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world, "cache-first")
            #expect(try await simulated.feed.load(deadline: .zero).text == "old")
            #expect(simulated.origin.calls.isEmpty)
        }
    }
}
