import Foundation
import Larder
import LarderSystem
import LarderSimulation
import Testing

/// A file store on a full disk.
@Suite(.serialized, .enabled(if: FullDisk.folder != nil, "Tests/full-disk mounts small disks for it"))
struct FullDiskTests {
    private static let stores = [#""file""#, #"{ "use": "tiered", "tiers": ["memory", "file"] }"#]

    /// Makes a pantry that keeps `feed` on a disk.
    private static func pantry(
        _ world: SimulatedWorld, _ origin: ScriptedOrigin, on disk: FullDisk, strategy: String, age: String,
        store: String
    ) async throws -> Pantry {
        let feed = """
            { "resource": "feed", "origin": "scripted", "strategy": "\(strategy)", "store": \(store),
              "validators": [{ "use": "age", \(age) }] }
            """
        var registry = Registry.standard
        try registry.register(origin.plugin("scripted"))
        return try await Pantry(policies: ["feed": feed], registry: registry, cache: disk.cache, world: world)
    }

    private static func text(_ letter: String, _ count: Int) -> String { String(repeating: letter, count: count) }

    // MARK: The story

    @Test(arguments: stores) func offlineCopiesSurviveRefreshOnFullDisk(_ store: String) throws {
        try SimulatedWorld().run { world in
            let disk = try FullDisk("story")
            let (older, newer) = (Self.text("o", 50_000), Self.text("n", 60_000))
            let origin = ScriptedOrigin([.value(older), .value(newer)], then: .failure(.status(503)), world: world)
            func open() async throws -> Pantry {
                try await Self.pantry(
                    world, origin, on: disk, strategy: "network-first", age: #""onError": "7d""#, store: store)
            }
            let pantry = try await open()
            let feed = pantry.resource("feed")
            #expect(try await feed.load().isStored)
            try disk.fill()
            let live = try await feed.load()
            #expect(live.text == newer && live.trail.lines.contains { $0.contains("No space left on device") })
            try await world.sleep(for: .seconds(86_400))
            let copy = try await feed.load()
            // The memory tier has room for the newer copy.
            #expect(copy.text == (store.contains("memory") ? newer : older) && copy.freshness == .stale)
            // The next process finds the older copy too, and it is not fresh there either.
            let next = try await open().resource("feed").load()
            #expect(next.text == older && next.freshness == .stale && next.fellBack)
            disk.free()
            origin.play(.value(newer))
            #expect(try await feed.load().isStored)
            #expect(try await open().resource("feed").load().text == newer)
        }
    }

    @Test(arguments: stores) func unchangedAnswerMakesCopyFreshOnFullDisk(_ store: String) throws {
        try SimulatedWorld().run { world in
            let disk = try FullDisk("story")
            let older = Self.text("o", 50_000)
            let origin = ScriptedOrigin(
                [.value(older, etag: "e1"), .unchanged()], then: .failure(.status(503)), world: world)
            func feed() async throws -> Resource<Data> {
                try await Self.pantry(
                    world, origin, on: disk, strategy: "cache-first", age: #""fresh": "5m", "onError": "7d""#,
                    store: store
                ).resource("feed")
            }
            _ = try await feed().load()
            try disk.fill()
            try await world.sleep(for: .seconds(600))
            let live = try await feed().load()
            #expect(live.source == .revalidated && live.isStored)
            // The next process finds the payload, which is fresh again.
            try await world.sleep(for: .seconds(1))
            let copy = try await feed().load()
            #expect(copy.text == older && copy.freshness == .fresh && copy.age == .seconds(1))
        }
    }

    @Test(arguments: stores) func expiredCopyIsFreshAgainOnFullDisk(_ store: String) throws {
        try SimulatedWorld().run { world in
            let disk = try FullDisk("story")
            let origin = ScriptedOrigin(
                [.value(Self.text("o", 50_000), etag: "e1"), .unchanged()], then: .failure(.status(503)), world: world)
            let feed = try await Self.pantry(
                world, origin, on: disk, strategy: "cache-first", age: #""fresh": "1h", "onError": "7d""#, store: store
            ).resource("feed")
            _ = try await feed.load()
            try disk.fill()
            try await feed.expire()
            #expect(try await feed.load().source == .revalidated)
            #expect(try await feed.load().freshness == .fresh)
            #expect(try await feed.pin(feed.request()))
        }
    }

    @Test func fullDiskEvictsOtherEntriesNotTheReplacedCopy() throws {
        try SimulatedWorld().run { world in
            let disk = try FullDisk("story")
            let origin = ScriptedOrigin(then: .value(Self.text("x", 20_000)), world: world)
            let pantry = try await Self.pantry(
                world, origin, on: disk, strategy: "network-first", age: #""onError": "7d""#,
                store: #"{ "use": "file", "eviction": "lru" }"#)
            let feed = pantry.resource("feed")
            // The disk has room for about a dozen entries.
            for id in 1...30 { #expect(try await feed.load(["id": "\(id)"]).isStored) }
            let statistics = try await feed.statistics()
            #expect(
                (8...12).contains(statistics.entries) && statistics.entries + statistics.evictions == 30,
                "\(statistics)")
            #expect(try await feed.contains(["id": "30"]))
            #expect(feed.metrics.storeFaults.isEmpty)
            try disk.fill()
            // An entry that is larger than all others together, if only by a little, would evict everything.
            for size in [300_000, statistics.bytes + 10_000] {
                origin.play(.value(Self.text("y", size)))
                #expect(try await !feed.load(["id": "30"]).isStored)
                #expect(try await feed.statistics().entries == statistics.entries)
            }
            #expect(feed.metrics.storeFaults == ["store": 2])
            origin.play(then: .failure(.status(503)))
            origin.play(.value(Self.text("y", 30_000)))
            #expect(try await feed.load(["id": "30"]).isStored)
            let copy = try await feed.load(["id": "30"])
            #expect(copy.value.count == 30_000 && copy.freshness == .stale)
        }
    }

    // MARK: An hour

    /// The seeds, and the number of loads a second for each.
    private static let hours: (seeds: ClosedRange<UInt64>, loads: Int) =
        ProcessInfo.processInfo.environment["LARDER_SLOW"] == nil ? (1...2, 2) : (1...20, 10)

    @Test(arguments: hours.seeds) func hourOfTrafficOnFullDiskIsAnsweredAndReportedOnce(_ seed: UInt64) throws {
        try SimulatedWorld(seed: seed).run { world in
            let disk = try FullDisk("hour")
            let hour = try await Hour(world, disk) { origin in
                try await Self.pantry(
                    world, origin, on: disk, strategy: "cache-first", age: #""fresh": "1m", "onError": "7d""#,
                    store: #""file""#)
            }
            func traffic(minutes: Int) async throws { try await hour.go(on: minutes * 60, loads: Self.hours.loads) }
            // The capacity of the store is ten times that of the disk.
            try await traffic(minutes: 15)
            let full = try await hour.feed.statistics()
            #expect(full.bytes > 700_000, "\(full)")
            #expect(hour.feed.metrics.storeFaults.isEmpty)
            // Another program takes almost all of the disk.
            try await hour.feed.clear()
            try disk.fill(leaving: 24_000)
            try await traffic(minutes: 10)
            hour.isDown = true
            try await traffic(minutes: 5)
            hour.isDown = false
            try await traffic(minutes: 5)
            #expect((hour.feed.metrics.storeFaults["store"] ?? 0) > 20)
            #expect(try await hour.feed.statistics().entries > 0)
            disk.free()
            try await traffic(minutes: 15)
            hour.isDown = true
            try await traffic(minutes: 5)
            hour.isDown = false
            try await traffic(minutes: 5)
            #expect(try await hour.feed.statistics().bytes > 700_000)
            let dump = await hour.pantry.metrics.dump()
            #expect(dump.resources[0].revisions[0].metrics.storeFaults == hour.feed.metrics.storeFaults)
            let notes = try await hour.notes()
            #expect(
                notes.count == 2 && notes[0].contains("No space left on device")
                    && notes[1].hasPrefix("can write again"), "\(notes)")
        }
    }

    /// Sixty instances of very different sizes that change every five minutes. Some are requested more often than
    /// others.
    private final class Hour: Sendable {
        let pantry: Pantry
        private let world: SimulatedWorld
        private let down = Locked(false)
        /// The number of the last answer for each instance.
        private let seen = Locked<[Int: Int]>([:])
        private let heard: Locked<[String]>
        private let listening: Started<Void>

        var feed: Resource<Data> { pantry.resource("feed") }

        var isDown: Bool {
            get { down.withLock { $0 } }
            set { down.withLock { $0 = newValue } }
        }

        init(
            _ world: SimulatedWorld, _ disk: FullDisk, _ open: (ScriptedOrigin) async throws -> Pantry
        ) async throws {
            self.world = world
            let act = ScriptedOrigin.Act.answering(after: .milliseconds(20)) { [down] call in
                if down.withLock({ $0 }) { throw LoadError.status(503) }
                let id = Int(call.request.parameters["id"] ?? "") ?? 0
                let number = Int(world.uptime / .seconds(300))
                return Entry(Data("\(number) ".utf8) + Data(count: 500 + id * id % 97 * 400))
            }
            pantry = try await open(ScriptedOrigin(then: act, world: world))
            let heard = Locked<[String]>([])
            self.heard = heard
            listening = world.start { [decisions = pantry.decisions] in
                for await decision in decisions where decision.kind == .storeFault {
                    heard.withLock { $0.append(decision.note) }
                }
            }
        }

        /// Makes random loads for some seconds.
        func go(on seconds: Int, loads: Int) async throws {
            for _ in 0..<seconds * loads {
                try await world.sleep(for: .seconds(1) / loads)
                try await load(Int(60 * world.chance() * world.chance()))
            }
        }

        private func load(_ id: Int) async throws {
            let parameters: Parameters = ["id": "\(id)"]
            let isThere = try await feed.contains(parameters)
            do {
                let loaded = try await feed.load(parameters)
                let number = Int(loaded.text.prefix { $0 != " " }) ?? -1
                let last = seen.withLock { $0[id] } ?? -1
                if loaded.freshness == .fresh { #expect(number >= last, "an old answer is shown as fresh") }
                if loaded.source == .origin { seen.withLock { $0[id] = number } }
            } catch {
                #expect(isDown && !isThere, "a load fails though there is a copy: \(error)")
            }
        }

        /// The decisions about the store.
        func notes() async throws -> [String] {
            try await world.settle()
            listening.cancel()
            _ = await listening.result()
            return heard.withLock { $0 }
        }
    }
}
