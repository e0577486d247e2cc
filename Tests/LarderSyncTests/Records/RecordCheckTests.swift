import Larder
import LarderSimulation
import LarderSystem
import Testing

@testable import LarderSync

/// The numbers of the records on a device, the check of all of them, and the way to their service.
@Suite struct RecordCheckTests {
    /// Changes the database behind the back of the app, with right seals.
    private static func tamper(
        _ pantry: Pantry, _ body: @escaping @Sendable (RecordDecisions) throws -> Void
    ) async throws {
        let table = RecordTable(resource: "notes", scope: nil)
        try await pantry.recordsAttachment("notes").changing(table, .process, body)
    }

    private static func check(_ pantry: Pantry) async throws -> RecordCheck.Account {
        let check = try #require(try await pantry.checkRecords())
        #expect(check.isReadable)
        return try #require(check.accounts.first)
    }

    @Test func nothingIsMadeBeforeTheFirstRecord() throws {
        try RecordsApp.run { _, pantry, _ in
            let path = try pantry.recordsAttachment("notes").database.file.path
            let (accounts, check) = (try await pantry.recordAccounts(), try await pantry.checkRecords())
            #expect(accounts.isEmpty && check == nil && !Disk.isThere(path))
        }
    }

    @Test func numbersTellWhatBecameOfEachChange() throws {
        try RecordsApp.run { app, pantry, notes in
            try await notes.pull([#"{"id":"a","title":"theirs"}"#, #"{"id":"b","title":"theirs"}"#])
            let start = app.world.now
            try await notes.update("a") { $0.title = "mine" }
            try await app.world.sleep(for: .seconds(5))
            try await notes.update("a") { $0.title = "mine again" }
            try await notes.create(Note(id: "c", title: "x"))
            try await notes.undo("c")
            try await notes.delete("b")
            let account = try #require(try await pantry.recordAccounts().first)
            #expect(account.resource == "notes" && account.account == nil && account.records == 1)
            let changes = account.changes
            #expect(changes.made == 4 && changes.merged == 1 && changes.discarded == 1 && changes.waiting == 2)
            #expect(changes.unaccounted == 0 && account.letters == 0 && account.held == 0)
            #expect(account.oldestWaiting?.milliseconds == start.milliseconds)
            #expect(account.lastPull != nil && !account.isPullUnfinished)
        }
    }

    @Test func soundRecordsAreSound() throws {
        try RecordsApp.run { _, pantry, notes in
            try await notes.pull([#"{"id":"a","title":"theirs"}"#, #"{"id":"b","title":"theirs"}"#])
            try await notes.update("a") { $0.title = "mine" }
            try await notes.delete("b")
            let account = try await Self.check(pantry)
            #expect(account.isSound && account.records == 2 && account.waiting == 2)
        }
    }

    @Test func recordThatIsShownWronglyIsFound() throws {
        try RecordsApp.run { _, pantry, notes in
            try await notes.pull([#"{"id":"a","title":"theirs"}"#])
            try await notes.update("a") { $0.title = "mine" }
            try await Self.tamper(pantry) { decisions in
                let row = try #require(try decisions.transaction.row("a", of: decisions.number))
                let other = try JSONText(#"{"id":"a","title":"neither"}"#.utf8)
                try decisions.connection.update(row, shown: other, of: decisions.number)
            }
            let account = try await Self.check(pantry)
            #expect(account.wronglyShown == 1 && !account.isSound)
        }
    }

    @Test func changesThatAreCountedWronglyAreFound() throws {
        try RecordsApp.run { _, pantry, notes in
            try await notes.create(Note(id: "a", title: "x"))
            try await Self.tamper(pantry) { decisions in
                try decisions.transaction.change(decisions.number) { $0.books.pending += 1 }
            }
            let account = try await Self.check(pantry)
            #expect(account.miscounted == 1 && account.unaccounted == -1 && !account.isSound)
        }
    }

    @Test func changeWithoutItsRecordIsFound() throws {
        try RecordsApp.run { _, pantry, notes in
            try await notes.create(Note(id: "a", title: "x"))
            try await Self.tamper(pantry) { decisions in
                try decisions.connection.run("DELETE FROM records")
            }
            let account = try await Self.check(pantry)
            #expect(account.withoutRecord == 1 && !account.isSound)
        }
    }

    @Test func damagedDatabaseIsNotReadable() throws {
        try SimulatedWorld(seed: 1).run(leaving: .anything) { world in
            let app = try RecordsApp(in: world)
            let first = try await app.pantry()
            try await first.records("notes", of: Note.self).create(Note(title: "x"))
            let path = try first.recordsAttachment("notes").database.file.path
            await first.close()
            try damageRecords(at: path)
            let second = try await app.pantry()
            let check = try #require(try await second.checkRecords())
            #expect(!check.isReadable && !check.isSound && check.accounts.isEmpty)
            await second.close()
        }
    }

    // MARK: The service

    private static let policy = """
        { "resource": "notes", "origin": "service",
          "records": { "id": "/id", "version": "/v", "updatedAt": "/at", "pull": { "use": "all", "limit": 7 },
            "push": { "use": "rest" } } }
        """

    @Test func serviceIsReachedAsThePolicySays() throws {
        try RecordsApp.run(Self.policy) { app, pantry, notes in
            app.service.withLock {
                $0 = { request in
                    request.parameters["id"].map { #"{"id":"\#($0)","v":2}"# }
                        ?? #"[{"id":"a","v":\#(request.parameters["limit"] ?? "")}]"#
                }
            }
            app.changes.withLock { $0 = { method, _ in #"{"id":"n","by":"\#(method)"}"# } }
            let service = try notes.service()
            #expect(service.id.description == "/id" && service.version?.description == "/v" && !service.namesRecords)
            let page = try await service.puller?.page(service.question())
            #expect(page?.records.first?["v"]?.integer == 7)
            let record = try await service.record("q")
            #expect(record?["v"]?.integer == 2)
            let change = PushedChange(
                .create, id: JSONText(string: "n"), key: "k", record: try JSONText(#"{"id":"n"}"#.utf8))
            let outcomes = try await service.pusher?.push([change], by: service.call)
            #expect(outcomes == [.accepted(try JSONText(#"{"id":"n","by":"POST"}"#.utf8))])
            // Nothing of it is kept.
            let (lookup, waiting) = (try await notes.get("n"), try await notes.waiting())
            #expect(lookup.record == nil && waiting.isEmpty)
        }
    }

    @Test func answerThatIsAnotherRecordIsRefused() throws {
        try RecordsApp.run(Self.policy) { app, _, notes in
            app.service.withLock { $0 = { _ in #"{"id":"other"}"# } }
            let service = try notes.service()
            await #expect(throws: RecordError.self) { try await service.record("q") }
        }
    }

    @Test func keyMayBeLeftOut() throws {
        let policy = Self.policy.replacing(#""use": "rest""#, with: #""use": "rest", "key": """#)
        try RecordsApp.run(policy) { _, _, notes in
            let service = try notes.service()
            #expect(service.pusher != nil)
        }
        let bad = Self.policy.replacing(#""use": "rest""#, with: #""use": "rest", "key": "a b""#)
        #expect(throws: PolicyError.self) { try RecordsApp.run(bad) { _, _, _ in } }
    }
}
