import Larder
import LarderFoundation
import LarderSimulation
import LarderSystem
import Testing

@testable import LarderSync

/// An evening with a logout while changes wait.
@Suite struct LogoutTests {
    private static let policy = RestPushTests.policy().replacing(
        #""origin": "service""#, with: #""origin": "signed""#)

    /// The calls of the service, each with its account.
    private typealias Calls = Locked<[String]>

    /// Runs a test in which Alice has changed something offline.
    private func run(
        _ test: @escaping @Sendable (RestService, SimulatedWorld, RecordsApp, Pantry, Calls) async throws -> Void
    ) throws {
        let simulated = SimulatedWorld(seed: 1)
        try simulated.run(leaving: .anything) { world in
            let (service, app, calls) = (RestService(), try RecordsApp(in: world), Calls([]))
            app.service.withLock { $0 = { $0.key.scope == "alice" ? try service.answer($0) : "[]" } }
            app.changes.withLock {
                $0 = { method, request in
                    calls.withLock { $0.append("\(request.key.scope ?? "nobody") \(method)") }
                    // The session of an account that is not signed in has ended.
                    if request.key.scope != app.account.withLock({ $0 }) { throw LoadError.status(401) }
                    return try service.change(method, request)
                }
            }
            for id in ["a", "b"] { try service.set(id, #"{"id":"\#(id)","title":"old"}"#) }
            app.account.withLock { $0 = "alice" }
            let pantry = try await app.pantry(["notes": Self.policy])
            let notes = pantry.records("notes", of: Note.self)
            try await notes.sync()
            simulated.network = .offline
            try await notes.create(Note(title: "new"))
            try await notes.update("a") { $0.title = "changed" }
            try await notes.delete("b")
            try await test(service, simulated, app, pantry, calls)
            let books = try await pantry.records("notes", scope: "alice").books()
            #expect(books.made == 3 && books.unaccounted == 0)
            await pantry.close()
        }
    }

    private func expectUnsent(
        _ counts: [UnsentCount], at location: SourceLocation = #_sourceLocation
    ) {
        var expected = UnsentCount(of: RecordTable(resource: "notes", scope: "alice"))
        (expected.creates, expected.updates, expected.deletes) = (1, 1, 1)
        #expect(counts == [expected] && expected.total == 3, sourceLocation: location)
    }

    @Test func changesWaitHiddenUntilTheNextSignIn() throws {
        try run { service, world, app, pantry, calls in
            let notes = pantry.records("notes", of: Note.self)
            // The app asks before the logout.
            expectUnsent(try await pantry.unsent(of: "alice"))
            let start = world.uptime
            expectUnsent(try await pantry.sendWaiting(within: .seconds(5)))
            #expect(world.uptime - start <= .seconds(5))
            app.account.withLock { $0 = nil }
            try await pantry.clear(.scope("alice"))
            await #expect(throws: RecordError.self) { _ = try await notes.waiting() }
            let nobodys = try await pantry.syncStatus()
            #expect(nobodys == SyncStatus())
            let sentByNobody = try await pantry.sendWaiting(within: .seconds(5))
            #expect(sentByNobody.isEmpty)
            expectUnsent(try await pantry.unsent())

            // Another account sees nothing of it, and nothing of it reaches the service.
            app.account.withLock { $0 = "bob" }
            let (live, status) = (notes.live(), notes.liveStatus())
            world.network = .unknown
            try await world.sleep(for: .seconds(3_600))
            let his = try await notes.query().records
            #expect(his.isEmpty)
            let hisWaiting = try await notes.waiting()
            #expect(hisWaiting.isEmpty)
            #expect(live.records.isEmpty && status.pendingCount == 0)
            let hisRejected = try await notes.rejected()
            #expect(hisRejected.isEmpty)
            let hisUnsent = try await pantry.unsent(of: "bob")
            #expect(hisUnsent.isEmpty)
            let hisPending = try await pantry.syncStatus().pendingCount
            #expect(hisPending == 0)
            let sentByBob = try await pantry.sendWaiting(within: .seconds(5))
            #expect(sentByBob.isEmpty)
            #expect(service.calls.isEmpty && service.note("b") != nil)

            let hers = try await pantry.records("notes", scope: "alice").waiting().map(\.waitsFor)
            #expect(hers == Array(repeating: .account(nextTry: nil), count: 3))

            // Offline, she sees what needs nothing of the service.
            world.network = .offline
            app.account.withLock { $0 = "alice" }
            let shown = try await notes.query().records.map(\.value.title)
            #expect(shown == ["new"])
            let kinds = try await notes.waiting().map(\.kind)
            #expect(kinds == [.create, .update, .delete])
            expectUnsent(try await pantry.unsent(of: "alice"))
            // Online, all of it is sent.
            world.network = .unknown
            try await notes.sync()
            try await world.sleep(for: .seconds(1))
            let unsent = try await pantry.unsent()
            #expect(unsent.isEmpty)
            let titles = try await notes.query(Query().sorted(by: Field<String>("title"))).records.map(\.value.title)
            #expect(titles == ["changed", "new"])
            #expect(service.note("a")?["title"]?.string == "changed" && service.note("b") == nil)
            #expect(service.state.withLock { $0.notes.count } == 2)
            let books = try await notes.books()
            #expect(books == Books(made: 3, accepted: 3))
        }
    }

    @Test func changesAreDroppedAndBookedIfTheAppAsksForIt() throws {
        try run { service, world, app, pantry, _ in
            try await pantry.clear(.scope("alice"), discardingUnsent: true)
            let unsent = try await pantry.unsent()
            #expect(unsent.isEmpty)
            let notes = pantry.records("notes", of: Note.self)
            let books = try await notes.books()
            #expect(books == Books(made: 3, discarded: 3))
            let waiting = try await notes.waiting()
            #expect(waiting.isEmpty)
            world.network = .unknown
            try await notes.sync()
            try await world.sleep(for: .seconds(60))
            #expect(service.calls.isEmpty)
            let shown = try await notes.query().records.map(\.value.title)
            #expect(shown == ["old", "old"])
        }
    }

    @Test func withANetworkAllIsSentBeforeTheLogout() throws {
        try run { service, world, app, pantry, _ in
            world.network = .unknown
            let left = try await pantry.sendWaiting(within: .seconds(5))
            #expect(left.isEmpty)
            #expect(service.calls.count == 3)
        }
    }

    @Test func sendingEndsInTimeAndGoesOn() throws {
        try run { service, world, app, pantry, calls in
            let answer = app.changes.withLock { $0 }
            app.changes.withLock {
                $0 = { method, request in
                    try await world.sleep(for: .seconds(7))
                    return try await answer?(method, request) ?? ""
                }
            }
            world.network = .unknown
            let start = world.uptime
            let left = try await pantry.sendWaiting(within: .seconds(5))
            #expect(world.uptime - start == .seconds(5))
            expectUnsent(left)
            try await world.sleep(for: .seconds(5))
            let unsent = try await pantry.unsent()
            #expect(unsent.isEmpty)
            #expect(service.calls.count == 3)
        }
    }

    @Test func cancelledSendingThrows() throws {
        try run { service, world, app, pantry, _ in
            service.state.withLock { $0.delay = .seconds(7) }
            world.network = .unknown
            let thrown = Locked<(any Error)?>(nil)
            let task = world.spawn {
                do { try await pantry.sendWaiting(within: .seconds(100)) } catch { thrown.withLock { $0 = error } }
            }
            task.cancel()
            await task.value
            #expect(thrown.withLock { $0 } is CancellationError)
            // Nothing is lost by it.
            try await world.sleep(for: .seconds(120))
            let unsent = try await pantry.unsent()
            #expect(unsent.isEmpty)
        }
    }

    @Test func requestsAndResourcesWithoutAPolicyAreCounted() throws {
        try run { service, world, app, pantry, _ in
            try await app.change("likes", SendQueueTests.policy(), of: pantry)
            let likes = pantry.resource("likes")
            _ = try await likes.send(likes.request(["id": "7"]), method: "PUT")
            let resources = try await pantry.unsent().map(\.resource)
            #expect(resources == ["notes", "likes"])
            let totals = try await pantry.unsent(of: nil).map(\.total)
            #expect(totals == [1])
            try FileManager.default.removeItem(at: app.folder.url.appending(path: "policies/notes.json"))
            try await pantry.reload()
            expectUnsent(try await pantry.unsent(of: "alice"))
            try await app.change("notes", Self.policy, of: pantry)
        }
    }
}
