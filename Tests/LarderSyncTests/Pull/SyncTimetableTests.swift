import Larder
import LarderSystem
import Testing

@testable import LarderSync

/// The times of runs, without a clock.
struct SyncTimetableTests {
    private let mine = RecordTable(resource: "notes", scope: "me")
    private let other = RecordTable(resource: "notes", scope: "other")

    /// Returns a timetable whose first run has ended, with records fetched every hour.
    private func afterFirstRun(at now: Duration) -> SyncTimetable {
        var timetable = SyncTimetable()
        _ = timetable.step(of: mine, unmet: nil, isPulled: true, at: now, part: { 0 })
        _ = timetable.takeRun(at: now)
        timetable.fetchBegan(at: now)
        timetable.pulled(mine, at: now, every: .seconds(3_600))
        return timetable
    }

    private func expect(
        _ expected: AgendaStep, of timetable: inout SyncTimetable, unmet: AgendaConditions.Unmet? = nil,
        at now: Duration, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let step = timetable.step(of: mine, unmet: unmet, isPulled: true, at: now, part: { 0.5 }).step
        #expect(step == expected, sourceLocation: sourceLocation)
    }

    @Test func recordsAreFetchedWhenTheirTimeHasPassed() {
        var timetable = afterFirstRun(at: .seconds(10))
        expect(.wait(.seconds(3_590)), of: &timetable, at: .seconds(20))
        #expect(!timetable.isPullDue(mine, at: .seconds(3_609)))
        #expect(timetable.isPullDue(mine, at: .seconds(3_610)))
        expect(.run, of: &timetable, at: .seconds(3_610))
    }

    @Test func installationsThatComeBackOnlineAreSpread() {
        var timetable = afterFirstRun(at: .zero)
        expect(.waitForDevice, of: &timetable, unmet: .network, at: .seconds(60))
        expect(.wait(SyncTimetable.spread / 2), of: &timetable, at: .seconds(100))
        #expect(timetable.sending(of: mine, at: .seconds(100))?.pause == .spread)
        expect(.run, of: &timetable, at: .seconds(103))
    }

    @Test func runDoesWhatWasAskedForOnce() {
        var timetable = afterFirstRun(at: .zero)
        timetable.wish(.sync, for: mine)
        timetable.wish(.send, for: mine)
        timetable.wish(.wake, for: other)
        let run = timetable.takeRun(at: .seconds(1))
        #expect(run.wishes == [mine: .sync, other: .wake])
        #expect(!run.isDue)
        let next = timetable.takeRun(at: .seconds(1))
        #expect(next.wishes.isEmpty)
    }

    @Test func resultIsForThoseWhoAskedForNoMore() {
        var timetable = afterFirstRun(at: .zero)
        timetable.ended(mine, as: .wake, .success(()))
        #expect(timetable.result(of: .wake, for: mine) != nil)
        #expect(timetable.result(of: .sync, for: mine) == nil)
        timetable.ended(mine, as: .sync, .success(()))
        #expect(timetable.result(of: .sync, for: mine) != nil)
        timetable.ended(other, as: nil, .success(()))
        timetable.ended(other, as: .send, .success(()))
        #expect(timetable.result(of: .wake, for: other) == nil)
        timetable.forgetResult(of: .sync, for: mine)
        #expect(timetable.result(of: .sync, for: mine) == nil)
    }

    @Test func earlierOfTwoSendingsIsPlanned() {
        var timetable = afterFirstRun(at: .zero)
        timetable.plan(PlannedSending(time: .seconds(60), pause: .retry), for: other)
        timetable.plan(PlannedSending(time: .seconds(90), pause: .gather), for: other)
        #expect(timetable.sending(of: other, at: .zero)?.time == .seconds(60))
        expect(.wait(.seconds(60)), of: &timetable, at: .zero)
        let run = timetable.takeRun(at: .seconds(60))
        #expect(run.waiting == [other])
        timetable.plan(PlannedSending(time: .seconds(30), pause: .gather), for: other)
        #expect(timetable.sending(of: other, at: .zero)?.time == .seconds(30))
        timetable.isRunning = true
        #expect(timetable.sending(of: other, at: .zero) == nil)
        timetable.isRunning = false
        timetable.replan(nil, for: other)
        #expect(timetable.sending(of: other, at: .zero) == nil)
    }

    @Test func otherSourceIsAskedAtOnce() {
        var timetable = afterFirstRun(at: .zero)
        timetable.note(source: ["one"], sends: true, at: .seconds(5))
        #expect(!timetable.isPullDue(mine, at: .seconds(5)))
        timetable.note(source: ["two"], sends: true, at: .seconds(5))
        #expect(timetable.isPullDue(mine, at: .seconds(5)))
        let run = timetable.takeRun(at: .seconds(5))
        #expect(run.waiting == [mine])
    }

    @Test func sourceIsNotToldOfChangesByAPolicyThatSendsNone() {
        var timetable = afterFirstRun(at: .zero)
        timetable.note(source: ["one"], sends: false, at: .seconds(5))
        timetable.note(source: ["two"], sends: false, at: .seconds(5))
        let run = timetable.takeRun(at: .seconds(5))
        #expect(run.waiting.isEmpty)
    }

    @Test func fetchThatFailedIsRepeatedAfterAMinute() {
        var timetable = afterFirstRun(at: .zero)
        timetable.pullFailed(mine, at: .seconds(10), every: .seconds(3_600))
        expect(.wait(.seconds(60)), of: &timetable, at: .seconds(10))
        timetable.forget { $0 == mine }
        expect(.run, of: &timetable, at: .seconds(10))
    }

    @Test func appThatComesToTheForegroundFetchesOnceAMinute() {
        var timetable = afterFirstRun(at: .seconds(100))
        let answers = [159, 160].map { timetable.becameActive(at: .seconds($0)) }
        #expect(answers == [false, true])
        let run = timetable.takeRun(at: .seconds(160))
        #expect(run.isDue)
    }

    @Test func moreHeldRecordsAreToldOnce() {
        var timetable = SyncTimetable()
        let answers = [2, 2, 1, 2].map { timetable.areMore(held: $0, of: mine) }
        #expect(answers == [true, false, false, true])
        timetable.forget { $0 == mine }
        let isNew = timetable.areMore(held: 1, of: mine)
        #expect(isNew)
    }
}
