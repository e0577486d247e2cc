import LarderFoundation
import LarderSimulation
import Testing

import Larder
@testable import LarderSystem
@testable import LarderCore

/// Clearings by another pantry on the same cache folder while this one asks the origin. Pantries see each other only
/// through the folder, so these tests hold for processes too: see `Tests/clearing`.
@Suite struct OtherPantryClearingTests {
    private static let sqlite = #"{ "use": "sqlite", "file": "feed.sqlite" }"#

    /// The ways in which a pantry comes to an answer that it keeps.
    enum Way: CaseIterable {
        case load, refresh, prefetch, keep

        /// Asks for the copy of `alice`, and returns when the answer has arrived.
        func ask(_ pantry: Pantry) async throws {
            let feed = pantry.resource("feed")
            switch self {
            case .load: _ = try await feed.load(scope: "alice")
            case .refresh: _ = try await feed.load(scope: "alice", mode: .refresh)
            case .prefetch: _ = await feed.prefetch([[:]], scope: "alice").finished()
            case .keep: _ = try await feed.keep([[:]], scope: "alice").finished()
            }
        }
    }

    /// Runs a test with a policy `feed` and two pantries, whose origin takes 3 seconds for each answer.
    private static func run(
        _ store: String = CacheFixture.file,
        _ test: @escaping @Sendable (SimulatedWorld, CacheFixture, Pantry, Pantry) async throws -> Void
    ) throws {
        try SimulatedWorld().run { world in
            let fixture = try CacheFixture(world)
            try fixture.write("feed", store: store)
            fixture.origin.play(
                then: .answering(after: .seconds(3)) { call in
                    let payload = call.request.key.scope == "alice" ? CacheFixture.secret : "bobs"
                    var metadata = Metadata()
                    metadata.tags = ["shown"]
                    return Entry(Data(payload.utf8), metadata)
                })
            try await test(world, fixture, try await fixture.open(), try await fixture.open())
        }
    }

    // MARK: Calls under way

