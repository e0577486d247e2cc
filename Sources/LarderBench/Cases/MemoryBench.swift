import Dispatch
import Larder
import LarderSystem

/// The table of Larder's memory store beside a dictionary and NSCache.
///
/// A few keys are asked for often, most of them rarely. A cache that cannot hold all keys has room for a tenth of them. A
/// dictionary behind a lock is shown for scale: it is never full, so it never misses.
enum MemoryBench {
    static let keys = 100_000
    static let room = 10_000
    private static let roomy = 3 * keys

    static func figures(_ harness: Harness) async throws -> [Figure] {
        let traffic = BenchTraffic(keys: keys, skew: 0.99)
        let steeper = BenchTraffic(keys: keys, skew: 1)
        // First, because memory that other cases have freed would be used again.
        let resident = try await ResidentBench.figures(harness)
        let one = try await compare(
            UInt64.self, name: "get-hit, u64", use: .hits, traffic: traffic, harness: harness, goal: 30)
        let two = try await compare(
            UInt64.self, name: "get-hit, u64, two threads", use: .hits, traffic: traffic, harness: harness, threads: 2,
            goal: 18)
        var figures = resident + one + two
        if let one = one.first, let two = two.first {
            figures.append(
                Figure(
                    group: two.group, name: "throughput of two threads ÷ one", median: one.median / two.median,
                    unit: .times, goal: 1.6, isGoalLeast: true))
        }
        figures += try await ratios(harness)
        figures += try await compare(
            ShortText.self, name: "get-hit, 20-byte String", use: .hits, traffic: traffic, harness: harness, goal: 60)
        figures += try await compare(
            LongText.self, name: "get-hit, 80-byte text", use: .hits, traffic: traffic, harness: harness)
        figures += try await compare(
            Key.self, name: "get-hit, request's key of 20 bytes", use: .hits, traffic: traffic, harness: harness)
        figures += try await compare(
            UInt64.self, name: "get-hit, u64, skew 1", use: .hits, traffic: steeper, harness: harness)
        figures += try await compare(UInt64.self, name: "set, evicting", use: .sets, traffic: traffic, harness: harness)
        figures += try await compare(
            UInt64.self, name: "mixed 75/25", use: .mixed, traffic: traffic, harness: harness, goal: 45)
        figures += try await compare(
            UInt64.self, name: "mixed 75/25, two threads", use: .mixed, traffic: traffic, harness: harness, threads: 2)
        figures += try await compare(
            UInt64.self, name: "read-through", use: .readThrough, traffic: traffic, harness: harness, goal: 60)
        figures += try await compare(
            UInt64.self, name: "read-through, skew 1", use: .readThrough, traffic: steeper, harness: harness)
        figures += try await compare(
            Key.self, name: "read-through, request's key of 20 bytes", use: .readThrough, traffic: traffic,
            harness: harness)
        figures += try await collisions(harness)
        return figures
    }

    /// The use of a cache.
    enum Use {
        case hits, sets, mixed, readThrough
    }

    private static func compare<Key: BenchKey>(
        _ key: Key.Type, name: String, use: Use, traffic: BenchTraffic, harness: Harness, threads: Int = 1,
        goal: Double? = nil
    ) async throws -> [Figure] {
        let keys = (0..<keys).map { Key.key($0) }
        let room = use == .hits ? roomy : room
        let own = try LarderCache<Key>(capacity: room)
        var figures = try await harness.compare(
            name,
            [
                run(use, cache: own, keys: keys, traffic: traffic, threads: threads, goal: goal),
                run(use, cache: LockedDictionary<Key>(capacity: room), keys: keys, traffic: traffic, threads: threads),
                run(use, cache: FoundationCache<Key>(capacity: room), keys: keys, traffic: traffic, threads: threads),
            ])
        if use == .readThrough, !figures.isEmpty {
            let share = own.hitRatio(of: traffic.requests.map { keys[$0] })
            figures.append(
                Figure(
                    group: name, name: "larder's hit ratio", median: 100 * share, unit: .percent,
                    goal: goal == nil ? nil : 79, isGoalLeast: true))
        }
        return figures
    }

