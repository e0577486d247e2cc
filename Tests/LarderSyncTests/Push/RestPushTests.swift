import Larder
import LarderFoundation
import LarderSimulation
import LarderSystem
import Testing

@testable import LarderSync

@Suite struct RestPushTests {
    static func policy(_ more: String = "", outbox: String = "{}") -> String {
        """
        { "resource": "notes", "origin": "service",
          "records": { "id": "/id", "ids": "server", "version": "/v", "pull": "all", "push": "rest"\(more) },
          "outbox": \(outbox) }
        """
    }

    /// Runs a test with an app and a service.
    private func run(
        _ policy: String = policy(),
        _ test: @escaping @Sendable (RestService, SimulatedWorld, Pantry, Records<Note>) async throws -> Void
    ) throws {
        let simulated = SimulatedWorld(seed: 1)
        try simulated.run(leaving: .anything) { world in
            let (service, app) = (RestService(), try RecordsApp(in: world))
            app.use(service)
            let pantry = try await app.pantry(["notes": policy])
            let notes = pantry.records("notes", of: Note.self)
            try await notes.sync()
            try await test(service, simulated, pantry, notes)
            let applied = service.state.withLock { $0.applied }
            #expect(applied.values.allSatisfy { $0 == 1 })
            let books = try await notes.books()
            #expect(books.unaccounted == 0)
            await pantry.close()
        }
    }

    @Test func newRecordIsSentAndNamedEverywhere() throws {
        try run { service, world, _, notes in
            let made = try await notes.create(Note(title: "Ramen"))
            let other = try await notes.create(Note(title: "refers", collection: made.id))
            #expect(made.isTemporary && other.isTemporary)
            try await world.sleep(for: .seconds(1))
            let named = try await notes.get(made.id).record
            #expect(named?.id == "s1")
            #expect(named?.state == .synced)
            #expect(try await notes.get(other.id).record?.value.collection == "s1")
            #expect(service.note("s2")?["collection"]?.string == "s1")
            // No temporary id has left the device.
            #expect(service.calls.allSatisfy { !$0.body.contains(TemporaryID.prefix) })
            #expect(try await notes.books().accepted == 2)
        }
    }

