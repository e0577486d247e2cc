import Foundation
import Larder
import LarderSimulation
import Testing

/// An app that calls Larder from the main actor without naming it. Most of the test is that this target compiles, with the
/// code of the page "In an iOS app".
@Suite struct MainActorAppTests {
    private final class Model {
        let news: LiveResource<[Headline]>
        var titles: [String] { news.value?.map(\.title) ?? [] }

        init(_ pantry: Pantry) { news = pantry.resource("news", as: [Headline].self).live() }
    }

    /// A codec of the app, which is decoded off the main actor.
    private nonisolated struct Letters: Codec {
        struct OnMainThread: Error {}

        func decode(_ bytes: Data) throws -> Int {
            if Thread.isMainThread { throw OnMainThread() }
            return bytes.count
        }
    }

    private static func open(_ cache: TemporaryFolder) async throws -> Pantry {
        var registry = Registry.standard
        try registry.register(
            .origin("app", returning: [[String: String]].self) { _ in
                [["id": "1", "title": "One", "picture": "one"]]
            })
        let news = """
            { "resource": "news", "origin": "app", "strategy": "cache-first", "store": { "use": "file", "limit": "9s" },
              "validators": [{ "use": "age", "fresh": "1h" }], "refresh": { "every": "1h" } }
            """
        return try await Pantry(policies: ["news": news], registry: registry, cache: cache.url, data: cache.url)
    }

    @Test func screenShowsTheOriginsAnswer() async throws {
        let cache = try TemporaryFolder()
        let pantry = try await Self.open(cache)
        let model = Model(pantry)
        for await phase in model.news.phases {
            if case .fresh(_, isRefreshing: false) = phase { break }
        }
        #expect(model.titles == ["One"])
        #expect(try await pantry.resource("news", as: [Headline].self).load().value.first?.picture == "one")
        let report = await pantry.runDue(within: .seconds(5))
        #expect(report.failed.isEmpty && report.items.count == 1)
        await pantry.close()
    }

    @Test func valuesAreDecodedOffTheMainActor() async throws {
        let cache = try TemporaryFolder()
        let pantry = try await Self.open(cache)
        #expect(try await pantry.resource("news", codec: Letters()).load().value > 20)
        for try await update in pantry.resource("news").updates() {
            guard case .value(let loaded) = update else { continue }
            #expect(!loaded.value.isEmpty)
            break
        }
        await pantry.close()
    }

    @Test func networkIsFollowedOnTheMainActor() async {
        let status = NetworkStatus()
        let following = Task { await status.follow() }
        while status.state == .unknown, SystemNetwork().state != .unknown { await Task.yield() }
        #expect(status.state == SystemNetwork().state)
        following.cancel()
    }
}
