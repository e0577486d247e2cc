import FoundationEssentials
import Larder
import LarderSimulation
import Testing

@Suite struct TagTests {
    @Test(arguments: [#""memory""#, #""file""#, #"{ "use": "tiered", "tiers": ["memory", "file"] }"#, #""faulty""#])
    func clearingATagForgetsWhatBearsItAndNothingElse(_ store: String) throws {
        try SimulatedWorld().run { world in
            let origin = ScriptedOrigin(
                [
                    .value("a", tags: ["red"]), .value("b", tags: ["red", "blue"]), .value("c", tags: ["blue"]),
                    .value("d"),
                ],
                world: world)
            var registry = Registry.standard
            try registry.register(origin.plugin("scripted"))
            try registry.register(FaultyStore(world: world).plugin)
            let folder = try Folder()
            try folder.write(
                """
                { "resource": "feed", "origin": "scripted", "strategy": "cache-first", "store": \(store) }
                """, to: "feed.json")
            let pantry = try await Pantry(policies: folder.url, registry: registry, cache: folder.url, world: world)
            let feed = pantry.resource("feed")
            for page in ["1", "2", "3", "4"] { _ = try await feed.load(["page": page]) }
            try await pantry.clear(tag: "red")
            var kept: [String] = []
            for page in ["1", "2", "3", "4"] where try await feed.contains(["page": page]) { kept.append(page) }
            #expect(kept == ["3", "4"])
        }
    }

    @Test func anAnswerThatBearsAClearedTagIsNotSavedIfItWasAskedForBefore() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await Kitchen(world, strategy: #""cache-first""#)
            kitchen.origin.play(
                .value("a", after: .seconds(5), tags: ["red"]), .value("b", after: .seconds(5), tags: ["blue"]))
            let loads = ["1", "2"].map { page in
                world.spawn { _ = try? await kitchen.feed.load(["page": page]) }
            }
            try await world.sleep(for: .seconds(1))
            try await kitchen.feed.clear(tag: "red")
            for load in loads { await load.value }
            #expect(kitchen.store.entries.keys.map(\.text) == ["feed?page=2"])
        }
    }
}
