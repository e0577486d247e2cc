import Larder
import LarderSimulation

extension Story {
    /// The story, whose copies have payloads that are made, as a scenario whose last request is expected to end in some way.
    func scenario(named name: String, expecting expectation: JSON, contentType: String) -> JSON {
        let cached = copies.flatMap { entries(of: $0, contentType) }
        let phases =
            earlierOrigin.map { $0.phase(from: .zero, contentType, number: 0) }
            + origin.enumerated().map { $1.phase(from: lead + $1.from, contentType, number: $0 + 1) }
        let asks = (earlier + loads).enumerated().map { number, load in
            load.json(at: lead + load.at, expecting: number + 1 < earlier.count + loads.count ? nil : expectation)
        }
        return .present([
            "name": .string(name), "cached": cached.isEmpty ? nil : .list(cached),
            "restarted": isRestarted ? true : nil, "origin": .list(phases),
            "lifetime": lifetime.map { .string($0.spelled) },
            "network": networks.isEmpty ? nil : .list(networks.map { $0.json(from: lead + $0.from) }),
            "stores": stores.isEmpty ? nil : .list(stores.map(\.json)), "chance": chance.map(JSON.number),
            "asks": .list(asks),
        ])
    }

    private func entries(of copy: Copy, _ contentType: String) -> [JSON] {
        func entry(_ name: String, age: Duration, tier: Int?) -> JSON {
            .present([
                "value": .object([JSON.Member(name, true)]), "age": .string((age - lead).spelled),
                "etag": .string("\"\(name)\""), "contentType": contentType.unlessJSON, "tier": tier.map(JSON.int),
                "spread": copy.spread > 0 ? .number(copy.spread) : nil,
            ])
        }
        let above = copy.ageAbove.map { age in
            (1..<max(copy.tier ?? 1, 1)).map { entry("above", age: age, tier: $0) }
        }
        return (above ?? []) + [entry("copy", age: copy.age, tier: copy.tier)]
    }
}

extension String {
    /// The media type; nil for that of JSON, which scenarios need not name.
    fileprivate var unlessJSON: JSON? { self == "application/json" ? nil : .string(self) }
}

extension Story.Load {
    fileprivate func json(at time: Duration, expecting expectation: JSON?) -> JSON {
        .present([
            "at": .string(time.spelled),
            "parameters": isOther ? .each(parameters) { ($0.name, .string($0.value)) } : nil,
            "scope": scope.map(JSON.string), "mode": mode == .normal ? nil : .string(mode.rawValue),
            "deadline": deadline.map { .string($0.spelled) }, "restarted": isRestarted ? true : nil,
            "clockBack": clockBack > .zero ? .string(clockBack.spelled) : nil, "expect": expectation,
        ])
    }
}

extension Story.Network {
    fileprivate func json(from time: Duration) -> JSON {
        .present(["from": .string(time.spelled), "is": .string(reach.rawValue), "costly": isCostly ? true : nil])
    }
}

extension Story.OriginAct {
    fileprivate func phase(from: Duration, _ contentType: String, number: Int) -> JSON {
        let takes = after > .zero && ending != .hangs
        let head = JSON.present([
            "from": .string(from.spelled), "calls": calls.map(JSON.int), "takes": takes ? .string(after.spelled) : nil,
        ])
        let tag = ending == .unchanged ? "\"copy\"" : "\"\(number)\""
        switch ending {
        case .sends(let value, let etag, let type):
            return .joined(
                head, .present(["value": value, "etag": etag.map(JSON.string), "contentType": type.unlessJSON]))
        case .value, .unchanged:
            let value: JSON = ["answer": .int(number)]
            return .joined(
                head, .present(["value": value, "etag": .string(tag), "contentType": contentType.unlessJSON]))
        case .status(let status, let retryAfter):
            let name = LoadError.status(status).isAnswer ? "answers" : "fails"
            return .joined(
                head, .present([name: .int(status), "retryAfter": retryAfter.map { .string($0.spelled) }]))
        case .unreachable, .throwsError: return .joined(head, ["offline": true])
        case .hangs: return .joined(head, ["hangs": true])
        }
    }
}

extension Story.StoreFault {
    fileprivate var json: JSON {
        let (name, value): (String, JSON) =
            switch fault {
            case .fails, .failsAfter: ("fails", true)
            case .hangs: ("hangs", true)
            case .corrupts: ("damaged", true)
            case .takes(let time): ("takes", .string(time.spelled))
            }
        return .present(["tier": tier.map(JSON.int), "operations": .string(operations.rawValue), name: value])
    }
}
