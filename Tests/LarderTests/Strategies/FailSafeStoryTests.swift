import LarderFoundation
import Larder
import LarderSystem
import LarderSimulation
import Testing

/// Ten minutes, three nodes that share nothing, a thousand keys that are fresh for a minute, and an origin that is slow
/// (2 s) from minute 3 to 5 and down from 5 to 8.
///
/// The story has 100 requests a second, a hundredth of the traffic that it stands for. Each key is requested every 30 s
/// on each node, so copies still become stale between two requests, and rates and waits are those of the full traffic.
@Suite struct FailSafeStoryTests {
    private struct Tally: Sendable {
        var calls = 0
        var failures = 0
        var worst = Duration.zero
    }

    private static let keys = 1_000
    private static let warm = Duration.seconds(60)
    private static let end = Duration.seconds(600)

    /// An origin that is slow or down at the times of the story, and counts its calls.
    private struct Service: Loader {
        let world: SimulatedWorld
        let tally: Locked<Tally>

        func load(_ call: Call) async throws -> Loaded<Entry> {
            tally.withLock { $0.calls += 1 }
            let minute = world.uptime.inSeconds / 60
            if (5..<8).contains(minute) { throw LoadError.status(503) }
            try await world.sleep(for: (3..<5).contains(minute) ? .seconds(2) : .milliseconds(20))
            return Loaded(Entry(Data("value".utf8)))
        }
    }

    /// A simple cache for comparison: a table with a lifetime, and one call for each load that finds nothing fresh.
    private struct PlainCache: Sendable {
        let service: Service
        let table = Locked<[Int: Duration]>([:])

        func load(_ key: Int) async throws {
            let now = service.world.uptime
            if let time = table.withLock({ $0[key] }), now - time < .seconds(60) { return }
            _ = try await service.load(Call(Request("feed")))
            table.withLock { $0[key] = service.world.uptime }
        }
    }

    /// Runs the story on three nodes. The first minute, in which each key is requested once, is not counted.
    private static func tell(
        _ node: @escaping @Sendable (SimulatedWorld, Service) async throws -> @Sendable (Int) async throws -> Void
    ) throws -> Tally {
        try SimulatedWorld(seed: 3).run { world in
            let tally = Locked(Tally())
            let service = Service(world: world, tally: tally)
            var nodes: [@Sendable (Int) async throws -> Void] = []
            for _ in 0..<3 { nodes.append(try await node(world, service)) }
            for key in 0..<keys {
                for load in nodes { world.spawn { try? await load(key) } }
                try await world.sleep(for: warm / keys)
            }
            tally.withLock { $0 = Tally() }
            var dice = SeededGenerator(seed: 5)
            while world.uptime < end {
                let (load, key) = (nodes[dice.roll(3)], dice.roll(keys))
                world.spawn {
                    let start = world.uptime
                    let failed = (try? await load(key)) == nil
                    tally.withLock {
                        $0.worst = max($0.worst, world.uptime - start)
                        if failed { $0.failures += 1 }
                    }
                }
                try await world.sleep(for: .milliseconds(10))
            }
            try await world.sleep(for: .seconds(10))
            return tally.withLock { $0 }
        }
    }

    private static func tell(strategy: String, age: String) throws -> Tally {
        try tell { world, service in
            let simulated = try await SimulatedPantry(
                world, strategy: strategy, validators: "[\(age)]", around: #"[{ "use": "timeout", "after": "10s" }]"#,
                store: #""memory""#, plugins: [.origin("service", "The story's.") { _ in service }],
                origin: #""service""#)
            return { key in _ = try await simulated.feed.load(["id": "\(key)"]) }
        }
    }

    @Test func warmCacheServesEveryCallerWithinPatienceDuringOutage() throws {
        let plain = try Self.tell { _, service in
            let cache = PlainCache(service: service)
            return { try await cache.load($0) }
        }
        let fresh = #"{ "use": "age", "fresh": "1m" }"#
        let lasting = #"{ "use": "age", "fresh": "1m", "onError": "1h" }"#
        let behind = #"{ "use": "age", "fresh": "1m", "whileRevalidating": "1h", "onError": "1h" }"#
        let coalescing = try Self.tell(strategy: #""cache-first""#, age: fresh)
        let onError = try Self.tell(strategy: #""cache-first""#, age: lasting)
        let patient = try Self.tell(
            strategy: #"{ "use": "stale-while-revalidate", "patience": "100ms" }"#, age: behind)
        for (name, tally) in [
            ("plain cache", plain), ("coalescing", coalescing), ("stale on error", onError),
            ("stale while revalidating, patience 100 ms", patient),
        ] {
            print("\(name): \(tally.calls) source calls, worst wait \(tally.worst.brief), \(tally.failures) failures")
        }
        #expect(plain.failures > 1_000 && coalescing.failures > 1_000)
        #expect(coalescing.calls <= plain.calls && plain.worst >= .seconds(2))
        #expect(onError.failures == 0 && onError.worst >= .seconds(2))
        #expect(patient.failures == 0)
        #expect(patient.worst <= .milliseconds(100))
        #expect(patient.calls < plain.calls)
    }
}
