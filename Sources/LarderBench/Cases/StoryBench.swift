import LarderFoundation
import LarderSystem
import Larder
import LarderSimulation

/// Ten minutes of traffic in simulated time. Three nodes share nothing, a thousand keys are fresh for a minute, and the
/// origin is slow (2 s) from minute 3 to 5 and down from 5 to 8.
struct StoryBench {
    static let usage = """
        usage: larder-bench story [--rate N] [--only TEXT] [--json]

          --rate  the number of loads a second (default: 30000)
          --only  only strategies whose name contains this text
          --json  write the result as JSON

        Three nodes have 1,000 keys each, fresh for 1 min, with onError and whileRevalidating 1 h and patience 100 ms. The
        origin answers after 20 ms. It takes 2 s from minute 3 to 5 and fails from minute 5 to 8. In the first minute each
        key is loaded once on each node. The counts begin after it.
        """

    /// The outcome of the ten minutes.
    struct Tally: Sendable {
        var loads = 0
        var calls = 0
        var failures = 0
        var worst = Duration.zero
        var waited = Duration.zero
    }

    struct Story: Sendable {
        var strategy: String
        var hasBreaker: Bool
        var name: String { strategy + (hasBreaker ? ", breaker" : "") }
        /// The goals: the largest number of calls and the longest wait; nil if there are none.
        var goals: (calls: Int, wait: Duration)? {
            ["cache-first", "stale-while-revalidate"].contains(strategy) ? (36_000, StoryBench.patience) : nil
        }
    }

    private static let keys = 1_000
    private static let nodes = 3
    private static let warm = Duration.seconds(60)
    private static let end = Duration.seconds(600)
    private static let patience = Duration.milliseconds(100)

    static let stories = ["network-first", "cache-first", "stale-while-revalidate", "race"].flatMap { strategy in
        [false, true].map { Story(strategy: strategy, hasBreaker: $0) }
    }

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

    private static func node(_ story: Story, _ service: Service, in world: SimulatedWorld) async throws -> Pantry {
        let breaker = story.hasBreaker ? #"{ "use": "breaker", "failures": 5, "rest": "30s" }, "# : ""
        // A strategy that does not know patience ignores it, as after a swap.
        let policy = """
            { "resource": "feed", "origin": "service",
              "around": [\(breaker){ "use": "timeout", "after": "10s" }],
              "strategy": { "use": "\(story.strategy)", "patience": "100ms" }, "store": "memory",
              "validators": [{ "use": "age", "fresh": "1m", "whileRevalidating": "1h", "onError": "1h" }] }
            """
        var registry = Registry.standard
        try registry.register(.origin("service", "The story's.") { _ in service })
        return try await Pantry(
            policies: ["feed": policy], registry: registry, cache: TemporaryFolder().url, environment: [:],
            world: world)
    }

    /// Simulates the ten minutes with `rate` loads a second.
    static func tell(_ story: Story, rate: Int) throws -> Tally {
        try SimulatedWorld(seed: 3).run(leaving: .anything) { world in
            let tally = Locked(Tally())
            let service = Service(world: world, tally: tally)
            var pantries: [Pantry] = []
            for _ in 0..<nodes { pantries.append(try await node(story, service, in: world)) }
            let resources = pantries.map { $0.resource("feed") }
            let requests = (0..<keys).map { resources[0].request(["id": "\($0)"]) }
            // Each key is loaded once on each node before the counted time.
            for request in requests {
                for resource in resources { world.spawn { _ = try? await resource.load(request) } }
                try await world.sleep(for: warm / keys)
            }
            tally.withLock { $0 = Tally() }
            var dice = SeededGenerator(seed: 5)
            let tick = Duration.milliseconds(1)
            while world.uptime < end {
                for _ in 0..<max(1, rate / 1_000) {
                    let (resource, request) = (resources[dice.roll(nodes)], requests[dice.roll(keys)])
                    if resource.answer(request) == nil {
                        world.spawn { await load(request, from: resource, in: world, tally) }
                    } else {
                        tally.withLock { $0.loads += 1 }
                    }
                }
                try await world.sleep(for: rate < 1_000 ? .seconds(1) / rate : tick)
            }
            try await world.sleep(for: .seconds(10))
            return tally.withLock { $0 }
        }
    }

    private static func load(
        _ request: Request, from resource: Resource<Data>, in world: SimulatedWorld, _ tally: Locked<Tally>
    ) async {
        let start = world.uptime
        let failed = (try? await resource.load(request)) == nil
        let wait = world.uptime - start
        tally.withLock {
            $0.loads += 1
            $0.worst = max($0.worst, wait)
            $0.waited += wait
            if failed { $0.failures += 1 }
        }
    }

    // MARK: The command

    static func main(_ arguments: [String]) -> Int32 {
        do {
            let arguments = try BenchArguments(arguments, options: ["--rate", "--only"])
            let rate = try arguments.number("--rate", in: 1...1_000_000) ?? 30_000
            let only = arguments.all("--only").last ?? ""
            let results = try stories.filter { only.isEmpty || $0.name.contains(only) }.map { story in
                note("telling \(story.name) …")
                return (story, try tell(story, rate: rate))
            }
            let head = ["strategy", "loads", "calls", "failures", "worst", "mean", "goal"]
            print(arguments.has("--json") ? JSON.list(results.map(json)).text() : table([head] + results.map(row)))
            return 0
        } catch {
            return BenchArguments.exitCode(of: error, in: "story", usage: usage)
        }
    }

    private static func isMet(_ story: Story, _ tally: Tally) -> Bool? {
        story.goals.map { tally.calls <= $0.calls && tally.failures == 0 && tally.worst <= $0.wait }
    }

    private static func row(_ story: Story, _ tally: Tally) -> [String] {
        let mean = tally.loads == 0 ? Duration.zero : tally.waited / tally.loads
        let goal = isMet(story, tally).map { $0 ? "met" : "missed" } ?? ""
        return [
            story.name, "\(tally.loads)", "\(tally.calls)", "\(tally.failures)", tally.worst.brief, mean.brief, goal,
        ]
    }

    private static func json(_ story: Story, _ tally: Tally) -> JSON {
        [
            "strategy": .string(story.strategy), "breaker": .bool(story.hasBreaker), "loads": .int(tally.loads),
            "origin_calls": .int(tally.calls), "failures": .int(tally.failures),
            "worst_wait": .number(tally.worst.inSeconds),
            "mean_wait": .number(tally.waited.inSeconds / Double(max(1, tally.loads))),
            "met": isMet(story, tally).map { .bool($0) } ?? .null,
        ]
    }
}
