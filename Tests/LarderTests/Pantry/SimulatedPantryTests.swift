import LarderFoundation
import Larder
import LarderSimulation
import Testing

@Suite struct SimulatedPantryTests {
    private static let feed = """
        { "resource": "feed", "origin": "scripted", "strategy": "cache-first", "store": "file",
          "fallbacks": [{ "use": "file", "path": "Seeds/feed.txt" }] }
        """

    @Test func policiesOfAFolderPlayTheScriptInPlaceOfTheirOrigins() throws {
        let folder = try TemporaryFolder()
        try folder.write(#"{ "metrics": { "file": "dump.json", "every": "1s" } }"#, to: "_larder.json")
        for name in ["feed", "images"] {
            try folder.write(
                #"{ "resource": "\#(name)", "origin": { "use": "constant", "value": 1 }, "strategy": "network-only" }"#,
                to: name + ".json")
        }
        try SimulatedPantry.run(folder: folder.url) { simulated in
            simulated.origin.play(.value("one"), .failure(.status(503)))
            let loaded = try await simulated.resource.load()
            #expect(loaded.text == "one")
            await #expect(throws: LoadError.self) { try await simulated.pantry.resource("images").load() }
            #expect(simulated.origin.calls.map(\.request.key.resource) == ["feed", "images"])
            await simulated.pantry.close()
            #expect(throws: (any Error).self) { try simulated.cache.text(of: "dump.json") }
        }
    }

    @Test func pantryBeginsWithTheCopiesThatAnotherLeftInTheSameCache() throws {
        let files = ["Seeds/feed.txt": "seed"]
        let cache = try SimulatedPantry.run(["feed": Self.feed], files: files) { simulated in
            let loaded = try await simulated.resource.load()
            #expect(loaded.source == .origin)
            return simulated.cache
        }
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(["feed": Self.feed], in: world, files: files, cache: cache)
            simulated.origin.play(then: .failure(.status(503)))
            #expect(try await simulated.resource.load().source == .store("file"))
            #expect(try await simulated.resource.load(["id": "1"]).text == "seed")
        }
    }

    @Test func copiesAreStockedAndHeldForTheFirstResourceByName() throws {
        let policies = ["b", "a"].reduce(into: [:]) { policies, name in
            policies[name] = #"{ "resource": "\#(name)", "strategy": "cache-only", "store": "faulty" }"#
        }
        try SimulatedPantry.run(policies) { simulated in
            simulated.stock("old", age: .seconds(60), etag: "e")
            simulated.stock("other", age: .zero, for: simulated.key(["id": "1"], scope: "alice"))
            let loaded = try await simulated.resource.load(mode: .cachedOnly)
            #expect(loaded.text == "old" && loaded.age == .seconds(60) && simulated.held() == "old")
            #expect(simulated.held(Key(resource: "a", scope: "alice", parameters: ["id": "1"])) == "other")
            #expect(simulated.held(simulated.key(["id": "2"])) == nil)
        }
    }

    @Test(arguments: [#""checksum""#, #"{ "use": "entry-version", "version": 2 }"#])
    func stockedCopyBearsWhatTheValidatorsNote(_ validator: String) throws {
        let feed = #"""
            { "resource": "feed", "strategy": "cache-only", "store": "faulty", "validators": [\#(validator)] }
            """#
        try SimulatedPantry.run(["feed": feed]) { simulated in
            simulated.stock("old", age: .seconds(60))
            let loaded = try await simulated.resource.load()
            #expect(loaded.text == "old")
        }
    }

    @Test func stockedCopyThatTheValidatorsRefuseIsKeptAsItIs() throws {
        let feed = #"""
            { "resource": "feed", "strategy": "cache-only", "store": "faulty",
              "validators": [{ "use": "max-size", "capacity": "2B" }] }
            """#
        try SimulatedPantry.run(["feed": feed]) { simulated in
            simulated.stock("old", age: .zero)
            #expect(simulated.held() == "old")
            await #expect(throws: LoadError.self) { try await simulated.resource.load() }
        }
    }

    @Test func environmentAndKindOfStoreArePassedToTheRun() throws {
        let feed = #"""
            { "resource": "feed", "origin": { "use": "file", "path": "${NAME}.txt" }, "strategy": "cache-first",
              "store": "faulty", "about": "A" }
            """#
        try SimulatedPantry.run(
            ["feed": feed], files: ["a.txt": "a"], isStoreForeign: false, environment: ["NAME": "a"]
        ) { simulated in
            let loaded = try await simulated.resource.load()
            #expect(loaded.text == "a")
            #expect(simulated.resource.answer(simulated.resource.request()) != nil)
        }
        let folder = try TemporaryFolder()
        try folder.write(
            #"{ "resource": "feed", "origin": "scripted", "strategy": { "use": "network-first", "rest": "${REST}" } }"#,
            to: "feed.json")
        try SimulatedPantry.run(folder: folder.url, environment: ["REST": "1s"]) { simulated in
            #expect(simulated.pantry.resources == ["feed"])
        }
    }

    @Test func folderIsDeletedWithItsLastReference() throws {
        let path: String
        do {
            let folder = try TemporaryFolder()
            path = folder.path
            try folder.write("text", to: "a/b")
            #expect(try folder.text(of: "a/b") == "text")
            withExtendedLifetime(folder) {}
        }
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func pluginTakesThePlaceOfTheScriptedOriginOrTheFaultyStore() throws {
        let origin = Plugin.origin("scripted", "Another one.") { _ in Data("mine".utf8) }
        try SimulatedPantry.run(["feed": Self.feed], plugins: [origin], files: ["Seeds/feed.txt": ""]) { simulated in
            let loaded = try await simulated.resource.load()
            #expect(loaded.text == "mine" && simulated.origin.calls.isEmpty)
        }
    }
}
