import Larder
import LarderFoundation
import LarderSimulation
import LarderSystem
import Testing

@testable import LarderSync

/// The changes that wait, and the reasons for which they do.
@Suite struct WaitingChangesTests {
    typealias Body =
        @Sendable (RestService, SimulatedWorld, RecordsApp, Pantry, Records<Note>) async throws -> Void

    /// Runs a test with an app and a service that were brought together.
    private func run(_ policy: String = RestPushTests.policy(), _ test: @escaping Body) throws {
        let simulated = SimulatedWorld(seed: 1)
        try simulated.run(leaving: .anything) { world in
            let (service, app) = (RestService(), try RecordsApp(in: world))
            app.use(service)
            let pantry = try await app.pantry(["notes": policy])
            let notes = pantry.records("notes", of: Note.self)
            _ = try? await notes.sync()
            try await test(service, simulated, app, pantry, notes)
            #expect(try await notes.books().unaccounted == 0)
            await pantry.close()
        }
    }

    private func reasons(_ notes: Records<Note>) async throws -> [WaitReason] {
        try await notes.waiting().map(\.waitsFor)
    }

    // MARK: Changes

    @Test func changesAreInTheirOrderWithTheRecordAfterEach() throws {
        try run(RestPushTests.policy(outbox: #"{ "merge": false }"#)) { service, world, _, pantry, notes in
            try service.set("a", #"{"id":"a","title":"old"}"#)
            try await notes.sync()
            let start = world.now
            try await notes.update("a") { $0.title = "one" }
            try await world.sleep(for: .milliseconds(100))
            let made = try await notes.create(Note(title: "new"))
            try await notes.update("a") { $0.title = "two" }
            try await notes.delete("a")
            let waiting = try await notes.waiting()
            #expect(waiting.map(\.id) == ["a", made.id, "a", "a"])
            #expect(waiting.map(\.kind) == [.update, .create, .update, .delete])
            #expect(waiting.map { $0.value?.title } == ["one", "new", "two", nil])
            #expect(waiting.map(\.number) == waiting.map(\.number).sorted() && Set(waiting.map(\.number)).count == 4)
            #expect(waiting.map { $0.madeAt - start } == [.zero] + Array(repeating: .milliseconds(100), count: 3))
            #expect(waiting.allSatisfy { $0.tries == 0 && $0.lastStatus == nil })
            let first = WaitReason.earlierChange(number: waiting[0].number)
            #expect(waiting.map(\.waitsFor).suffix(2) == [first, first])
            // Without a type, a record that does not decode is there, too.
            let texts = pantry.records("notes", of: [String].self)
            #expect(try await texts.waiting().map { $0.value == nil } == [true, true, true, true])
            #expect(try await pantry.records("notes").waiting().first?.value?["title"]?.string == "one")
            try await world.sleep(for: .seconds(10))
            #expect(try await notes.waiting().isEmpty)
        }
    }

    /// The time that is named is the time of the next try.
    @Test(
        arguments: [
            ("{}", [], WaitReason.Pause.gather, 0.3), (#"{ "gather": "2s" }"#, [], .gather, 2),
            (#"{ "jitter": 0 }"#, [503], .retry, 1), (#"{ "jitter": 0 }"#, [500, 503], .retry, 2),
            (#"{ "jitter": 0, "retries": 0 }"#, [503], .retry, 60),
        ] as [(String, [Int], WaitReason.Pause, Double)])
    func namedTimeIsThatOfTheNextTry(_ outbox: String, _ troubles: [Int], _ pause: WaitReason.Pause, _ wait: Double)
        throws
    {
        try run(RestPushTests.policy(outbox: outbox)) { service, world, _, _, notes in
            for status in troubles { service.fail(.status(status)) }
            try await notes.create(Note(title: "x"))
            while service.calls.count < troubles.count { try await world.sleep(for: .milliseconds(10)) }
            try await world.sleep(for: .milliseconds(1))
            let change = try #require(try await notes.waiting().first)
            #expect(change.tries == troubles.count && change.lastStatus == troubles.last)
            guard case .time(let time, pause) = change.waitsFor else {
                Issue.record("\(change.waitsFor)")
                return
            }
            #expect(abs((time - world.now).inSeconds - wait) < 0.02)
            try await world.sleep(for: time - world.now - .milliseconds(2))
            #expect(service.calls.count == troubles.count)
            try await world.sleep(for: .milliseconds(4))
            #expect(service.calls.count == troubles.count + 1)
        }
    }

    @Test func waitOfTheServiceIsNamed() throws {
        try run { service, world, _, _, notes in
            service.state.withLock { $0.errors = [.status(429, retryAfter: .seconds(40))] }
            try await notes.create(Note(title: "x"))
            try await world.sleep(for: .seconds(1))
            guard case .time(let time, .service)? = try await reasons(notes).first else {
                Issue.record("it does not wait for the service's time")
                return
            }
            #expect(abs((time - world.now).inSeconds - 39.3) < 0.1)
            // The app cannot end it.
            try await notes.sendWaiting()
            #expect(service.calls.count == 1)
            try await world.sleep(for: .seconds(40))
            #expect(service.calls.count == 2)
            #expect(try await reasons(notes).isEmpty)
        }
    }

    @Test func intervalOfThePusherIsNamed() throws {
        let policy = RestPushTests.policy().replacing(
            #""push": "rest""#, with: #""push": { "use": "rest", "every": "5m" }"#)
        try run(policy) { service, world, _, _, notes in
            try await notes.create(Note(title: "x"))
            #expect(try await reasons(notes) == [.time(world.now + .seconds(300), .every)])
            service.fail(.status(503))
            try await world.sleep(for: .seconds(301))
            guard case .time(let time, .every)? = try await reasons(notes).first else {
                Issue.record("it does not wait for the next run")
                return
            }
            #expect(service.calls.count == 1 && abs((time - world.now).inSeconds - 299) < 0.1)
            try await world.sleep(for: time - world.now + .milliseconds(1))
            #expect(service.calls.count == 2)
        }
    }

    @Test func signInIsNamed() throws {
        try run { service, world, _, _, notes in
            service.fail(.status(401))
            try await notes.create(Note(title: "x"))
            try await world.sleep(for: .seconds(1))
            guard case .account(let time?)? = try await reasons(notes).first else {
                Issue.record("it does not wait for a sign-in")
                return
            }
            #expect(abs((time - world.now).inSeconds - 899.3) < 1)
            try await world.sleep(for: time - world.now + .milliseconds(1))
            #expect(service.calls.count == 2)
        }
        let signed = RestPushTests.policy().replacing(#""origin": "service""#, with: #""origin": "signed""#)
        try run(signed) { service, world, app, pantry, _ in
            let hers = pantry.records("notes", of: Note.self, scope: "alice")
            try await hers.create(Note(title: "x"))
            #expect(try await reasons(hers) == [.account(nextTry: nil)])
            await #expect(throws: RecordError.self) { _ = try await pantry.records("notes").waiting() }
            app.account.withLock { $0 = "alice" }
            try await hers.sync()
            #expect(try await reasons(hers).isEmpty)
        }
    }

    @Test func networkIsNamedAndThenTheTurn() throws {
        try run { service, world, _, _, notes in
            world.network = .offline
            try await notes.create(Note(title: "x"))
            #expect(try await reasons(notes) == [.network])
            let error = await #expect(throws: RecordError.self) { try await notes.sendWaiting() }
            #expect(error?.code == .unavailable)
            world.network = .unknown
            try await world.sleep(for: .milliseconds(1))
            guard case .time(let time, .spread)? = try await reasons(notes).first else {
                Issue.record("it does not wait for its turn")
                return
            }
            try await world.sleep(for: time - world.now + .milliseconds(1))
            #expect(service.calls.count == 1)
        }
    }

    @Test func otherReasonsAreNamed() throws {
        let asking = RestPushTests.policy(#", "conflict": "ask""#)
        try run(asking) { service, world, app, pantry, notes in
            // A record that refers to another new one.
            service.state.withLock { $0.failing = "first" }
            let first = try await notes.create(Note(title: "first"))
            try await notes.create(Note(title: "second", collection: first.id))
            #expect(try await reasons(notes).last == .record(id: first.id))
            // An answer that is under way.
            service.state.withLock { ($0.failing, $0.delay) = (nil, .seconds(2)) }
            try await world.sleep(for: .seconds(1))
            let waiting = try await notes.waiting()
            #expect(waiting.map(\.waitsFor) == [.answer, .record(id: first.id)])
            #expect(try await !waiting[0].discard())
            try await world.sleep(for: .seconds(10))
            #expect(try await reasons(notes).isEmpty)
            // A conflict.
            service.state.withLock { $0.delay = .zero }
            try await notes.update("s1") { $0.title = "mine" }
            try service.set("s1", #"{"id":"s1","title":"theirs"}"#)
            try await world.sleep(for: .seconds(10))
            #expect(try await reasons(notes) == [.decision])
            try await notes.resolve("s1", with: .theirs)
            // Another source.
            world.network = .offline
            try await notes.update("s2") { $0.title = "there" }
            let other = asking.replacing(#""service""#, with: #"{ "use": "service", "at": "there" }"#)
            try await app.change("notes", other, of: pantry)
            #expect(try await reasons(notes) == [.source])
            try await notes.releaseHeld()
            #expect(try await reasons(notes) == [.network])
            // A policy without a push.
            try await app.change("notes", other.replacing(#", "push": "rest""#, with: ""), of: pantry)
            #expect(try await reasons(notes) == [.push])
            let error = await #expect(throws: RecordError.self) { try await notes.sendWaiting() }
            #expect(error?.code == .notSynced)
        }
    }

    @Test func lookupIsNamed() throws {
        try run { service, world, app, _, notes in
            try service.set("a", #"{"id":"a","title":"old"}"#)
            try await notes.sync()
            app.service.withLock { $0 = { _ in throw LoadError.status(503) } }
            service.fail(.status(409))
            try await notes.update("a") { $0.title = "new" }
            try await world.sleep(for: .seconds(1))
            guard case .lookup(let time?)? = try await reasons(notes).first else {
                Issue.record("it does not wait for the service's record")
                return
            }
            app.service.withLock { $0 = { try service.answer($0) } }
            try await world.sleep(for: time - world.now + .seconds(1))
            #expect(try await reasons(notes).isEmpty)
            #expect(service.note("a")?["title"]?.string == "new")
        }
    }

    @Test func everyReasonIsASentence() {
        let now = Timestamp(seconds: 1)
        let reasons: [WaitReason] = [
            .earlierChange(number: 7), .nextRun, .network, .account(nextTry: nil), .account(nextTry: now),
            .record(id: "tmp-secret"), .decision, .source, .answer, .lookup(nextTry: now), .push,
        ]
        let pauses: [WaitReason.Pause] = [.gather, .every, .retry, .service, .spread]
        let texts = (reasons + pauses.map { .time(now, $0) }).map(\.description)
        #expect(Set(texts).count == texts.count)
        #expect(texts.allSatisfy { !$0.contains("secret") && !$0.contains("7") && $0.first?.isLowercase == true })
        #expect(reasons.map(\.time) == [nil, nil, nil, nil, now, nil, nil, nil, nil, now, nil])
        #expect(WaitReason.time(now, .gather).time == now)
    }

    // MARK: Decisions of the user

    @Test func discardedChangeIsNeverSentAndInTheBooks() throws {
        try run { service, world, _, _, notes in
            try service.set("a", #"{"id":"a","title":"old"}"#)
            try await notes.sync()
            service.fail(.status(503))
            try await notes.update("a") { $0.title = "sent" }
            try await world.sleep(for: .milliseconds(400))
            // It may have reached the service, so the next edit is a change of its own.
            try await notes.update("a") { $0.rank = 7 }
            let waiting = try await notes.waiting()
            #expect(waiting.map(\.tries) == [1, 0])
            #expect(try await waiting[0].discard())
            #expect(try await !waiting[0].discard())
            let left = try await notes.get("a").record?.value
            #expect(left?.title == "old" && left?.rank == 7)
            #expect(try await notes.books() == Books(made: 2, discarded: 1, pending: 1))
            try await world.sleep(for: .seconds(10))
            #expect(service.calls.map(\.body) == [#"{"title":"sent"}"#, #"{"rank":7}"#])
            // With a new record, all of it goes.
            service.fail(.status(503))
            let made = try await notes.create(Note(title: "new"))
            try await world.sleep(for: .milliseconds(400))
            try await notes.update(made.id) { $0.rank = 1 }
            #expect(try await notes.waiting().first?.discard() == true)
            #expect(try await notes.waiting().isEmpty)
            #expect(try await notes.books() == Books(made: 4, accepted: 1, discarded: 3))
        }
    }

    @Test func sendingNowEndsTheWaitsAndFetchesNothing() throws {
        try run { service, world, app, _, notes in
            for _ in 0..<6 { service.fail(.status(503)) }
            try await notes.create(Note(title: "x"))
            try await world.sleep(for: .seconds(100))
            let calls = service.calls.count
            #expect(try await notes.waiting().count == 1)
            service.state.withLock { $0.troubles = [] }
            let lookups = Locked(0)
            app.service.withLock {
                $0 = {
                    lookups.withLock { $0 += 1 }
                    return try service.answer($0)
                }
            }
            try await notes.sendWaiting()
            #expect(service.calls.count == calls + 1 && lookups.withLock { $0 } == 0)
            #expect(try await notes.waiting().isEmpty)
        }
    }

    @Test func changesOfAnEarlierProcessAreThere() throws {
        try run { service, world, app, pantry, notes in
            service.fail(.status(503))
            try await notes.create(Note(title: "x"))
            try await world.sleep(for: .milliseconds(400))
            let before = try #require(try await notes.waiting().first)
            world.network = .offline
            await pantry.close()
            let next = try await app.pantry(["notes": RestPushTests.policy()])
            let after = try #require(try await next.records("notes", of: Note.self).waiting().first)
            #expect(after.number == before.number && after.tries == 1 && after.lastStatus == 503)
            #expect(after.waitsFor == .network)
            await next.close()
        }
    }

    // MARK: Requests

    @Test func requestsWaitForTheFirstOfTheirLine() throws {
        let policy = SendQueueTests.policy(#"{ "order": ["kind"] }"#)
        try SimulatedWorld(seed: 1).run(leaving: .anything) { world in
            let (app, ids) = (try RecordsApp(in: world), Locked<[String]>([]))
            app.changes.withLock {
                $0 = { _, request in
                    ids.withLock { $0.append(request.parameters["id"] ?? "") }
                    throw LoadError.status(503)
                }
            }
            let pantry = try await app.pantry(["likes": policy])
            let likes = pantry.resource("likes")
            for (id, kind) in [("1", "a"), ("2", "a"), ("3", "b")] {
                _ = try await likes.send(likes.request(["id": id, "kind": kind]), method: "PUT")
            }
            let queue = pantry.records("likes")
            let waiting = try await queue.waiting()
            #expect(waiting.map { $0.value?["parameters"]?["id"]?.string } == ["1", "2", "3"])
            #expect(waiting[0].lastStatus == 503 && waiting[0].waitsFor.time != nil)
            #expect(waiting[1].waitsFor == .earlierChange(number: waiting[0].number))
            #expect(waiting[2].waitsFor.time != nil)
            ids.withLock { $0 = [] }
            #expect(try await waiting[0].discard())
            try await queue.sendWaiting()
            #expect(ids.withLock { $0 } == ["2", "3"])
            #expect(try await queue.books().discarded == 1)
            await pantry.close()
        }
    }
}

extension Duration {
    fileprivate var inSeconds: Double { Double(nanoseconds) / 1e9 }
}
