import FoundationEssentials
import Larder
import LarderSimulation
import Testing

/// A write that fails loses nothing: what was there stays for when the origin fails, and is not taken for current.
@Suite struct FailedWriteTests {
    private static let windows = #"[{ "use": "age", "fresh": "1h", "onError": "7d" }]"#

    /// A resource whose older copy was saved and whose store, or `store`, then fails to write.
    private static func kitchen(
        _ world: SimulatedWorld, strategy: String = #""network-first""#, store: String = #""faulty""#,
        plugins: [Plugin] = []
    ) async throws -> Kitchen {
        let kitchen = try await Kitchen(
            world, strategy: strategy, validators: windows, store: store, plugins: plugins)
        kitchen.origin.play(.value("older", etag: "e1"))
        #expect(try await kitchen.feed.load().isStored)
        try await world.sleep(for: .seconds(60))
        return kitchen
    }

    // MARK: A store that cannot write

    @Test func olderCopyStaysForOutagesWhenANewerAnswerCannotBeSaved() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await Self.kitchen(world)
            kitchen.store.fillUp(at: 0)
            kitchen.origin.play(then: .failure(.status(503)))
            kitchen.origin.play(.value("newer"))
            let live = try await kitchen.feed.load()
            #expect(live.text == "newer" && !live.isStored)
            let copy = try await kitchen.feed.load()
            #expect(copy.text == "older" && copy.freshness == .stale && copy.fellBack)
            #expect(kitchen.store.count(of: .remove) == 0)
            #expect(copy.permissions.reasons(for: .fresh).contains("a newer answer could not be saved"))
        }
    }

    @Test func olderCopyIsNeverFreshAgainWhenANewerAnswerCouldNotBeSaved() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await Self.kitchen(world, strategy: #""cache-first""#)
            kitchen.store.play(.fails, for: .write)
            kitchen.origin.play(.value("newer"), .value("newest"))
            #expect(try await kitchen.feed.load().text == "older")
            #expect(try await kitchen.feed.load(mode: .refresh).text == "newer")
            // It is one minute old of an hour.
            #expect(try await kitchen.feed.load().text == "newest")
            #expect(try await kitchen.feed.load().freshness == .fresh)
        }
    }

    @Test func copyStaysAsItWasWhenTheOriginSaysUnchangedAndTheWriteFails() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await Self.kitchen(world)
            let before = try #require(kitchen.store.entries[kitchen.key()])
            kitchen.store.set(.fails, for: .write)
            kitchen.origin.play(then: .failure(.status(503)))
            kitchen.origin.play(.unchanged())
            let live = try await kitchen.feed.load()
            #expect(live.source == .revalidated && !live.isStored)
            #expect(kitchen.store.entries[kitchen.key()]?.metadata == before.metadata)
            let copy = try await kitchen.feed.load()
            #expect(copy.text == "older" && copy.freshness == .fresh && copy.age == .seconds(60))
        }
    }

    @Test func expiredCopyThatTheOriginCallsCurrentIsFreshAgain() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await Self.kitchen(world, strategy: #""cache-first""#)
            kitchen.store.play(.fails, for: .write)
            kitchen.origin.play(.value("newer"), .unchanged())
            _ = try await kitchen.feed.load(mode: .refresh)
            #expect(kitchen.store.entries[kitchen.key()]?.metadata.isExpired == true)
            #expect(try await kitchen.feed.load().source == .revalidated)
            let copy = try await kitchen.feed.load()
            #expect(copy.source == .store("faulty") && copy.freshness == .fresh)
        }
    }

    @Test func copyThatCannotBeMarkedIsRemoved() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await Self.kitchen(world, strategy: #""cache-first""#)
            kitchen.store.set(.fails, for: .write)
            kitchen.store.set(.fails, for: .expire)
            _ = try await kitchen.feed.load(mode: .refresh)
            #expect(kitchen.held() == nil)
        }
    }

    @Test func copyThatCanBeNeitherMarkedNorRemovedIsNotShownAsFresh() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await Kitchen(
                world, strategy: #""cache-first""#, validators: Self.windows, foreignStore: false)
            kitchen.origin.play(then: .failure(.status(503)))
            kitchen.origin.play(.value("older"), .value("newer"))
            _ = try await kitchen.feed.load()
            let request = kitchen.feed.request()
            #expect(kitchen.feed.answer(request) != nil)
            for operation in [.write, .expire, .remove] as [FaultyStore.Operation] {
                kitchen.store.set(.fails, for: operation)
            }
            _ = try await kitchen.feed.load(mode: .refresh)
            #expect(kitchen.feed.answer(request) == nil)
            let copy = try await kitchen.feed.load()
            #expect(copy.text == "older" && copy.freshness == .stale && copy.fellBack)
            #expect(kitchen.store.entries[kitchen.key()]?.metadata.isExpired == false)
            // At the next look it is marked as soon as it can be.
            kitchen.store.set(nil, for: .expire)
            _ = try await kitchen.feed.load()
            try await world.settle()
            #expect(kitchen.store.entries[kitchen.key()]?.metadata.isExpired == true)
            // What is saved is shown at once again.
            kitchen.store.set(nil, for: .write)
            kitchen.origin.play(.value("newest"))
            _ = try await kitchen.feed.load(mode: .refresh)
            #expect(kitchen.feed.answer(request)?.text == "newest")
        }
    }

    // MARK: Writes that are given up

    private static let limited = #"{ "use": "faulty", "limit": "1s" }"#

    @Test func writeThatWasGivenUpAndLandsLaterIsNotMarked() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await Self.kitchen(world, strategy: #""cache-first""#, store: Self.limited)
            kitchen.store.play(.takes(.seconds(10)), for: .write)
            kitchen.origin.play(.value("newer"))
            #expect(try await !kitchen.feed.load(mode: .refresh).isStored)
            #expect(kitchen.held() == "older")
            // Until then the older one is not fresh.
            kitchen.origin.play(.failure(.status(503)))
            #expect(try await kitchen.feed.load().freshness == .stale)
            try await world.sleep(for: .seconds(20))
            #expect(kitchen.held() == "newer")
            #expect(kitchen.store.entries[kitchen.key()]?.metadata.isExpired == false)
            let copy = try await kitchen.feed.load()
            #expect(copy.text == "newer" && copy.freshness == .fresh)
            #expect(kitchen.store.count(of: .expire) == 0)
        }
    }

    @Test func olderCopyIsMarkedWhenAWriteThatWasGivenUpFailsLater() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await Self.kitchen(world, strategy: #""cache-first""#, store: Self.limited)
            kitchen.store.play(.failsAfter(.seconds(10)), for: .write)
            kitchen.origin.play(.value("newer"))
            _ = try await kitchen.feed.load(mode: .refresh)
            #expect(kitchen.store.count(of: .expire) == 0)
            try await world.sleep(for: .seconds(20))
            #expect(kitchen.held() == "older")
            #expect(kitchen.store.entries[kitchen.key()]?.metadata.isExpired == true)
        }
    }

    // MARK: Tiers

    private static let tiered = #"{ "use": "tiered", "tiers": ["upper", "lower"] }"#

    @Test func onlyTheTierThatFailedMarksItsOlderCopy() throws {
        try SimulatedWorld().run { world in
            let upper = FaultyStore("upper", isForeign: false, world: world)
            let lower = FaultyStore("lower", world: world)
            let kitchen = try await Self.kitchen(
                world, strategy: #""cache-first""#, store: Self.tiered, plugins: [upper.plugin, lower.plugin])
            lower.fillUp(at: 0)
            kitchen.origin.play(then: .failure(.status(503)))
            kitchen.origin.play(.value("newer"))
            #expect(try await kitchen.feed.load(mode: .refresh).isStored)
            let key = kitchen.key()
            #expect(upper.entries[key]?.text == "newer" && upper.entries[key]?.metadata.isExpired == false)
            #expect(lower.entries[key]?.text == "older" && lower.entries[key]?.metadata.isExpired == true)
            #expect(try await kitchen.feed.load().text == "newer")
            // The upper tier forgets it: the older copy is what is left for the outage.
            try await upper.remove(.all)
            let copy = try await kitchen.feed.load()
            #expect(copy.text == "older" && copy.freshness == .stale && copy.fellBack)
        }
    }

    @Test func expiredCopyGivesWayToTheNewerOneBelowItThoughNeitherIsFresh() throws {
        try SimulatedWorld().run { world in
            let upper = FaultyStore("upper", world: world)
            let lower = FaultyStore("lower", world: world)
            let kitchen = try await Self.kitchen(world, store: Self.tiered, plugins: [upper.plugin, lower.plugin])
            upper.set(.fails, for: .write)
            kitchen.origin.play(then: .failure(.status(503)))
            kitchen.origin.play(.value("newer"))
            #expect(try await kitchen.feed.load().isStored)
            try await world.sleep(for: .seconds(7_200))
            let copy = try await kitchen.feed.load()
            #expect(copy.text == "newer" && copy.freshness == .stale && copy.source == .store("lower"))
        }
    }

    @Test func tierKeepsItsCopyAsItWasWhenItsPayloadIsTheAnswers() throws {
        try SimulatedWorld().run { world in
            let upper = FaultyStore("upper", world: world)
            let lower = FaultyStore("lower", world: world)
            let kitchen = try await Self.kitchen(world, store: Self.tiered, plugins: [upper.plugin, lower.plugin])
            lower.set(.fails, for: .write)
            kitchen.origin.play(.unchanged())
            _ = try await kitchen.feed.load()
            #expect(lower.entries[kitchen.key()]?.metadata.isExpired == false)
            #expect(upper.entries[kitchen.key()]?.metadata.validatedAt == world.now)
        }
    }

    // MARK: Marks

    @Test func everyStoreThatWrapsAnotherForwardsTheMark() throws {
        try SimulatedWorld().run { world in
            let inner = FaultyStore("inner", world: world)
            let front = FaultyStore("front", world: world)
            let store = """
                { "use": "front", "limit": "5s", "of": {
                  "use": "tiered", "limit": "5s", "tiers": ["memory", { "use": "inner", "limit": "5s" }] } }
                """
            let kitchen = try await Self.kitchen(
                world, store: store, plugins: [inner.plugin, front.plugin(keepingIn: "of")])
            for store in [inner, front] { store.set(.fails, for: .write) }
            kitchen.origin.play(.value("newer"))
            _ = try await kitchen.feed.load()
            #expect(front.count(of: .expire) == 1 && inner.count(of: .expire) == 1)
            #expect(inner.entries[kitchen.key()]?.metadata.isExpired == true)
            #expect(try await front.kept().values.map(\.metadata.isExpired) == [true])
        }
    }

    @Test func markTakesNoPlaceOfTheSpread() {
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
