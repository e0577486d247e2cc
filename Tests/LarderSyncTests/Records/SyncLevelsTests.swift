import Larder
import LarderFoundation
import LarderSimulation
import LarderSystem
import Testing

@testable import LarderSync

extension Pantry {
    /// Returns what a dump has about a resource.
    func dumped(_ resource: String = "notes") async throws -> ResourceDump {
        let dump = try MetricsDump(reading: Array(await metrics.dump().json.text().utf8))
        return try #require(dump.resources.first { $0.name == resource })
    }

    /// Returns the values of the levels in a dump by their names.
    fileprivate func levels(of resource: String = "notes") async throws -> [String: String] {
        Dictionary(uniqueKeysWithValues: try await dumped(resource).levels.map { ($0.key.name, $0.value) })
    }
}

extension Records {
    /// Sends the first change, and settles it.
    fileprivate func settle(_ outcome: WriteOutcome) async throws {
        let (attachment, table) = (try attachment(), try table())
        try await attachment.changing(table, .power) { decisions in
            for write in try decisions.claim(most: 1) { try decisions.settle(outcome, of: write) }
        }
    }
}

/// The levels and timings of records in dumps.
@Suite struct SyncLevelsTests {
    private static let acceptance = Timing("sync_acceptance", "")
    private static let showing = Timing("sync_showing", "")

    private static func expect(
        _ level: OutboxLevel, in pantry: Pantry, at location: SourceLocation = #_sourceLocation
    ) async throws {
        let value = try await pantry.levels()["sync_outbox"]
        #expect(value == level.rawValue, sourceLocation: location)
    }

    private static func expect(
        _ level: PullLevel, in pantry: Pantry, at location: SourceLocation = #_sourceLocation
    ) async throws {
        let value = try await pantry.levels()["sync_pull"]
        #expect(value == level.rawValue, sourceLocation: location)
    }

    // MARK: Timings

    @Test func dumpTellsHowLongAcceptedChangesHaveWaited() throws {
        try RecordsApp.run { app, pantry, notes in
            for (id, pause, outcome) in [
                ("a", 3, .accepted(nil)), ("b", 26 * 3_600, .accepted(nil)), ("c", 40, .rejected(status: 422)),
            ] as [(String, Int, WriteOutcome)] {
                try await notes.create(Note(id: id, title: "x"))
                try await app.world.sleep(for: .seconds(pause))
                try await notes.settle(outcome)
            }
            let acceptance = try #require(try await pantry.dumped().total.timings[Self.acceptance])
            #expect(acceptance.count == 2)
            #expect(acceptance.sum == .seconds(3 + 26 * 3_600))
            for (share, seconds) in [(0.5, 3.0), (0.95, 26 * 3_600), (1, 26 * 3_600)] {
                let found = try #require(acceptance.percentile(share)).inSeconds
                #expect(abs(found / seconds - 1) <= 0.01, "\(share): \(found)")
            }
        }
    }

    @Test func mergedChangesAreAcceptedOnceAndAgeFromTheFirst() throws {
        try RecordsApp.run { app, pantry, notes in
            try await notes.create(Note(id: "a", title: "x"))
            try await app.world.sleep(for: .seconds(10))
            try await notes.update("a") { $0.title = "y" }
            try await app.world.sleep(for: .seconds(10))
            try await notes.settle(.accepted(nil))
            let acceptance = try #require(try await pantry.dumped().total.timings[Self.acceptance])
            #expect(acceptance.count == 1 && acceptance.sum == .seconds(20))
        }
    }

    @Test func everyPageThatShowsAChangeIsTimed() throws {
        try RecordsApp.run { app, pantry, notes in
            var pages = notes.observe().makeAsyncIterator()
            #expect(await pages.next()?.records.isEmpty == true)
            #expect(try await pantry.dumped().total.timings[Self.showing] == nil)
            for count in 1...2 {
                try await notes.create(Note(title: "x"))
                #expect(await pages.next()?.records.count == count)
            }
            #expect(try await pantry.dumped().total.timings[Self.showing]?.count == 2)
        }
    }

    // MARK: Changes

    @Test func changeThatIsTriedAgainAndAgainIsStuck() throws {
        try RecordsApp.run { app, pantry, notes in
            try await Self.expect(.empty, in: pantry)
            try await notes.create(Note(id: "a", title: "x"))
            try await Self.expect(.pending, in: pantry)
            for _ in 1...4 {
                try await notes.settle(.unknown)
                try await Self.expect(.pending, in: pantry)
                try await app.world.sleep(for: .seconds(3_600))
            }
            try await notes.settle(.unknown)
            try await Self.expect(.stuck, in: pantry)
            try await app.world.sleep(for: .seconds(3_600))
            try await notes.settle(.accepted(nil))
            try await Self.expect(.empty, in: pantry)
        }
    }

