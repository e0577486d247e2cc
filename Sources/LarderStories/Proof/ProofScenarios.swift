package import Larder

extension PromiseProof {
    /// The situations that break promises, as a file of scenarios that `larder test` plays: each expects what the policy
    /// promises, and fails.
    package var scenarios: JSON? {
        let scenarios = verdicts.compactMap { scenario(of: $0, promising: $0.limit) }
        if scenarios.isEmpty { return nil }
        return [
            "resource": .string(resource), "about": .string("Situations in which \(resource) breaks its promises"),
            "scenarios": .list(scenarios),
        ]
    }

    /// The situation that breaks a promise, as a scenario that expects `limit`. Nil if none does.
    ///
    /// With a shorter `offlineFor`, the request is made right before the time is over.
    package func scenario(of verdict: PromiseVerdict, promising limit: PromiseLimit) -> JSON? {
        guard let refutation = verdict.refutation else { return nil }
        var situation = refutation.story
        if verdict.promise == "offlineFor", case .time(let time) = limit, situation.lead >= time {
            situation = situation.answered(before: max(time - .milliseconds(1), .zero))
        }
        return situation.scenario(
            named: "\(verdict.promise) \(limit): \(situation.inWords)",
            expecting: Self.expectation(of: verdict.promise, limit), contentType: contentType)
    }

    private static func expectation(of promise: String, _ limit: PromiseLimit) -> JSON {
        let keys = [
            "neverOlderThan": "noOlderThan", "waits": "within", "waitsAtMost": "within", "callsPerLoad": "callsAtMost",
            "freshWithin": "freshWithin",
        ]
        guard let key = keys[promise] else { return ["answered": "yes"] }
        return .object([JSON.Member(key, limit.json), JSON.Member("answered", "either")])
    }
}
