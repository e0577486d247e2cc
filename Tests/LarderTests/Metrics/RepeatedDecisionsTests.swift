@testable import LarderCore
import LarderSystem
import LarderSimulation
import Testing

/// Repeated events of one cause are told in the log once, and then with a count that grows tenfold.
@Suite struct RepeatedDecisionsTests {
    private let sinks = EventSinks()
    private let told = Locked<[String]>([])

    private func report(_ events: [PantryEvent]) {
        let listening = sinks.decisions.add { [told] decision in told.withLock { $0.append(decision.note) } }
        let listeners = Listeners<PantryEvent>()
        for event in events { Pantry.report({ event }, listeners: listeners, sinks: sinks, at: Timestamp(seconds: 1)) }
        listening.stop()
    }

    private func rejected(_ message: String) -> PantryEvent {
        .rejected(PolicyError([Problem(message, file: "feed.json")]))
    }

    @Test func repeatedInterruptionIsToldWithGrowingCount() {
        report((1...1_000).map { .interrupted("lines that are missing in the log: \($0)") })
        let start = "lines that are missing in the log: "
        #expect(
            told.withLock { $0 } == [
                start + "1", start + "10 (10 times)", start + "100 (100 times)", start + "1000 (1000 times)",
            ])
    }

    @Test func eachCauseIsCountedApart() {
        report((1...9).flatMap { _ in [rejected("one"), rejected("two"), .interrupted("three")] })
        #expect(
            told.withLock { $0 } == ["feed.json: error: one", "feed.json: error: two", "three"])
    }

    @Test func refusalIsToldAnewAfterPoliciesTookEffect() {
        report([rejected("one"), rejected("one"), .reloaded([]), rejected("one")])
        #expect(told.withLock { $0 } == ["feed.json: error: one", "feed.json: error: one"])
    }

    @Test func numberOfCausesIsBounded() {
        report((1...1_000).flatMap { [rejected("mistake \($0)"), rejected("mistake \($0)")] })
        #expect(told.withLock { $0.count } == 1_000)
    }
}