    @Test func changeForAnotherSourceIsHeld() throws {
        try RecordsApp.run { app, pantry, notes in
            try await notes.create(Note(title: "x"))
            let other = RecordsApp.notes.replacing(
                #""origin": "service""#, with: #""origin": { "use": "service", "at": "there" }"#)
            try await app.change("notes", other, of: pantry)
            try await Self.expect(.held, in: pantry)
            try await notes.releaseHeld()
            try await Self.expect(.pending, in: pantry)
        }
    }

    @Test func changeThatTheAppDecidesAboutIsHeld() throws {
        let policy = #"{ "resource": "notes", "origin": "service", "records": { "id": "/id", "conflict": "ask" } }"#
        try RecordsApp.run(policy) { _, pantry, notes in
            try await notes.pull([#"{"id":"a","title":"x"}"#])
            try await notes.update("a") { $0.title = "mine" }
            try await notes.pull([#"{"id":"a","title":"theirs"}"#])
            try await Self.expect(.held, in: pantry)
        }
    }

    @Test func changesOfASignedOutAccountAreHeld() throws {
        let policy = #"{ "resource": "notes", "origin": "signed", "records": { "id": "/id" } }"#
        try RecordsApp.run(policy) { app, pantry, notes in
            app.account.withLock { $0 = "alice" }
            try await notes.create(Note(title: "x"))
            try await Self.expect(.pending, in: pantry)
            for account in [nil, "bob"] {
                app.account.withLock { $0 = account }
                try await Self.expect(.held, in: pantry)
            }
            app.account.withLock { $0 = "alice" }
            try await Self.expect(.pending, in: pantry)
        }
    }

    @Test(arguments: [#"{ "most": 2 }"#, #"{ "capacity": "1KB" }"#])
    func queueWithoutRoomIsFull(_ outbox: String) throws {
        let policy =
            #"{ "resource": "notes", "origin": "service", "records": { "id": "/id" }, "outbox": \#(outbox) }"#
        try RecordsApp.run(policy) { _, pantry, notes in
            let title = String(repeating: "x", count: 100)
            try await notes.create(Note(title: title))
            try await Self.expect(.pending, in: pantry)
            try await notes.create(Note(title: title))
            try await Self.expect(.full, in: pantry)
            let error = await #expect(throws: RecordError.self) { try await notes.create(Note(title: title)) }
            #expect(error?.code == .full)
        }
    }

    @Test func requestsThatWaitHaveTheSameMetrics() throws {
        let policy = SendQueueTests.policy()
        try SimulatedWorld(seed: 1).run(leaving: .anything) { world in
            let app = try RecordsApp(in: world)
            let pantry = try await app.pantry(["likes": policy])
            let likes = pantry.resource("likes")
            _ = try await likes.send(likes.request(["id": "7"]), method: "PUT")
            // Nothing is fetched.
            #expect(try await pantry.levels(of: "likes") == ["sync_outbox": "pending"])
            try await world.sleep(for: .seconds(3_600))
            #expect(try await pantry.levels(of: "likes") == ["sync_outbox": "stuck"])
            app.changes.withLock { $0 = { _, _ in "" } }
            try await world.sleep(for: .seconds(3_600))
            let dump = try await pantry.dumped("likes")
            #expect(try await pantry.levels(of: "likes") == ["sync_outbox": "empty"])
            #expect(dump.total[Counter("sync_accepted", "")] == 1)
            let acceptance = try #require(dump.total.timings[Self.acceptance])
            #expect(acceptance.count == 1 && acceptance.sum > .seconds(3_600))
            await pantry.close()
        }
    }

    // MARK: Pulls

    @Test func levelTellsWhetherThePullIsCompleteOrItsPositionHasExpired() throws {
        try RecordsApp.run(PullTests.token) { app, pantry, notes in
            let service = NotesService()
            try await Self.expect(.partial, in: pantry)
            app.service.withLock { $0 = { try service.answer($0) } }
            service.change("a", "1")
            try await notes.sync()
            try await Self.expect(.complete, in: pantry)
            // The service has forgotten the token, and fails as everything is fetched.
            service.state.withLock { $0.oldestToken = .max }
            app.service.withLock {
                $0 = { request in
                    if request.parameters["token"] == nil { throw LoadError(.failed, "down") }
                    return try service.answer(request)
                }
            }
            await #expect(throws: LoadError.self) { try await notes.sync() }
            try await Self.expect(.expired, in: pantry)
            app.service.withLock { $0 = { try service.answer($0) } }
            try await notes.sync()
            try await Self.expect(.complete, in: pantry)
            #expect(try await pantry.dumped().total[Counter("sync_full_pulls", "")] == 2)
        }
    }

    @Test func pullThatMissesMuchIsSuspiciousUntilASecondAgrees() throws {
        try RecordsApp.run(PullTests.all) { _, pantry, notes in
            try await notes.pull((1...30).map { #"{"id":"\#($0)","title":"x"}"# })
            try await Self.expect(.complete, in: pantry)
            for level in [PullLevel.suspicious, .complete] {
                try await notes.pull([#"{"id":"1","title":"x"}"#])
                try await Self.expect(level, in: pantry)
            }
        }
    }
}