    @Test func onlyChangedFieldsAreSent() throws {
        try run { service, world, _, notes in
            try service.set("a", #"{"id":"a","title":"old","rank":1,"unknown":[1.50]}"#)
            try await notes.sync()
            try await notes.update("a") { $0.title = "new" }
            try await world.sleep(for: .seconds(1))
            #expect(service.calls.map(\.body) == [#"{"title":"new"}"#])
            #expect(service.calls.map(\.id) == ["a"])
            #expect(service.note("a")?.shownText == #"{"id":"a","title":"new","rank":1,"unknown":[1.50],"v":2}"#)
        }
    }

    @Test func deletionIsDoneIfTheServiceHasNoneAnyMore() throws {
        try run { service, world, _, notes in
            try service.set("a", #"{"id":"a","title":"old"}"#)
            try await notes.sync()
            service.remove("a")
            try await notes.delete("a")
            try await world.sleep(for: .seconds(1))
            #expect(service.calls.map(\.method) == ["DELETE"])
            #expect(try await notes.books().pending == 0)
            #expect(try await notes.get("a") == .absent)
        }
    }

    @Test(arguments: [RestService.Trouble.lostAnswer, .lostCall, .loginPage, .status(500), .status(429)])
    func changeIsSentAgainWithItsKey(_ trouble: RestService.Trouble) throws {
        try run { service, world, _, notes in
            service.fail(trouble)
            try await notes.create(Note(title: "once"))
            try await world.sleep(for: .seconds(10))
            #expect(service.calls.count == 2)
            #expect(service.calls[0] == service.calls[1])
            #expect(service.state.withLock { $0.notes.count } == 1)
            #expect(try await notes.books().accepted == 1)
        }
    }

    @Test(arguments: [
        LoadError(.notSignedIn, "the token has expired", status: 400), LoadError(.failed, "cut", status: 200),
    ])
    func errorThatIsNoAnswerToAChangeKeepsIt(_ error: LoadError) throws {
        try run { service, world, pantry, notes in
            service.state.withLock { $0.errors = [error] }
            try await notes.create(Note(title: "kept"))
            try await world.sleep(for: .seconds(0.5))
            #expect(service.calls.count == 1)
            #expect(try await notes.books().pending == 1)
            try await notes.sync()
            #expect(service.note("s1")?["title"]?.string == "kept")
        }
    }

    @Test func changesThatAlwaysFailDelayNoOthers() throws {
        try run { service, world, _, notes in
            service.state.withLock { $0.failing = "bad" }
            for _ in 0..<9 { try await notes.create(Note(title: "bad")) }
            try await notes.create(Note(title: "good"))
            try await world.sleep(for: .seconds(10))
            #expect(service.state.withLock { $0.notes.values.map { $0.text["title"]?.string } } == ["good"])
        }
    }

    @Test func askingForASyncDuringASendFetchesAsWell() throws {
        try run { service, world, _, notes in
            service.state.withLock { $0.delay = .seconds(5) }
            try await notes.create(Note(title: "slow"))
            try await world.sleep(for: .seconds(1))
            #expect(service.calls.count == 1)
            try service.set("a", #"{"id":"a","title":"new"}"#)
            try await notes.sync()
            #expect(try await notes.get("a").record?.value.title == "new")
        }
    }

    @Test func heldChangeGoesAsSoonAsTheAppAsks() throws {
        try run { service, world, _, notes in
            service.fail(.status(401))
            try await notes.create(Note(title: "held"))
            try await world.sleep(for: .seconds(100))
            #expect(service.calls.count == 1)
            // The app has signed in.
            try await notes.sync()
            #expect(service.calls.count == 2)
            #expect(try await notes.books().accepted == 1)
        }
    }

    @Test func waitingChangeGoesWhenThereIsANetworkAgain() throws {
        try run(Self.policy(outbox: #"{ "jitter": 0 }"#)) { service, world, _, notes in
            service.fail(.lostCall, .lostCall, .lostCall, .lostCall, .lostCall)
            try await notes.create(Note(title: "waits"))
            // The next try would come two minutes after the last.
            try await world.sleep(for: .seconds(70))
            #expect(service.calls.count == 5)
            world.network = .offline
            try await world.sleep(for: .seconds(1))
            world.network = NetworkState(.online)
            try await world.sleep(for: SyncTimetable.spread + .seconds(1))
            #expect(service.calls.count == 6)
        }
    }

    @Test func changeDoesNotWaitForRecordsThatCannotBeFetched() throws {
        // Without versions, records are fetched before changes are sent.
        try run(Self.policy().replacing(#""version": "/v", "#, with: "")) { service, world, _, notes in
            try await notes.create(Note(title: "a"))
            service.state.withLock { $0.hasNoList = true }
            await #expect(throws: LoadError.self) { try await notes.sync() }
            #expect(service.calls.isEmpty)
            try await world.sleep(for: .seconds(2))
            #expect(service.calls.map(\.method) == ["POST"])
        }
    }

    @Test func changeAfterTheFailedTryIsAnotherOne() throws {
        try run { service, world, _, notes in
            service.fail(.lostAnswer)
            let made = try await notes.create(Note(title: "once"))
            try await world.sleep(for: .milliseconds(600))
            try await notes.update(made.id) { $0.title = "twice" }
            try await world.sleep(for: .seconds(10))
            #expect(service.calls.map(\.method) == ["POST", "POST", "PATCH"])
            #expect(service.note("s1")?["title"]?.string == "twice")
        }
    }

    @Test func changesOfOtherFieldsAreMerged() throws {
        try run { service, world, _, notes in
            try service.set("a", #"{"id":"a","title":"old","rank":1}"#)
            try await notes.sync()
            try service.set("a", #"{"id":"a","title":"old","rank":2}"#)
            try await notes.update("a") { $0.title = "mine" }
            try await world.sleep(for: .seconds(10))
            #expect(service.note("a")?["title"]?.string == "mine")
            #expect(service.note("a")?["rank"]?.integer == 2)
            #expect(service.calls.count == 2)
            #expect(service.calls[0].key != service.calls[1].key)
        }
    }

    @Test func changeOfADeletedRecordBecomesALetter() throws {
        try run { service, world, _, notes in
            try service.set("a", #"{"id":"a","title":"old"}"#)
            try await notes.sync()
            service.remove("a")
            try await notes.update("a") { $0.title = "mine" }
            try await world.sleep(for: .seconds(10))
            #expect(try await notes.get("a") == .absent)
            let letters = try await notes.rejected()
            #expect(letters.map(\.reason) == [.overtaken])
            // The record is made again, under a new name.
            let made = try #require(await letters.first?.restore())
            #expect(made.value.title == "mine")
            try await world.sleep(for: .seconds(10))
            #expect(service.note("s1")?["title"]?.string == "mine")
            #expect(try await notes.rejected().isEmpty)
        }
    }

    @Test func refusedChangeIsTakenBackAndKeptAsALetter() throws {
        try run { service, world, _, notes in
            try service.set("a", #"{"id":"a","title":"old"}"#)
            try await notes.sync()
            service.fail(.status(422))
            try await notes.update("a") { $0.title = "bad" }
            try await world.sleep(for: .seconds(10))
            #expect(try await notes.get("a").record?.value.title == "old")
            #expect(try await notes.books().rejected == 1)
            #expect(service.calls.count == 1)
            let letter = try #require(await notes.rejected().first)
            #expect(letter.status == 422 && letter.reason == .rejected && letter.value?.title == "bad")
            try await letter.restore { $0.title += " (2)" }
            try await world.sleep(for: .seconds(10))
            #expect(service.note("a")?["title"]?.string == "bad (2)")
            #expect(try await notes.rejected().isEmpty)
            #expect(try await letter.restore() == nil)
        }
    }

    @Test func refusedChangeIsShownIfThePolicySaysSo() throws {
        try run(Self.policy(outbox: #"{ "onReject": "keep" }"#)) { service, world, _, notes in
            try service.set("a", #"{"id":"a","title":"old"}"#)
            try await notes.sync()
            service.fail(.status(422))
            try await notes.update("a") { $0.title = "bad" }
            try await world.sleep(for: .seconds(10))
            let record = try await notes.get("a").record
            #expect(record?.value.title == "bad")
            #expect(record?.state == .rejected)
        }
    }

    @Test func statusMeansWhatThePolicySays() throws {
        try run(Self.policy(outbox: #"{ "reject": [503], "retry": [422], "conflict": [400] }"#)) {
            service, world, _, notes in
            service.fail(.status(422), .status(503))
            try await notes.create(Note(title: "1"))
            try await world.sleep(for: .seconds(10))
            #expect(service.calls.count == 2)
            #expect(try await notes.books().rejected == 1)
        }
    }

    @Test func oneStuckChangeDelaysNoOtherRecord() throws {
        try run { service, world, _, notes in
            service.fail(.status(500))
            try await notes.create(Note(title: "stuck"))
            for number in 0..<9 { try await notes.create(Note(title: "\(number)")) }
            try await world.sleep(for: .milliseconds(900))
            #expect(service.state.withLock { $0.notes.count } == 9)
        }
    }

    @Test func unreachableServiceIsAskedOnceForAll() throws {
        try run { service, world, _, notes in
            for _ in 0..<1_000 { service.fail(.lostCall) }
            for number in 0..<50 { try await notes.create(Note(title: "\(number)")) }
            try await world.sleep(for: .milliseconds(900))
            #expect(service.calls.count == 4)
            service.state.withLock { $0.troubles = [] }
            try await world.sleep(for: .seconds(60))
            #expect(service.state.withLock { $0.notes.count } == 50)
        }
    }

    @Test func nothingIsSentOfflineAndAllAfterwards() throws {
        try run { service, world, _, notes in
            world.network = .offline
            for number in 0..<5 { try await notes.create(Note(title: "\(number)")) }
            try await world.sleep(for: .seconds(3_000))
            #expect(service.calls.isEmpty)
            world.network = NetworkState(.online)
            try await world.sleep(for: SyncTimetable.spread + .seconds(1))
            #expect(service.state.withLock { $0.notes.count } == 5)
        }
    }

    @Test func eventsTellBothSidesOfAConflict() throws {
        try run { service, world, pantry, notes in
            let found = Locked<[SyncEvent.Kind]>([])
            let events = pantry.syncEvents
            let reading = world.spawn {
                for await event in events { found.withLock { $0.append(event.kind) } }
            }
            try service.set("a", #"{"id":"a","title":"old"}"#)
            try await notes.sync()
            try service.set("a", #"{"id":"a","title":"theirs"}"#)
            try await notes.update("a") { $0.title = "mine" }
            try await notes.create(Note(title: "new"))
            try await world.sleep(for: .seconds(10))
            let kinds = found.withLock { $0 }
            let conflicts = kinds.compactMap { kind -> [String?]? in
                guard case .conflict(let mine, let theirs, let result) = kind else { return nil }
                return [mine, theirs, result].map { $0?["title"]?.string }
            }
            #expect(conflicts == [["mine", "theirs", "theirs"]])
            #expect(kinds.contains(.accepted))
            #expect(kinds.contains { if case .renamed = $0 { true } else { false } })
            reading.cancel()
        }
    }

    @Test func changesForAnotherSourceAreHeldUntilTheyAreReleased() throws {
        let simulated = SimulatedWorld(seed: 1)
        try simulated.run(leaving: .anything) { world in
            let (service, app) = (RestService(), try RecordsApp(in: world))
            app.service.withLock { $0 = { try service.answer($0) } }
            app.changes.withLock { $0 = { try service.change($0, $1) } }
            simulated.network = .offline
            let pantry = try await app.pantry(["notes": Self.policy()])
            let notes = pantry.records("notes", of: Note.self)
            let held = Locked(0)
            let events = pantry.syncEvents
            let reading = world.spawn {
                for await event in events { if case .held(let count) = event.kind { held.withLock { $0 = count } } }
            }
            try await notes.create(Note(title: "for the test server"))
            let other = Self.policy().replacing(
                #""origin": "service""#, with: #""origin": { "use": "service", "at": "there" }"#)
            try await app.change("notes", other, of: pantry)
            simulated.network = NetworkState(.online)
            try await world.sleep(for: .seconds(100))
            #expect(service.calls.isEmpty)
            #expect(held.withLock { $0 } == 1)
            #expect(try await notes.releaseHeld() == 1)
            try await world.sleep(for: .seconds(10))
            #expect(service.note("s1")?["title"]?.string == "for the test server")
            reading.cancel()
            await pantry.close()
        }
    }

    @Test func nothingForOneSourceReachesAnotherAfterAReload() throws {
        let there = Self.policy().replacing(
            #""origin": "service""#, with: #""origin": { "use": "service", "at": "there" }"#)
        let simulated = SimulatedWorld(seed: 1)
        try simulated.run(leaving: .anything) { world in
            let (service, app) = (RestService(), try RecordsApp(in: world))
            app.service.withLock { $0 = { try service.answer($0) } }
            app.changes.withLock { $0 = { try service.change($0, $1) } }
            let pantry = try await app.pantry(["notes": Self.policy()])
            let resource = pantry.resource("notes")
            let context = try pantry.recordsAttachment("notes").context
            let mark = try #require(try resource.sourceMarks.first)
            let create = Request("notes", body: Data("{}".utf8))
            _ = try await context.send(create, onlyTo: mark)
            _ = try await context.fetch(Request("notes"), onlyFrom: mark)
            try await app.change("notes", there, of: pantry)
            await #expect(throws: LoadError.self) { try await context.send(create, onlyTo: mark) }
            await #expect(throws: LoadError.self) { try await context.send(create, onlyTo: "") }
            await #expect(throws: LoadError.self) { try await context.fetch(Request("notes"), onlyFrom: mark) }
            #expect(service.calls.count == 1)
            await pantry.close()
        }
    }

    @Test func deletionOfARecordThatIsGoneIsDoneWhateverThePageSays() throws {
        try run { service, world, _, notes in
            try service.set("1", #"{"id":"1","title":"gone"}"#)
            try await notes.sync()
            try await notes.delete("1")
            let page = Reply(status: 404, fields: ["Content-Type": "text/html"], body: Data("<html>".utf8))
            service.state.withLock {
                $0.notes = [:]
                $0.errors = [.status(404, reply: page)]
            }
            try await world.sleep(for: .seconds(5))
            #expect(try await notes.books().pending == 0)
            #expect(service.calls.filter { $0.method == "DELETE" }.count == 1)
        }
    }

    /// Two pantries share nothing but the files, as an app and its extension do.
    @Test func changeOfAnotherProcessIsSent() async throws {
        let (service, app) = (RestService(), try RecordsApp(in: SystemWorld()))
        app.service.withLock { $0 = { try service.answer($0) } }
        app.changes.withLock { $0 = { try service.change($0, $1) } }
        let main = try await app.pantry(["notes": Self.policy()])
        try await main.records("notes").sync()
        var events = main.syncEvents.makeAsyncIterator()
        // The extension sends nothing.
        let other = try await app.pantry([
            "notes": Self.policy().replacing(#", "push": "rest""#, with: "")
        ])
        try await other.records("notes", of: Note.self).create(Note(title: "from the extension"))
        while let event = await events.next() { if event.kind == .accepted { break } }
        #expect(service.note("s1")?["title"]?.string == "from the extension")
        await other.close()
        await main.close()
    }

    @Test func changesOfARecordArriveInOrder() throws {
        let policy = Self.policy(outbox: #"{ "merge": false }"#)
        try run(policy) { service, world, _, notes in
            let made = try await notes.create(Note(title: "0"))
            for number in 1...5 { try await notes.update(made.id) { $0.title = "\(number)" } }
            try await world.sleep(for: .seconds(10))
            let titles = service.calls.map { try? JSONText($0.body.utf8)["title"]?.string }
            #expect(titles == ["0", "1", "2", "3", "4", "5"])
        }
    }
}
