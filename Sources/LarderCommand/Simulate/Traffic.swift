import LarderFoundation
package import Larder
import LarderStories
import LarderSimulation

/// Generates requests at a rate, at random times. Some instances are asked for far more often than others.
package struct Traffic: Sendable {
    var rate: Double
    package var length: Duration
    var keys: Int
    var skew: Double

    static let most = 20_000_000.0

    /// The requests, in the order of their times.
    package func requests(seed: UInt64) -> [TracedRequest] {
        var dice = SeededGenerator(seed: seed ^ 0x7EA_F1C)
        let ranks = Zipf(count: keys, skew: skew)
        var requests: [TracedRequest] = []
        var time = 0.0
        while true {
            // The gaps between independent requests.
            time += -log(1 - dice.chance()) / rate
            guard time < length.inSeconds else { return requests }
            requests.append(TracedRequest(at: .seconds(time), resource: nil, key: "\(ranks.rank(for: dice.chance()))"))
        }
    }
}

/// A request of a trace.
package struct TracedRequest: Sendable {
    /// The time since the first request.
    package var at: Duration
    /// The resource; nil if the request is for any resource.
    var resource: String?
    package var key: String
    var mode = Request.Mode.normal
}

extension SettingType where Value == Traffic {
    /// A stream of requests.
    package static var traffic: SettingType<Traffic> {
        .object(
            "traffic",
            Setting("rate", .number(0.0001...1_000_000), default: 10, help: "How many requests a second"),
            Setting("for", .moment, default: .seconds(3_600), help: "How long"),
            Setting("keys", .int(1...1_000_000), default: 1_000, help: "How many different instances are wanted"),
            Setting("skew", .number(0...5), default: 0.99, help: "How much the popular ones are: 0 for not at all")
        ) { node, reading, rate, length, keys, skew in
            if rate * length.inSeconds > Traffic.most {
                reading.report("this makes more than 20 million requests", at: node.position)
                return nil
            }
            return Traffic(rate: rate, length: length, keys: keys, skew: skew)
        }
    }
}
