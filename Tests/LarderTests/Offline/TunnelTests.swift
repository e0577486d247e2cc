import LarderFoundation
import Larder
import LarderSystem
import LarderSimulation
import Testing

/// Days of a commuter, whose device says wrongly whether it has a network for a twentieth of the time.
@Suite struct TunnelTests {
    /// The seeds: 20, or a thousand with `Tests/run --slow`.
    private static let seeds: ClosedRange<UInt64> =
        1...(ProcessInfo.processInfo.environment["LARDER_SLOW"] == nil ? 20 : 1_000)
    private static let spells = 200
    private static let window = Duration.seconds(5 * 60 + 2 * 3_600)

    private struct Outside {
        var isOnline = true
        /// The times at which the network was lost or returned.
        var changedAt = Duration.zero
        /// For each instance, the time at which the origin answered last.
        var answered: [String: Duration] = [:]
    }

    private struct Day {
        var problems: [String] = []
        var loads = 0
        var offlineLoads = 0
        var failures = 0
        var wrongSeconds = 0.0
    }

    @Test(arguments: seeds) func noLoadFailsThatHasAPermittedCopy(_ seed: UInt64) throws {
        let day = try Self.day(seed)
        #expect(day.problems.isEmpty)
        #expect(day.loads > 1_000 && day.offlineLoads > 100 && day.failures > 0)
        #expect(abs(day.wrongSeconds / 86_400 - 0.05) < 0.04)
    }

    private static func day(_ seed: UInt64) throws -> Day {
        try SimulatedWorld(seed: seed).run(leaving: .anything) { world in
            let outside = Locked(Outside())
            let origin = Plugin.origin("field", "Answers where there is a network.") {
                (call: Call) async throws -> Data in
                try await world.sleep(for: .milliseconds(50))
                let id = call.request.parameters["id"] ?? ""
                let isOnline = outside.withLock { outside in
                    if outside.isOnline { outside.answered[id] = world.uptime }
                    return outside.isOnline
                }
                if !isOnline { throw LoadError(.unavailable, "no network") }
                return Data("value".utf8)
            }
            let strategies = [
                #"{ "use": "network-first", "patience": "800ms" }"#, #""stale-while-revalidate""#, #""cache-first""#,
            ]
            let simulated = try await SimulatedPantry(
                world, strategy: strategies[Int(seed % 3)],
                validators: #"[{ "use": "age", "fresh": "5m", "whileRevalidating": "30m", "onError": "2h" }]"#,
                store: #""memory""#, plugins: [origin], origin: #""field""#)
            let day = Locked(Day())
            let commute = world.spawn { await Self.commute(world, seed, outside, day) }
            var dice = SeededGenerator(seed: seed, stream: "loads")
            while world.uptime < .seconds(86_400) {
                try await world.sleep(for: .seconds(120).scaled(by: dice.chance()))
                let before = outside.withLock { $0 }
                let id = "\(dice.roll(60) * dice.roll(60) / 60)"
                let copyAge = before.answered[id].map { world.uptime - $0 }
                let hasCopy = copyAge.map { $0 < Self.window - .seconds(1) } ?? false
                var failure: (any Error)?
                do { _ = try await simulated.feed.load(["id": id]) } catch { failure = error }
                let after = outside.withLock { $0 }
                day.withLock { day in
                    day.loads += 1
                    if !before.isOnline { day.offlineLoads += 1 }
                    guard let failure else { return }
                    day.failures += 1
                    let wasOnline = before.isOnline && after.isOnline && before.changedAt == after.changedAt
                    if hasCopy || wasOnline {
                        day.problems.append(
                            "\(world.uptime): load of \(id), copy \(copyAge.map { "\($0)" } ?? "none"): \(failure)")
                    }
                }
            }
            commute.cancel()
            await simulated.pantry.close()
            return day.withLock { $0 }
        }
    }

    /// Loses the network 200 times in a day, and tells the device what it believes.
    private static func commute(
        _ world: SimulatedWorld, _ seed: UInt64, _ outside: Locked<Outside>, _ day: Locked<Day>
    ) async {
        var dice = SeededGenerator(seed: seed, stream: "tunnels")
        let cycle = 86_400.0 / Double(spells)
        for _ in 0..<spells {
            let tunnel = cycle * (0.1 + 0.5 * dice.chance())
            for (isOnline, seconds) in [(false, tunnel), (true, cycle - tunnel)] {
                outside.withLock { ($0.isOnline, $0.changedAt) = (isOnline, world.uptime) }
                let isWrong = dice.chance() < 0.05
                if isWrong { day.withLock { $0.wrongSeconds += seconds } }
                world.network = isOnline != isWrong ? .online : .offline
                guard (try? await world.sleep(for: .nanoseconds(Int64(seconds * 1e9)))) != nil else { return }
            }
        }
    }
}
