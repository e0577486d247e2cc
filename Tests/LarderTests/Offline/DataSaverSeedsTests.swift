import LarderFoundation
import Larder
import LarderSystem
import LarderSimulation
import Testing

/// Days of a person whose network changes between Wi-Fi, mobile data and none, under a policy that saves data.
@Suite struct DataSaverSeedsTests {
    /// The seeds: 20, or 300 with `Tests/run --slow`.
    private static let seeds: ClosedRange<UInt64> =
        1...(ProcessInfo.processInfo.environment["LARDER_SLOW"] == nil ? 20 : 300)
    private static let window = Duration.seconds(300 + 2 * 3_600)

    private struct Day {
        var problems: [String] = []
        /// For each instance, the time of the last answer of the origin.
        var answered: [String: Duration] = [:]
        var calls = 0
        var refusedPrefetches = 0
        var backgroundCalls = 0
        var failures = 0
    }

    @Test(arguments: seeds) func noBackgroundCallIsMadeWhereTheNetworkCosts(_ seed: UInt64) throws {
        let day = try SimulatedWorld(seed: seed).run(leaving: .anything) { world in try await Self.day(world, seed) }
        #expect(day.problems.isEmpty)
        #expect(day.calls > 50 && day.refusedPrefetches > 10 && day.failures > 0)
        #expect(day.backgroundCalls > 50)
    }

    private static func origin(_ world: SimulatedWorld, _ day: Locked<Day>) -> Plugin {
        .origin("own", "Answers where there is a network.") { (call: Call) async throws -> Data in
            let network = world.network
            let id = call.request.parameters["id"] ?? ""
            day.withLock { day in
                day.calls += 1
                let isBackground = call.request.purpose == .prefetch || call.request.priority == .low
                if isBackground { day.backgroundCalls += 1 }
                let isQueued = ["ahead", "listed", "kept"].contains { id.hasPrefix($0) }
                if isBackground && network.isCostly || isQueued && network.reach == .offline {
                    day.problems.append("\(world.uptime): a background call for \(id)")
                }
            }
            try await world.sleep(for: .milliseconds(50))
            if world.network.reach == .offline { throw LoadError(.unavailable, "no network") }
            day.withLock { $0.answered[id] = world.uptime }
            return Data("value".utf8)
        }
    }

    private static func day(_ world: SimulatedWorld, _ seed: UInt64) async throws -> Day {
        let day = Locked(Day())
        let strategies = [
            #"{ "use": "network-first", "patience": "800ms" }"#, #""stale-while-revalidate""#, #""cache-first""#,
            #"{ "use": "cache-first", "refreshAhead": 0.5 }"#,
        ]
        let policy = """
            { "resource": "feed", "origin": "own", "strategy": \(strategies[Int(seed % 4)]),
              "validators": [{ "use": "age", "fresh": "5m", "whileRevalidating": "30m", "onError": "2h" }],
              "store": "memory", "expensive": { "refresh": false, "prefetch": false },
              "refresh": { "every": "15m", "when": "any", "requests": [{ "id": "scheduled" }] },
              "prefetch": { "requests": [{ "id": "listed" }], "when": "start" } }
            """
        let simulated = try await SimulatedPantry(["feed": policy], in: world, plugins: [origin(world, day)])
        let feed = simulated.pantry.resource("feed")
        let travel = world.spawn { await Self.travel(world, seed) }
        var dice = SeededGenerator(seed: seed, stream: "loads")
        while world.uptime < .seconds(86_400) {
            try await world.sleep(for: .seconds(120).scaled(by: dice.chance()))
            let id = "\(dice.roll(60) * dice.roll(60) / 60)"
            let (network, start) = (world.network, world.uptime)
            let age = day.withLock { $0.answered[id] }.map { start - $0 }
            if dice.chance() < 0.1 { feed.prefetch([["id": "ahead \(dice.roll(20))"]]) }
            if dice.chance() < 0.02 { _ = try await feed.keep([["id": "kept \(dice.roll(20))"]]) }
            let isPrefetch = dice.chance() < 0.3
            do {
                _ = try await feed.load(["id": id], purpose: isPrefetch ? .prefetch : .user)
            } catch {
                let isRefused = isPrefetch && network.isCostly
                let mayFail = isRefused || network.reach == .offline || world.network != network
                let hasCopy = !isRefused && (age.map { $0 < Self.window - .seconds(1) } ?? false)
                day.withLock { day in
                    if isRefused { day.refusedPrefetches += 1 } else { day.failures += 1 }
                    if !mayFail || hasCopy { day.problems.append("\(start): load of \(id) fails: \(error)") }
                }
            }
        }
        travel.cancel()
        await simulated.pantry.close()
        return day.withLock { $0 }
    }

    private static func travel(_ world: SimulatedWorld, _ seed: UInt64) async {
        var dice = SeededGenerator(seed: seed, stream: "networks")
        while true {
            world.network = [DataSaverTests.wifi, DataSaverTests.mobile, .offline][Int(dice.roll(3)) % 3]
            guard (try? await world.sleep(for: .seconds(900).scaled(by: dice.chance()))) != nil else { return }
        }
    }
}
