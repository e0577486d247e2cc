import LarderFoundation
import Larder
import LarderSystem
import LarderSimulation
import Testing

/// Counts what a load starts before its origin is called.
@Suite struct TaskCountTests {
    /// A simulated world that counts the tasks that are started in it, those of its alarms among them.
    private struct CountingWorld: World {
        let base: SimulatedWorld
        let tasks = Locked(0)
        /// The number of tasks that began on the threads of their callers.
        let begun = Locked(0)
        private let timer = SharedTimer()

        init(_ base: SimulatedWorld) { self.base = base }

        var now: Timestamp { base.now }
        var uptime: Duration { base.uptime }
        var hashSeed: UInt64? { base.hashSeed }
        var hasOtherProcesses: Bool { base.hasOtherProcesses }
        func random() -> UInt64 { base.random() }
        func sleep(for duration: Duration) async throws { try await base.sleep(for: duration) }
        func alarm(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> Alarm {
            timer.set(after: delay, in: self, action)
        }
        func spawn(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
            tasks.withLock { $0 += 1 }
            return base.spawn(work)
        }
        func begin(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
            begun.withLock { $0 += 1 }
            return base.begin(work)
        }
        func blocking<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
            try await base.blocking(work)
        }
    }

    /// Notes how many tasks were started by the time it is called.
    private struct Probe: Loader {
        let tasks: Locked<Int>
        let atCall: Locked<Int?>
        let keepsLimit: Bool

        func load(_ call: Call) async throws -> Loaded<Entry> {
            atCall.withLock { $0 = tasks.withLock { $0 } }
            return Loaded(Entry(Data("new".utf8)))
        }
    }

    /// Returns the numbers of tasks that were started until the origin was called: elsewhere, and on the caller's thread.
    private static func tasks(
        store: String, deadline: Duration? = nil, keepsLimit: Bool = false
    ) throws -> (started: Int, begun: Int)? {
        try SimulatedWorld().run { base in
            let world = CountingWorld(base)
            let atCall = Locked<Int?>(nil)
            let probe = Probe(tasks: world.tasks, atCall: atCall, keepsLimit: keepsLimit)
            var registry = Registry.standard
            try registry.register(.origin("probe", "Notes when it is called.") { _ in probe })
            let folder = try Folder()
            try folder.write(
                """
                { "resource": "catalog", "origin": "probe",
                  "around": [{ "use": "breaker", "failures": 5, "rest": "30s" },
                             { "use": "retry", "retries": 3, "backoff": "1s", "jitter": 0.1 },
                             { "use": "timeout", "after": "8s" }],
                  "strategy": { "use": "network-first", "patience": "800ms" },
                  "validators": [{ "use": "age", "fresh": "5m", "whileRevalidating": "1h", "onError": "7d" }, "checksum"],
                  "store": \(store) }
                """, to: "catalog.json")
            let pantry = try await Pantry(policies: folder.url, registry: registry, cache: folder.url, world: world)
            let catalog = pantry.resource("catalog")
            let before = world.tasks.withLock { $0 }
            _ = try await catalog.load(["id": "1"], deadline: deadline)
            return atCall.withLock { $0 }.map { ($0 - before, world.begun.withLock { $0 }) }
        }
    }

    private static let tiers = #"{ "use": "tiered", "tiers": ["memory", "file"] }"#
    private static let limitedTiers = """
        { "use": "tiered", "limit": "2s", "tiers": ["memory", { "use": "file", "limit": "1s" }] }
        """

    @Test(arguments: [nil, Duration.seconds(5)])
    func networkFirstMissStartsThreeTasksBeforeItsOriginIsCalled(_ deadline: Duration?) throws {
        let tasks = try #require(try Self.tasks(store: Self.tiers, deadline: deadline))
        #expect(tasks == (3, 0), "the call, its timeout, and all alarms")
    }

    @Test func callOfAnOriginThatKeepsItsLimitBeginsOnTheThreadOfItsCaller() throws {
        let tasks = try #require(try Self.tasks(store: Self.tiers, keepsLimit: true))
        #expect(tasks == (1, 1), "all alarms, and the call, whose timeout needs no task")
    }

    @Test(arguments: [nil, Duration.seconds(5)])
    func eachStoreWithALimitAddsOneTaskToANetworkFirstMiss(_ deadline: Duration?) throws {
        #expect(try Self.tasks(store: Self.limitedTiers, deadline: deadline)?.started == 5)
    }
}
