import Foundation
import Larder
import LarderSimulation
import Testing

@Suite struct YourOwnValidatorTests {
    private static func policy(_ validators: String, fresh: String = "1h") -> String {
        """
        { "resource": "news", "origin": "scripted", "strategy": "cache-first",
          "validators": [\(validators), { "use": "age", "fresh": "\(fresh)", "onError": "7d" }],
          "store": { "use": "tiered", "tiers": ["memory", "file"] } }
        """
    }

    private static func edition(_ name: String, _ fields: Fields = [:]) -> ScriptedOrigin.Act {
        .answering { _ in
            var metadata = Metadata(etag: name, fields: fields)
            metadata.fields["x-edition"] = name
            return Entry(Data(name.utf8), metadata)
        }
    }

    private static func run(
        _ policy: String, in cache: TemporaryFolder,
        _ test: @escaping @Sendable (SimulatedPantry, Resource<Data>) async throws -> Void
    ) throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(
                ["news": policy], in: world, plugins: [.newspaperEdition, .newspaperLanguage], cache: cache)
            try await test(simulated, simulated.resource)
            await simulated.pantry.close()
        }
    }

    @Test func notesSurviveStoresReloadsRestartsAndAbsence() throws {
        let cache = try TemporaryFolder()
        try Self.run(Self.policy(#""newspaper-edition""#), in: cache) { simulated, news in
            simulated.origin.play(Self.edition("morning"))
            #expect(try await news.load(["edition": "morning"]).metadata?[.edition] == "morning")
            try await simulated.pantry.replace(policies: [
                "news": Self.policy(#""newspaper-edition", "checksum""#, fresh: "2h")
            ])
            let copy = try await news.load(["edition": "morning"], mode: .cachedOnly)
            #expect(copy.metadata?[.edition] == "morning")
        }
        // The validator is gone, and a confirmation updates the entry.
        try Self.run(Self.policy(#"{ "use": "max-size", "capacity": "1MB" }"#, fresh: "0s"), in: cache) {
            simulated, news in
            simulated.origin.play(.unchanged { $0.fields["x-seen"] = "1" })
            let copy = try await news.load(["edition": "morning"])
            #expect(copy.source == .revalidated && copy.isStored && copy.metadata?[.edition] == "morning")
        }
        try Self.run(Self.policy(#""newspaper-edition""#), in: cache) { simulated, news in
            let copy = try await news.load(["edition": "morning"], mode: .cachedOnly)
            #expect(copy.source == .store("file") && copy.metadata?[.edition] == "morning")
            #expect(copy.metadata?.fields == ["x-edition": "morning", "x-seen": "1"])
            #expect(copy.metadata?.etag == "morning")
        }
    }

    @Test func copyOfAnotherEditionIsNotShown() throws {
        try Self.run(Self.policy(#""newspaper-edition""#), in: TemporaryFolder()) { simulated, news in
            simulated.origin.play(Self.edition("evening"), Self.edition("morning"))
            #expect(try await news.load(["edition": "morning"]).source == .origin)
            let second = try await news.load(["edition": "morning"])
            #expect(second.source == .origin && String(decoding: second.value, as: UTF8.self) == "morning")
            #expect(try await news.load(["edition": "morning"]).source == .store("memory"))
        }
    }

    @Test func editionForSubscribersIsShownButNotKept() throws {
        try Self.run(Self.policy(#""newspaper-edition""#), in: TemporaryFolder()) { simulated, news in
            simulated.origin.play(then: Self.edition("late", ["X-Subscribers-Only": "1"]))
            for _ in 1...2 {
                let loaded = try await news.load()
                #expect(loaded.source == .origin && !loaded.isStored)
                #expect(loaded.trail.steps.contains { $0.event.kind == .notKept })
            }
            #expect(try await news.contains() == false)
            simulated.origin.play(then: .value("no edition"))
            let error = await #expect(throws: LoadError.self) { try await news.load() }
            #expect(error?.code == .refused)
        }
    }

    @Test func validatorReadsTheFieldsOfRequests() throws {
        let cache = try TemporaryFolder()
        for run in 1...2 {
            try Self.run(Self.policy(#""newspaper-language""#), in: cache) { simulated, news in
                simulated.origin.play(then: .value("page"))
                let german = Request("news", fields: ["Accept-Language": "de"])
                let first = try await news.load(german)
                #expect(first.source == (run == 1 ? .origin : .store("file")))
                #expect(first.metadata?[NewspaperLanguage.language] == "de")
                #expect(try await news.load(german).source == .store("memory"))
                let english = Request("news", mode: .cachedOnly)
                let refused = await #expect(throws: LoadError.self) { try await news.load(english) }
                #expect(refused?.code == .notCached)
            }
        }
    }

    @Test(arguments: [Plugin.newspaperEdition, .newspaperLanguage]) func validatorKeepsItsPromises(_ plugin: Plugin) {
        #expect(ValidatorConformance(plugin).brokenPromises() == [])
    }
}
