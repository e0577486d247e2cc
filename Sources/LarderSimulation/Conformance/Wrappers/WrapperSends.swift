import Larder

/// Checks of a wrapper whose call changes something at the origin.
extension WrapperConformance {
    func checkSends(_ findings: inout BrokenPromises) {
        let acts: [(String, ScriptedOrigin.Act)] = [
            ("a change that the origin carries out", .value("done")),
            ("a change that takes 20 s", .value("done", after: .seconds(20))),
            ("a change that fails with 503", .failure(.status(503, retryAfter: .milliseconds(10)))),
            ("a change that fails after 20 s", .throwing(Outage(), after: .seconds(20))),
        ]
        for (situation, act) in acts {
            check(situation, &findings) { wrapped, world in
                wrapped.origin.play(then: act)
                let request = Request(TestedPlugin.resource, ["id": "1"])
                let send = ObservedTask(in: world) {
                    try await wrapped.loader.load(Call(sending: request, method: "PUT"))
                }
                while send.ending == nil, world.uptime < .seconds(7_200) { try await world.sleep(for: .seconds(1)) }
                try await world.sleep(for: .seconds(7_200))
                return (
                    calls: wrapped.origin.calls, answered: send.value != nil,
                    mayRepeat: wrapped.traits.repeatsSends
                )
            } check: { seen, findings in
                findings.expect(
                    seen.mayRepeat || seen.calls.count <= 1, promise: .repeatsNoSend, expected: "one call",
                    got: "\(seen.calls.count)")
                let odd = seen.calls.contains { $0.method != "PUT" }
                findings.expect(
                    !odd, promise: .passesOn, expected: "a call that changes something", got: "a call for data")
                findings.expect(
                    !seen.answered || !seen.calls.isEmpty, promise: .passesOn, expected: "no answer without a call",
                    got: "an answer")
            }
        }
    }
}
