import LarderFoundation
import Larder
import LarderSimulation
import Testing

@Suite struct TagTests {
    @Test(arguments: [#""memory""#, #""file""#, #"{ "use": "tiered", "tiers": ["memory", "file"] }"#, #""faulty""#])
    func clearingTagRemovesOnlyTaggedEntries(_ store: String) throws {
        try SimulatedWorld().run { world in
            let origin = ScriptedOrigin(
                [
                    .value("a", tags: ["red"]), .value("b", tags: ["red", "blue"]), .value("c", tags: ["blue"]),
                    .value("d"),
                ],
                world: world)
            let simulated = try await SimulatedPantry(
                world, strategy: #""cache-first""#, store: store, plugins: [origin.plugin("scripted")])
            let (pantry, feed) = (simulated.pantry, simulated.feed)
            for page in ["1", "2", "3", "4"] { _ = try await feed.load(["page": page]) }
            try await pantry.clear(.tag("red"))
            var kept: [String] = []
            for page in ["1", "2", "3", "4"] where try await feed.contains(["page": page]) { kept.append(page) }
            #expect(kept == ["3", "4"])
        }
    }

    @Test func taggedAnswerFromBeforeClearingIsNotSaved() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(world, strategy: #""cache-first""#)
            simulated.origin.play(
                .value("a", after: .seconds(5), tags: ["red"]), .value("b", after: .seconds(5), tags: ["blue"]))
            let loads = ["1", "2"].map { page in
                world.spawn { _ = try? await simulated.feed.load(["page": page]) }
            }
            try await world.sleep(for: .seconds(1))
            try await simulated.feed.clear(.tag("red"))
            for load in loads { await load.value }
            #expect(simulated.store.entries.keys.map(\.text) == ["feed?page=2"])
        }
    }
}
