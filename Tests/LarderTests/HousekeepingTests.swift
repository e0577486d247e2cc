import FoundationEssentials
import Larder
import LarderSimulation
import Testing

/// What `_larder.json` has written: dumps, set aside one by one, and the log.
@Suite struct HousekeepingTests {
    private static func kitchen(_ world: SimulatedWorld, _ settings: String) async throws -> Kitchen {
        let kitchen = try await Kitchen(world, strategy: #""cache-first""#)
        try kitchen.folder.write(settings, to: "_larder.json")
        try await kitchen.pantry.reload()
        return kitchen
    }

    /// How many loads each dump in the folder tells of, by name.
    private static func dumps(_ kitchen: Kitchen) throws -> [String: UInt64] {
        let names = try Disk.list(kitchen.folder.path).map(\.name).filter {
            $0.hasPrefix("metrics") && $0.hasSuffix("n")
        }
        return try names.reduce(into: [:]) { dumps, name in
            let bytes = try Disk.read(kitchen.folder.path + "/" + name, limit: 10_000_000)
            dumps[name] = try MetricsDump(reading: bytes).resources.first?.total.loads
        }
    }

    @Test func aDumpIsWrittenAgainAndAgainAndSomeAreKept() throws {
        try SimulatedWorld().run(leaving: .anything) { world in
            let kitchen = try await Self.kitchen(
                world, #"{ "metrics": { "every": "1m", "keep": 2, "prometheus": "larder.prom" } }"#)
            #expect(try Self.dumps(kitchen).isEmpty)
            for _ in 1...4 {
                _ = try await kitchen.feed.load()
                try await world.sleep(for: .seconds(60))
            }
            try await world.sleep(for: .seconds(1))
            #expect(try Self.dumps(kitchen) == ["metrics.json": 4, "metrics.1.json": 3, "metrics.2.json": 2])
            #expect(Disk.item(kitchen.folder.path + "/larder.prom") != nil)
        }
    }

    @Test func theLastDumpIsWrittenWhenThePantryIsClosedAndNoneAfterwards() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await Self.kitchen(
                world, #"{ "metrics": { "file": "metrics.bin", "every": "1h", "keep": 0 } }"#)
            _ = try await kitchen.feed.load()
            await kitchen.pantry.close()
            #expect(try Self.dumps(kitchen) == ["metrics.bin": 1])
            _ = try await kitchen.feed.load()
            try await world.sleep(for: .seconds(2 * 3_600))
            // Neither by closing again nor by other settings.
            await kitchen.pantry.close()
            try kitchen.folder.write(
                #"{ "metrics": { "file": "metrics.bin", "every": "1m", "keep": 0 } }"#, to: "_larder.json")
            try await kitchen.pantry.reload()
            try await world.sleep(for: .seconds(2 * 3_600))
            #expect(try Self.dumps(kitchen) == ["metrics.bin": 1])
        }
    }

    @Test func otherSettingsTakeEffectWithAReload() throws {
        try SimulatedWorld().run(leaving: .anything) { world in
            let kitchen = try await Self.kitchen(world, #"{ "metrics": { "every": "1m" } }"#)
            try kitchen.folder.write(#"{ "metrics": { "every": "1m", "file": "metrics-b.json" } }"#, to: "_larder.json")
            try await kitchen.pantry.reload()
            try await world.sleep(for: .seconds(61))
            #expect(try Self.dumps(kitchen).keys.sorted() == ["metrics-b.json"])
        }
    }

    @Test func aFileThatCannotBeWrittenIsToldAndNothingElseSuffers() throws {
        try SimulatedWorld().run(leaving: .anything) { world in
            let kitchen = try await Self.kitchen(world, #"{ "metrics": { "every": "1m", "file": "taken" } }"#)
            var stream = kitchen.pantry.decisions.makeAsyncIterator()
            try Disk.makeFolder(kitchen.folder.path + "/taken/in")
            try await world.sleep(for: .seconds(61))
            #expect(await stream.next()?.kind == .cacheUnusable)
            _ = try await kitchen.feed.load()
        }
    }

    @Test func decisionsGoIntoTheLogALineEach() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await Self.kitchen(world, #"{ "log": { "file": "log.jsonl", "most": "1KB" } }"#)
            for _ in 0..<20 {
                _ = try? await kitchen.feed.load(mode: .cachedOnly)
                try await world.sleep(for: .seconds(1))
            }
            await kitchen.pantry.close()
            let last = try kitchen.folder.text(of: "log.jsonl").split(separator: "\n")
            #expect(last.allSatisfy { $0.hasPrefix("{\"at\":") && $0.hasSuffix("}") && $0.contains("\"failed\"") })
            // Set aside when it got too large, so never much larger than allowed.
            #expect(try kitchen.folder.text(of: "log.jsonl").utf8.count <= 1_000)
            #expect(try kitchen.folder.text(of: "log.jsonl.1").utf8.count <= 1_000)
        }
    }

    @Test(arguments: [
        (#"{ "metric": {} }"#, "unknown key 'metric'"), (#"{ "metrics": { "every": 60 } }"#, "has no unit"),
        (#"{ "metrics": { "every": "10ms" } }"#, "out of range"), (#"{ "metrics": { "file": "../x" } }"#, "plain name"),
        (#"{ "metrics": { "signal": "KILL" } }"#, "none of the choices"), ("[]", "cannot stand here"), ("{", "end"),
        (#"{ "metrics": { "file": "a", "prometheus": "a" } }"#, "two files would be called 'a'"),
        (#"{ "metrics": { "file": "x" }, "log": { "file": "x" } }"#, "called 'x'"),
        (#"{ "metrics": { "prometheus": "metrics.3.json" } }"#, "called 'metrics.3.json'"),
    ])
    func whatIsWrongIsToldWithItsPlaceAndNothingIsSwapped(_ settings: String, _ message: String) throws {
        try SimulatedWorld().run { world in
            let kitchen = try await Kitchen(world, strategy: #""cache-first""#)
            try kitchen.folder.write(settings, to: "_larder.json")
            try kitchen.folder.edit("feed.json", "cache-first", "network-first")
            let error = await #expect(throws: PolicyError.self) { try await kitchen.pantry.reload() }
            #expect(error?.problems.count == 1 && error?.description.contains(message) == true, "\(error as Any)")
            #expect(error?.problems.first?.file.hasSuffix("_larder.json") == true)
            #expect(kitchen.pantry.policy(of: "feed")?.strategy.plugin.name == "cache-first")
        }
    }
}