    @Test(arguments: [CacheFixture.file, sqlite, CacheFixture.tiered], Way.allCases)
    func answerOfCallThatBeganBeforeOtherPantryClearedIsNotKept(_ store: String, way: Way) throws {
        try Self.run(store) { world, fixture, ours, theirs in
            let asking = world.start { try await way.ask(theirs) }
            try await world.sleep(for: .seconds(1))
            try await ours.clear(.scope("alice"))
            try await asking.value()
            try await world.settle()
            for pantry in [ours, theirs] { #expect(try await !fixture.isServed("alice", by: pantry)) }
            if store != Self.sqlite { #expect(fixture.traces == []) }
            // A call that begins now is another one.
            try await Way.load.ask(theirs)
            #expect(try await fixture.isServed("alice", by: theirs))
        }
    }

    @Test(arguments: [CacheFixture.file, sqlite])
    func clearingsOfTagKeyResourceAndEverythingReachCallsOfOtherPantry(_ store: String) throws {
        try Self.run(store) { world, fixture, ours, theirs in
            let feed = ours.resource("feed")
            let clearings: [@Sendable () async throws -> Void] = [
                { try await ours.clear(.tag("shown")) }, { try await ours.clear() }, { try await feed.clear() },
                { try await feed.clear([:], scope: "alice") }, { try await feed.clear(.tag("shown")) },
            ]
            for clear in clearings {
                let asking = world.start { try await Way.load.ask(theirs) }
                try await world.sleep(for: .seconds(1))
                try await clear()
                try await asking.value()
                #expect(try await !fixture.isServed("alice", by: theirs))
            }
        }
    }

    @Test(arguments: [CacheFixture.file, sqlite])
    func clearingsThatDoNotConcernAnAnswerLeaveItAlone(_ store: String) throws {
        try Self.run(store) { world, fixture, ours, theirs in
            let asking = world.start { try await Way.load.ask(theirs) }
            try await world.sleep(for: .seconds(1))
            try await ours.clear(.scope("bob"))
            try await ours.clear(.scope(nil))
            try await ours.clear(.tag("hidden"))
            try await ours.resource("other").clear()
            try await ours.resource("feed").clear(["id": "2"], scope: "alice")
            try await asking.value()
            #expect(try await fixture.isServed("alice", by: theirs))
        }
    }

    @Test func loadAfterClearingByOtherPantryJoinsNoEarlierCall() throws {
        try Self.run { world, fixture, ours, theirs in
            let early = world.start { try await theirs.resource("feed").load(scope: "alice") }
            try await world.sleep(for: .seconds(1))
            try await ours.clear(.scope("alice"))
            let late = world.start { try await theirs.resource("feed").load(scope: "alice") }
            #expect(try await !early.value().isStored)
            #expect(try await late.value().isStored)
            #expect(fixture.origin.calls.count == 2 && world.uptime == .seconds(4))
        }
    }

    @Test func downloadsThatWaitEndWhenOtherPantryClears() throws {
        try Self.run { world, fixture, ours, theirs in
            try await world.settle()
            let feed = theirs.resource("feed")
            let ids: [Parameters] = (1...10).map { ["id": "\($0)"] }
            let download = try await feed.keep(ids, scope: "alice")
            let other = try await feed.keep(ids, scope: "bob")
            try await world.sleep(for: .seconds(1))
            try await ours.clear(.scope("alice"))
            let progress = await download.finished()
            #expect(progress.done == 0 && progress.failed + progress.cancelled == 10)
            #expect(await other.finished().done == 10)
            #expect(fixture.origin.calls.count { $0.request.key.scope == "alice" } == 4)
            #expect(fixture.traces == [])
        }
    }

    @Test func resumedDownloadsThatHaveNotBegunEndWhenOtherPantryClears() throws {
        try SimulatedWorld().run { world in
            let fixture = try CacheFixture(world)
            for name in ["feed", "images"] { try fixture.write(name, store: CacheFixture.file) }
            fixture.origin.play(then: .value("value", after: .seconds(3)))
            world.network = .offline
            let former = try await fixture.open()
            _ = try await former.resource("feed").keep((1...20).map { ["id": "\($0)"] }, scope: "bob")
            _ = try await former.resource("images").keep((1...3).map { ["id": "\($0)"] }, scope: "alice")
            await former.close()
            let (ours, theirs) = (try await fixture.open(), try await fixture.open())
            try await world.settle()
            world.network = .online
            try await world.sleep(for: .seconds(1))
            // The list of images is empty then, so its file is deleted. Its downloads were checked before, so this does not
            // cover a list that was never looked at.
            try await ours.clear(.scope("alice"))
            try await world.sleep(for: .seconds(60))
            #expect(!fixture.origin.calls.contains { $0.request.key.scope == "alice" })
            #expect(fixture.origin.calls.contains { $0.request.key.scope == "bob" })
            #expect(try await !fixture.isServed("alice", by: theirs, "images"))
        }
    }

    @Test func answerIsNotKeptAfterMoreClearingsThanAreRemembered() throws {
        try Self.run { world, fixture, ours, theirs in
            let asking = world.start { try await Way.load.ask(theirs) }
            try await world.sleep(for: .seconds(1))
            let places = ours.composer.places
            for number in 0...RecordRing.capacity { _ = try places.announce(Clearing(.scope("\(number)"))) }
            try await asking.value()
            #expect(try await !fixture.isServed("alice", by: theirs))
        }
    }

    @Test func answerOfCallIsNotKeptIfClearingProcessWasKilledBeforeItClearedAnything() throws {
        try Self.run { world, fixture, ours, theirs in
            let asking = world.start { try await Way.load.ask(theirs) }
            try await world.sleep(for: .seconds(1))
            _ = try ours.composer.places.announce(Clearing(.scope("alice")))
            try await asking.value()
            #expect(fixture.traces == [])
        }
    }

    @Test func answerIsNotKeptAfterClearingInFolderThatWasDeletedMeanwhile() throws {
        try Self.run { world, fixture, ours, theirs in
            let asking = world.start { try await Way.load.ask(theirs) }
            try await world.sleep(for: .seconds(1))
            try FileManager.default.removeItem(at: fixture.cache)
            try await ours.clear(.scope("alice"))
            try await asking.value()
            #expect(try await !fixture.isServed("alice", by: theirs))
            // Without a clearing, a folder that was deleted costs nothing but the copies.
            let again = world.start { try await Way.load.ask(theirs) }
            try await world.sleep(for: .seconds(1))
            try FileManager.default.removeItem(at: fixture.cache)
            try await again.value()
            #expect(try await fixture.isServed("alice", by: theirs))
        }
    }

    // MARK: Writes under way

    /// Runs a test with another pantry whose writes take a while.
    private static func runWithSlowWrite(
        of time: Duration,
        _ test: @escaping @Sendable (SimulatedWorld, CacheFixture, _ ours: Pantry) async throws -> Void
    ) throws {
        try SimulatedWorld().run { world in
            let (fast, slow) = (FaultyStore(world: world), FaultyStore(world: world))
            let fixture = try CacheFixture(world, plugins: [fast.plugin(keepingIn: "in")])
            var theirs = fixture
            theirs.registry = Registry.standard
            for plugin in [fixture.origin.plugin("scripted"), slow.plugin(keepingIn: "in")] {
                try theirs.registry.register(plugin)
            }
            try fixture.write("feed", store: #"{ "use": "faulty", "in": "file" }"#)
            let ours = try await fixture.open()
            let other = try await theirs.open()
            slow.play(.takes(time), for: .write)
            let asking = world.start { try await Way.load.ask(other) }
            try await world.sleep(for: .seconds(1))
            #expect(slow.count(of: .write) == 1 && !asking.isOver)
            try await test(world, fixture, ours)
            withExtendedLifetime(other) {}
        }
    }

    @Test func clearingWaitsForWriteOfOtherPantryAndRemovesIt() throws {
        try Self.runWithSlowWrite(of: .seconds(5)) { world, fixture, ours in
            try await ours.clear(.scope("bob"))
            #expect(world.uptime == .seconds(1), "the write is for another account")
            try await ours.clear(.scope("alice"))
            #expect(world.uptime >= .seconds(5) && world.uptime < .seconds(6))
            #expect(fixture.traces == [] && fixture.clearings == [])
        }
    }

    @Test func clearingThatOutlastsWriteOfOtherPantryFailsAndStaysRecorded() throws {
        try Self.runWithSlowWrite(of: .seconds(100)) { world, fixture, ours in
            let error = await #expect(throws: LoadError.self) { try await ours.clear(.scope("alice")) }
            #expect(error?.message == "another process has not finished a write" && fixture.clearings.count == 1)
            try await world.sleep(for: .seconds(100))
            try await ours.reload()
            #expect(fixture.traces == [] && fixture.clearings == [])
        }
    }

    // MARK: Copies in memory

    @Test func copiesInMemoryAreDroppedWhenOtherPantryClears() async throws {
        let folder = try Folder()
        let policies = [
            "feed": #"""
            { "resource": "feed", "origin": { "use": "constant", "value": 1 }, "strategy": "cache-first",
              "store": \#(CacheFixture.tiered), "validators": [{ "use": "age", "fresh": "30d" }] }
            """#
        ]
        func open() async throws -> Pantry {
            try await Pantry(policies: policies, cache: folder.url.appending(path: "cache"), environment: [:])
        }
        let (ours, theirs) = (try await open(), try await open())
        let feed = theirs.resource("feed")
        _ = try await feed.load(scope: "alice")
        #expect(try await feed.load(scope: "alice").source == .store("memory"))
        let (changes, continuation) = AsyncStream.makeStream(of: Selection.self)
        let subscription = theirs.resourceState("feed").changed.add { continuation.yield($0) }
        try await ours.clear(.scope("alice"))
        for await _ in changes { break }
        await #expect(throws: LoadError.self) { try await feed.load(scope: "alice", mode: .cachedOnly) }
        withExtendedLifetime(subscription) {}
    }
}
