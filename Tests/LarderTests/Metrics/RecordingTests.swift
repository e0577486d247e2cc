import LarderFoundation
import Larder
import LarderSystem
import LarderSimulation
import Testing

/// The recording of loads, which contains times and outcomes but no keys or payloads.
@Suite struct RecordingTests {
    private static let canary = "canary-7f3a"

    private static func simulated(_ world: SimulatedWorld) async throws -> SimulatedPantry {
        let simulated = try await SimulatedPantry(
            world, strategy: #""cache-first""#, validators: #"[{ "use": "age", "fresh": "5m" }]"#)
        simulated.origin.play(.value("\"\(canary)\""), .failure(.status(503)))
        return simulated
    }

    private static func lines(_ file: URL) throws -> [String] {
        try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(String.init)
    }

    @Test func everyLoadIsRecordedWithTimeResourceHashAndOutcome() async throws {
        let folder = try Folder()
        let file = folder.url.appending(path: "trace.jsonl")
        try SimulatedWorld().run { world in
            let simulated = try await Self.simulated(world)
            let recording = try simulated.pantry.record(to: file)
            _ = try await simulated.feed.load(["id": Self.canary], scope: Self.canary)
            try await world.sleep(for: .milliseconds(1_500))
            _ = try await simulated.feed.load(["id": Self.canary], scope: Self.canary)
            _ = try? await simulated.feed.load(["id": "other"])
            _ = try? await simulated.feed.load(["id": "third"], mode: .cachedOnly)
            await recording.stop()
            _ = try await simulated.feed.load(["id": Self.canary], scope: Self.canary)
            #expect(recording.lost == 0)
        }
        let lines = try Self.lines(file)
        #expect(lines.count == 4)
        #expect(!lines.joined().contains(Self.canary))
        let records = try lines.map { try JSONParser.parse(SourceText(name: "", bytes: Array($0.utf8))) }
        #expect(records.map { $0["outcome"]?.string } == ["live", "fresh", "failed", "cachedOnly"])
        #expect(records.allSatisfy { $0["resource"]?.string == "feed" })
        #expect(records.map { $0.members?.count } == [4, 4, 4, 5] && records[3]["mode"]?.string == "cachedOnly")
        let keys = records.map { $0["key"]?.string }
        #expect(keys[0] == keys[1] && keys[0] != keys[2] && keys[2] != keys[3])
        let times = records.map { if case .number(let time, _)? = $0["at"]?.content { time } else { 0.0 } }
        #expect(abs(times[1] - times[0] - 1.5) < 0.000_01)
    }

    @Test func recordingsHaveDifferentSalts() async throws {
        let folder = try Folder()
        let file = folder.url.appending(path: "trace.jsonl")
        try SimulatedWorld().run { world in
            let simulated = try await Self.simulated(world)
            for _ in 0..<2 {
                let recording = try simulated.pantry.record(to: file)
                _ = try await simulated.feed.load(["id": "1"])
                await recording.stop()
            }
        }
        let lines = try Self.lines(file)
        #expect(lines.count == 2)
        let keys = lines.compactMap { line in line.split(separator: "\"").first { $0.count == 16 } }
        #expect(Set(keys).count == 2)
    }

    @Test func incompleteLineDamagesNoOther() throws {
        let folder = try Folder()
        try folder.write("{\"at\":17", to: "trace.jsonl")
        try SimulatedWorld().run { world in
            let simulated = try await Self.simulated(world)
            let recording = try simulated.pantry.record(to: folder.url.appending(path: "trace.jsonl"))
            _ = try await simulated.feed.load()
            await recording.stop()
        }
        let lines = try Self.lines(folder.url.appending(path: "trace.jsonl"))
        #expect(lines.count == 2 && lines[0] == "{\"at\":17" && lines[1].hasSuffix("}"))
    }

    @Test func unusableFileIsError() async throws {
        let folder = try Folder()
        try SimulatedWorld().run { world in
            let simulated = try await Self.simulated(world)
            #expect(throws: Disk.Failure.self) {
                _ = try simulated.pantry.record(to: folder.url.appending(path: "a/b"))
            }
        }
    }

    @Test(.enabled(if: Disk.item("/dev/full") != nil, "this system has no /dev/full"))
    func fullDiskLosesAndCountsLines() throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.simulated(world)
            let recording = try simulated.pantry.record(to: URL(filePath: "/dev/full"))
            _ = try await simulated.feed.load()
            await recording.stop()
            #expect(recording.lost == 1)
        }
    }
}
