import Larder
import LarderFoundation
import LarderSimulation
import LarderSystem
import Testing

@testable import LarderSync

/// A service with notes, each changed at a time of its own clock.
final class NotesService: Sendable {
    struct State {
        /// The notes, the latest change last; nil for a deleted one.
        var changes: [(id: String, title: String?, at: Int)] = []
        var calls: [Parameters] = []
        var clock = 1_000_000
        /// The answer to a token that is not known any more; nil for the status 410.
        var expiry: (status: Int, body: String)?
        /// The oldest token that is still known.
        var oldestToken = 0
    }

    let state = Locked(State())

    var calls: [[String: String]] { state.withLock { $0.calls.map(\.dictionary) } }

    func change(_ id: String, _ title: String?) {
        state.withLock { state in
            state.clock += 10
            state.changes.removeAll { $0.id == id }
            state.changes.append((id, title, state.clock))
        }
    }

    /// Answers in the way that the puller in question expects.
    func answer(_ request: Request) throws -> String {
        try state.withLock { state in
            let parameters = request.parameters
            state.calls.append(parameters)
            let limit = parameters["limit"].flatMap { Int($0) } ?? 1_000
            let since = (parameters["token"] ?? parameters["since"]).flatMap { Int($0) }
            if let token = parameters["token"].flatMap({ Int($0) }), token < state.oldestToken {
                guard let (status, body) = state.expiry else { throw LoadError(.answer, "gone", status: 410) }
                if status < 400 { return body }
                var error = LoadError(.answer, "refused", status: status)
                error.reply = Reply(status: status, body: Data(body.utf8))
                throw error
            }
            let start = parameters["cursor"].flatMap { Int($0) } ?? 0
            let found = state.changes.filter { since == nil ? $0.title != nil : $0.at > since ?? 0 }
            let page = found.dropFirst(start).prefix(limit)
            let isLast = start + limit >= found.count
            let items = page.filter { $0.title != nil }.map {
                #"{"id":"\#($0.id)","title":"\#($0.title ?? "")","at":\#($0.at)}"#
            }
            let deleted = page.filter { $0.title == nil }.map { "\"\($0.id)\"" }
            let token = page.last?.at ?? since ?? state.clock
            return """
                { "notes": [\(items.joined(separator: ","))], "deleted": [\(deleted.joined(separator: ","))],
                  "next": \(isLast ? "null" : "\"\(start + limit)\""), "now": \(state.clock),
                  "token": "\(token)", "more": \(isLast ? "false" : "true") }
                """
        }
    }
}

@Suite struct PullTests {
    private static func policy(_ pull: String, _ more: String = "") -> String {
        #"{ "resource": "notes", "origin": "service", "records": { "id": "/id", "pull": \#(pull)\#(more) } }"#
    }

