import LarderFoundation
import Larder
import LarderSystem
import LarderSimulation
import Testing

/// The dumps and the log that `_larder.json` asks for.
@Suite struct HousekeepingTests {
    private static func simulated(_ world: SimulatedWorld, _ settings: String) async throws -> SimulatedPantry {
        try await SimulatedPantry(["feed": feed, "_larder": settings], in: world)
    }

    private static let feed = """
        { "resource": "feed", "origin": "scripted", "strategy": "cache-first", "store": "faulty" }
        """

    /// How many loads each dump in the folder tells of, by name.
    private static func dumps(_ simulated: SimulatedPantry) throws -> [String: UInt64] {
        let names = try Disk.list(simulated.cache.path).map(\.name).filter {
            $0.hasPrefix("metrics") && $0.hasSuffix("n")
        }
        return try names.reduce(into: [:]) { dumps, name in
            let bytes = try Disk.read(simulated.cache.path + "/" + name, limit: 10_000_000)
            dumps[name] = try MetricsDump(reading: bytes).resources.first?.total.loads
        }
    }

    @Test func dumpsAreWrittenPeriodicallyAndLimitedInNumber() throws {
        try SimulatedWorld().run(leaving: .anything) { world in
            let simulated = try await Self.simulated(
                world, #"{ "metrics": { "every": "1m", "keep": 2, "prometheus": "larder.prom" } }"#)
            #expect(try Self.dumps(simulated).isEmpty)
            for _ in 1...4 {
                _ = try await simulated.feed.load()
                try await world.sleep(for: .seconds(60))
            }
            try await world.sleep(for: .seconds(1))
            #expect(try Self.dumps(simulated) == ["metrics.json": 4, "metrics.1.json": 3, "metrics.2.json": 2])
            #expect(Disk.item(simulated.cache.path + "/larder.prom") != nil)
        }
    }

    @Test func closingPantryWritesLastDump() throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.simulated(
                world, #"{ "metrics": { "file": "metrics.bin", "every": "1h", "keep": 0 } }"#)
            _ = try await simulated.feed.load()
            await simulated.pantry.close()
            #expect(try Self.dumps(simulated) == ["metrics.bin": 1])
            _ = try await simulated.feed.load()
            try await world.sleep(for: .seconds(2 * 3_600))
            // Neither by closing again nor by other settings.
            await simulated.pantry.close()
            let settings = #"{ "metrics": { "file": "metrics.bin", "every": "1m", "keep": 0 } }"#
            try await simulated.pantry.replace(policies: ["feed": Self.feed, "_larder": settings])
            try await world.sleep(for: .seconds(2 * 3_600))
            #expect(try Self.dumps(simulated) == ["metrics.bin": 1])
        }
    }

    @Test func changedSettingsTakeEffectOnReload() throws {
        try SimulatedWorld().run(leaving: .anything) { world in
            let simulated = try await Self.simulated(world, #"{ "metrics": { "every": "1m" } }"#)
            let settings = #"{ "metrics": { "every": "1m", "file": "metrics-b.json" } }"#
            try await simulated.pantry.replace(policies: ["feed": Self.feed, "_larder": settings])
            try await world.sleep(for: .seconds(61))
            #expect(try Self.dumps(simulated).keys.sorted() == ["metrics-b.json"])
        }
    }

    @Test func unwritableFileIsReportedAndLoadsGoOn() throws {
        try SimulatedWorld().run(leaving: .anything) { world in
            let simulated = try await Self.simulated(world, #"{ "metrics": { "every": "1m", "file": "taken" } }"#)
            var stream = simulated.pantry.decisions.makeAsyncIterator()
            try Disk.makeFolder(simulated.cache.path + "/taken/in")
            try await world.sleep(for: .seconds(61))
            #expect(await stream.next()?.kind == .cacheUnusable)
            _ = try await simulated.feed.load()
        }
    }

    @Test func eachDecisionIsOneLogLine() throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.simulated(world, #"{ "log": { "file": "log.jsonl", "capacity": "1KB" } }"#)
            for _ in 0..<20 {
                _ = try? await simulated.feed.load(mode: .cachedOnly)
                try await world.sleep(for: .seconds(1))
            }
            await simulated.pantry.close()
            let last = try simulated.cache.text(of: "log.jsonl").split(separator: "\n")
            #expect(last.allSatisfy { $0.hasPrefix("{\"at\":") && $0.hasSuffix("}") && $0.contains("\"failed\"") })
            // Set aside when it got too large, so never much larger than allowed.
            #expect(try simulated.cache.text(of: "log.jsonl").utf8.count <= 1_000)
            #expect(try simulated.cache.text(of: "log.jsonl.1").utf8.count <= 1_000)
        }
    }

    @Test(arguments: [
        (#"{ "metric": {} }"#, "unknown key 'metric'"), (#"{ "metrics": { "every": 60 } }"#, "has no unit"),
        (#"{ "metrics": { "every": "10ms" } }"#, "out of range"), (#"{ "metrics": { "file": "../x" } }"#, "plain name"),
        (#"{ "metrics": { "signal": "KILL" } }"#, "not one of the choices"), ("[]", "is not allowed here"),
        ("{", "end"),
        (#"{ "metrics": { "file": "a", "prometheus": "a" } }"#, "two files would be called 'a'"),
        (#"{ "metrics": { "file": "x" }, "log": { "file": "x" } }"#, "called 'x'"),
        (#"{ "metrics": { "prometheus": "metrics.3.json" } }"#, "called 'metrics.3.json'"),
    ])
    func mistakesAreReportedWithPlaceAndNothingIsReplaced(_ settings: String, _ message: String) throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(["feed": Self.feed], in: world)
            let feed = Self.feed.replacing("cache-first", with: "network-first")
            let error = await #expect(throws: PolicyError.self) {
                try await simulated.pantry.replace(policies: ["feed": feed, "_larder": settings])
            }
            #expect(error?.problems.count == 1 && error?.description.contains(message) == true, "\(error as Any)")
            #expect(error?.problems.first?.file.hasSuffix("_larder.json") == true)
            #expect(simulated.pantry.policy(of: "feed")?.strategy?.plugin.name == "cache-first")
        }
    }
}
