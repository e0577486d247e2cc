import LarderFoundation
import Larder
import LarderSystem
import LarderSimulation
import Testing

@testable import LarderCore

/// Several processes of one program that share a cache folder.
@Suite struct ProcessFilesTests {
    private static let settings =
        #"{ "metrics": { "every": "1m", "keep": 2, "prometheus": "larder.prom" }, "log": {} }"#

    private static func pantry(
        _ world: SimulatedWorld, _ cache: TemporaryFolder, settings: String = settings
    ) async throws -> Pantry {
        try await Pantry(
            policies: [
                "feed":
                    #"{ "resource": "feed", "origin": { "use": "constant", "value": 1 }, "strategy": "cache-only" }"#,
                "_larder": settings,
            ], cache: cache.url, data: cache.url.appending(path: "../\(cache.url.lastPathComponent)-data"), world: world
        )
    }

    /// The names of the files, with `MARK` for the digits of a process.
    private static func names(in cache: TemporaryFolder) throws -> [String] {
        try Disk.list(cache.path).map(\.name).filter { !$0.hasPrefix(".") }.map { name in
            name.replacing(#/[0-9a-f]{16}/#, with: "MARK")
        }.sorted()
    }

    @Test func furtherProcessWritesFilesOfItsOwn() throws {
        try SimulatedWorld().run(leaving: .anything) { world in
            let cache = try TemporaryFolder()
            let (one, two) = (try await Self.pantry(world, cache), try await Self.pantry(world, cache))
            for _ in 0..<3 { _ = try? await one.resource("feed").load() }
            for _ in 0..<5 { _ = try? await two.resource("feed").load() }
            try await world.sleep(for: .seconds(61))
            #expect(
                try Self.names(in: cache) == [
                    "decisions-MARK.jsonl", "decisions.jsonl", "larder-MARK.prom", "larder.prom", "metrics-MARK.json",
                    "metrics.json",
                ])
            let marked = try #require(
                try Disk.list(cache.path).first { $0.name.hasPrefix("metrics-") }?.name)
            #expect(try MetricsDump(reading: Array(cache.text(of: "metrics.json").utf8)).resources[0].total.loads == 3)
            #expect(try MetricsDump(reading: Array(cache.text(of: marked).utf8)).resources[0].total.loads == 5)
            #expect(try cache.text(of: "decisions.jsonl").count { $0 == "\n" } == 3)
            await one.close()
            await two.close()
        }
    }

    @Test func nameOfEndedProcessIsUsedAgain() throws {
        try SimulatedWorld().run(leaving: .anything) { world in
            let cache = try TemporaryFolder()
            for number in 1...3 {
                let pantry = try await Self.pantry(world, cache)
                for _ in 0..<number { _ = try? await pantry.resource("feed").load() }
                await pantry.close()
            }
            #expect(
                try Self.names(in: cache) == [
                    "decisions.jsonl", "larder.prom", "metrics.1.json", "metrics.2.json", "metrics.json",
                ])
            #expect(try MetricsDump(reading: Array(cache.text(of: "metrics.json").utf8)).resources[0].total.loads == 3)
        }
    }

    @Test func filesOfEndedProcessesAreKeptAndThenRemoved() throws {
        try SimulatedWorld().run(leaving: .anything) { world in
            let cache = try TemporaryFolder()
            let first = try await Self.pantry(world, cache)
            for _ in 0..<4 {
                let further = try await Self.pantry(world, cache)
                _ = try? await further.resource("feed").load()
                await further.close()
            }
            let running = try await Self.pantry(world, cache)
            _ = try? await running.resource("feed").load()
            try await world.sleep(for: .seconds(61))
            // Two dumps and logs of the four ended processes, and those of the running ones.
            let names = try Self.names(in: cache)
            #expect(names.count { $0 == "metrics-MARK.json" } == 3, "\(names)")
            #expect(names.count { $0 == "decisions-MARK.jsonl" } == 3, "\(names)")
            #expect(names.count { $0 == "larder-MARK.prom" } == 1, "\(names)")
            #expect(try Disk.list(cache.path + "/.processes").count { $0.name.hasPrefix("further-") } == 3)
            await first.close()
            await running.close()
        }
    }

    @Test func filesOfRunningProcessesAreNeverRemoved() throws {
        try SimulatedWorld().run(leaving: .anything) { world in
            let cache = try TemporaryFolder()
            var pantries: [Pantry] = []
            for _ in 0..<6 { pantries.append(try await Self.pantry(world, cache)) }
            for pantry in pantries { _ = try? await pantry.resource("feed").load() }
            try await world.sleep(for: .seconds(121))
            let names = try Self.names(in: cache)
            #expect(names.count { $0 == "metrics-MARK.json" } == 5, "\(names)")
            #expect(names.count { $0 == "decisions-MARK.jsonl" } == 5, "\(names)")
            for pantry in pantries { await pantry.close() }
        }
    }

    @Test func deletedLockIsMadeAgain() throws {
        try SimulatedWorld().run(leaving: .anything) { world in
            let cache = try TemporaryFolder()
            let (one, two) = (try await Self.pantry(world, cache), try await Self.pantry(world, cache))
            try FileManager.default.removeItem(atPath: cache.path + "/.processes")
            try await world.sleep(for: .seconds(61))
            let locks = try Disk.list(cache.path + "/.processes").map(\.name).filter { $0 != "lock" }
            #expect(locks.count == 2 && locks.allSatisfy { Disk.isHeld(cache.path + "/.processes/" + $0) })
            await one.close()
            await two.close()
        }
    }

    @Test(arguments: [
        ("metrics-0123456789abcdef.json", "metrics.json"), ("metrics-0123456789abcdef.12.json", "metrics.json"),
        ("decisions-0123456789abcdef.jsonl.1", "decisions.jsonl"), ("log-0123456789abcdef", "log"),
    ])
    func markIsFoundInName(_ name: String, _ base: String) {
        #expect(ProcessSettings.mark(of: name, from: base) == "0123456789abcdef")
    }

    @Test(arguments: [
        "metrics.json", "metrics.1.json", "metrics-0123.json", "metrics-0123456789abcdef.json.bak",
        "metrics-0123456789abcdef.x.json", "metrics-0123456789abcdefg.json", "other-0123456789abcdef.json",
        "metrics-0123456789abcdef",
    ])
    func otherNamesHaveNoMark(_ name: String) {
        #expect(ProcessSettings.mark(of: name, from: "metrics.json") == nil)
    }
}
