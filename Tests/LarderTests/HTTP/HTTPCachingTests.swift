import LarderSystem
import LarderFoundation
import Larder
import LarderSimulation
import Testing

@testable import LarderPlugins

/// The validator `http` in a graph, above an origin that answers as an HTTP server does.
@Suite struct HTTPCachingTests {
    /// A pantry of one resource whose answers come over HTTP.
    private func run(
        strategy: String = #"{ "use": "cache-first", "rest": "0s" }"#, settings: String = "", isForeign: Bool = true,
        _ body: @escaping @Sendable (SimulatedWorld, SimulatedPantry, Resource<Data>) async throws -> Void
    ) throws {
        let policy = """
            { "resource": "feed", "origin": "scripted", "strategy": \(strategy), "store": "faulty",
              "validators": [{ "use": "http"\(settings) }] }
            """
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(["feed": policy], in: world, isStoreForeign: isForeign)
            try await body(world, simulated, simulated.pantry.resource("feed"))
        }
    }

    @Test func copyIsServedUntilItsLifetimeIsOver() throws {
        try run { world, simulated, feed in
            simulated.origin.play(
                .http("one", ["cache-control": "max-age=60"], in: world),
                .http("two", ["cache-control": "no-cache"], in: world))
            #expect(try await feed.load().text == "one")
            try await world.sleep(for: .seconds(59))
            #expect(try await feed.load().source == .store("faulty"))
            try await world.sleep(for: .seconds(1))
            #expect(try await feed.load().text == "two")
            #expect(simulated.origin.calls.count == 2)
        }
    }

    @Test func weekOfflineIsPossibleWhereTheServerIsSilent() throws {
        try run(settings: #", "onError": "7d""#) { world, simulated, feed in
            simulated.origin.play(then: .failure(.status(503)))
            simulated.origin.play(.http("one", ["cache-control": "max-age=60"], in: world))
            _ = try await feed.load()
            try await world.sleep(for: .seconds(7 * 86_400 + 59))
            let copy = try await feed.load()
            #expect(copy.freshness == .stale && copy.fellBack && copy.text == "one")
            #expect(copy.trail.description.contains("allowed by http.onError 7d"))
            try await world.sleep(for: .seconds(1))
            await #expect(throws: LoadError.self) { try await feed.load() }
        }
    }

    @Test func mustRevalidateForbidsTheStaleCopyWhenTheOriginFails() throws {
        try run(settings: #", "onError": "7d""#) { world, simulated, feed in
            simulated.origin.play(.http("one", ["cache-control": "max-age=60, must-revalidate"], in: world))
            _ = try await feed.load()
            simulated.origin.play(then: .failure(.status(503)))
            try await world.sleep(for: .seconds(60))
            await #expect(throws: LoadError.self) { try await feed.load() }
            await #expect(throws: LoadError.self) { try await feed.load(feed.request(mode: .cachedOnly)) }
        }
    }

    @Test func staleCopyIsServedWhileItIsRefreshedIfTheServerAllowsIt() throws {
        let strategy = #"{ "use": "stale-while-revalidate", "rest": "0s" }"#
        try run(strategy: strategy) { world, simulated, feed in
            let control = "max-age=10, stale-while-revalidate=5"
            simulated.origin.play(
                .http("one", ["cache-control": control], in: world),
                .http("two", ["cache-control": control], after: .seconds(1), in: world),
                .http("three", ["cache-control": control], in: world))
            _ = try await feed.load()
            try await world.sleep(for: .seconds(14))
            let stale = try await feed.load()
            #expect(stale.text == "one" && stale.freshness == .stale)
            #expect(stale.trail.description.contains("allowed by http stale-while-revalidate 5"))
            try await world.sleep(for: .seconds(1))
            #expect(try await feed.load().text == "two")
            try await world.sleep(for: .seconds(15))
            #expect(try await feed.load().text == "three")
        }
    }

    @Test func confirmedCopyHasTheFieldsAndTheLifetimeOfTheConfirmation() throws {
        try run { world, simulated, feed in
            simulated.origin.play(
                .http("one", ["etag": "\"1\"", "cache-control": "max-age=5", "x-a": "1", "x-b": "1"], in: world),
                .notModified(
                    ["etag": "\"1\"", "cache-control": "max-age=60", "x-a": "2", "content-length": "0"], in: world))
            _ = try await feed.load()
            try await world.sleep(for: .seconds(5))
            let confirmed = try await feed.load()
            #expect(confirmed.source == .revalidated && confirmed.text == "one" && confirmed.freshness == .fresh)
            #expect(simulated.origin.calls.last?.known?.metadata.etag == "\"1\"")
            try await world.sleep(for: .seconds(59))
            let fields = try #require(try await feed.load().metadata).fields
            #expect(fields["x-a"] == "2" && fields["x-b"] == "1" && fields["content-length"] == nil)
            #expect(simulated.origin.calls.count == 2 && simulated.store.bodyWrites == 1)
        }
    }

    @Test func copyIsRemovedWhenItsConfirmationForbidsToKeepIt() throws {
        try run { world, simulated, feed in
            simulated.origin.play(
                .http("one", ["etag": "\"1\"", "cache-control": "no-cache"], in: world),
                .notModified(["cache-control": "no-store"], in: world))
            _ = try await feed.load()
            #expect(try await feed.load().text == "one")
            #expect(simulated.held() == nil)
        }
    }

    @Test func answerThatMayNotBeKeptIsUsedOnce() throws {
        for fields in [["cache-control": "no-store"], ["vary": "*"]] as [Fields] {
            try run(settings: #", "fresh": "1h", "trust": "policy""#) { world, simulated, feed in
                simulated.origin.play(then: .http("one", fields, in: world))
                for calls in 1...2 {
                    let loaded = try await feed.load()
                    #expect(loaded.text == "one" && !loaded.isStored)
                    #expect(simulated.origin.calls.count == calls && simulated.held() == nil)
                }
            }
        }
    }

    @Test func requestWithNoStoreLeavesNothingBehindAndAsksWithoutCondition() throws {
        try run { world, simulated, feed in
            simulated.origin.play(then: .http("one", ["etag": "\"1\"", "cache-control": "max-age=5"], in: world))
            let secret = feed.request(fields: ["cache-control": "no-store"])
            #expect(try await feed.load(secret).isStored == false)
            #expect(simulated.held() == nil)
            _ = try await feed.load()
            try await world.sleep(for: .seconds(5))
            _ = try await feed.load(secret)
            #expect(simulated.origin.calls.last?.known == nil)
        }
    }

    @Test func answersThatVaryAreKeptSideBySide() throws {
        try run { world, simulated, feed in
            simulated.origin.play(
                .http("hello", ["cache-control": "max-age=60", "vary": "Accept-Language"], in: world),
                .http("hallo", ["cache-control": "max-age=60", "vary": "Accept-Language"], in: world))
            let english = feed.request(fields: ["accept-language": "en"])
            let german = feed.request(fields: ["accept-language": "de"])
            for (request, text) in [(english, "hello"), (german, "hallo"), (english, "hello"), (german, "hallo")] {
                let found = try await feed.load(request).text
                #expect(found == text)
            }
            #expect(simulated.origin.calls.count == 2)
        }
    }

    @Test func cookieOfAnAnswerIsNotKept() throws {
        try run { world, simulated, feed in
            simulated.origin.play(
                .http("one", ["cache-control": "max-age=60", "set-cookie": "id=canary"], in: world))
            #expect(try await feed.load().isStored)
            let metadata = try #require(try await feed.load().metadata)
            #expect(metadata.fields["set-cookie"] == nil && !"\(metadata.notes)".contains("canary"))
        }
    }

    @Test func sharedCacheKeepsNoAnswerForOneUser() throws {
        for (fields, asked) in [
            (["cache-control": "max-age=60"], ["authorization": "secret"]),
            (["cache-control": "max-age=60, private"], [:]),
            (["cache-control": "max-age=60", "set-cookie": "a=b"], [:]),
        ] as [(Fields, Fields)] {
            try run(settings: #", "shared": true"#) { world, simulated, feed in
                simulated.origin.play(then: .http("one", fields, in: world))
                let isStored = try await feed.load(feed.request(fields: asked)).isStored
                #expect(!isStored && simulated.held() == nil)
            }
        }
    }

    @Test func copyWhoseBodyIsGoneIsNeverAskedAbout() throws {
        let policy = """
            { "resource": "feed", "origin": "scripted", "strategy": "cache-first", "store": { "use": "file", "limit": "5s" },
              "validators": ["http", "checksum"] }
            """
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(["feed": policy], in: world)
            simulated.origin.play(
                .http("one", ["etag": "\"1\"", "cache-control": "no-cache"], in: world),
                .http("two", ["etag": "\"2\"", "cache-control": "no-cache"], in: world))
            let feed = simulated.pantry.resource("feed")
            #expect(try await feed.load().isStored)
            let files = try FileManager.default.subpathsOfDirectory(atPath: simulated.cache.url.path)
            let entry = try #require(files.first { $0.hasSuffix(".entry") })
            let file = simulated.cache.url.appending(path: entry)
            try Data(contentsOf: file).prefix(64).write(to: file)
            #expect(try await feed.load().text == "two")
            #expect(simulated.origin.calls.count == 2 && simulated.origin.calls.last?.known == nil)
        }
    }

    @Test func sentChangeMakesTheCopyStale() throws {
        try run(settings: #", "onError": "1h""#) { world, simulated, feed in
            simulated.origin.play(
                .http("one", ["cache-control": "max-age=60"], in: world), .http("", [:], status: 204, in: world),
                .http("two", ["cache-control": "max-age=60"], in: world))
            _ = try await feed.load()
            _ = try await feed.send(feed.request(), invalidating: [.key(feed.request().key)])
            #expect(try await feed.load().text == "two")
        }
    }

    @Test func failedChangeLeavesTheCopyFresh() throws {
        try run { world, simulated, feed in
            simulated.origin.play(
                .http("one", ["cache-control": "max-age=60"], in: world), .failure(.status(500)))
            _ = try await feed.load()
            await #expect(throws: LoadError.self) {
                try await feed.send(feed.request(), invalidating: [.key(feed.request().key)])
            }
            #expect(try await feed.load().source == .store("faulty"))
        }
    }

    @Test func immutableCopyIsNotRefreshedBeforeItsLifetimeIsOver() throws {
        for (control, calls) in [("max-age=60", 2), ("max-age=60, immutable", 1)] {
            try run(strategy: #"{ "use": "cache-first", "refreshAhead": "50%" }"#) { world, simulated, feed in
                simulated.origin.play(then: .http("one", ["cache-control": control], in: world))
                _ = try await feed.load()
                try await world.sleep(for: .seconds(40))
                _ = try await feed.load()
                try await world.sleep(for: .seconds(1))
                #expect(simulated.origin.calls.count == calls)
            }
        }
    }

    @Test func ageOfALiveAnswerIsThatOfTheServersCache() throws {
        try run { world, simulated, feed in
            simulated.origin.play(.http("one", ["cache-control": "max-age=60", "age": "50"], in: world))
            let live = try await feed.load()
            #expect(live.age == .seconds(50) && live.permissions.freshFor == .seconds(60))
            try await world.sleep(for: .seconds(9))
            let copy = try await feed.load()
            #expect(copy.age == .seconds(59) && copy.freshness == .fresh)
        }
    }
}

extension ScriptedOrigin.Act {
    /// An answer as the origin `http` gives it.
    fileprivate static func http(
        _ text: String, _ fields: Fields, status: Int = 200, after: Duration = .zero, in world: SimulatedWorld
    ) -> ScriptedOrigin.Act {
        .answering(after: after) { _ in
            let now = world.now
            return Entry(
                Data(text.utf8), Metadata(httpStatus: status, fields: fields, askedAt: now - after, arrivedAt: now))
        }
    }

    /// A confirmation as the origin `http` gives it.
    fileprivate static func notModified(_ fields: Fields, in world: SimulatedWorld) -> ScriptedOrigin.Act {
        .unchanged { try $0.confirm(httpFields: fields, askedAt: world.now, arrivedAt: world.now) }
    }
}
