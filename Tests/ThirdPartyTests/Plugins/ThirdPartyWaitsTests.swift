import LarderFoundation
import Larder
import LarderSimulation
import LarderStories
import Testing

private struct Stamp: Loader {
    let inner: any Loader
    let change: @Sendable (inout Fields) -> Void

    func load(_ call: Call) async throws -> Loaded<Entry> {
        var call = call
        change(&call.request.fields)
        return try await inner.load(call)
    }
}

/// Plugins without package access can wait as the built-in ones do.
@Suite struct ThirdPartyWaitsTests {
    @Test func thirdPartysTimeoutKeepsEveryPromise() {
        for limit in ["8s", "1ms"] as [JSON] {
            #expect(WrapperConformance(.impatience, ["limit": limit]).brokenPromises() == [])
        }
    }

    @Test func thirdPartysHedgeKeepsEveryPromise() {
        #expect(WrapperConformance(.insistence, ["calls": 3, "pause": "1s"]).brokenPromises() == [])
    }

    @Test func wrapperMayAddAFieldButNotRemoveOne() {
        func broken(_ change: @escaping @Sendable (inout Fields) -> Void) -> [Promise] {
            let plugin = Plugin.wrapper("stamp", "Changes the fields of each call.") { _, inner in
                Stamp(inner: inner, change: change)
            }
            return WrapperConformance(plugin).brokenPromises().map(\.promise)
        }
        #expect(broken { $0["x-app"] = "prices" } == [])
        #expect(broken { $0["accept-language"] = nil } == [.passesOn])
    }

    @Test func thirdPartysRaceKeepsEveryPromise() {
        #expect(StrategyConformance(.whicheverIsFirst).brokenPromises() == [])
    }

    @Test func thirdPartysNetworkFirstKeepsEveryPromise() {
        #expect(StrategyConformance(.answerOrCopy, ["patience": "800ms"]).brokenPromises() == [])
    }

    /// Metrics of a load through wrappers around an origin that ignores its cancellation.
    private static func metrics(_ around: String) throws -> ResourceMetrics {
        try SimulatedWorld().run(leaving: .anything) { world in
            let origin = ScriptedOrigin([.deaf], world: world)
            var registry = Registry.standard
            try registry.register(origin.plugin("scripted"))
            try registry.register(.impatience)
            let folder = try TemporaryFolder()
            try folder.write(
                #"{ "resource": "feed", "origin": "scripted", "around": \#(around), "strategy": "network-only" }"#,
                to: "feed.json")
            let pantry = try await Pantry(policies: folder.url, registry: registry, cache: folder.url, world: world)
            let feed = pantry.resource("feed")
            _ = await #expect(throws: LoadError.self) { try await feed.load() }
            #expect(world.uptime == .seconds(1))
            return feed.metrics
        }
    }

    @Test func callEndedByThirdPartyTimeoutCountsAsFailedOnce() throws {
        let own = #"{ "use": "impatience", "limit": "1s" }"#
        let longer = #"{ "use": "impatience", "limit": "2s" }"#
        let builtIn = #"{ "use": "timeout", "after": "1s" }"#
        for around in ["[\(own)]", "[\(longer), \(own)]", "[\(own), \(longer)]", "[\(builtIn), \(longer)]"] {
            #expect(try Self.metrics(around)["origin_errors"] == 1)
        }
    }
}
