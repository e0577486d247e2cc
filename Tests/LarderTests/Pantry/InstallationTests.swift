import LarderFoundation
import Larder
import LarderSystem
import LarderSimulation
import Testing

@testable import LarderCore

/// The identity of the installation in dumps.
@Suite struct InstallationTests {
    private static let policies = [
        "feed": #"{ "resource": "feed", "origin": { "use": "constant", "value": 1 }, "strategy": "network-only" }"#
    ]

    private static func installation(
        _ world: SimulatedWorld, data: TemporaryFolder, cache: TemporaryFolder? = nil
    ) async throws -> String? {
        let pantry = try await Pantry(
            policies: policies, cache: (cache ?? TemporaryFolder()).url, data: data.url, world: world)
        return await pantry.metrics.dump().installation
    }

    @Test func installationIsTheSameInEachRun() throws {
        let data = try TemporaryFolder()
        let first = try SimulatedWorld(seed: 1).run { try await Self.installation($0, data: data) }
        let second = try SimulatedWorld(seed: 2).run { try await Self.installation($0, data: data) }
        #expect(first != nil && first == second)
        #expect(first?.count == 32 && first?.allSatisfy { "0123456789abcdef".contains($0) } == true)
    }

    @Test func installationsDiffer() throws {
        let ids = try (1...3).map { seed in
            try SimulatedWorld(seed: seed).run { try await Self.installation($0, data: TemporaryFolder()) }
        }
        #expect(Set(ids).count == 3)
    }

    @Test func damagedInstallationIsReplaced() throws {
        let data = try TemporaryFolder()
        try data.write("half an", to: ".installation")
        let first = try SimulatedWorld().run { try await Self.installation($0, data: data) }
        let second = try SimulatedWorld(seed: 2).run { try await Self.installation($0, data: data) }
        #expect(first != nil && first == second)
        #expect(try Disk.list(data.path).map(\.name) == [".installation"])
    }

    #if os(Linux)
        /// A locked device refuses to read files that are protected until it is unlocked.
        @Test func installationThatCannotBeReadNowIsKept() throws {
            let data = try TemporaryFolder()
            let (file, aside) = (data.path + "/.installation", data.path + "/aside")
            let first = try SimulatedWorld().run { try await Self.installation($0, data: data) }
            try FileManager.default.moveItem(atPath: file, toPath: aside)
            // Nothing can be read at the beginning of this file.
            try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: "/proc/self/mem")
            #expect(try SimulatedWorld(seed: 2).run { try await Self.installation($0, data: data) } == nil)
            #expect(throws: Never.self) { try FileManager.default.destinationOfSymbolicLink(atPath: file) }
            try FileManager.default.removeItem(atPath: file)
            try FileManager.default.moveItem(atPath: aside, toPath: file)
            #expect(try SimulatedWorld(seed: 3).run { try await Self.installation($0, data: data) } == first)
        }
    #endif

    @Test func installationIsUnknownWithoutDataFolder() throws {
        try SimulatedWorld().run { world in
            let cache = try TemporaryFolder()
            try cache.write("", to: "data")
            let pantry = try await Pantry(
                policies: Self.policies, cache: cache.url, data: cache.url.appending(path: "data/deep"), world: world)
            let dump = await pantry.metrics.dump()
            #expect(dump.installation == nil)
            #expect(!dump.json.text().contains("installation"))
        }
    }

    @Test func installationIsKeptInDump() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(Self.policies, in: world)
            let dump = await simulated.pantry.metrics.dump()
            let read = try MetricsDump(reading: Array(dump.json.text().utf8))
            #expect(read.installation == dump.installation && read.installation != nil)
            // A process that another program gave a text of its own is read too.
            var other = dump
            other.installation = "device 7"
            #expect(try MetricsDump(reading: Array(other.json.text().utf8)).installation == "device 7")
        }
    }

    @Test func headIsReadFromTheBeginning() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(Self.policies, in: world)
            _ = try await simulated.resource.load()
            let dump = await simulated.pantry.metrics.dump()
            for isIndented in [true, false] {
                let text = Array(dump.json.text(indented: isIndented).utf8)
                #expect(MetricsDump.head(beginning: Array(text.prefix(text.count - 20))) == dump.head)
                #expect(MetricsDump.head(beginning: Array(text.prefix(60))) == nil)
            }
            #expect(MetricsDump.head(beginning: Array(#"{"format":"other/1","resources":["#.utf8)) == nil)
        }
    }
}
