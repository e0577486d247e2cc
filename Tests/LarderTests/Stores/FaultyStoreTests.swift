import LarderFoundation
import Larder
import LarderSimulation
import Testing

/// The scripted store of other tests, which must follow its script.
@Suite struct FaultyStoreTests {
    private static let entry = Entry(text: "value")

    /// Returns the outcome of each of `count` reads: `ok`, `failed` or `odd`.
    private static func reads(_ count: Int, of store: FaultyStore) async -> [String] {
        store.put(entry, for: .id("1"))
        var words: [String] = []
        for _ in 0..<count {
            do {
                words.append(try await store.read(.id("1"))?.entry.text == "value" ? "ok" : "odd")
            } catch {
                words.append("failed")
            }
        }
        return words
    }

    // MARK: Call by call

    @Test func playedFaultsHappenOnceInOrderBeforeSetFault() throws {
        try SimulatedWorld().run { world in
            let store = FaultyStore(world: world)
            store.set(.corrupts, for: .read)
            store.play(.fails, nil, .fails, for: .read)
            store.play(nil, for: .read)
            #expect(await Self.reads(6, of: store) == ["failed", "ok", "failed", "ok", "odd", "odd"])
            store.set(nil, for: .read)
            #expect(await Self.reads(2, of: store) == ["ok", "ok"])
            #expect(store.count(of: .read) == 8)
        }
    }

    @Test func eachOperationHasItsOwnFaults() throws {
        try SimulatedWorld().run { world in
            let store = FaultyStore(world: world)
            store.play(.fails, for: .write)
            store.play(.takes(.seconds(2)), for: .read)
            store.play(.failsAfter(.seconds(3)), for: .remove)
            #expect(try await store.read(.id("1")) == nil && world.uptime == .seconds(2))
            await #expect(throws: StoreError.self) { try await store.write(Self.entry, for: .id("1")) }
            #expect(try await store.write(Self.entry, for: .id("1")))
            await #expect(throws: StoreError.self) { try await store.remove(.all) }
            #expect(world.uptime == .seconds(5) && store.entries.count == 1)
            try await store.remove(.all)
            #expect(store.entries.isEmpty)
        }
    }

    @Test func hangingReadBlocksNoOtherAndCanBeCancelled() throws {
        try SimulatedWorld().run { world in
            let store = FaultyStore(world: world)
            store.play(.hangs, for: .read)
            let hanging = world.start { try await store.read(.id("1")) }
            try await world.sleep(for: .seconds(3_600))
            #expect(!hanging.isOver)
            #expect(try await store.read(.id("1")) == nil)
            hanging.cancel()
            await #expect(throws: CancellationError.self) { try await hanging.value() }
        }
    }

    @Test func corruptingWriteKeepsWrongByte() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(
                world, strategy: #""cache-first""#,
                validators: #"["checksum", { "use": "age", "fresh": "1h" }]"#)
            simulated.store.play(.corrupts, for: .write)
            #expect(try await simulated.feed.load().text == "value")
            #expect(simulated.held() == "walue")
            #expect(try await simulated.feed.load().source == .origin, "damage is noticed, and never shown")
            #expect(simulated.feed.metrics.corrupt == 1 && simulated.held() == "value")
        }
    }

    @Test func peekDoesNotAnswerIfReadMayFail() throws {
        try SimulatedWorld().run { world in
            let store = FaultyStore(isForeign: false, world: world)
            store.put(Self.entry, for: .id("1"))
            func answers() -> Bool { store.peek(.id("1")) { _ in true } != nil }
            #expect(answers())
            store.play(nil, .fails, for: .read)
            #expect(!answers() && !answers(), "a look takes nothing from the script")
            #expect(await Self.reads(3, of: store) == ["ok", "failed", "ok"])
            #expect(answers())
            store.set(.fails, for: .read, chance: 0.5)
            #expect(!answers())
        }
    }

    // MARK: By chance

    private func chances(_ chance: Double, seed: UInt64) throws -> [String] {
        try SimulatedWorld(seed: seed).run { world in
            let store = FaultyStore(world: world)
            store.set(.fails, for: .read, chance: chance)
            return await Self.reads(1_000, of: store)
        }
    }

    @Test func chanceHasItsProbabilityAndFollowsSeed() throws {
        let failed = try chances(0.1, seed: 1).count { $0 == "failed" }
        #expect(failed > 70 && failed < 130)
        #expect(try chances(0.1, seed: 1) == chances(0.1, seed: 1))
        #expect(try chances(0.1, seed: 1) != chances(0.1, seed: 2))
        #expect(try chances(0, seed: 1).allSatisfy { $0 == "ok" })
        #expect(try chances(1, seed: 1).allSatisfy { $0 == "failed" })
    }

    @Test func certainFaultUsesNoRandomNumber() throws {
        func number(_ fault: FaultyStore.Fault?) throws -> UInt64 {
            try SimulatedWorld(seed: 3).run { world in
                let store = FaultyStore(world: world)
                store.set(fault, for: .read)
                _ = await Self.reads(5, of: store)
                return world.random()
            }
        }
        #expect(try number(.fails) == number(nil))
    }

    // MARK: Full

    @Test func fullStoreFailsWritesUntilEntriesAreRemoved() throws {
        try SimulatedWorld().run { world in
            let store = FaultyStore(world: world)
            store.fillUp(at: 2 * Self.entry.weight)
            for id in ["1", "2"] { #expect(try await store.write(Self.entry, for: .id(id))) }
            let error = await #expect(throws: StoreError.self) { try await store.write(Self.entry, for: .id("3")) }
            #expect(error?.message == "cannot write: no space left on device" && error?.faults.first?.tier == "faulty")
            #expect(try await store.write(Entry(text: "eulav"), for: .id("2")), "what it replaces makes room")
            await #expect(throws: StoreError.self) { try await store.write(Entry(text: "longer"), for: .id("2")) }
            #expect(try await store.read(.id("2"))?.entry.text == "eulav")
            #expect(await store.statistics().bytes == 2 * Self.entry.weight)
            try await store.remove(.key(.id("1")))
            #expect(try await store.write(Self.entry, for: .id("3")))
            store.fillUp(at: nil)
            #expect(try await store.write(Self.entry, for: .id("4")))
        }
    }

    @Test func loadThroughFullStoreReturnsUnstoredValue() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(world, strategy: #""cache-first""#)
            simulated.store.fillUp(at: 0)
            let loaded = try await simulated.feed.load()
            #expect(loaded.text == "value" && !loaded.isStored && simulated.held() == nil)
            #expect(simulated.feed.metrics.storeFaults == ["faulty": 1])
            #expect(loaded.trail.lines.contains { $0.contains("no space left on device") })
        }
    }
}
