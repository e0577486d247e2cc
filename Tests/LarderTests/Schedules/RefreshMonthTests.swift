import LarderFoundation
import Larder
import LarderSystem
import LarderSimulation
import Testing

/// A month of a schedule on a device that sleeps, and whose app is started and ended all the time.
@Suite struct RefreshMonthTests {
    private static let month = Duration.seconds(30 * 86_400)

    /// The calls and counts of a month.
    private struct Month {
        var starts: [Duration] = []
        var scheduled: [UInt64] = [0, 0, 0, 0]
        var budgets: [Duration] = []

        mutating func add(_ simulated: SimulatedPantry) {
            starts += simulated.origin.starts
            let metrics = simulated.resource.metrics.scheduled
            #expect(metrics[0] == metrics[1] + metrics[2])
            scheduled = zip(scheduled, metrics).map { $0 + $1 }
        }

        /// Checks that no run was early, and that no slot was counted twice.
        func check() {
            for (one, next) in zip(starts, starts.dropFirst()) {
                #expect(next - one >= .seconds(900), "\(one) \(next)")
            }
            #expect(scheduled[0] == scheduled[1] + scheduled[2])
            // There are 2,880 quarters of an hour, and pauses are up to a fiftieth longer.
            #expect((2_500...2_880).contains(scheduled[0]), "\(scheduled)")
            // Each call belongs to a run that was counted as run, or as missed because it was cancelled.
            #expect(UInt64(starts.count) >= scheduled[1] && UInt64(starts.count) <= scheduled[0])
        }
    }

    @Test(arguments: [1, 2, 3] as [UInt64]) func appThatIsStartedAndEndedAllTheTime(_ seed: UInt64) throws {
        let month = try SimulatedWorld(seed: seed).run { world in
            let cache = try TemporaryFolder()
            var dice = SeededGenerator(seed: seed, stream: "user")
            var month = Month()
            while world.uptime < Self.month {
                world.network = dice.roll(4) == 0 ? .offline : .online
                let simulated = try await SimulatedPantry(ScheduledFeed.policy(), in: world, cache: cache)
                simulated.origin.play(then: .value("value", after: .seconds(dice.roll(40))))
                if dice.roll(10) == 0 { simulated.origin.play(.hang) }
                if dice.roll(3) == 0 {
                    try await Self.use(simulated, minutes: 1 + dice.roll(180))
                } else {
                    // The system wakes the app.
                    let begin = world.uptime
                    _ = await simulated.pantry.runDue(within: .seconds(25))
                    month.budgets.append(world.uptime - begin)
                }
                await simulated.pantry.close()
                month.add(simulated)
                try await world.pass(minutes: Double(1 + dice.roll(dice.roll(5) == 0 ? 600 : 30)))
            }
            return month
        }
        month.check()
        #expect(month.budgets.count > 50 && month.budgets.allSatisfy { $0 <= .seconds(25) })
        #expect(month.budgets.contains(.seconds(25)) && month.scheduled[1] > 500)
    }

    /// Uses an app whose network is lost now and then.
    private static func use(_ simulated: SimulatedPantry, minutes: Int) async throws {
        for minute in 0..<minutes {
            if minute % 20 == 19 { simulated.world.network = minute % 40 == 39 ? .offline : .online }
            try await simulated.world.pass(minutes: 1)
        }
    }

    @Test(arguments: [true, false]) func deviceThatSleepsEveryNight(stopsClock: Bool) throws {
        let (starts, scheduled) = try SimulatedWorld().run { base in
            let world = SleepyWorld(base, stopsClock: stopsClock)
            let origin = ScriptedOrigin(world: base)
            let registry = try Registry.standard.replacing(origin.plugin("scripted")).replacing(
                FaultyStore(isForeign: true, world: base).plugin)
            let cache = try TemporaryFolder()
            let pantry = try await Pantry(
                policies: ScheduledFeed.policy(), registry: registry, cache: cache.url, data: cache.url, world: world)
            for _ in 0..<30 {
                for _ in 0..<8 {
                    try await base.pass(minutes: 110)
                    try await world.doze(for: .seconds(600))
                }
                try await world.doze(for: .seconds(8 * 3_600))
            }
            await pantry.close()
            return (origin.starts, pantry.resource("feed").metrics.scheduled)
        }
        var month = Month()
        (month.starts, month.scheduled) = (starts, scheduled)
        month.check()
        // Of 24 hours, the device is awake for 14 hours and 40 minutes.
        #expect((1_450...1_750).contains(scheduled[1]) && scheduled[3] == 0, "\(scheduled)")
        let nights = zip(starts, starts.dropFirst()).count { $1 - $0 > .seconds(7 * 3_600) }
        #expect(nights == 29)
    }
}
