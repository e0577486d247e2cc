import Dispatch
import LarderFoundation
import LarderSimulation
import Testing

import Larder
@testable import LarderSystem
@testable import LarderCore
@testable import LarderPlugins

@Suite struct IsolationTests {
    /// An executor that runs an actor's jobs on its own queue and counts them.
    private final class CountingExecutor: SerialExecutor {
        private static let mark = DispatchSpecificKey<ObjectIdentifier>()
        private let queue = DispatchQueue(label: "counting")
        private let jobs = Locked(0)

        init() { queue.setSpecific(key: Self.mark, value: ObjectIdentifier(self)) }

        var count: Int { jobs.withLock { $0 } }
        var isCurrent: Bool { DispatchQueue.getSpecific(key: Self.mark) == ObjectIdentifier(self) }

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            jobs.withLock { $0 += 1 }
            queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
        }
    }

    /// An actor that loads and counts how often its jobs were resumed meanwhile.
    private actor Screen {
        let executor: CountingExecutor
        nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

        init(_ executor: CountingExecutor) { self.executor = executor }

        func load(_ feed: Resource<String>) async throws -> (loaded: Loaded<String>, entries: Int) {
            let before = executor.count
            let loaded = try await feed.load()
            return (loaded, executor.count - before)
        }
    }

    /// A validator that records whether it runs on the caller's actor.
    private struct Witness: Validator {
        let seen: Locked<[Bool]>
        let isInside: @Sendable () -> Bool

        func permit(_ metadata: Metadata, for request: Request, at now: Timestamp) -> Permissions {
            seen.withLock { $0.append(isInside()) }
            return Permissions(.all)
        }
    }

    private static func pantry(_ witness: Witness, age: String) async throws -> Pantry {
        let policy = """
            { "resource": "feed", "origin": "one", "strategy": "stale-while-revalidate",
              "validators": ["witness", \(age)], "around": ["retry", { "use": "timeout", "after": "1h" }],
              "store": { "use": "tiered", "tiers": ["memory", "memory"] },
              "fallbacks": [{ "use": "constant", "value": 2 }] }
            """
        var registry = Registry.standard
        try registry.register(.origin("one") { _ in Data("1".utf8) })
        try registry.register(.validator("witness", "Notes where it is asked.") { _ in witness })
        return try await Pantry(policies: ["feed": policy], registry: registry, cache: TemporaryFolder().url)
    }

    @Test(arguments: [
        (#"{ "use": "age", "fresh": "forever" }"#, Freshness.fresh),
        (#"{ "use": "age", "fresh": "0s", "whileRevalidating": "forever" }"#, .stale),
    ])
    func hitStaysOnCallersActor(age: String, freshness: Freshness) async throws {
        let executor = CountingExecutor()
        let seen = Locked<[Bool]>([])
        let pantry = try await Self.pantry(Witness(seen: seen) { executor.isCurrent }, age: age)
        let feed = pantry.resource("feed", codec: CountingCodec())
        let screen = Screen(executor)
        _ = try await screen.load(feed)
        for _ in 0..<10 {
            seen.withLock { $0 = [] }
            let (loaded, entries) = try await screen.load(feed)
            #expect(loaded.source == .store("memory") && loaded.freshness == freshness)
            #expect(entries == 0)
            // A background refresh may call it elsewhere meanwhile.
            #expect(seen.withLock { $0.contains(true) })
        }
    }

    @Test func missIsDecodedOffCallersActor() async throws {
        let executor = CountingExecutor()
        let inside = Locked<[Bool]>([])
        let pantry = try await Self.pantry(
            Witness(seen: Locked([])) { false }, age: #"{ "use": "age", "fresh": "forever" }"#)
        let count = CountingCodec.Count { inside.withLock { $0.append(executor.isCurrent) } }
        let (loaded, entries) = try await Screen(executor).load(
            pantry.resource("feed", codec: CountingCodec("a", count)))
        #expect(loaded.source == .origin)
        #expect(inside.withLock { $0 } == [false])
        // The executor counts a resumed job.
        #expect(entries > 0)
    }

    @Test func diskCopyIsReadAndDecodedOffCallersActor() async throws {
        let policy = """
            { "resource": "feed", "origin": { "use": "constant", "value": 1 }, "strategy": "cache-first", "store": "file" }
            """
        let cache = try TemporaryFolder()
        _ = try await Pantry(policies: ["feed": policy], cache: cache.url).resource("feed").load()
        let executor = CountingExecutor()
        let inside = Locked<[Bool]>([])
        let count = CountingCodec.Count { inside.withLock { $0.append(executor.isCurrent) } }
        let pantry = try await Pantry(policies: ["feed": policy], cache: cache.url)
        let (loaded, _) = try await Screen(executor).load(pantry.resource("feed", codec: CountingCodec("a", count)))
        #expect(loaded.source == .store("file"))
        #expect(inside.withLock { $0 } == [false])
    }

    @MainActor @Test func hitStaysOnMainActorWithoutDecodingThere() async throws {
        let mark = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: mark, value: true)
        try #require(DispatchQueue.getSpecific(key: mark) == true)
        let seen = Locked<[Bool]>([])
        let decoded = Locked<[Bool]>([])
        let isMain = { @Sendable in DispatchQueue.getSpecific(key: mark) == true }
        let pantry = try await Self.pantry(
            Witness(seen: seen, isInside: isMain), age: #"{ "use": "age", "fresh": "forever" }"#)
        let count = CountingCodec.Count { decoded.withLock { $0.append(isMain()) } }
        let feed = pantry.resource("feed", codec: CountingCodec("a", count))
        _ = try await feed.load()
        #expect(decoded.withLock { $0 } == [false])
        seen.withLock { $0 = [] }
        for _ in 0..<10 { #expect(try await feed.load().source == .store("memory")) }
        #expect(seen.withLock { $0 } == Array(repeating: true, count: 10))
        #expect(decoded.withLock { $0.count } == 1)
    }
}
