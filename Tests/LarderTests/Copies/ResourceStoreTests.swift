import LarderFoundation
import Larder
import LarderSystem
import LarderSimulation
import Testing

/// Operations of apps on a store, and reports of a store.
@Suite struct ResourceStoreTests {
    private static let windows = #"[{ "use": "age", "fresh": "1h", "onError": "7d" }]"#
    private static let tiers = #"{ "use": "tiered", "tiers": ["memory", "faulty"] }"#

    // MARK: Renewals

    @Test func unchangedAnswerIsKeptByFullStore() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(
                world, strategy: #""cache-first""#, validators: Self.windows)
            simulated.stock("value", age: .seconds(7_200), etag: "e1")
            simulated.store.fillUp(at: 0)
            simulated.origin.play(.unchanged())
            let live = try await simulated.feed.load()
            #expect(live.source == .revalidated && live.isStored)
            let copy = try await simulated.feed.load()
            #expect(copy.text == "value" && copy.freshness == .fresh)
            #expect(simulated.store.count(of: .write) == 0 && simulated.feed.metrics.storeFaults.isEmpty)
        }
    }

    @Test func tierWithoutThePayloadGetsItOnRenewal() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(
                world, strategy: #""cache-first""#, validators: Self.windows, store: Self.tiers)
            simulated.origin.play(.value("value", etag: "e1"), .unchanged())
            _ = try await simulated.feed.load()
            try await world.sleep(for: .seconds(7_200))
            // The lower tier loses its copy, and the upper one is renewed.
            try await simulated.store.remove(.all)
            #expect(try await simulated.feed.load().source == .revalidated)
            #expect(simulated.held() == "value" && simulated.store.count(of: .renew) == 1)
            #expect(try await simulated.feed.load().source == .store("memory"))
        }
    }

    @Test func renewalDoesNotFreshenOlderPayloadOfATier() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(
                world, strategy: #""cache-first""#, validators: Self.windows, store: Self.tiers)
            simulated.origin.play(.value("older"), .value("newer", etag: "e2"), .unchanged())
            _ = try await simulated.feed.load()
            simulated.store.play(.fails, for: .write)
            _ = try await simulated.feed.load(mode: .refresh)
            #expect(simulated.held() == "older")
            #expect(try await simulated.feed.load(mode: .refresh).source == .revalidated)
            #expect(simulated.held() == "newer")
        }
    }

    // MARK: Saving

    @Test func savedValueIsShownAsFreshWithoutACall() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(
                world, strategy: #""cache-first""#, validators: Self.windows)
            let saved = try await simulated.feed.save(
                Data("pushed".utf8), for: simulated.feed.request(["id": "1"], scope: "alice"),
                metadata: Metadata(etag: "e1", tags: ["t"]))
            #expect(saved.text == "pushed" && saved.isStored && saved.source == .origin)
            let copy = try await simulated.feed.load(["id": "1"], scope: "alice")
            #expect(copy.text == "pushed" && copy.freshness == .fresh && simulated.origin.calls.isEmpty)
            let kept = simulated.store.entries[simulated.key(["id": "1"], scope: "alice")]?.metadata
            #expect(kept?.fetchedAt == world.now && kept?.etag == "e1" && kept?.tags == ["t"])
            #expect(simulated.feed.metrics[.saves] == 1)
        }
    }

    @Test func answerOfEarlierCallDoesNotReplaceSavedValue() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(
                world, strategy: #""cache-first""#, validators: Self.windows)
            simulated.origin.play(.value("asked", after: .seconds(10)))
            let asked = world.start { try await simulated.feed.load().text }
            try await world.sleep(for: .seconds(1))
            try await simulated.feed.save(Data("pushed".utf8), for: simulated.feed.request())
            #expect(try await simulated.feed.load().text == "pushed")
            #expect(try await asked.value() == "asked")
            #expect(simulated.held() == "pushed")
        }
    }

    @Test func savedValueIsAdmittedAndDecoded() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(
                world, strategy: #""cache-first""#, validators: #"[{ "use": "max-size", "capacity": "8B" }]"#)
            let refused = await #expect(throws: LoadError.self) {
                try await simulated.feed.save(Data("much too large".utf8), for: simulated.feed.request())
            }
            #expect(refused?.code == .refused)
            let undecodable = await #expect(throws: LoadError.self) {
                let numbers = simulated.pantry.resource("feed", as: [Int].self)
                try await numbers.save(Data("{".utf8), for: numbers.request())
            }
            #expect(undecodable?.code == .undecodable && simulated.held() == nil)
            simulated.store.set(.fails, for: .write)
            let saved = try await simulated.feed.save(Data("small".utf8), for: simulated.feed.request())
            #expect(!saved.isStored && saved.trail.lines.contains { $0.contains("told to fail") })
        }
    }

    @Test func updatesYieldSavedValue() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(
                world, strategy: #""cache-first""#, validators: Self.windows)
            simulated.origin.play(.value("one"))
            let texts = Locked<[String]>([])
            let listening = world.start { [feed = simulated.feed] in
                for try await case .value(let loaded) in feed.updates() {
                    texts.withLock { $0.append(loaded.text) }
                }
            }
            try await world.sleep(for: .seconds(1))
            try await simulated.feed.save(Data("pushed".utf8), for: simulated.feed.request())
            try await world.sleep(for: .seconds(1))
            #expect(texts.withLock { $0 } == ["one", "pushed"])
            listening.cancel()
            _ = await listening.result()
        }
    }

    // MARK: Lists and pins

    @Test func resourceListsAndPinsItsCopies() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(
                world, strategy: #""cache-first""#, store: #"{ "use": "tiered", "tiers": ["memory", "file"] }"#)
            for id in 1...5 { _ = try await simulated.feed.load(["id": "\(id)"]) }
            var keys: [Key] = []
            var cursor: StoreCursor?
            repeat {
                let page = try await simulated.feed.list(after: cursor, most: 2)
                keys += page.entries.compactMap(\.key)
                cursor = page.next
            } while cursor != nil
            #expect(Set(keys) == Set((1...5).map { simulated.key(["id": "\($0)"]) }) && keys.count == 5)
            #expect(try await simulated.feed.pin(simulated.feed.request(["id": "1"])))
            #expect(try await !simulated.feed.pin(simulated.feed.request(["id": "6"])))
            try await simulated.feed.unpin(simulated.feed.request(["id": "1"]))
        }
    }

    // MARK: Changes of others

    private static func changing(
        _ test: @escaping @Sendable (SimulatedPantry, FaultyStore) async throws -> Void
    ) throws {
        try SimulatedWorld().run { world in
            let store = FaultyStore("shared", tellsChanges: true, world: world)
            let simulated = try await SimulatedPantry(
                world, strategy: #""cache-first""#, validators: windows,
                store: #"{ "use": "tiered", "tiers": ["memory", "shared"] }"#, plugins: [store.plugin])
            try await test(simulated, store)
        }
    }

    @Test func changeByOthersIsSeenThroughTheFasterTier() throws {
        try Self.changing { simulated, store in
            simulated.origin.play(.value("one"))
            #expect(try await simulated.feed.load().text == "one")
            var changes = simulated.feed.changesByOthers.makeAsyncIterator()
            store.change(simulated.key(), to: Entry(Data("theirs".utf8), Metadata(fetchedAt: simulated.world.now)))
            #expect(await changes.next() == .key(simulated.key()))
            let copy = try await simulated.feed.load()
            #expect(copy.text == "theirs" && copy.source == .store("shared"))
            #expect(try await simulated.feed.load().source == .store("memory"))
        }
    }

    @Test func readingThatBeganBeforeAChangeIsNotKeptAfterIt() throws {
        try Self.changing { simulated, store in
            let world = simulated.world
            func entry(_ text: String) -> Entry { Entry(Data(text.utf8), Metadata(fetchedAt: world.now)) }
            store.put(entry("old"), for: simulated.key())
            store.play(.takes(.seconds(5)), for: .read)
            let slow = world.start { try await simulated.feed.load().text }
            try await world.sleep(for: .seconds(1))
            store.change(simulated.key(), to: entry("theirs"))
            try await world.sleep(for: .seconds(1))
            _ = try await slow.value()
            #expect(try await simulated.feed.load().text == "theirs")
        }
    }

    // MARK: Late faults and the end

    @Test func lateFaultIsCountedAndLoggedOnce() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(world, strategy: #""cache-first""#)
            let notes = Locked<[String]>([])
            let listening = world.start { [decisions = simulated.pantry.decisions] in
                for await decision in decisions { notes.withLock { $0.append(decision.note) } }
            }
            try await world.settle()
            for _ in 1...3 { simulated.store.failLate(.write) }
            try await world.settle()
            #expect(simulated.feed.metrics.storeFaults == ["faulty": 3])
            #expect(notes.withLock { $0 } == ["cannot write: faulty: told to fail"])
            listening.cancel()
            _ = await listening.result()
        }
    }

    @Test func replacedStoreIsClosedOnceAfterItsLastLoad() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(world, strategy: #""cache-first""#)
            simulated.origin.play(.value("slow", after: .seconds(10)))
            let slow = world.start { try await simulated.feed.load().text }
            try await world.sleep(for: .seconds(1))
            try await simulated.edit(#""store": "faulty""#, #""store": "memory""#)
            try await world.sleep(for: .seconds(1))
            #expect(simulated.store.count(of: .close) == 0)
            #expect(try await slow.value() == "slow")
            try await world.settle()
            #expect(simulated.store.count(of: .close) == 1 && simulated.held() == "slow")
        }
    }
}
