import FoundationEssentials
import Larder
import LarderSimulation
import Testing

/// A resource counts as hits those reads of its store whose copy may be shown, whatever the store counts.
@Suite struct StoreStatisticsTests {
    private static func statistics(
        _ validators: String, store: String = #""file""#, _ story: @escaping @Sendable (Kitchen) async throws -> Void
    ) throws -> StoreStatistics {
        try SimulatedWorld().run { world in
            let kitchen = try await Kitchen(world, strategy: #""cache-first""#, validators: validators, store: store)
            try await story(kitchen)
            let dump = await kitchen.pantry.metrics.dump()
            let statistics = try await kitchen.feed.statistics()
            #expect(dump.resources.first?.store == statistics)
            return statistics
        }
    }

    @Test(arguments: [#""file""#, #""memory""#, #"{ "use": "tiered", "tiers": ["memory", "file"] }"#])
    func readWhoseCopyMayNotBeShownIsAMiss(_ store: String) throws {
        let statistics = try Self.statistics(#"[{ "use": "age", "fresh": "1m" }]"#, store: store) { kitchen in
            _ = try await kitchen.feed.load()
            _ = try await kitchen.feed.load()
            try await kitchen.world.sleep(for: .seconds(60))
            _ = try? await kitchen.feed.load(mode: .cachedOnly)
        }
        #expect(statistics.hits == 1 && statistics.misses == 2, "\(statistics)")
    }

    @Test func readWhoseCopyIsNotAdmittedIsAMiss() throws {
        let statistics = try Self.statistics(#"["checksum"]"#) { kitchen in
            let graph = kitchen.feed
            _ = try await graph.load()
            try await kitchen.world.sleep(for: .seconds(1))
            // The store is sound, and holds what nobody has summed up.
            let folder = kitchen.folder.path + "/feed/entries"
            let name = try #require(try FileManager.default.contentsOfDirectory(atPath: folder).first)
            let entry = Entry(text: "unsummed")
            try Data(entry.head(for: kitchen.key()) + Array("unsummed".utf8)).write(
                to: URL(filePath: folder + "/" + name))
            _ = try? await graph.load(mode: .cachedOnly)
        }
        #expect(statistics.hits == 0 && statistics.misses == 2, "\(statistics)")
    }

    @Test func readWhoseCopyDoesNotDecodeIsAMiss() throws {
        let statistics = try Self.statistics("[]") { kitchen in
            _ = try await kitchen.feed.load()
            _ = try? await kitchen.pantry.resource("feed", as: [Int].self).load(mode: .cachedOnly)
        }
        #expect(statistics.hits == 0 && statistics.misses == 2, "\(statistics)")
    }

    @Test func copyThatGivesWayToAFresherOneBelowItIsNoSecondHit() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await Kitchen(
                world, strategy: #""cache-first""#, validators: #"[{ "use": "age", "fresh": "1m" }]"#,
                store: #"{ "use": "tiered", "tiers": ["memory", { "use": "file", "directory": "a" }] }"#)
            _ = try await kitchen.feed.load()
            try await world.sleep(for: .seconds(60))
            _ = try? await kitchen.feed.load(mode: .cachedOnly)
            let statistics = try await kitchen.feed.statistics()
            #expect(statistics.hits == 0 && statistics.misses == 2, "\(statistics)")
        }
    }
}
