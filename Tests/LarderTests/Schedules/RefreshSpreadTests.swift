import LarderSystem
import Larder
import LarderSimulation
import Testing

@testable import LarderPlugins

/// Ten thousand installations with one policy, by the decisions that each of them makes.
@Suite struct RefreshSpreadTests {
    /// The surroundings that all installations share.
    private struct Surroundings {
        /// Times without a network, in seconds since the start.
        var offline: [Range<Double>] = []
        /// Times in which all devices sleep, so that no code runs.
        var asleep: [Range<Double>] = []
        var stopsClockInSleep = false
    }

    private struct Counts {
        /// The runs in each minute.
        var minutes: [Int]
        var early = 0

        /// The largest share of a minute, in units of the mean of the minutes in a range.
        func peak(_ range: Range<Int>) -> Double {
            let counts = minutes[range]
            return Double(counts.max() ?? 0) * Double(counts.count) / Double(counts.reduce(0, +))
        }
    }

    private static let start = Timestamp(seconds: 1_767_571_200)

    /// Plays installations that all begin at the same moment.
    private static func play(
        _ count: Int = 10_000, every: Duration = .seconds(900), hours: Int,
        _ surroundings: Surroundings = Surroundings()
    ) -> Counts {
        var counts = Counts(minutes: Array(repeating: 0, count: hours * 60))
        let times = RefreshTimes(every: every)
        for number in 0..<count {
            var dice = SeededGenerator(seed: 7, stream: "\(number)")
            play(times, &dice, surroundings, into: &counts)
        }
        return counts
    }

    private static func play(
        _ times: RefreshTimes, _ dice: inout SeededGenerator, _ surroundings: Surroundings, into counts: inout Counts
    ) {
        let end = Double(counts.minutes.count * 60)
        var (now, slept, last) = (0.0, 0.0, -Double.infinity)
        var timer = RefreshTimer(times, times.first(at: start, dice.chance()), at: start, uptime: .zero)
        while now < end {
            if let sleep = surroundings.asleep.first(where: { $0.contains(now) }) {
                if surroundings.stopsClockInSleep { slept += sleep.upperBound - now }
                now = sleep.upperBound
            }
            let isMet = !surroundings.offline.contains { $0.contains(now) }
            let (wall, uptime) = (start + .seconds(now), Duration.seconds(now - slept))
            let change = surroundings.offline.flatMap { [$0.lowerBound, $0.upperBound] }.first { $0 > now } ?? end
            switch timer.step(at: wall, uptime: uptime, isMet: isMet, chance: { dice.chance() }) {
            case .waitForDevice, .end: now = change
            case .wait(let time):
                let seconds = Double(time.nanoseconds) / 1e9
                // An alarm rings at its uptime, which may come later if that clock stands still meanwhile.
                now = min(now + max(seconds, 0.001), change)
            case .run:
                if now < end { counts.minutes[Int(now / 60)] += 1 }
                if now - last < Double(times.every.nanoseconds) / 1e9 - 0.001 { counts.early += 1 }
                last = now
                let lateness = timer.lateness(at: wall, uptime: uptime)
                timer.follow(
                    times.plan(afterRunAt: wall, late: lateness, dice.chance()), at: wall, uptime: uptime)
            }
        }
    }

    @Test func installationsThatBeginTogetherAreSpread() {
        let counts = Self.play(hours: 24)
        #expect(counts.early == 0)
        #expect(counts.peak(0..<24 * 60) <= 1.5, "\(counts.peak(0..<24 * 60))")
        // They run about every quarter of an hour.
        #expect((940_000...960_000).contains(counts.minutes.reduce(0, +)))
    }

    @Test(arguments: [2, 10, 20, 60, 480]) func installationsThatWereOfflineTogetherAreSpread(_ minutes: Int) {
        let begin = 3 * 3_600.0
        let offline = begin..<begin + Double(minutes) * 60
        let counts = Self.play(hours: 16, Surroundings(offline: [offline]))
        #expect(counts.early == 0 && counts.minutes[180..<180 + minutes].allSatisfy { $0 == 0 })
        let peak = counts.peak(180 + minutes..<16 * 60)
        #expect(peak <= 1.5, "\(peak) \(counts.minutes[175 + minutes..<240 + minutes])")
    }

    @Test(arguments: [true, false]) func installationsThatWakeTogetherAreSpread(stopsClockInSleep: Bool) {
        let surroundings = Surroundings(
            asleep: [3 * 3_600..<10 * 3_600, 11 * 3_600..<11.05 * 3_600], stopsClockInSleep: stopsClockInSleep)
        let counts = Self.play(hours: 16, surroundings)
        #expect(counts.early == 0)
        let peaks = [counts.peak(600..<660), counts.peak(670..<16 * 60)]
        #expect(peaks.allSatisfy { $0 <= 1.5 }, "\(peaks) \(counts.minutes[595..<720])")
    }

    @Test func dailyRefreshesAreSpreadOverTheDayAfterDaysOfSleep() {
        // They all wake at the same moment, and call within a quarter of an hour. On the next day they are spread again.
        let counts = Self.play(
            every: .seconds(86_400), hours: 24 * 5, Surroundings(asleep: [0..<48 * 3_600 + 100]))
        let first = counts.minutes[48 * 60..<48 * 60 + 20]
        #expect(first.reduce(0, +) == 10_000 && (first.max() ?? 0) < 900)
        let hours = (72..<97).map { hour in counts.minutes[hour * 60..<hour * 60 + 60].reduce(0, +) }
        #expect((hours.max() ?? 0) < 10_000 / 12, "\(hours)")
        #expect(counts.early == 0)
    }

    /// The decisions above are those of real pantries.
    @Test func pantriesThatWereOfflineTogetherDoNotCallTogether() throws {
        let starts = try SimulatedWorld(seed: 3).run { world in
            var installations: [SimulatedPantry] = []
            for _ in 0..<100 {
                installations.append(try await SimulatedPantry(ScheduledFeed.policy(), in: world))
            }
            try await world.pass(minutes: 60)
            world.network = .offline
            try await world.pass(minutes: 60)
            world.network = .online
            try await world.pass(minutes: 60)
            for installation in installations { await installation.pantry.close() }
            return installations.flatMap(\.origin.starts)
        }
        let minutes = Dictionary(grouping: starts) { Int($0.nanoseconds / 60_000_000_000) }.mapValues(\.count)
        #expect((60..<120).allSatisfy { minutes[$0] == nil })
        // The mean is 6.6 a minute.
        #expect(minutes.values.max().map { $0 <= 16 } == true, "\(minutes.sorted { $0.key < $1.key })")
        #expect(Set(minutes.keys).intersection(120..<136).count >= 15)
    }
}
