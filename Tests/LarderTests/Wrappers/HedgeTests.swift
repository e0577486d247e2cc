import LarderFoundation
import Larder
import LarderSimulation
import Testing

/// The wrapper `hedge`, which makes a second call after one second here.
@Suite struct HedgeTests {
    /// The outcome of a load through a hedge.
    private struct Course: Sendable {
        var result: Result<Loaded<Data>, any Error>
        var endedAt: Duration?
        var starts: [Duration]
        var underWay: Int
        var text: String? { (try? result.get())?.text }
        var status: Int? { if case .failure(let error as LoadError) = result { error.status } else { nil } }
    }

    private func course(_ acts: ScriptedOrigin.Act..., cancelAt: Duration? = nil) throws -> Course {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(
                world, strategy: #""network-only""#, around: #"[{ "use": "hedge", "after": "1s" }]"#)
            simulated.origin.play(then: .failure(.status(599)))
            for act in acts { simulated.origin.play(act) }
            let load = simulated.start()
            if let cancelAt {
                try await world.sleep(for: cancelAt)
                load.cancel()
            }
            let result = await load.result()
            // No time passes: the losing call is cancelled when the other one wins.
            try await world.settle()
            return Course(
                result: result, endedAt: load.endedAt, starts: simulated.origin.starts,
                underWay: simulated.origin.underWay)
        }
    }

    @Test func fastFirstCallIsTheOnlyCall() throws {
        for after in [0, 1, 999, 1_000] {
            let course = try course(.value("first", after: .milliseconds(after)))
            #expect(course.text == "first" && course.starts == [.zero] && course.endedAt == .milliseconds(after))
        }
    }

    @Test func slowCallStartsSecondAndFirstAnswerWins() throws {
        let second = try course(.value("first", after: .seconds(5)), .value("second", after: .seconds(1)))
        #expect(second.text == "second" && second.endedAt == .seconds(2) && second.underWay == 0)
        #expect(second.starts == [.zero, .seconds(1)])
        let trail = try second.result.get().trail.lines
        #expect(trail.contains { $0.hasPrefix("hedge: second call after 1 s") })

        let first = try course(.value("first", after: .seconds(3)), .value("second", after: .seconds(5)))
        #expect(first.text == "first" && first.endedAt == .seconds(3) && first.underWay == 0)
        #expect(first.starts.count == 2, "there is no third")
    }

    @Test func failureBeforeSecondCallIsThrown() throws {
        let course = try course(.failure(.status(503), after: .milliseconds(500)))
        #expect(course.status == 503 && course.starts.count == 1 && course.endedAt == .milliseconds(500))
    }

    @Test func failureOfOneCallWaitsForOther() throws {
        let first = try course(
            .failure(.status(503), after: .seconds(2)), .value("second", after: .seconds(4)))
        #expect(first.text == "second" && first.endedAt == .seconds(5))
        let second = try course(.value("first", after: .seconds(4)), .failure(.status(503), after: .seconds(1)))
        #expect(second.text == "first" && second.endedAt == .seconds(4))
    }

    @Test func firstOriginErrorIsThrownIfBothCallsFail() throws {
        let first = try course(
            .failure(.status(501), after: .seconds(2)), .failure(.status(502), after: .seconds(2)))
        #expect(first.status == 501 && first.endedAt == .seconds(3) && first.starts.count == 2)
        let second = try course(
            .failure(.status(501), after: .seconds(4)), .failure(.status(502), after: .seconds(1)))
        #expect(second.status == 502 && second.endedAt == .seconds(4))
    }

    @Test func answerThatIsAnErrorWinsAtOnce() throws {
        let first = try course(.failure(.status(404), after: .seconds(2)), .value("second", after: .seconds(4)))
        #expect(first.status == 404 && first.endedAt == .seconds(2) && first.underWay == 0)
        let second = try course(.value("first", after: .seconds(4)), .failure(.status(404), after: .seconds(1)))
        #expect(second.status == 404 && second.endedAt == .seconds(2) && second.underWay == 0)
        let alone = try course(.failure(.status(404)))
        #expect(alone.status == 404 && alone.starts.count == 1)
    }

    @Test func cancelledCallerCancelsBothCalls() throws {
        for (moment, calls) in [(500, 1), (2_000, 2)] {
            let course = try course(.hang, .hang, cancelAt: .milliseconds(moment))
            #expect(throws: CancellationError.self) { try course.result.get() }
            #expect(course.endedAt == .milliseconds(moment) && course.starts.count == calls && course.underWay == 0)
        }
    }
}
