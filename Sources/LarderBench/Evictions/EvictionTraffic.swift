import LarderFoundation
import LarderSimulation

/// A stream of requests for keys that are numbered in the order of their first appearance.
struct EvictionTraffic {
    let requests: [Int32]
    /// The number of different keys.
    let keys: Int

    /// Reads a recorded stream. See ``BenchTraceFile``.
    init(path: String) throws {
        let trace = try BenchTraceFile(path: path)
        (requests, keys) = (trace.requests, trace.keys.count)
    }

    /// Makes an artificial stream, which depends only on the seed and the name.
    init(seed: Int, name: String, _ make: (inout EvictionScript) -> Void) {
        var script = EvictionScript(dice: SeededGenerator(seed: UInt64(seed), stream: name))
        make(&script)
        var numbers: [Int: Int32] = [:]
        requests = script.requests.map { key in
            let number = numbers[key, default: Int32(numbers.count)]
            numbers[key] = number
            return number
        }
        keys = numbers.count
    }
}

/// Artificial requests that follow one another. A part never requests the keys of another kind of part.
struct EvictionScript {
    var dice: SeededGenerator
    private(set) var requests: [Int] = []
    private var newest = 2_000_000

    init(dice: SeededGenerator) {
        self.dice = dice
    }

    /// Requests a key that was never requested before.
    mutating func new() {
        newest += 1
        requests.append(newest)
    }

    /// A few keys are popular. If `drift` is given, the popular keys change: one becomes less popular for each `drift`
    /// requests.
    mutating func zipf(_ count: Int, keys: Int, first: Int = 0, drift: Int? = nil) {
        let ranks = Zipf(count: keys, skew: 0.9)
        for number in 0..<count {
            requests.append(first + ranks.rank(for: dice.chance()) + (drift.map { number / $0 } ?? 0))
        }
    }

    /// Three of ten requests are made by `other`, the rest are for popular keys.
    mutating func zipf(_ count: Int, keys: Int, mixed other: (inout EvictionScript) -> Void) {
        let ranks = Zipf(count: keys, skew: 0.9)
        for _ in 0..<count {
            if dice.roll(10) < 3 { other(&self) } else { requests.append(ranks.rank(for: dice.chance())) }
        }
    }

    /// The same keys again and again in the same order.
    mutating func loop(_ length: Int, rounds: Int = 1, number: Int = 0) {
        for _ in 0..<rounds { for place in 0..<length { step(place, number: number) } }
    }

    /// Requests one key of a loop.
    mutating func step(_ place: Int, number: Int = 0) {
        requests.append(1_000_000 + number * 10_000 + place)
    }

    /// Three of four requests repeat one of the last `reach` requests. The others are for new keys.
    mutating func recent(_ count: Int, reach: Int) {
        let start = requests.count
        for number in 0..<count {
            if number < reach || dice.roll(4) == 0 {
                new()
            } else {
                requests.append(requests[start + number - 1 - dice.roll(reach)])
            }
        }
    }

    /// Keys are requested twice at most. Three of four new keys return within `reach` requests.
    mutating func twice(_ count: Int, reach: Int) {
        var due: [Int: Int] = [:]
        for number in 0..<count {
            if let key = due.removeValue(forKey: number) {
                requests.append(key)
                continue
            }
            new()
            guard dice.roll(4) > 0 else { continue }
            var time = number + 1 + dice.roll(reach)
            while due[time] != nil { time += 1 }
            due[time] = newest
        }
    }

    /// The more recently a key was used, the more likely is it requested. The mean number of keys that were used since
    /// is `depth`. One of five requests is for a new key.
    mutating func stack(_ count: Int, depth: Double) {
        var stack: [Int] = []
        for _ in 0..<count {
            let place = Int(-log(1 - dice.chance()) * depth)
            if dice.roll(5) == 0 || place >= stack.count {
                new()
            } else {
                requests.append(stack.remove(at: stack.count - 1 - place))
            }
            stack.append(requests[requests.count - 1])
            if stack.count > 20_000 { stack.removeFirst(10_000) }
        }
    }
}
