import Larder

/// Checks of a wrapper whose origin fails, or answers with an error.
extension WrapperConformance {
    struct Outage: Error {}

    private struct Trouble: Sendable {
        var load: ObservedTask<Loaded<Entry>>
        var calls: Int
        var underWay: Int
        var allowed: Int
        var leftRunning: Int
    }

    func checkFailures(_ findings: inout BrokenPromises) {
        let acts: [(String, ScriptedOrigin.Act)] = [
            ("the origin fails with 503 each time", .failure(.status(503, retryAfter: .milliseconds(10)))),
            ("the origin throws an error of its own each time", .throwing(Outage(), after: .milliseconds(10))),
            ("the origin takes 20 s", .value("late", after: .seconds(20))),
            ("the origin fails after 20 s", .throwing(Outage(), after: .seconds(20))),
        ]
        for (situation, act) in acts {
            check(situation, &findings) { wrapped, world in
                wrapped.origin.play(then: act)
                let load = wrapped.load()
                while load.ending == nil, world.uptime < .seconds(7_200) { try await world.sleep(for: .seconds(1)) }
                let underWay = wrapped.origin.underWay
                try await world.sleep(for: .seconds(7_200))
                return Trouble(
                    load: load, calls: wrapped.origin.calls.count, underWay: underWay,
                    allowed: max(1, wrapped.traits.tries?.count ?? 1), leftRunning: wrapped.stage.leftRunning)
            } check: { seen, findings in
                check(seen, &findings)
            }
        }
    }

    private func check(_ seen: Trouble, _ findings: inout BrokenPromises) {
        findings.expect(
            seen.load.ending != nil, promise: .endsEverything, expected: "a load that ends",
            got: "a load that does not end")
        findings.expect(
            seen.calls <= seen.allowed, promise: .tries, expected: "\(seen.allowed) calls at most, as it declares",
            got: "\(seen.calls)")
        findings.expect(
            seen.underWay == 0, promise: .cancelsInner, expected: "no running call once the load has ended",
            got: "\(seen.underWay)")
        findings.expectNothingLeft(seen.leftRunning)
        guard let error = seen.load.failure else { return }
        let failure = error as? LoadError
        let isInner = error is Outage || failure?.origin is Outage || failure?.status == 503
        let isOwn = failure.map { [.unavailable, .timeout].contains($0.code) && !$0.message.isEmpty } ?? false
        findings.expect(
            isInner || isOwn, promise: .innerError,
            expected: "the inner error, or a LoadError that says what the wrapper did",
            got: seen.load.inWords)
    }

    // MARK: Answers

    func checkAnswers(_ findings: inout BrokenPromises) {
        let notSignedIn = LoadError(.notSignedIn, "nobody is signed in")
        for answer in [LoadError.status(404), .status(403), .answer("no, and that is final"), notSignedIn] {
            check("the origin answers thirty times: \(answer.message)", &findings) { wrapped, _ in
                wrapped.origin.play(then: .failure(answer))
                var loads: [ObservedTask<Loaded<Entry>>] = []
                for _ in 1...30 { loads.append(try await wrapped.loadAndRest()) }
                let calls = wrapped.origin.calls.count
                wrapped.origin.play(then: .value("value"))
                return (loads: loads, calls: calls, last: try await wrapped.loadAndRest())
            } check: { seen, findings in
                let odd = seen.loads.first { load in
                    let error = load.failure as? LoadError
                    return error?.isAnswer != true || error?.status != answer.status || error?.message != answer.message
                }
                findings.expect(
                    odd == nil, promise: .answersPass, expected: "the origin's answer: \(answer.message)",
                    got: odd?.inWords ?? "")
                findings.expect(
                    seen.calls == seen.loads.count, promise: .answersPass, expected: "one call for each",
                    got: "\(seen.calls) calls")
                findings.expect(
                    seen.last.value != nil, promise: .answersPass, expected: "a value once the origin has one",
                    got: seen.last.inWords)
            }
        }
    }
}
