import LarderFoundation
import Larder
import LarderSimulation
import Testing

/// Copies that an app calls out of date.
@Suite struct ExpiryTests {
    private static let windows = #"[{ "use": "age", "fresh": "1h", "onError": "7d" }]"#
    private static let stores = [
        #""faulty""#, #""memory""#, #""file""#, #"{ "use": "tiered", "tiers": ["memory", "file"] }"#,
    ]

    private static func simulated(_ world: SimulatedWorld, store: String = #""faulty""#) async throws -> SimulatedPantry
    {
        try await SimulatedPantry(world, strategy: #""cache-first""#, validators: windows, store: store)
    }

    @Test(arguments: stores) func loadAfterExpiryRevalidates(_ store: String) throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.simulated(world, store: store)
            simulated.origin.play(.value("one", etag: "e1"), .unchanged())
            _ = try await simulated.feed.load()
            #expect(try await simulated.feed.load().freshness == .fresh)
            try await simulated.feed.expire()
            #expect(try await simulated.feed.load().source == .revalidated)
            #expect(try await simulated.feed.load().freshness == .fresh)
            #expect(simulated.origin.calls.map(\.known?.metadata.etag) == [nil, "e1"])
            #expect(simulated.feed.metrics[.expirations] == 1)
        }
    }

    @Test(arguments: stores) func expiredCopyIsShownOffline(_ store: String) throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.simulated(world, store: store)
            simulated.origin.play(then: .failure(.status(503)))
            simulated.origin.play(.value("one"))
            _ = try await simulated.feed.load(scope: "alice")
            try await simulated.pantry.expire(.scope("alice"))
            let copy = try await simulated.feed.load(scope: "alice")
            #expect(copy.text == "one" && copy.freshness == .stale && copy.fellBack)
            #expect(copy.permissions.reasons(for: .fresh).contains("it is expired"))
        }
    }

    @Test(arguments: stores) func onlySelectedCopiesExpire(_ store: String) throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.simulated(world, store: store)
            let act = ScriptedOrigin.Act.answering { call in
                Entry(Data("value".utf8), Metadata(tags: [call.request.parameters["tag"] ?? ""]))
            }
            simulated.origin.play(then: act)
            let feed = simulated.feed
            func load() async throws -> [Source] {
                [
                    try await feed.load(["tag": "a"]).source, try await feed.load(["tag": "b"]).source,
                    try await feed.load(["tag": "a"], scope: "alice").source,
                ]
            }
            _ = try await load()
            func calls(after expire: () async throws -> Void) async throws -> [Bool] {
                try await expire()
                return try await load().map { $0 == .origin }
            }
            #expect(try await calls { try await feed.expire(["tag": "a"]) } == [true, false, false])
            #expect(try await calls { try await feed.expire(.scope(nil)) } == [true, true, false])
            #expect(try await calls { try await feed.expire(.tag("a")) } == [true, false, true])
            #expect(try await calls { try await simulated.pantry.expire() } == [true, true, true])
            #expect(try await calls { try await simulated.pantry.expire(.tag("b")) } == [false, true, false])
            #expect(try await calls {} == [false, false, false])
        }
    }

    @Test func answerOfCallThatBeganBeforeExpiryIsNotSaved() throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.simulated(world)
            simulated.origin.play(
                .value("old"), .value("begun before", after: .seconds(10)), .value("begun after", after: .seconds(1)))
            _ = try await simulated.feed.load()
            let early = world.start { try await simulated.feed.load(mode: .refresh).text }
            try await world.sleep(for: .seconds(1))
            try await simulated.feed.expire()
            #expect(try await simulated.feed.load().text == "begun after")
            #expect(try await early.value() == "begun before")
            #expect(simulated.held() == "begun after")
        }
    }

    @Test func storeThatCannotListIsNamed() throws {
        try SimulatedWorld().run { world in
            let plain = Plugin.store("plain", "Keeps nothing and lists nothing.") { _ in PlainStore() }
            let simulated = try await SimulatedPantry(
                world, strategy: #""cache-first""#, store: #""plain""#, plugins: [plain])
            try await simulated.feed.expire(["id": "1"])
            let error = await #expect(throws: StoreError.self) { try await simulated.feed.expire(.tag("t")) }
            #expect(error?.isUnsupported == true && error?.message == "the store cannot list its entries")
            let failure = await #expect(throws: LoadError.self) { try await simulated.pantry.expire() }
            #expect(failure?.message == "not expired: feed")
            #expect(simulated.feed.metrics.storeFaults == ["store": 2])
        }
    }

    private struct PlainStore: Store {
        func read(_ reading: Reading) -> Found? { nil }
        func write(_ entry: Entry, for key: Key) -> Bool { false }
        func remove(_ selection: Selection) {}
        func statistics() -> StoreStatistics { StoreStatistics() }
    }
}
