import Larder
import LarderSimulation

@testable import LarderCommand
@testable import LarderReports
@testable import LarderStories

/// A policy and a situation in which advice of one kind is due.
struct AdviceTrial: Sendable, CustomStringConvertible {
    let description: String
    let policy: String
    let origin: String
    let traffic: String
    let rule: @Sendable (AdviceBasis) -> Advice?

    /// The result of following the advice on the same requests.
    struct Outcome: Sendable {
        let affected: Double
        let promised: ClosedRange<Double>
        let actual: Double

        /// The distance of what was saved from what was promised, as a share of what was saved.
        var error: Double {
            let miss = max(promised.lowerBound - actual, actual - promised.upperBound, 0)
            return actual == 0 ? .infinity : miss / actual
        }
    }

    /// Simulates the policy as it is. Returns nothing if there is no advice.
    func advice(seed: UInt64) throws -> (advice: Advice?, account: Replay.Account) {
        let account = try replay(policy, seed)
        let settings = AdvisedSetting.all(in: AdvisedPolicy.json(account.policy), of: .standard)
        return (rule(AdviceBasis("feed", metrics: account.metrics, settings: settings)), account)
    }

    /// Simulates the policy as it is, and again with the advice. Returns nil if there is no advice.
    func outcome(seed: UInt64) throws -> Outcome? {
        let (advice, before) = try advice(seed: seed)
        guard let advice, let changed = AdvisedPolicy.json(before.policy, with: advice.changes) else { return nil }
        let after = try replay(changed.text(), seed)
        return Outcome(
            affected: advice.figure, promised: advice.saved,
            actual: advice.effect.figure(before.metrics) - advice.effect.figure(after.metrics))
    }

    private func replay(_ text: String, _ seed: UInt64) throws -> Replay.Account {
        let reader = try PolicyReader(registry: .standard, texts: ["feed": text], files: nil, environment: [:])
        let model = try OptionObject.read(origin, as: .originModel, option: "origin")
        let requests = try OptionObject.read(traffic, as: .traffic, option: "traffic").requests(seed: seed)
        return try Replay(reader: reader, model: model, seed: seed).run(requests) { _ in }
    }
}

extension AdviceTrial {
    /// Returns the same policy in another situation.
    func with(
        _ description: String, policy change: (String) -> String = { $0 }, origin: String? = nil, traffic: String? = nil
    ) -> AdviceTrial {
        AdviceTrial(
            description: "\(self.description): \(description)", policy: change(policy), origin: origin ?? self.origin,
            traffic: traffic ?? self.traffic, rule: rule)
    }

    private static func policy(_ strategy: String, _ age: String, store: String = #""memory""#) -> String {
        #"{ "resource": "feed", "origin": { "use": "constant", "value": 1 }, "strategy": \#(strategy), "#
            + #""validators": [{ "use": "age", \#(age) }], "store": \#(store) }"#
    }

    static let onError = AdviceTrial(
        description: "longer onError", policy: policy(#""cache-first""#, #""fresh": "1m", "onError": "10m""#),
        origin: "down=20m-2h", traffic: "rate=0.5,keys=40,for=3h", rule: { $0.longerOnError })

    static let longerPatience = AdviceTrial(
        description: "longer patience",
        policy: policy(#"{ "use": "network-first", "patience": "300ms" }"#, #""fresh": "0s", "onError": "7d""#),
        origin: "latency=250ms,slowest=900ms", traffic: "rate=1,keys=20,for=1h", rule: { $0.longerPatience })

    static let shorterPatience = AdviceTrial(
        description: "shorter patience",
        policy: policy(#"{ "use": "network-first", "patience": "3s" }"#, #""fresh": "0s", "onError": "7d""#),
        origin: "latency=80ms,slowest=300ms,slow=10m-40m,slowness=1000", traffic: "rate=1,keys=200,for=1h,skew=0.2",
        rule: { $0.shorterPatience })

    static let longerFresh = AdviceTrial(
        description: "longer fresh", policy: policy(#""cache-first""#, #""fresh": "2m", "onError": "7d""#),
        origin: "changes=6h", traffic: "rate=0.5,keys=100,for=2h", rule: { $0.longerFresh })

    static let noRefreshAhead = AdviceTrial(
        description: "no refreshAhead",
        policy: policy(#"{ "use": "cache-first", "refreshAhead": 0.2 }"#, #""fresh": "10m", "onError": "7d""#),
        origin: "changes=6h", traffic: "rate=0.5,keys=600,for=3h,skew=0.3", rule: { $0.noRefreshAhead })

    static let moreCapacity = AdviceTrial(
        description: "more capacity",
        policy: policy(
            #""cache-first""#, #""fresh": "6h""#, store: #"{ "use": "memory", "capacity": "300KB" }"#),
        origin: "changes=12h", traffic: "rate=1,keys=150,for=1h", rule: { $0.moreCapacity })

    /// Situations in which no such advice may be given.
    static let silent: [AdviceTrial] = [
        onError.with("the origin does not fail", origin: "latency=80ms"),
        onError.with("there are no copies yet", origin: "down=0s-3h"),
        onError.with("only some loads failed", traffic: "rate=0.002,keys=40,for=3h"),
        longerPatience.with("the origin is much too slow", origin: "latency=20s,slowest=40s"),
        longerPatience.with("the origin does not answer", origin: "silent=10m-1h"),
        longerPatience.with("few wait in vain", origin: "latency=80ms,slowest=290ms"),
        shorterPatience.with("the origin is a little too slow", origin: "latency=2500ms,slowest=6s"),
        shorterPatience.with(
            "usual answers take as long", origin: "latency=2s,slowest=2900ms,slow=10m-40m,slowness=100"),
        longerFresh.with("contents change often", origin: "changes=3m"),
        longerFresh.with(
            "the strategy always asks", policy: { $0.replacing("cache-first", with: "network-first") }),
        longerFresh.with("few calls are made", traffic: "rate=0.005,keys=5,for=2h"),
        noRefreshAhead.with("the results are used", traffic: "rate=2,keys=20,for=1h,skew=0.3"),
        noRefreshAhead.with(
            "nothing is refreshed ahead", policy: { $0.replacing(#", "refreshAhead": 0.2"#, with: "") }),
        moreCapacity.with("no key is asked for again", traffic: "rate=1,keys=1000000,for=1h,skew=0"),
        moreCapacity.with("copies are stale by then", policy: { $0.replacing("6h", with: "2s") }),
        moreCapacity.with("everything fits", policy: { $0.replacing("300KB", with: "30MB") }),
        moreCapacity.with(
            "there are tiers",
            policy: {
                $0.replacing(
                    #"{ "use": "memory", "capacity": "300KB" }"#,
                    with: #"{ "use": "tiered", "tiers": [{ "use": "memory", "capacity": "300KB" }, "file"] }"#)
            }, traffic: "rate=1,keys=150,for=10m"),
    ]

    static let all = [onError, longerPatience, shorterPatience, longerFresh, noRefreshAhead, moreCapacity]
}
