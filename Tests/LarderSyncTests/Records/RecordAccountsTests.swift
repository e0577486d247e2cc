import Larder
import LarderFoundation
import LarderSimulation
import LarderSystem
import Testing

@testable import LarderSync

/// The records of several accounts, and their clearing.
@Suite struct RecordAccountsTests {
    @Test func accountsNeverMeetAndNobodyCanWriteForNobody() throws {
        let policy = #"{ "resource": "notes", "origin": "signed", "records": { "id": "/id" } }"#
        try RecordsApp.run(policy) { app, pantry, notes in
            let error = await #expect(throws: RecordError.self) { try await notes.create(Note(title: "x")) }
            #expect(error?.code == .notSignedIn)
            app.account.withLock { $0 = "alice" }
            let made = try await notes.create(Note(title: "hers"))
            app.account.withLock { $0 = "bob" }
            #expect(try await notes.get(made.id) == .unknown)
            #expect(try await notes.count() == 0)
            let hers = pantry.records("notes", of: Note.self, scope: "alice")
            #expect(try await hers.get(made.id) == .found(made))
            app.account.withLock { $0 = "alice" }
            #expect(try await notes.get(made.id) == .found(made))
        }
    }

    @Test func clearingReachesResourcesWithoutAPolicyAndDamagedFiles() throws {
        let policy = #"{ "resource": "notes", "origin": "signed", "records": { "id": "/id" } }"#
        try RecordsApp.run(policy) { app, pantry, notes in
            let trips = policy.replacing("notes", with: "trips")
            try await app.change("trips", trips, of: pantry)
            let (hers, his) = (
                pantry.records("trips", of: Note.self, scope: "alice"),
                pantry.records("trips", of: Note.self, scope: "bob")
            )
            for records in [hers, his] {
                try await records.pull([#"{"id":"a","title":"x"}"#, #"{"id":"b","title":"y"}"#])
            }
            try await hers.update("a") { $0.title = "z" }
            let path = try notes.attachment().database.file.path
            for suffix in ["-damaged", "-damaged-wal"] { try Data("hers".utf8).write(to: URL(filePath: path + suffix)) }
            // The policy of trips is gone.
            try FileManager.default.removeItem(at: app.folder.url.appending(path: "policies/trips.json"))
            try await pantry.reload()
            try await pantry.clear(.scope("alice"))
            let left = try await notes.attachment().reading { database in
                try ["alice", "bob"].map { scope in
                    let table = RecordTable(resource: "trips", scope: scope)
                    return try ["a", "b"].map { try database.row($0, of: table)?.base != nil }
                }
            }
            #expect(left == [[false, false], [true, true]])
            #expect(Disk.item(path + "-damaged") == nil && Disk.item(path + "-damaged-wal") == nil)
            // Her unsent change is there again with its policy.
            try await app.change("trips", trips, of: pantry)
            #expect(try await hers.books().pending == 1)
            try await hers.pull([#"{"id":"a","title":"x"}"#])
            #expect(try await hers.get("a").record?.value.title == "z")
        }
    }

    @Test func clearingAnAccountKeepsWhatWasNotSent() throws {
        let policy = #"{ "resource": "notes", "origin": "signed", "records": { "id": "/id" } }"#
        try RecordsApp.run(policy) { app, pantry, notes in
            app.account.withLock { $0 = "alice" }
            try await notes.pull([#"{"id":"a","title":"x"}"#, #"{"id":"b","title":"y"}"#])
            try await notes.update("a") { $0.title = "z" }
            let made = try await notes.create(Note(title: "new"))
            app.account.withLock { $0 = "bob" }
            try await notes.pull([#"{"id":"c","title":"his"}"#])
            try await pantry.clear(.scope("alice"))
            #expect(try await notes.count() == 1)
            app.account.withLock { $0 = "alice" }
            #expect(try await notes.get("b") == .unknown)
            #expect(try await notes.get("a") == .unknown)
            #expect(try await notes.get(made.id).record?.value.title == "new")
            try await notes.pull([#"{"id":"a","title":"x"}"#])
            #expect(try await notes.get("a").record?.value.title == "z")
            #expect(try await notes.books().pending == 2)
            try await pantry.clear(.scope("alice"), discardingUnsent: true)
            #expect(try await notes.count() == 0)
            #expect(try await notes.books() == Books(made: 2, discarded: 2))
        }
    }
}
