#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif
import Larder
import LarderSimulation

/// Requests that are made up: as many a second as wanted, at random, some instances far more often than others.
struct Traffic: Sendable {
    var rate: Double
    var length: Duration
    var keys: Int
    var skew: Double

    static let most = 20_000_000.0

    /// The requests, in the order of their times.
    func requests(seed: UInt64) -> [Arrival] {
        var dice = Dice(seed: seed ^ 0x7EA_F1C)
        let ranks = Zipf(count: keys, skew: skew)
        var arrivals: [Arrival] = []
        var time = 0.0
        while true {
            // The gaps of independent arrivals.
            time += -log(1 - dice.chance()) / rate
            guard time < length.inSeconds else { return arrivals }
            arrivals.append(Arrival(at: .seconds(time), resource: nil, key: "\(ranks.rank(for: dice.chance()))"))
        }
    }
}

/// One request of a trace.
struct Arrival: Sendable {
    /// Time since the first.
    var at: Duration
    /// Nil for whatever resource is tried.
    var resource: String?
    var key: String
    var mode = Request.Mode.normal
}

extension SettingType where Value == Traffic {
    /// A stream of requests.
    static var traffic: SettingType<Traffic> {
        .object(
            "traffic",
            Setting("rate", .number(0.0001...1_000_000), default: 10, help: "How many requests a second"),
            Setting("for", .moment, default: .seconds(3_600), help: "How long"),
            Setting("keys", .int(1...1_000_000), default: 1_000, help: "How many different instances are wanted"),
            Setting("skew", .number(0...5), default: 0.99, help: "How much the popular ones are: 0 for not at all")
        ) { node, reading, rate, length, keys, skew in
            if rate * length.inSeconds > Traffic.most {
                reading.report("this makes more than 20 million requests", at: node.place)
                return nil
            }
            return Traffic(rate: rate, length: length, keys: keys, skew: skew)
        }
    }
}
