import LarderFoundation
import Larder
import LarderSimulation
import Testing

/// A failed write loses nothing: the older copy stays for outages, but it is no longer fresh.
@Suite struct FailedWriteTests {
    private static let windows = #"[{ "use": "age", "fresh": "1h", "onError": "7d" }]"#

    /// A resource whose older copy was saved and whose store, or `store`, then fails to write.
    private static func simulated(
        _ world: SimulatedWorld, strategy: String = #""network-first""#, store: String = #""faulty""#,
        plugins: [Plugin] = []
    ) async throws -> SimulatedPantry {
        let simulated = try await SimulatedPantry(
            world, strategy: strategy, validators: windows, store: store, plugins: plugins)
        simulated.origin.play(.value("older", etag: "e1"))
        #expect(try await simulated.feed.load().isStored)
        try await world.sleep(for: .seconds(60))
        return simulated
    }

    // MARK: A store that cannot write

    @Test func olderCopyServesOutagesAfterFailedWrite() throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.simulated(world)
            simulated.store.fillUp(at: 0)
            simulated.origin.play(then: .failure(.status(503)))
            simulated.origin.play(.value("newer"))
            let live = try await simulated.feed.load()
            #expect(live.text == "newer" && !live.isStored)
            let copy = try await simulated.feed.load()
            #expect(copy.text == "older" && copy.freshness == .stale && copy.fellBack)
            #expect(simulated.store.count(of: .remove) == 0)
            #expect(copy.permissions.reasons(for: .fresh).contains("it is expired"))
        }
    }

    @Test func olderCopyIsNeverFreshAfterFailedWrite() throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.simulated(world, strategy: #""cache-first""#)
            simulated.store.play(.fails, for: .write)
            simulated.origin.play(.value("newer"), .value("newest"))
            #expect(try await simulated.feed.load().text == "older")
            #expect(try await simulated.feed.load(mode: .refresh).text == "newer")
            // It is one minute old of an hour.
            #expect(try await simulated.feed.load().text == "newest")
            #expect(try await simulated.feed.load().freshness == .fresh)
        }
    }

    @Test func unchangedAnswerKeepsCopyIfWriteFails() throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.simulated(world)
            let before = try #require(simulated.store.entries[simulated.key()])
            simulated.store.set(.fails, for: .renew)
            simulated.origin.play(then: .failure(.status(503)))
            simulated.origin.play(.unchanged())
            let live = try await simulated.feed.load()
            #expect(live.source == .revalidated && !live.isStored)
            #expect(simulated.store.entries[simulated.key()]?.metadata == before.metadata)
            let copy = try await simulated.feed.load()
            #expect(copy.text == "older" && copy.freshness == .fresh && copy.age == .seconds(60))
        }
    }

    @Test func unchangedAnswerMakesExpiredCopyFresh() throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.simulated(world, strategy: #""cache-first""#)
            simulated.store.play(.fails, for: .write)
            simulated.origin.play(.value("newer"), .unchanged())
            _ = try await simulated.feed.load(mode: .refresh)
            #expect(simulated.store.entries[simulated.key()]?.metadata.isExpired == true)
            #expect(try await simulated.feed.load().source == .revalidated)
            let copy = try await simulated.feed.load()
            #expect(copy.source == .store("faulty") && copy.freshness == .fresh)
        }
    }

    @Test func copyThatCannotBeExpiredIsRemoved() throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.simulated(world, strategy: #""cache-first""#)
            simulated.store.set(.fails, for: .write)
            simulated.store.set(.fails, for: .expire)
            _ = try await simulated.feed.load(mode: .refresh)
            #expect(simulated.held() == nil)
        }
    }

    @Test func copyThatCanBeNeitherExpiredNorRemovedIsNotServedFresh() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(
                world, strategy: #""cache-first""#, validators: Self.windows, isStoreForeign: false)
            simulated.origin.play(then: .failure(.status(503)))
            simulated.origin.play(.value("older"), .value("newer"))
            _ = try await simulated.feed.load()
            let request = simulated.feed.request()
            #expect(simulated.feed.answer(request) != nil)
            for operation in [.write, .expire, .remove] as [FaultyStore.Operation] {
                simulated.store.set(.fails, for: operation)
            }
            _ = try await simulated.feed.load(mode: .refresh)
            #expect(simulated.feed.answer(request) == nil)
            let copy = try await simulated.feed.load()
            #expect(copy.text == "older" && copy.freshness == .stale && copy.fellBack)
            #expect(simulated.store.entries[simulated.key()]?.metadata.isExpired == false)
            // At the next look it is marked as soon as it can be.
            simulated.store.set(nil, for: .expire)
            _ = try await simulated.feed.load()
            try await world.settle()
            #expect(simulated.store.entries[simulated.key()]?.metadata.isExpired == true)
            // A saved answer is shown at once again.
            simulated.store.set(nil, for: .write)
            simulated.origin.play(.value("newest"))
            _ = try await simulated.feed.load(mode: .refresh)
            #expect(simulated.feed.answer(request)?.text == "newest")
        }
    }

    // MARK: Writes that are given up

    private static let limited = #"{ "use": "faulty", "limit": "1s" }"#

    @Test func abandonedWriteThatSucceedsLaterIsNotExpired() throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.simulated(world, strategy: #""cache-first""#, store: Self.limited)
            simulated.store.play(.takes(.seconds(10)), for: .write)
            simulated.origin.play(.value("newer"))
            #expect(try await !simulated.feed.load(mode: .refresh).isStored)
            #expect(simulated.held() == "older")
            // Until then the older one is not fresh.
            simulated.origin.play(.failure(.status(503)))
            #expect(try await simulated.feed.load().freshness == .stale)
            try await world.sleep(for: .seconds(20))
            #expect(simulated.held() == "newer")
            #expect(simulated.store.entries[simulated.key()]?.metadata.isExpired == false)
            let copy = try await simulated.feed.load()
            #expect(copy.text == "newer" && copy.freshness == .fresh)
            #expect(simulated.store.count(of: .expire) == 0)
        }
    }

    @Test func abandonedWriteThatFailsLaterExpiresOlderCopy() throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.simulated(world, strategy: #""cache-first""#, store: Self.limited)
            simulated.store.play(.failsAfter(.seconds(10)), for: .write)
            simulated.origin.play(.value("newer"))
            _ = try await simulated.feed.load(mode: .refresh)
            #expect(simulated.store.count(of: .expire) == 0)
            try await world.sleep(for: .seconds(20))
            #expect(simulated.held() == "older")
            #expect(simulated.store.entries[simulated.key()]?.metadata.isExpired == true)
        }
    }

    // MARK: Tiers

    private static let tiered = #"{ "use": "tiered", "tiers": ["upper", "lower"] }"#

    @Test func onlyFailedTierExpiresItsOlderCopy() throws {
        try SimulatedWorld().run { world in
            let upper = FaultyStore("upper", isForeign: false, world: world)
            let lower = FaultyStore("lower", world: world)
            let simulated = try await Self.simulated(
                world, strategy: #""cache-first""#, store: Self.tiered, plugins: [upper.plugin, lower.plugin])
            lower.fillUp(at: 0)
            simulated.origin.play(then: .failure(.status(503)))
            simulated.origin.play(.value("newer"))
            #expect(try await simulated.feed.load(mode: .refresh).isStored)
            let key = simulated.key()
            #expect(upper.entries[key]?.text == "newer" && upper.entries[key]?.metadata.isExpired == false)
            #expect(lower.entries[key]?.text == "older" && lower.entries[key]?.metadata.isExpired == true)
            #expect(try await simulated.feed.load().text == "newer")
            // The upper tier forgets it: the older copy is what is left for the outage.
            try await upper.remove(.all)
            let copy = try await simulated.feed.load()
            #expect(copy.text == "older" && copy.freshness == .stale && copy.fellBack)
        }
    }

    @Test func newestAnswerStaysInUpperTierWhileLowerTierIsBroken() throws {
        try SimulatedWorld().run { world in
            let upper = FaultyStore("upper", isForeign: false, world: world)
            let lower = FaultyStore("lower", world: world)
            let simulated = try await Self.simulated(
                world, strategy: #""cache-first""#, store: Self.tiered, plugins: [upper.plugin, lower.plugin])
            for operation: FaultyStore.Operation in [.read, .write, .expire, .remove] {
                lower.set(.fails, for: operation)
            }
            simulated.origin.play(.value("newer"))
            _ = try await simulated.feed.load(mode: .refresh)
            for _ in 0..<3 {
                #expect(try await simulated.feed.load().text == "newer")
                try await world.sleep(for: .seconds(1))
            }
            #expect(upper.entries[simulated.key()]?.metadata.isExpired == false)
            // The lower tier works again. Its older copy is still there, and is not shown as fresh.
            for operation: FaultyStore.Operation in [.read, .write, .expire, .remove] {
                lower.set(nil, for: operation)
            }
            try await upper.remove(.all)
            simulated.origin.play(then: .failure(.status(503)))
            let copy = try await simulated.feed.load()
            #expect(copy.text == "older" && copy.freshness == .stale)
        }
    }

    @Test func newerStaleCopyInLowerTierReplacesExpiredCopy() throws {
        try SimulatedWorld().run { world in
            let upper = FaultyStore("upper", world: world)
            let lower = FaultyStore("lower", world: world)
            let simulated = try await Self.simulated(world, store: Self.tiered, plugins: [upper.plugin, lower.plugin])
            upper.set(.fails, for: .write)
            simulated.origin.play(then: .failure(.status(503)))
            simulated.origin.play(.value("newer"))
            #expect(try await simulated.feed.load().isStored)
            try await world.sleep(for: .seconds(7_200))
            let copy = try await simulated.feed.load()
            #expect(copy.text == "newer" && copy.freshness == .stale && copy.source == .store("lower"))
        }
    }

    @Test func tierKeepsCopyWhosePayloadEqualsAnswer() throws {
        try SimulatedWorld().run { world in
            let upper = FaultyStore("upper", world: world)
            let lower = FaultyStore("lower", world: world)
            let simulated = try await Self.simulated(world, store: Self.tiered, plugins: [upper.plugin, lower.plugin])
            lower.set(.fails, for: .write)
            simulated.origin.play(.unchanged())
            _ = try await simulated.feed.load()
            #expect(lower.entries[simulated.key()]?.metadata.isExpired == false)
            #expect(upper.entries[simulated.key()]?.metadata.validatedAt == world.now)
        }
    }

    // MARK: Marks

    @Test func wrappingStoresForwardExpire() throws {
        try SimulatedWorld().run { world in
            let inner = FaultyStore("inner", world: world)
            let front = FaultyStore("front", world: world)
            let store = """
                { "use": "front", "limit": "5s", "of": {
                  "use": "tiered", "limit": "5s", "tiers": ["memory", { "use": "inner", "limit": "5s" }] } }
                """
            let simulated = try await Self.simulated(
                world, store: store, plugins: [inner.plugin, front.plugin(keepingIn: "of")])
            for store in [inner, front] { store.set(.fails, for: .write) }
            simulated.origin.play(.value("newer"))
            _ = try await simulated.feed.load()
            #expect(front.count(of: .expire) == 1 && inner.count(of: .expire) == 1)
            #expect(inner.entries[simulated.key()]?.metadata.isExpired == true)
            #expect(try await front.kept().values.map(\.metadata.isExpired) == [true])
        }
    }

    @Test func expirationDoesNotChangeSpread() {
        var metadata = Metadata(spread: 0.75)
        let plain = metadata
        metadata.isExpired = true
        #expect(metadata.spread == 0.75 && metadata.isExpired && metadata != plain)
        metadata.spread = 0
        #expect(metadata.spread == 0 && metadata.isExpired && metadata != Metadata())
        metadata.isExpired = false
        #expect(metadata == Metadata())
    }
}