    static let all = policy(#"{ "use": "all", "items": "/notes", "next": "/next" }"#)
    static let since = policy(
        #"""
        { "use": "since", "items": "/notes", "deleted": "/deleted", "next": "/next", "serverTime": "/now",
          "overlap": "0s" }
        """#)
    static let token = policy(
        #"{ "use": "token", "items": "/notes", "deleted": "/deleted", "token": "/token", "more": "/more" }"#)

    /// Runs a test with an app and a service.
    private func run(
        _ policy: String,
        _ test: @escaping @Sendable (NotesService, RecordsApp, Pantry, Records<Note>) async throws -> Void
    ) throws {
        try SimulatedWorld(seed: 1).run(leaving: .anything) { world in
            let (service, app) = (NotesService(), try RecordsApp(in: world))
            app.service.withLock { $0 = { try service.answer($0) } }
            let pantry = try await app.pantry(["notes": policy])
            try await test(service, app, pantry, pantry.records("notes", of: Note.self))
            await pantry.close()
        }
    }

    @Test(arguments: [all, since, token]) func pagesAreFollowedToTheEnd(_ policy: String) throws {
        try run(policy) { service, _, _, notes in
            for number in 0..<450 { service.change("n\(number)", "\(number)") }
            try await notes.sync()
            #expect(try await notes.count(Query()) == 450)
            #expect(try await notes.get("n449").record?.value.title == "449")
            let page = try await notes.query(Query())
            #expect(page.isComplete)
        }
    }

    @Test(arguments: [since, token]) func onlyChangesAreAskedForAfterwards(_ policy: String) throws {
        try run(policy) { service, _, _, notes in
            for number in 0..<3 { service.change("n\(number)", "\(number)") }
            try await notes.sync()
            service.change("n1", "changed")
            service.change("n2", nil)
            let before = service.calls.count
            try await notes.sync()
            #expect(service.calls.count == before + 1)
            #expect(service.calls.last?["cursor"] == nil)
            #expect(service.calls.last?.count == 2)
            #expect(try await notes.get("n1").record?.value.title == "changed")
            #expect(try await notes.get("n2") == .absent)
            #expect(try await notes.count(Query()) == 2)
        }
    }

    @Test func secondFullPullDecidesAboutManyMissingRecords() throws {
        try run(Self.token) { service, _, _, notes in
            for number in 0..<30 { service.change("n\(number)", "\(number)") }
            try await notes.sync()
            for number in 0..<25 { service.change("n\(number)", nil) }
            service.state.withLock { $0.oldestToken = .max }
            try await notes.sync()
            #expect(try await notes.count(Query()) == 30)
            service.state.withLock { $0.oldestToken = 0 }
            try await notes.sync()
            #expect(try await notes.count(Query()) == 5)
        }
    }

    @Test func recordWithAWrongTimeHidesNoLaterChanges() throws {
        let policy = Self.policy(#"{ "use": "since", "items": "/notes" }"#, #", "updatedAt": "/at""#)
        try run(policy) { _, app, _, notes in
            let times = Locked<[Int64?]>([])
            app.service.withLock {
                $0 = { request in
                    times.withLock { $0.append(request.parameters["since"].flatMap { Int64($0) }) }
                    return #"{ "notes": [{ "id": "a", "title": "t", "at": 4102444800000 }] }"#
                }
            }
            try await notes.sync()
            let now = app.world.now.milliseconds
            try await notes.sync()
            let since = try #require(times.withLock { $0 }.last ?? nil)
            #expect(since <= now)
        }
    }

    @Test func unchangedRecordIsAsYoungAsTheLastPull() throws {
        try run(Self.since) { service, app, pantry, notes in
            service.change("a", "1")
            try await notes.sync()
            try await app.world.sleep(for: .seconds(3_000))
            try await notes.sync()
            let loaded = try await pantry.resource("notes").load(["id": "a"], noOlderThan: .seconds(100))
            #expect(loaded.age.map { $0 < .seconds(100) } == true)
        }
    }

    @Test func lastChangeInAListOfChangesDecides() throws {
        let policy = Self.policy(#"{ "use": "all", "items": "/notes", "tombstone": "/gone" }"#)
        try run(policy) { _, app, _, notes in
            app.service.withLock {
                $0 = { _ in
                    """
                    { "notes": [{ "id": "a", "title": "1" }, { "id": "b", "gone": true }, { "id": "a", "gone": true },
                      { "id": "b", "title": "2" }] }
                    """
                }
            }
            try await notes.sync()
            #expect(try await notes.get("a") == .absent)
            #expect(try await notes.get("b").record?.value.title == "2")
        }
    }

    @Test func recordsThatAreMissingInAllWereDeleted() throws {
        try run(Self.all) { service, _, _, notes in
            service.change("a", "1")
            service.change("b", "2")
            try await notes.sync()
            service.change("a", nil)
            try await notes.sync()
            #expect(try await notes.get("a") == .absent)
            #expect(try await notes.get("b").record?.value.title == "2")
        }
    }

    @Test func expiredTokenFetchesEverythingAndKeepsUnsentChanges() throws {
        try run(Self.token) { service, _, _, notes in
            service.change("a", "1")
            service.change("b", "2")
            try await notes.sync()
            try await notes.update("a") { $0.title = "mine" }
            service.change("b", nil)
            service.change("c", "3")
            service.state.withLock { state in
                state.oldestToken = state.clock
                state.changes.removeAll { $0.title == nil }
            }
            try await notes.sync()
            #expect(try await notes.get("a").record?.value.title == "mine")
            #expect(try await notes.get("b") == .absent)
            #expect(try await notes.get("c").record?.value.title == "3")
            #expect(try await notes.books().pending == 1)
        }
    }

    @Test(arguments: [
        (409, #"{"error":{"code":"reset"}}"#), (200, #"{"error":{"code":"reset"}}"#), (409, "{}"), (500, "<p>"),
    ])
    func codeInTheAnswerSaysThatTheTokenHasExpired(_ status: Int, _ body: String) throws {
        let policy = Self.policy(
            ##"{ "use": "token", "items": "/notes", "token": "/token", "more": "/more", "expiredCode": { "at": "/error/code", "is": "reset" } }"##
        )
        try run(policy) { service, _, _, notes in
            service.change("a", "1")
            try await notes.sync()
            service.change("b", "2")
            service.state.withLock { ($0.oldestToken, $0.expiry) = ($0.clock, (status, body)) }
            let isExpired = body.contains("reset")
            do {
                try await notes.sync()
                #expect(isExpired)
            } catch { #expect(!isExpired) }
            #expect(try await notes.count() == (isExpired ? 2 : 1))
        }
    }

    @Test func pullBeginsWhereTheServersTimeWasLessTheOverlap() throws {
        let policy = Self.policy(
            #"{ "use": "since", "items": "/notes", "next": "/next", "serverTime": "/now", "overlap": "60s" }"#)
        try run(policy) { service, _, _, notes in
            service.change("a", "1")
            try await notes.sync()
            try await notes.sync()
            // The clock of the service was 1,000,010 seconds, and the device's is another one.
            #expect(service.calls.last?["since"] == "999950")
        }
    }

    @Test func latestChangeIsThePositionOfAServiceWithoutAClock() throws {
        let policy = Self.policy(
            #"{ "use": "since", "items": "/notes", "next": "/next", "overlap": "5s" }"#, #", "updatedAt": "/at""#)
        try run(policy) { service, _, _, notes in
            service.change("a", "1")
            service.change("b", "2")
            try await notes.sync()
            try await notes.sync()
            #expect(service.calls.last?["since"] == "1000015")
            service.change("a", "3")
            try await notes.sync()
            #expect(try await notes.get("a").record?.value.title == "3")
        }
    }

    @Test func pullGoesOnAtItsPageAfterARestart() throws {
        try SimulatedWorld(seed: 1).run(leaving: .anything) { world in
            let (service, app) = (NotesService(), try RecordsApp(in: world))
            for number in 0..<450 { service.change("n\(number)", "\(number)") }
            let calls = Locked(0)
            app.service.withLock { answer in
                answer = { request in
                    if calls.withLock({ calls in
                        calls += 1; return calls
                    }) == 2 {
                        throw LoadError(.failed, "cut")
                    }
                    return try service.answer(request)
                }
            }
            let first = try await app.pantry(["notes": Self.all])
            _ = try? await first.records("notes", of: Note.self).sync()
            await first.close()
            let second = try await app.pantry(["notes": Self.all])
            let notes = second.records("notes", of: Note.self)
            #expect(try await notes.count(Query()) == 200)
            let before = service.calls.count
            try await notes.sync()
            #expect(try await notes.count(Query()) == 450)
            #expect(service.calls[before]["cursor"] == "200")
            #expect(service.calls.count == before + 2)
            await second.close()
        }
    }

    @Test func policyWithoutAPullIsNotSynced() throws {
        try run(RecordsApp.notes) { _, _, _, notes in
            await #expect { try await notes.sync() } throws: { ($0 as? RecordError)?.code == .notSynced }
        }
    }

    @Test func functionIsAPuller() throws {
        try SimulatedWorld(seed: 1).run(leaving: .anything) { world in
            let asked = Locked<[String?]>([])
            let registry = try Registry.standard.adding(.sync).adding([
                .puller("counting", "Counts.") { question in
                    let number = asked.withLock { asked in
                        asked.append(question.position)
                        return asked.count
                    }
                    let record = try JSONText(#"{"id":"\#(number)"}"#.utf8)
                    return PullPage([record], position: "p\(number)")
                }
            ])
            let policy =
                #"{ "resource": "notes", "origin": { "use": "constant", "value": 1 }, "records": { "id": "/id", "pull": "counting" } }"#
            let folder = try TemporaryFolder()
            let pantry = try await Pantry(
                policies: ["notes": policy], registry: registry, cache: folder.url.appending(path: "c"),
                data: folder.url.appending(path: "d"), world: world)
            let notes = pantry.records("notes")
            try await notes.sync()
            try await notes.sync()
            #expect(asked.withLock { $0 } == [nil, "p1"])
            #expect(try await notes.count(Query()) == 2)
            await pantry.close()
        }
    }
}
