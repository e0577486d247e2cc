import LarderFoundation
import Larder
import LarderSimulation
import Testing

@Suite struct ThirdPartyRequestsTests {
    private static let policy = """
        { "resource": "phrases", "origin": "phrases", "strategy": "cache-first",
          "validators": ["checksum", { "use": "age", "fresh": "1h", "onError": "7d" }], "store": "file" }
        """

    private func run(
        _ cache: TemporaryFolder, _ phrases: Phrases = Phrases(),
        _ test: @escaping @Sendable (Resource<Data>, Pantry) async throws -> Void
    ) throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(
                ["phrases": Self.policy], in: world, plugins: [.phrases(phrases)], cache: cache)
            try await test(simulated.resource, simulated.pantry)
            await simulated.pantry.close()
        }
    }

    @Test func originThatVariesByLanguageIsCachedPerLanguageAndClearedWhole() throws {
        let cache = try TemporaryFolder()
        try run(cache) { phrases, _ in
            for language in ["de", "fr"] {
                let loaded = try await phrases.load(fields: ["Accept-Language": language])
                #expect(loaded.text == "\(language): hello" && loaded.source == .origin)
            }
        }
        try run(cache) { phrases, pantry in
            for language in ["fr", "de"] {
                let loaded = try await phrases.load(fields: ["Accept-Language": language])
                #expect(loaded.text == "\(language): hello" && loaded.source == .store("file"))
            }
            #expect(phrases.metrics["origin_calls"] == 0)
            try await phrases.clear([:])
            for language in ["fr", "de"] {
                let isThere = try await phrases.contains(phrases.request(fields: ["Accept-Language": language]))
                #expect(!isThere)
            }
        }
    }

    @Test func changeThatIsSentReachesOriginAndMakesCopiesOutOfDate() throws {
        try run(try TemporaryFolder()) { phrases, _ in
            let german = phrases.request(fields: ["Accept-Language": "de"])
            let first = try await phrases.load(german)
            let change = phrases.request(body: Data("goodbye".utf8))
            let refused = await #expect(throws: LoadError.self) { try await phrases.send(change, method: "DELETE") }
            let second = try await phrases.load(german)
            let answer = try await phrases.send(change, method: "PUT", invalidating: [.key(german.key)])
            let third = try await phrases.load(german)
            #expect(refused?.status == 405 && answer.text == "changed")
            #expect([first, second, third].map(\.text) == ["de: hello", "de: hello", "de: goodbye"])
            #expect(phrases.metrics["sends"] == 2 && phrases.metrics["failed_sends"] == 1)
        }
    }

    @Test func queueOfThirdPartyHeedsRaisedPriority() throws {
        try SimulatedWorld().run { world in
            let policy = """
                { "resource": "feed", "origin": "scripted", "around": ["turnstile"], "strategy": "cache-first",
                  "store": "faulty" }
                """
            let simulated = try await SimulatedPantry(["feed": policy], in: world, plugins: [.turnstile])
            simulated.origin.play(then: .value("value", after: .seconds(1)))
            for id in ["running", "one", "two"] {
                world.spawn { _ = try? await simulated.resource.load(["id": id], priority: .low, purpose: .prefetch) }
                try await world.sleep(for: .milliseconds(1))
            }
            _ = try await simulated.resource.load(["id": "two"])
            #expect(world.uptime == .seconds(2))
            try await world.sleep(for: .seconds(2))
            #expect(simulated.origin.calls.map { $0.request.parameters["id"] } == ["running", "two", "one"])
            #expect(simulated.resource.metrics["prefetches"] == 3)
        }
    }
}

extension Loaded where Value == Data {
    fileprivate var text: String { String(decoding: value, as: UTF8.self) }
}
