import LarderFoundation
import Larder
import LarderSimulation
import Testing

/// A resource counts a read as a hit only if its copy may be served, whatever the store counts.
@Suite struct StoreStatisticsTests {
    private static func statistics(
        _ validators: String, store: String = #""file""#,
        _ story: @escaping @Sendable (SimulatedPantry) async throws -> Void
    ) throws -> StoreStatistics {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(
                world, strategy: #""cache-first""#, validators: validators, store: store)
            try await story(simulated)
            let dump = await simulated.pantry.metrics.dump()
            let statistics = try await simulated.feed.statistics()
            #expect(dump.resources.first?.store == statistics)
            return statistics
        }
    }

    @Test(arguments: [#""file""#, #""memory""#, #"{ "use": "tiered", "tiers": ["memory", "file"] }"#])
    func copyThatMayNotBeServedIsMiss(_ store: String) throws {
        let statistics = try Self.statistics(#"[{ "use": "age", "fresh": "1m" }]"#, store: store) { simulated in
            _ = try await simulated.feed.load()
            _ = try await simulated.feed.load()
            try await simulated.world.sleep(for: .seconds(60))
            _ = try? await simulated.feed.load(mode: .cachedOnly)
        }
        #expect(statistics.hits == 1 && statistics.misses == 2, "\(statistics)")
    }

    @Test func copyThatIsNotAdmittedIsMiss() throws {
        let statistics = try Self.statistics(#"["checksum"]"#) { simulated in
            let graph = simulated.feed
            _ = try await graph.load()
            try await simulated.world.sleep(for: .seconds(1))
            // The store is sound, and holds what nobody has summed up.
            let folder = simulated.cache.path + "/feed/entries"
            let name = try #require(try FileManager.default.contentsOfDirectory(atPath: folder).first)
            let entry = Entry(text: "unsummed")
            try Data(entry.encodedHead(for: simulated.key()) + Array("unsummed".utf8)).write(
                to: URL(filePath: folder + "/" + name))
            _ = try? await graph.load(mode: .cachedOnly)
        }
        #expect(statistics.hits == 0 && statistics.misses == 2, "\(statistics)")
    }

    @Test func undecodableCopyIsMiss() throws {
        let statistics = try Self.statistics("[]") { simulated in
            _ = try await simulated.feed.load()
            _ = try? await simulated.pantry.resource("feed", as: [Int].self).load(mode: .cachedOnly)
        }
        #expect(statistics.hits == 0 && statistics.misses == 2, "\(statistics)")
    }

    @Test func fresherCopyInLowerTierIsOneHit() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(
                world, strategy: #""cache-first""#, validators: #"[{ "use": "age", "fresh": "1m" }]"#,
                store: #"{ "use": "tiered", "tiers": ["memory", { "use": "file", "directory": "a" }] }"#)
            _ = try await simulated.feed.load()
            try await world.sleep(for: .seconds(60))
            _ = try? await simulated.feed.load(mode: .cachedOnly)
            let statistics = try await simulated.feed.statistics()
            #expect(statistics.hits == 0 && statistics.misses == 2, "\(statistics)")
        }
    }
}
