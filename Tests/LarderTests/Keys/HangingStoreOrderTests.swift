import LarderFoundation
import Larder
import LarderSystem
import LarderSimulation
import LarderStories
import Testing

/// Loads of a key after an operation of its store that never ends, or ends late.
@Suite struct HangingStoreOrderTests {
    private static let windows =
        #"[{ "use": "age", "fresh": "5m", "whileRevalidating": "1h", "onError": "7d" }]"#
    private static let limited = #"{ "use": "tiered", "tiers": ["memory", { "use": "faulty", "limit": "2s" }] }"#
    private static let changes: [FaultyStore.Operation] = [.write, .renew, .expire, .remove]

    /// Runs a test with a memory and a store with a limit of 2 s below it, or with `store`.
    private static func run(
        _ strategy: String = #""stale-while-revalidate""#, store: String = limited,
        _ test: @escaping @Sendable (SimulatedPantry) async throws -> Void
    ) throws {
        try SimulatedWorld().run(leaving: .anything) { world in
            try await test(
                SimulatedPantry(world, strategy: strategy, validators: windows, store: store))
        }
    }

    private static func hang(_ simulated: SimulatedPantry) {
        for operation in changes { simulated.store.set(.hangs, for: operation) }
    }

    // MARK: A store with a limit

    @Test(arguments: ["stale-while-revalidate", "network-first", "cache-first", "race"])
    func loadAfterRemovalThatHangsEnds(_ strategy: String) throws {
        try Self.run("\"\(strategy)\"") { simulated in
            simulated.stock("old", age: .seconds(600), etag: "e1")
            Self.hang(simulated)
            simulated.origin.play(.failure(.status(404)), .failure(.status(404)), .value("new"), .unchanged())
            let first = await simulated.start(mode: .refresh).result()
            #expect(throws: LoadError.self) { try first.get() }
            try await simulated.world.sleep(for: .seconds(10))
            let start = simulated.world.uptime
            await #expect(throws: LoadError.self) { try await simulated.feed.load() }
            let third = try await simulated.feed.load()
            #expect(third.text == "new" && !third.isStored)
            #expect(third.trail.lines.contains { $0.contains("an earlier operation on the entry has not ended") })
            #expect(simulated.world.uptime == start)
            #expect(try await simulated.pantry.resource("feed", as: Data.self).contains() == false)
        }
    }

    /// The situation in which `larder prove` found a load that never ended.
    @Test func loadAfterDroppedCopyEndsWhileChangesHang() throws {
        let folder = try TemporaryFolder()
        try folder.write(
            """
            { "resource": "catalog", "origin": { "use": "sample", "payload": "catalog" },
              "around": [{ "use": "timeout", "after": "4s" }],
              "strategy": { "use": "stale-while-revalidate", "patience": "1s" },
              "validators": \(Self.windows),
              "store": { "use": "tiered", "tiers": ["memory", { "use": "file", "limit": "2s" }] } }
            """, to: "catalog.json")
        let player = try StoryPlayer(of: "catalog", in: folder.url)
        for copy in [nil, Story.Copy(age: .seconds(600)), Story.Copy(age: .seconds(86_400))] {
            for ending in [.value, .status(404), .status(503)] as [Story.OriginAct.Ending] {
                let seen = try player.play(
                    Story().with { situation in
                        situation.copy = copy
                        situation.origin = [.init(ending)]
                        situation.earlier = [.init(before: .seconds(10))]
                        situation.earlierOrigin = [.init(.status(404))]
                        situation.stores = [.init(.changes, .hangs)]
                    })
                #expect(seen.waited == .zero)
            }
        }
    }

