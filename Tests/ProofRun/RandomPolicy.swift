import LarderSimulation
import LarderStories

/// A policy of random parts with random times, whose settings tests can change one by one. Times are in milliseconds.
struct RandomPolicy {
    enum Wrapper: Hashable {
        case timeout(Int)
        case hedge(Int)
        case breaker(failures: Int, rest: Int)
        case retry(retries: Int, backoff: Int, factor: Int, jitter: Int, limit: Int?)
    }

    enum Fallback: String, CaseIterable { case none, local, elsewhere }

    struct Age: Hashable {
        var fresh: Int
        var whileRevalidating: Int
        var onError: Int
        /// In percent.
        var jitter: Int
    }

    struct Tier: Hashable {
        var name: String
        var limit: Int?
        var forgetAfter: Int?

        var isForeign: Bool { name != "memory" }
    }

    var strategy: String
    var patience: Int?
    var background: Int?
    var rest: Int?
    /// In percent.
    var refreshAhead: Int?
    var triesOffline: Bool
    var around: [Wrapper]
    var ages: [Age]
    var otherValidators: [String]
    var tiers: [Tier]
    var mirrors: Int
    var fallback: Fallback
    /// The sections beside the promises, as members of the policy.
    var sections: [String]

    /// The policy with these promises, as its file contains it.
    func text(promising promises: [RandomPromise]) -> String {
        let origin = #"{ "use": "sample", "payload": "catalog" }"#
        let origins = Array(repeating: origin, count: mirrors).joined(separator: ", ")
        var members = [
            #""resource": "prices""#,
            #""origin": "# + (mirrors == 1 ? origin : "{ \"use\": \"mirrors\", \"origins\": [\(origins)] }"),
            #""around": ["# + around.map(\.text).joined(separator: ", ") + "]",
            #""strategy": "# + strategyText,
            #""validators": ["# + (ages.map(\.text) + otherValidators).joined(separator: ", ") + "]",
            #""store": "# + storeText,
        ]
        switch fallback {
        case .none: break
        case .local: members.append(#""fallbacks": [{ "use": "constant", "value": {} }]"#)
        case .elsewhere: members.append("\"fallbacks\": [\(origin)]")
        }
        members += sections
        if !promises.isEmpty {
            members.append("\"promises\": { " + promises.map(\.text).joined(separator: ", ") + " }")
        }
        return "{ " + members.joined(separator: ",\n  ") + " }"
    }

    private var strategyText: String {
        var settings = ["\"use\": \"\(strategy)\""]
        if let patience { settings.append("\"patience\": \"\(patience)ms\"") }
        if let background { settings.append("\"background\": \"\(background)ms\"") }
        if let rest { settings.append("\"rest\": \"\(rest)ms\"") }
        if let refreshAhead { settings.append("\"refreshAhead\": \"\(refreshAhead)%\"") }
        if triesOffline { settings.append(#""offline": "try""#) }
        return "{ " + settings.joined(separator: ", ") + " }"
    }

    private var storeText: String {
        let texts = tiers.enumerated().map { $1.text(place: "place\($0)") }
        return tiers.count == 1 ? texts[0] : "{ \"use\": \"tiered\", \"tiers\": [\(texts.joined(separator: ", "))] }"
    }

    /// The times of waiting at which its parts change their minds.
    var waits: [Int] {
        let tries = around.flatMap(\.times) + [patience, rest, background].compactMap { $0 }
        return Array(Set(tries + tiers.compactMap(\.limit))).sorted()
    }

    /// The ages at which its parts change their minds.
    var ageBorders: [Int] {
        let told = ages.flatMap { age -> [Int] in
            let early = age.fresh - age.fresh * age.jitter / 100
            let ahead = refreshAhead.map { [age.fresh * $0 / 100, early * $0 / 100] } ?? []
            return ahead + [age.fresh, early].flatMap { [$0, $0 + age.whileRevalidating, $0 + age.onError] }
        }
        return Array(Set(told + tiers.compactMap(\.forgetAfter))).sorted()
    }

    /// An answer comes in time if it takes less: no timeout ends the call, and no patience.
    var soon: Int {
        let timeouts = around.compactMap { wrapper -> Int? in
            if case .timeout(let after) = wrapper { after } else { nil }
        }
        return (timeouts + [patience].compactMap { $0 }).min() ?? 60_000
    }
}

extension RandomPolicy.Wrapper {
    var text: String {
        switch self {
        case .timeout(let after): "{ \"use\": \"timeout\", \"after\": \"\(after)ms\" }"
        case .hedge(let after): "{ \"use\": \"hedge\", \"after\": \"\(after)ms\" }"
        case .breaker(let failures, let rest):
            "{ \"use\": \"breaker\", \"failures\": \(failures), \"rest\": \"\(rest)ms\" }"
        case .retry(let retries, let backoff, let factor, let jitter, let limit):
            "{ \"use\": \"retry\", \"retries\": \(retries), \"backoff\": \"\(backoff)ms\", \"factor\": \(factor), "
                + "\"jitter\": \"\(jitter)%\"" + (limit.map { ", \"limit\": \"\(max($0, backoff))ms\"" } ?? "") + " }"
        }
    }

    fileprivate var times: [Int] {
        switch self {
        case .timeout(let after), .hedge(let after): [after]
        case .breaker(_, let rest): [rest]
        case .retry(_, let backoff, _, _, let limit): [backoff, max(backoff, limit ?? 60_000)]
        }
    }
}

extension RandomPolicy.Age {
    fileprivate var text: String {
        "{ \"use\": \"age\", \"fresh\": \"\(fresh)ms\", \"whileRevalidating\": \"\(whileRevalidating)ms\", "
            + "\"onError\": \"\(onError)ms\", \"jitter\": \"\(jitter)%\" }"
    }
}

extension RandomPolicy.Tier {
    fileprivate func text(place: String) -> String {
        var settings = ["\"use\": \"\(name)\""]
        if name == "file" { settings.append("\"directory\": \"\(place)\"") }
        if name == "sqlite" { settings.append("\"file\": \"\(place)\"") }
        if let limit { settings.append("\"limit\": \"\(limit)ms\"") }
        if let forgetAfter { settings.append("\"forgetAfter\": \"\(forgetAfter)ms\"") }
        return "{ " + settings.joined(separator: ", ") + " }"
    }
}

/// A promise of a policy with its limit.
struct RandomPromise: Hashable {
    var name: String
    var limit: PromiseLimit

    static let names = ["neverOlderThan", "waits", "waitsAtMost", "offlineFor", "callsPerLoad", "freshWithin"]

    /// The promise with the smallest limit, or the largest if a smaller one is easier to keep.
    static func hardest(_ name: String) -> RandomPromise {
        switch name {
        case "callsPerLoad": RandomPromise(name: name, limit: .calls(0))
        case "offlineFor": RandomPromise(name: name, limit: .time(.seconds(3_000 * 86_400)))
        default: RandomPromise(name: name, limit: .time(.zero))
        }
    }

    fileprivate var text: String {
        switch limit {
        case .time(let time): "\"\(name)\": \"\(time.wholeMilliseconds)ms\""
        case .calls(let calls): "\"\(name)\": \(calls)"
        }
    }
}

extension Duration {
    var wholeMilliseconds: Int {
        Int(components.seconds) * 1_000 + Int(components.attoseconds / 1_000_000_000_000_000)
    }
}
