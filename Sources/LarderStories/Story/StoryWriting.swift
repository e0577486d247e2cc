import Larder
import LarderSimulation

extension Story {
    /// The story, whose copies have payloads that are made, as a scenario whose last request is expected to end in some way.
    func scenario(named name: String, expecting expectation: JSON, contentType: String) -> JSON {
        var members = [JSON.Member("name", .string(name))]
        let cached = copies.flatMap { entries(of: $0, contentType) }
        if !cached.isEmpty { members.append(JSON.Member("cached", .list(cached))) }
        var phases = earlierOrigin.map { $0.phase(from: .zero, contentType, number: 0) }
        if isRestarted { members.append(JSON.Member("restarted", true)) }
        phases += origin.enumerated().map { $1.phase(from: lead + $1.from, contentType, number: $0 + 1) }
        members.append(JSON.Member("origin", .list(phases)))
        if !networks.isEmpty {
            members.append(JSON.Member("network", .list(networks.map { $0.json(from: lead + $0.from) })))
        }
        if !stores.isEmpty { members.append(JSON.Member("stores", .list(stores.map(\.json)))) }
        if let chance { members.append(JSON.Member("chance", .number(chance))) }
        let asks = (earlier + loads).enumerated().map { number, load in
            load.json(at: lead + load.at, expecting: number + 1 < earlier.count + loads.count ? nil : expectation)
        }
        members.append(JSON.Member("asks", .list(asks)))
        return .object(members)
    }

    private func entries(of copy: Copy, _ contentType: String) -> [JSON] {
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
}

extension Story.Load {
    fileprivate func json(at time: Duration, expecting expectation: JSON?) -> JSON {
        var members = [JSON.Member("at", .string(time.spelled))]
        if isOther {
            members.append(
                JSON.Member("parameters", .object(parameters.map { JSON.Member($0.name, .string($0.value)) })))
        }
        if let scope { members.append(JSON.Member("scope", .string(scope))) }
        if mode != .normal { members.append(JSON.Member("mode", .string(mode.rawValue))) }
        if let deadline { members.append(JSON.Member("deadline", .string(deadline.spelled))) }
        if isRestarted { members.append(JSON.Member("restarted", true)) }
        if clockBack > .zero { members.append(JSON.Member("clockBack", .string(clockBack.spelled))) }
        if let expectation { members.append(JSON.Member("expect", expectation)) }
        return .object(members)
    }
}

extension Story.Network {
    fileprivate func json(from time: Duration) -> JSON {
        var members = [JSON.Member("from", .string(time.spelled)), JSON.Member("is", .string(reach.rawValue))]
        if isCostly { members.append(JSON.Member("costly", true)) }
        return .object(members)
    }
}

extension Story.OriginAct {
    fileprivate func phase(from: Duration, _ contentType: String, number: Int) -> JSON {
        var members = [JSON.Member("from", .string(from.spelled))]
        if let calls { members.append(JSON.Member("calls", .int(calls))) }
        if after > .zero, ending != .hangs { members.append(JSON.Member("takes", .string(after.spelled))) }
        let tag = ending == .unchanged ? "\"copy\"" : "\"\(number)\""
        switch ending {
        case .sends(let value, let etag, let type):
            members.append(JSON.Member("value", value))
            if let etag { members.append(JSON.Member("etag", .string(etag))) }
            if type != "application/json" { members.append(JSON.Member("contentType", .string(type))) }
        case .value, .unchanged:
            members += [
                JSON.Member("value", .object([JSON.Member("answer", .int(number))])), JSON.Member("etag", .string(tag)),
            ]
            if contentType != "application/json" { members.append(JSON.Member("contentType", .string(contentType))) }
        case .status(let status, let retryAfter):
            members.append(JSON.Member(LoadError.status(status).isAnswer ? "answers" : "fails", .int(status)))
            if let retryAfter { members.append(JSON.Member("retryAfter", .string(retryAfter.spelled))) }
        case .unreachable, .throwsError: members.append(JSON.Member("offline", true))
        case .hangs: members.append(JSON.Member("hangs", true))
        }
        return .object(members)
    }
}

extension Story.StoreFault {
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
