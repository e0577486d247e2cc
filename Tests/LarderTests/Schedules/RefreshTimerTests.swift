import LarderSystem
import Larder
import Testing

@testable import LarderPlugins

/// The decisions of a schedule, without a pantry.
@Suite struct RefreshTimerTests {
    private static let start = Timestamp(seconds: 1_767_571_200)
    private static let times = RefreshTimes(every: .seconds(900))

    /// A timer whose run is due in ten minutes.
    private static func timer(_ times: RefreshTimes = times) -> RefreshTimer {
        RefreshTimer(times, RefreshPlan(next: start + .seconds(600)), at: start, uptime: .zero)
    }

    private static func step(
        _ timer: inout RefreshTimer, at wall: Int64, uptime: Int64? = nil, isMet: Bool = true, chance: Double = 0.5
    ) -> AgendaStep {
        timer.step(
            at: start + .seconds(wall), uptime: .seconds(uptime ?? wall), isMet: isMet, chance: { chance })
    }

    @Test func runStartsWhenItIsDueAndNotBefore() {
        var timer = Self.timer()
        #expect(Self.step(&timer, at: 0) == .wait(.seconds(600)))
        #expect(Self.step(&timer, at: 599) == .wait(.seconds(1)))
        #expect(Self.step(&timer, at: 600) == .run)
        #expect(Self.step(&timer, at: 605) == .run)
    }

    @Test func longWaitIsInterruptedToCompareTheClocks() {
        let times = RefreshTimes(every: .seconds(86_400))
        var timer = RefreshTimer(
            times, RefreshPlan(next: Self.start + .seconds(80_000)), at: Self.start, uptime: .zero)
        #expect(Self.step(&timer, at: 0) == .wait(.seconds(900)))
    }

    @Test func lateRunStartsAtTheNextTurn() {
        var timer = Self.timer()
        // Turns are at 600 + k × 918 seconds.
        #expect(Self.step(&timer, at: 700) == .wait(.seconds(818)))
        #expect(Self.step(&timer, at: 1_518) == .run)
        #expect(Self.step(&timer, at: 1_700) == .wait(.seconds(736)))
    }

    @Test func runThatIsLateByDaysStartsAtRandom() {
        var timer = Self.timer()
        #expect(Self.step(&timer, at: 90_000, chance: 0.25) == .wait(.seconds(229.5)))
        #expect(Self.step(&timer, at: 90_230, chance: 0) == .run)
    }

    @Test func deviceThatSleepsThroughItsTurnGetsAnother() {
        var timer = Self.timer()
        #expect(Self.step(&timer, at: 700) == .wait(.seconds(818)))
        #expect(Self.step(&timer, at: 2_000) == .wait(.seconds(436)))
    }

    @Test func runWaitsForTheNetworkAndForItsTurn() {
        var timer = Self.timer()
        #expect(Self.step(&timer, at: 600, isMet: false) == .waitForDevice)
        #expect(Self.step(&timer, at: 0, isMet: false) == .wait(.seconds(600)))
        #expect(Self.step(&timer, at: 603) == .run)
        #expect(Self.step(&timer, at: 800) == .wait(.seconds(718)))
        #expect(Self.step(&timer, at: 900, isMet: false) == .waitForDevice)
        #expect(Self.step(&timer, at: 1_000) == .wait(.seconds(518)))
    }

    @Test func clockThatIsSetBackDoesNotStopTheSchedule() {
        var timer = Self.timer()
        let year: Int64 = 366 * 86_400
        #expect(Self.step(&timer, at: 10 - year, uptime: 10) == .wait(.seconds(590)))
        #expect(Self.step(&timer, at: 600 - year, uptime: 600) == .run)
        // Also after a restart.
        let now = Self.start - .seconds(year)
        let plan = Self.times.restored(timer.plan, at: now, 0.5)
        #expect(plan == RefreshPlan(next: now + .seconds(450)))
    }

    @Test func clockThatStandsStillInSleepDoesNotDelayTheSchedule() {
        var timer = Self.timer()
        #expect(Self.step(&timer, at: 605, uptime: 10) == .run)
    }

    @Test func pausesAreLongerByUpToAFiftieth() {
        #expect(Self.times.plan(afterRunAt: Self.start, late: .zero, 0).next == Self.start + .seconds(900))
        #expect(Self.times.plan(afterRunAt: Self.start, late: .zero, 0.999_999).next < Self.start + .seconds(918))
        // Installations that were late together are separated again.
        let day = RefreshTimes(every: .seconds(86_400))
        let late = day.plan(afterRunAt: Self.start, late: .seconds(100_000), 0.5)
        #expect(late == RefreshPlan(began: Self.start, next: Self.start + .seconds(86_400 + 42_700)))
    }

    @Test func missedRunsAreThoseThatWouldHaveEnded() {
        #expect(Self.times.missed(late: .zero) == 0)
        #expect(Self.times.missed(late: .seconds(899)) == 0)
        #expect(Self.times.missed(late: .seconds(900)) == 1)
        #expect(Self.times.missed(late: .seconds(86_400)) == 96)
        // A clock that had never been set is no reason to count forty years.
        #expect(Self.times.missed(late: .seconds(40 * 366 * 86_400)) == 0)
    }

    @Test func planOfAnotherIntervalIsAdapted() {
        let plan = RefreshPlan(began: Self.start, next: Self.start + .seconds(910))
        let now = Self.start + .seconds(100)
        #expect(Self.times.restored(plan, at: now, 0) == plan)
        let hourly = RefreshTimes(every: .seconds(3_600)).restored(plan, at: now, 0)
        #expect(hourly == RefreshPlan(began: Self.start, next: Self.start + .seconds(3_600)))
        let often = RefreshTimes(every: .seconds(60)).restored(plan, at: now, 0.5)
        #expect(often.next <= now + .seconds(60))
    }

    @Test func hostilePlansDoNoHarm() {
        let ends = [Timestamp(nanoseconds: .min), Timestamp(nanoseconds: .max), Self.start]
        for began in ends {
            for next in ends {
                for now in ends {
                    let plan = Self.times.restored(RefreshPlan(began: began, next: next), at: now, 0.5)
                    var timer = RefreshTimer(Self.times, plan, at: now, uptime: .zero)
                    _ = timer.step(at: now, uptime: .zero, isMet: true, chance: { 0.5 })
                    let lateness = timer.lateness(at: now, uptime: .zero)
                    #expect(plan.next <= now + .seconds(1_980))
                    #expect(Self.times.missed(late: lateness) < 40_000)
                }
            }
        }
    }
}
