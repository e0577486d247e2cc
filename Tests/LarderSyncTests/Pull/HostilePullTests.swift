import Larder
import LarderFoundation
import LarderSimulation
import LarderSystem
import Testing

@testable import LarderSync

/// Services at their worst. Whatever a service answers, the pull ends, nothing of a page is half merged, and no unsent change
/// is lost.
@Suite struct HostilePullTests {
    private static func policy(_ pull: String, _ more: String = "") -> String {
        #"{ "resource": "notes", "origin": "service", "records": { "id": "/id", "pull": \#(pull)\#(more) } }"#
    }

    private static let all = policy(
        #"{ "use": "all", "items": "/notes", "next": "/next", "deleted": "/deleted", "epoch": "/epoch" }"#)

    /// Runs a test with a service that answers each call by its number.
    private func run(
        _ policy: String = all, answer: @escaping @Sendable (Int, Parameters) throws -> String,
        _ test: @escaping @Sendable (Records<Note>, Locked<Int>) async throws -> Void
    ) throws {
        try SimulatedWorld(seed: 1).run(leaving: .anything) { world in
            let app = try RecordsApp(in: world)
            let calls = Locked(0)
            let pantry = try await app.pantry(["notes": policy])
            let notes = pantry.records("notes", of: Note.self)
            // A change that must not be lost.
            try await notes.put(Note(id: "mine", title: "unsent"))
            app.service.withLock {
                $0 = { request in
                    try answer(
                        calls.withLock { calls in
                            calls += 1; return calls
                        }, request.parameters)
                }
            }
            try await test(notes, calls)
            #expect(try await notes.get("mine").record?.value.title == "unsent")
            let books = try await notes.books()
            #expect(books.unaccounted == 0 && books.pending == 1)
            await pantry.close()
        }
    }

    /// Expects that a sync fails because the answer cannot be right, and that no record was merged.
    private func expectRefusal(_ notes: Records<Note>, merging count: Int = 0) async throws {
        await #expect { try await notes.sync() } throws: { ($0 as? RecordError)?.code == .badAnswer }
        #expect(try await notes.count(Query()) == count + 1)
    }

    private func page(_ ids: [String], next: String? = nil) -> String { Self.page(ids, next: next) }

    private static func page(_ ids: [String], next: String? = nil) -> String {
        let notes = ids.map { #"{"id":"\#($0)","title":"t"}"# }.joined(separator: ",")
        return #"{ "notes": [\#(notes)], "next": \#(next.map { "\"\($0)\"" } ?? "null") }"#
    }

    @Test func repeatedCursorEndsThePull() throws {
        try run { call, _ in
            Self.page(["\(call)"], next: "again")
        } _: { notes, calls in
            try await expectRefusal(notes, merging: 1)
            #expect(calls.withLock { $0 } == 2)
        }
    }

    @Test func circleOfThreeCursorsEndsThePull() throws {
        try run { call, _ in
            Self.page(["\(call)"], next: "c\(call % 3)")
        } _: { notes, calls in
            await #expect { try await notes.sync() } throws: { ($0 as? RecordError)?.code == .badAnswer }
            #expect(calls.withLock { $0 } < 12)
        }
    }

    @Test func pullThatLedInACircleBeginsAnew() throws {
        try run { call, _ in
            call < 3 ? Self.page(["\(call)"], next: "again") : Self.page(["last"])
        } _: { notes, _ in
            try await expectRefusal(notes, merging: 1)
            try await notes.sync()
            #expect(try await notes.get("last").record != nil)
        }
    }

    @Test func emptyPageWithANextOneIsFollowed() throws {
        try run { call, _ in
            call == 1 ? Self.page([], next: "2") : Self.page(["a"])
        } _: { notes, _ in
            try await notes.sync()
            #expect(try await notes.get("a").record != nil)
        }
    }

    @Test(arguments: [
        "<html><body>Welcome to our hotel</body></html>", "", "[]", "{}", "null", #"{ "notes": null }"#,
        #"{ "notes": { "a": 1 } }"#, #"{ "notes": [], "next": {} }"#, #"{ "notes": [], "deleted": 7 }"#,
        #"{ "notes": [], "deleted": [[]] }"#, #"{ "notes": [], "notes": [] }"#, #"{ "notes": [], "epoch": [] }"#,
        #"{ "notes": [{"id": 1}, 2, 3] }"#, #"{ "notes": [{}] }"#, #"{ "notes": [{"id": ""}] }"#,
        #"{ "notes": [{"id": {}}] }"#, #"{ "notes": [{"id": null}] }"#,
    ]) func answerThatMakesNoSenseChangesNothing(_ answer: String) throws {
        try run { _, _ in
            answer
        } _: { notes, _ in
            try await expectRefusal(notes)
        }
    }

    @Test func answerThatIsNestedTooDeepChangesNothing() throws {
        let answer = #"{ "notes": ["# + String(repeating: "[", count: 100_000) + "]}"
        try run { _, _ in
            answer
        } _: { notes, _ in
            try await expectRefusal(notes)
        }
    }

    @Test func cursorThatIsTooLongChangesNothing() throws {
        let answer = #"{ "notes": [], "next": ""# + String(repeating: "n", count: 20_000) + #"" }"#
        try run { _, _ in
            answer
        } _: { notes, _ in
            try await expectRefusal(notes)
        }
    }

    @Test func recordWithATemporaryIDIsSetAside() throws {
        let temporary = TemporaryID.make { 7 }
        try run { _, _ in
            Self.page(["a", temporary])
        } _: { notes, _ in
            try await notes.sync()
            #expect(try await notes.count(Query()) == 2)
        }
    }

    @Test func cursorThatIsNeverAnsweredIsGivenUp() throws {
        let firstPages = Locked(0)
        try run { _, parameters in
            if parameters["cursor"] != nil { throw LoadError.status(500) }
            firstPages.withLock { $0 += 1 }
            return Self.page(["a"], next: "2")
        } _: { notes, _ in
            for tries in 1...6 {
                await #expect(throws: (any Error).self) { try await notes.sync() }
                #expect(firstPages.withLock { $0 } == (tries + SyncPlanner.mostFailures - 1) / SyncPlanner.mostFailures)
            }
        }
    }

    @Test func fewBadRecordsAreSetAside() throws {
        try run { _, _ in
            #"{ "notes": [{"id":"a","title":"1"}, {"title":"no id"}, {"id":"b","title":"2"}] }"#
        } _: { notes, _ in
            try await notes.sync()
            #expect(try await notes.count(Query()) == 3)
            let table = try notes.table()
            let kept = try await notes.attachment().reading { database in
                try database.reading { connection in
                    let number = try database.number(of: table, connection) ?? 0
                    return try connection.first(
                        "SELECT text FROM quarantine WHERE t=?", .integer(number)
                    ) { $0.text(0) }
                }
            }
            #expect(kept == #"{"title":"no id"}"#)
        }
    }

    @Test func recordOfTenMegabytesIsMerged() throws {
        let text = String(repeating: "x", count: 10_000_000)
        try run { _, _ in
            #"{ "notes": [{"id":"big","title":"\#(text)"}] }"#
        } _: { notes, _ in
            try await notes.sync()
            #expect(try await notes.get("big").record?.value.title.utf8.count == 10_000_000)
        }
    }

    @Test func laterOneOfTwoEqualIDsOfAPageStays() throws {
        try run { _, _ in
            #"{ "notes": [{"id":"a","title":"1"}, {"id":"a","title":"2"}] }"#
        } _: { notes, _ in
            try await notes.sync()
            #expect(try await notes.get("a").record?.value.title == "2")
            #expect(try await notes.count(Query()) == 2)
        }
    }

    @Test func recordThatAPageAlsoDeletesStays() throws {
        try run { _, _ in
            #"{ "notes": [{"id":"a","title":"1"}], "deleted": ["a", "b"] }"#
        } _: { notes, _ in
            try await notes.sync()
            #expect(try await notes.get("a").record?.value.title == "1")
        }
    }

    @Test func olderVersionIsIgnoredIfVersionsIncrease() throws {
        let policy = Self.policy(
            #"{ "use": "all", "items": "/notes" }"#, #", "version": "/v", "versions": "increasing""#)
        try run(policy) { call, _ in
            #"{ "notes": [{"id":"a","title":"\#(call)","v":\#(10 - call)}] }"#
        } _: { notes, _ in
            try await notes.sync()
            try await notes.sync()
            #expect(try await notes.get("a").record?.value.title == "1")
        }
    }

    @Test func oneAnswerDoesNotDeleteMostRecords() throws {
        let ids = (0..<30).map { "n\($0)" }
        try run { call, _ in
            call == 1 ? Self.page(ids) : Self.page([])
        } _: { notes, _ in
            try await notes.sync()
            try await notes.sync()
            #expect(try await notes.count(Query()) == 31)
            // A second answer that agrees is believed.
            try await notes.sync()
            #expect(try await notes.count(Query()) == 1)
        }
    }

    @Test(arguments: ["null", #""yesterday""#, "[]", "-1e300", #""0000-00-00T00:00:00Z""#])
    func timeOfAServiceThatIsNoneIsRefused(_ time: String) throws {
        let policy = Self.policy(#"{ "use": "since", "items": "/notes", "serverTime": "/now" }"#)
        try run(policy) { _, _ in
            #"{ "notes": [], "now": \#(time) }"#
        } _: { notes, _ in
            try await expectRefusal(notes)
        }
    }

    @Test(arguments: [#""1970-01-01T00:00:10Z""#, #""2100-01-01T00:00:00Z""#, "10", "4102444800000"])
    func wrongClockOfAServiceIsTakenAsItIs(_ time: String) throws {
        let policy = Self.policy(#"{ "use": "since", "items": "/notes", "serverTime": "/now", "overlap": "0s" }"#)
        let asked = Locked<String?>(nil)
        try run(policy) { _, parameters in
            asked.withLock { $0 = parameters["since"] }
            return #"{ "notes": [], "now": \#(time) }"#
        } _: { notes, _ in
            try await notes.sync()
            try await notes.sync()
            #expect(asked.withLock { $0 } == time.replacing("\"", with: ""))
        }
    }

    @Test func tokenThatExpiresAtEachPageEndsThePull() throws {
        let policy = Self.policy(#"{ "use": "token", "items": "/notes", "token": "/token", "more": "/more" }"#)
        try run(policy) { call, parameters in
            if parameters["token"] != nil { throw LoadError(.answer, "gone", status: 410) }
            return #"{ "notes": [{"id":"\#(call)","title":""}], "token": "t\#(call)", "more": true }"#
        } _: { notes, calls in
            await #expect { try await notes.sync() } throws: { ($0 as? RecordError)?.code == .badAnswer }
            #expect(calls.withLock { $0 } < 6)
        }
    }

    @Test func historyThatChangesAtEachPageEndsThePull() throws {
        try run { call, _ in
            #"{ "notes": [{"id":"\#(call)","title":""}], "next": "\#(call)", "epoch": "\#(call)" }"#
        } _: { notes, calls in
            await #expect { try await notes.sync() } throws: { ($0 as? RecordError)?.code == .badAnswer }
            #expect(calls.withLock { $0 } < 6)
        }
    }

    @Test(arguments: [401, 403, 404, 429, 500, 503]) func refusedCallLosesNothing(_ status: Int) throws {
        try run { call, _ in
            if call == 2 { throw LoadError(.answer, "no", status: status) }
            return call == 1 ? Self.page(["a"]) : Self.page(["a", "b"])
        } _: { notes, _ in
            try await notes.sync()
            await #expect(throws: LoadError.self) { try await notes.sync() }
            #expect(try await notes.count(Query()) == 2)
            try await notes.sync()
            #expect(try await notes.count(Query()) == 3)
        }
    }
}