    /// Two threads that hit one key, or keys of their own, beside one thread.
    private static func ratios(_ harness: Harness) async throws -> [Figure] {
        let cache = try LarderCache<UInt64>(capacity: roomy)
        for number in 0..<128 { cache.set(UInt64.key(number), 1) }
        func run(_ keys: Int, apart distance: Int, threads: Int) -> @Sendable (Int) -> Void {
            { count in
                spread(count, over: threads) { count, thread in
                    let keys = (0..<keys).map { UInt64.key($0 + thread * distance) }
                    var sum: UInt64 = 0
                    for turn in 0..<count { sum &+= cache.get(keys[turn & (keys.count - 1)]) ?? 0 }
                    keep(sum)
                }
            }
        }
        return try await harness.compare(
            "get-hit, one key",
            [Case("one thread", run(1, apart: 0, threads: 1)), Case("two threads", run(1, apart: 0, threads: 2))])
            + harness.compare(
                "get-hit, own keys",
                [
                    Case("one thread", run(64, apart: 64, threads: 1)),
                    Case("two threads", run(64, apart: 64, threads: 2)),
                ])
    }

    private static func run<Key: BenchKey>(
        _ use: Use, cache: some BenchCache<Key>, keys: [Key], traffic: BenchTraffic, threads: Int,
        goal: Double? = nil
    ) -> Case {
        Case(type(of: cache).name, goal: goal, loop(use, cache: cache, keys: keys, traffic: traffic, threads: threads))
    }

    /// Uses Larder's table of the keys as one thread of traffic does.
    static func loop<Key: BenchKey>(_ use: Use, of key: Key.Type) throws -> @Sendable (Int) -> Void {
        let keys = (0..<keys).map { Key.key($0) }
        let cache = try LarderCache<Key>(capacity: use == .hits ? roomy : room)
        let loop = loop(use, cache: cache, keys: keys, traffic: BenchTraffic(keys: keys.count, skew: 0.99), threads: 1)
        loop(0)
        return loop
    }

    private static func loop<Key: BenchKey>(
        _ use: Use, cache: some BenchCache<Key>, keys: [Key], traffic: BenchTraffic, threads: Int
    ) -> @Sendable (Int) -> Void {
        let stream = traffic.stream(of: keys)
        let isFilled = Locked(use == .readThrough)
        return { count in
            // In the first call, so that a case that is not measured fills no cache.
            if !isFilled.withLock({ $0 }) {
                for (number, key) in keys.enumerated() { cache.set(key, UInt64(number)) }
                isFilled.withLock { $0 = true }
            }
            spread(count, over: threads) { count, thread in
                var sum: UInt64 = 0
                switch use {
                case .hits: stream.forEach(count, from: thread) { sum &+= cache.get($0) ?? 0 }
                case .sets: stream.forEach(count, from: thread) { cache.set($0, 1) }
                case .mixed:
                    var turn = 0
                    stream.forEach(count, from: thread) { key in
                        turn &+= 1
                        if turn & 3 == 0 { cache.set(key, 1) } else { sum &+= cache.get(key) ?? 0 }
                    }
                case .readThrough:
                    stream.forEach(count, from: thread) { key in
                        if let value = cache.get(key) { sum &+= value } else { cache.set(key, 1) }
                    }
                }
                keep(sum)
            }
        }
    }

    /// Keys that are chosen to collide, beside random keys of the same length.
    private static func collisions(_ harness: Harness) async throws -> [Figure] {
        let chosen = (0..<keys).map { number in
            // "Aa" and "BB" have the same hash in functions that multiply by 31.
            Key(resource: (0..<17).map { number >> $0 & 1 == 0 ? "Aa" : "BB" }.joined())
        }
        let others = (0..<keys).map { Key(resource: "\(UInt64.key($0))".padded(to: 34)) }
        let traffic = BenchTraffic(keys: keys, skew: 0)
        var figures = try await harness.compare(
            "100,000 keys, get-hit",
            [
                run(.hits, cache: try LarderCache<Key>(capacity: roomy), keys: others, traffic: traffic, threads: 1),
                run(.hits, cache: try LarderCache<Key>(capacity: roomy), keys: chosen, traffic: traffic, threads: 1),
            ])
        for (place, name) in ["at random", "chosen to collide"].enumerated() where place < figures.count {
            figures[place].name = name
        }
        if let random = figures.first { figures[figures.count - 1].goal = 2 * random.median }
        return figures
    }

    private static func spread(_ count: Int, over threads: Int, _ body: @Sendable (Int, Int) -> Void) {
        if threads == 1 { return body(count, 0) }
        DispatchQueue.concurrentPerform(iterations: threads) { body(count / threads, $0) }
    }
}

extension String {
    fileprivate func padded(to length: Int) -> String { self + String(repeating: "0", count: length - count) }
}
