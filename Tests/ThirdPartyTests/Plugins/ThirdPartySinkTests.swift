import LarderFoundation
import Larder
import LarderSimulation
import Testing

/// A sink as another module would write it: a section of `_larder.json` that reads the metrics itself.
@Suite struct ThirdPartySinkTests {
    @Test func sectionOfAnotherModuleReceivesAllMetrics() throws {
        let lines = Journal()
        let feed = #"{ "resource": "feed", "origin": "scripted", "strategy": "network-only" }"#
        try SimulatedPantry.run(
            ["feed": feed, "_larder": #"{ "push": { "every": "10s" } }"#], plugins: [.push(lines)]
        ) { simulated in
            simulated.origin.play(.value("1"))
            _ = try await simulated.resource.load()
            try await simulated.world.sleep(for: .seconds(11))
            #expect(lines.events.contains("larder_loads feed 1"))
            _ = try await simulated.resource.load()
            await simulated.pantry.close()
        }
        #expect(lines.events.contains("larder_loads feed 2") && lines.events.contains("larder_origin_calls feed 2"))
    }
}