    @Test func loadsThatWaitForAWriteGoOnWhenItIsGivenUp() throws {
        try Self.run(#""network-first""#) { simulated in
            Self.hang(simulated)
            let strings = simulated.pantry.resource("feed", as: String.self)
            simulated.origin.play(.value(#""first""#), .value(#""second""#, after: .seconds(1)))
            let first = simulated.start()
            let second = simulated.world.start { try await strings.load() }
            #expect(try await first.value().text == #""first""# && first.endedAt == .seconds(2))
            let loaded = try await second.value()
            #expect(loaded.value == "second" && !loaded.isStored && second.endedAt == .seconds(2))
            // The memory has the first answer, which is older than the second.
            let copy = try await simulated.feed.load(mode: .cachedOnly)
            #expect(copy.text == #""first""# && copy.freshness == .stale)
        }
    }

    @Test func loadDoesNotWaitForAPromotion() throws {
        try Self.run(store: #"{ "use": "tiered", "tiers": [{ "use": "faulty", "limit": "2s" }, "memory"] }"#) {
            simulated in
            _ = try await simulated.feed.load()
            try await simulated.store.lose(simulated.key())
            Self.hang(simulated)
            let first = simulated.start()
            try await simulated.world.settle()
            let second = simulated.start()
            #expect(try await second.value().freshness == .fresh && second.endedAt == .zero)
            #expect(try await first.value().freshness == .fresh && first.endedAt == .seconds(2))
        }
    }

    @Test func streamsGetAnswersThatAreNotSavedYet() throws {
        try Self.run(#""network-first""#) { simulated in
            Self.hang(simulated)
            let texts = Locked<[String]>([])
            simulated.world.spawn {
                do {
                    for try await update in simulated.feed.updates() {
                        if case .value(let loaded) = update { texts.withLock { $0.append(loaded.text) } }
                    }
                } catch {}
            }
            simulated.origin.play(.value("first"), .value("second"), .value("third", variesBy: ["*"]))
            try await simulated.world.sleep(for: .seconds(5))
            _ = try await simulated.feed.load()
            _ = try await simulated.feed.load()
            try await simulated.world.settle()
            #expect(texts.withLock { $0 } == ["first", "second"])
        }
    }

    // MARK: Operations that end late

    @Test func newestAnswerIsSavedWhenALateWriteHasEnded() throws {
        try Self.run(#""network-first""#) { simulated in
            simulated.store.play(.takes(.seconds(100)), for: .write)
            simulated.origin.play(.value("first"), .value("second"), .value("third"))
            for text in ["first", "second", "third"] {
                let loaded = try await simulated.feed.load()
                #expect(loaded.text == text && loaded.isStored == (text == "first"))
            }
            #expect(simulated.world.uptime == .seconds(2) && simulated.held() == nil)
            try await simulated.world.sleep(for: .seconds(100))
            #expect(simulated.held() == "third" && simulated.store.bodyWrites == 2)
            let copy = try await simulated.feed.load(mode: .cachedOnly)
            #expect(copy.text == "third" && copy.freshness == .fresh)
        }
    }

    @Test func lateWriteDoesNotBringBackWhatIsGone() throws {
        try Self.run(#""network-first""#) { simulated in
            simulated.store.play(.takes(.seconds(100)), for: .write)
            simulated.origin.play(.value("first"), .failure(.status(404)))
            _ = try await simulated.feed.load()
            await #expect(throws: LoadError.self) { try await simulated.feed.load() }
            #expect(simulated.world.uptime == .seconds(2))
            await #expect(throws: LoadError.self) { try await simulated.feed.load(mode: .cachedOnly) }
            try await simulated.world.sleep(for: .seconds(100))
            #expect(simulated.held() == nil)
            await #expect(throws: LoadError.self) { try await simulated.feed.load(mode: .cachedOnly) }
        }
    }

    @Test func lateRemovalDoesNotRemoveANewerAnswer() throws {
        try Self.run(#""network-first""#) { simulated in
            simulated.stock("old", age: .seconds(600))
            simulated.store.play(.takes(.seconds(100)), for: .remove)
            simulated.origin.play(.failure(.status(404)), .value("new"))
            await #expect(throws: LoadError.self) { try await simulated.feed.load() }
            #expect(try await !simulated.feed.load().isStored)
            try await simulated.world.sleep(for: .seconds(100))
            #expect(simulated.held() == "new")
        }
    }

    @Test func lateWriteLeavesNoAnswerThatMayNotBeKept() throws {
        try Self.run(#""network-first""#) { simulated in
            simulated.store.play(.takes(.seconds(100)), for: .write)
            simulated.origin.play(.value("first"), .value("second", variesBy: ["*"]))
            _ = try await simulated.feed.load()
            let second = try await simulated.feed.load()
            #expect(second.text == "second" && !second.isStored && simulated.world.uptime == .seconds(2))
            #expect(try await simulated.feed.load(mode: .cachedOnly).freshness == .stale)
            try await simulated.world.sleep(for: .seconds(100))
            #expect(simulated.held() == "first")
            #expect(simulated.store.entries.values.map(\.metadata.isExpired) == [true])
        }
    }

    // MARK: Clearing

    @Test func clearingEndsWhileARemovalHangs() throws {
        try Self.run(#""network-first""#) { simulated in
            simulated.stock("old", age: .seconds(600))
            simulated.store.play(.takes(.seconds(1_000)), for: .remove)
            simulated.origin.play(.failure(.status(404)), .value("before"))
            await #expect(throws: LoadError.self) { try await simulated.feed.load() }
            #expect(try await simulated.feed.load().text == "before")
            let start = simulated.world.uptime
            await #expect(throws: StoreError.self) { try await simulated.feed.clear() }
            #expect(simulated.world.uptime == start + .seconds(30))
            let during = try await simulated.feed.load()
            #expect(!during.isStored && simulated.world.uptime == start + .seconds(30))
            await #expect(throws: LoadError.self) { try await simulated.feed.load(mode: .cachedOnly) }
            try await simulated.world.sleep(for: .seconds(1_000))
            #expect(simulated.held() == nil, "the answer from before the clearing is not saved")
            #expect(try await simulated.feed.load().isStored)
        }
    }

    // MARK: A store without a limit

    @Test(arguments: [#"{ "use": "network-first", "patience": "1s" }"#, #""network-first""#, #""cache-first""#])
    func loadsWithDeadlineGetTheAnswerWhileStoreWithoutLimitHangs(_ strategy: String) throws {
        try Self.run(strategy, store: #""faulty""#) { simulated in
            simulated.stock("old", age: .seconds(86_400))
            Self.hang(simulated)
            simulated.origin.play(then: .failure(.status(404)))
            for number in 1...3 {
                let load = simulated.start(deadline: .seconds(1))
                #expect(try await load.failure().status == 404 && load.endedAt == .seconds(number))
                try await simulated.world.settle()
            }
            #expect(simulated.origin.calls.count == 1 && simulated.store.count(of: .remove) == 1)
        }
    }

    // MARK: Many loads

    @Test(arguments: [limited, #""faulty""#])
    func loadsWhileTheStoreHangsLeaveNothingBehind(_ store: String) throws {
        try Self.run(#"{ "use": "network-first", "patience": "10ms" }"#, store: store) { simulated in
            Self.hang(simulated)
            simulated.origin.play(then: .value("value"))
            for _ in 0..<10 { _ = try? await simulated.feed.load(deadline: .seconds(3)) }
            let before = simulated.world.unfinished
            for number in 0..<10_000 {
                let outcomes: [ScriptedOrigin.Act] = [.value("\(number)"), .failure(.status(404)), .unchanged()]
                simulated.origin.play(then: outcomes[number % 3])
                _ = try? await simulated.feed.load(deadline: .seconds(3))
            }
            #expect(simulated.world.unfinished <= before + 2)
        }
    }
}
