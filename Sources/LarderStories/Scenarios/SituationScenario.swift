package import Larder
import LarderSimulation

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
        var situation = refutation.situation
        if verdict.promise == "offlineFor", case .time(let time) = limit, situation.lead >= time {
            situation = situation.answered(before: max(time - .milliseconds(1), .zero))
        }
        return situation.scenario(
            named: "\(verdict.promise) \(limit): \(situation.inWords)",
            expecting: Self.expectation(of: verdict.promise, limit), contentType: contentType)
    }

    private static func expectation(of promise: String, _ limit: PromiseLimit) -> JSON {
        let value: JSON =
            switch limit {
            case .time(let time): .string(time.spelled)
            case .calls(let calls): .int(calls)
            }
        let keys = [
            "neverOlderThan": "noOlderThan", "waits": "within", "waitsAtMost": "within", "callsPerLoad": "callsAtMost",
            "freshWithin": "freshWithin",
        ]
        guard let key = keys[promise] else { return ["answered": "yes"] }
        return .object([JSON.Member(key, value), JSON.Member("answered", "either")])
    }
}

extension Situation {
    /// The situation as a scenario whose last request is expected to end in some way.
    func scenario(named name: String, expecting expectation: JSON, contentType: String) -> JSON {
        var members = [JSON.Member("name", .string(name))]
        let copies = cached(contentType)
        if !copies.isEmpty { members.append(JSON.Member("cached", .list(copies))) }
        var phases = earlierOrigin.map { $0.phase(from: .zero, contentType, number: 0) }
        phases += origin.enumerated().map { $1.phase(from: lead, contentType, number: $0 + 1) }
        members.append(JSON.Member("origin", .list(phases)))
        if network != .unknown {
            var phase = [JSON.Member("from", .string(lead.spelled)), JSON.Member("is", .string(network.rawValue))]
            if isNetworkCostly { phase.append(JSON.Member("costly", true)) }
            members.append(JSON.Member("network", .list([.object(phase)])))
        }
        if !stores.isEmpty { members.append(JSON.Member("stores", .list(stores.map(\.json)))) }
        members.append(JSON.Member("chance", .number(chance)))
        members.append(JSON.Member("asks", .list(asks(expectation))))
        return .object(members)
    }

    private func cached(_ contentType: String) -> [JSON] {
        guard let copy else { return [] }
        func entry(_ name: String, age: Duration, tier: Int?) -> JSON {
            var members = [
                JSON.Member("value", .object([JSON.Member(name, true)])),
                JSON.Member("age", .string((age - lead).spelled)), JSON.Member("etag", .string("\"\(name)\"")),
            ]
            if contentType != "application/json" { members.append(JSON.Member("contentType", .string(contentType))) }
            if let tier { members.append(JSON.Member("tier", .int(tier))) }
            if copy.spread > 0 { members.append(JSON.Member("spread", .number(copy.spread))) }
            return .object(members)
        }
        let above = copy.ageAbove.map { age in
            (1..<max(copy.tier ?? 1, 1)).map { entry("above", age: age, tier: $0) }
        }
        return (above ?? []) + [entry("copy", age: copy.age, tier: copy.tier)]
    }

    private func asks(_ expectation: JSON) -> [JSON] {
        var asks = earlier.map { load -> JSON in
            var members = [JSON.Member("at", .string((lead - load.before).spelled))]
            if load.isOther { members.append(JSON.Member("parameters", ["other": "1"])) }
            return .object(members)
        }
        var members = [JSON.Member("at", .string(lead.spelled))]
        if mode != .normal { members.append(JSON.Member("mode", .string(mode.rawValue))) }
        if let deadline { members.append(JSON.Member("deadline", .string(deadline.spelled))) }
        if isRestarted { members.append(JSON.Member("restarted", true)) }
        if clockBack > .zero { members.append(JSON.Member("clockBack", .string(clockBack.spelled))) }
        members.append(JSON.Member("expect", expectation))
        asks.append(.object(members))
        return asks
    }
}

extension Situation.OriginAct {
    fileprivate func phase(from: Duration, _ contentType: String, number: Int) -> JSON {
        var members = [JSON.Member("from", .string(from.spelled))]
        if let calls { members.append(JSON.Member("calls", .int(calls))) }
        if after > .zero, ending != .hangs { members.append(JSON.Member("takes", .string(after.spelled))) }
        let tag = ending == .unchanged ? "\"copy\"" : "\"\(number)\""
        switch ending {
        case .value, .unchanged:
            members += [
                JSON.Member("value", .object([JSON.Member("answer", .int(number))])), JSON.Member("etag", .string(tag)),
            ]
            if contentType != "application/json" { members.append(JSON.Member("contentType", .string(contentType))) }
        case .status(let status, let retryAfter):
            members.append(JSON.Member(LoadError.status(status).isAnswer ? "answers" : "fails", .int(status)))
            if let retryAfter { members.append(JSON.Member("retryAfter", .string(retryAfter.spelled))) }
        case .unreachable: members.append(JSON.Member("offline", true))
        case .hangs: members.append(JSON.Member("hangs", true))
        }
        return .object(members)
    }
}

extension Situation.StoreFault {
    fileprivate var json: JSON {
        var members: [JSON.Member] = []
        if let tier { members.append(JSON.Member("tier", .int(tier))) }
        members.append(JSON.Member("operations", .string(operations.rawValue)))
        switch fault {
        case .fails, .failsAfter: members.append(JSON.Member("fails", true))
        case .hangs: members.append(JSON.Member("hangs", true))
        case .corrupts: members.append(JSON.Member("damaged", true))
        case .takes(let time): members.append(JSON.Member("takes", .string(time.spelled)))
        }
        return .object(members)
    }
}
