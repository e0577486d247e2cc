import Foundation
import Larder
import LarderSystem
import LarderSimulation
import Testing

/// Large answers on a full disk.
extension FullDiskTests {
    private static func pantry(_ world: SimulatedWorld, on disk: FullDisk, size: Int) async throws -> Pantry {
        let films = """
            { "resource": "films", "origin": "films", "strategy": "network-first",
              "validators": [{ "use": "age", "onError": "7d" }], "store": { "use": "file", "eviction": "lru" } }
            """
        var registry = Registry.standard
        try registry.register(
            .origin("films", "Collects films in files.") { (context: OriginContext) in
                Films(context: context, size: size)
            })
        return try await Pantry(policies: ["films": films], registry: registry, cache: disk.cache, world: world)
    }

    private struct Films: Loader {
        let context: OriginContext
        let size: Int

        func load(_ call: Call) async throws -> Loaded<Entry> {
            let payload = try await context.world.blocking { [self] in
                let sink = try context.payloadSink()
                while sink.size < size { try sink.write(Data(repeating: 7, count: min(10_000, size - sink.size))) }
                return try sink.finish()
            }
            return Loaded(Entry(payload))
        }
    }

    @Test func answerThatTheDiskCannotHoldIsFailureOfTheOriginAndLeavesNothing() throws {
        try SimulatedWorld().run { world in
            let disk = try FullDisk("story")
            let older = try await Self.pantry(world, on: disk, size: 50_000).resource("films").load()
            #expect(older.isStored && older.value.count == 50_000)
            let room = try disk.room
            let films = try await Self.pantry(world, on: disk, size: 1_000_000).resource("films")
            let copy = try await films.load()
            #expect(copy.fellBack && copy.value.count == 50_000)
            #expect(copy.trail.lines.contains { $0.contains("No space left on device") }, "\(copy.trail)")
            #expect(try disk.room >= room - 8_192)
        }
    }

    @Test func adoptedPayloadEvictsOthersAndNeedsNoSecondCopy() throws {
        try SimulatedWorld().run { world in
            let disk = try FullDisk("story")
            // The disk has room for one payload, but not for two or for a copy.
            let films = try await Self.pantry(world, on: disk, size: 150_000).resource("films")
            #expect(try await films.load(["id": "1"]).isStored)
            #expect(try await films.contains(["id": "1"]))
            #expect(films.metrics.storeFaults.isEmpty)
            #expect(try disk.room < 100_000)
        }
    }

    @Test func payloadInMemoryEvictsOthersOnFullDisk() throws {
        try SimulatedWorld().run { world in
            let disk = try FullDisk("story")
            let feed = """
                { "resource": "feed", "origin": "scripted", "strategy": "cache-first",
                  "store": { "use": "file", "eviction": "lru" } }
                """
            let origin = ScriptedOrigin(then: .value(String(repeating: "x", count: 140_000)), world: world)
            var registry = Registry.standard
            try registry.register(origin.plugin("scripted"))
            let pantry = try await Pantry(policies: ["feed": feed], registry: registry, cache: disk.cache, world: world)
            let handle = pantry.resource("feed")
            for id in ["1", "2"] { #expect(try await handle.load(["id": id]).isStored) }
            #expect(try await !handle.contains(["id": "1"]))
            #expect(handle.metrics.storeFaults.isEmpty)
            #expect(try await handle.load(["id": "2"]).source == .store("file"))
        }
    }
}
