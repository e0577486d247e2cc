import Larder
import LarderFoundation
import LarderSimulation
import LarderSystem
import Testing

@testable import LarderSync

private struct Versioned: Codable, Sendable {
    var title: String
    var revision: Int
}

@Suite struct RecordsTests {
    private let title = Field<String>("title")
    private let rank = Field<Int>("rank")

    private static func notes(_ records: String, outbox: String = "{}") -> String {
        #"{ "resource": "notes", "origin": "service", "records": { "id": "/id"\#(records) }, "outbox": \#(outbox) }"#
    }

    // MARK: Changes

    @Test func createdRecordIsReadAtOnceAndAfterARestart() throws {
        try RecordsApp.run { app, pantry, notes in
            let made = try await notes.create(Note(title: "Ramen"))
            #expect(made.state == .pending && !made.isTemporary && made.value.title == "Ramen")
            #expect(made.value.id == made.id && made.receivedAt == nil)
            #expect(try await notes.get(made.id) == .found(made))
            await pantry.close()
            let next = try await app.pantry()
            #expect(try await next.records("notes", of: Note.self).get(made.id) == .found(made))
        }
    }

    @Test func idsOfTheClientAreOrderedByTimeAndGivenOnesStay() throws {
        try RecordsApp.run { app, _, notes in
            var ids: [String] = []
            for title in ["a", "b", "c", "d", "e"] {
                ids.append(try await notes.create(Note(title: title)).id)
                try await app.world.sleep(for: .microseconds(1))
            }
            #expect(ids.allSatisfy { $0.utf8.count == 36 && $0.split(separator: "-")[2].hasPrefix("7") })
            #expect(ids == ids.sorted())
            #expect(try await notes.create(Note(id: "mine", title: "c")).id == "mine")
            let error = await #expect(throws: RecordError.self) { try await notes.create(Note(id: "mine", title: "d")) }
            #expect(error?.code == .exists)
        }
    }

    @Test func idThatIsANumberStaysOne() throws {
        try RecordsApp.run { _, pantry, _ in
            let raw = pantry.records("notes")
            #expect(try await raw.create(JSONText(#"{"id":7,"title":"a"}"#.utf8)).id == "7")
            try await raw.put(JSONText(#"{"id":8,"title":"b"}"#.utf8))
            #expect(try await raw.query().records.map { $0.value["id"]?.integer } == [7, 8])
        }
    }

    @Test func recordThatTheServiceNamesHasATemporaryId() throws {
        try RecordsApp.run(Self.notes(#", "ids": "server""#)) { _, _, notes in
            let made = try await notes.create(Note(id: "ignored", title: "a"))
            #expect(made.isTemporary && TemporaryID.isOne(made.id))
            #expect(try await notes.row(made.id)?.writes.first?.content == JSONText(#"{"title":"a"}"#.utf8))
        }
    }

    @Test func updateIsTheDifferenceAndUnknownFieldsKeepTheirBytes() throws {
        try RecordsApp.run { _, pantry, notes in
            try await notes.pull([#"{ "id":"a", "title":"x", "price":1.50, "more":{"z":null} }"#])
            let changed = try await notes.update("a") { $0.title = "y" }
            #expect(changed.value.title == "y" && changed.state == .pending)
            let shown = try await pantry.records("notes").get("a").record?.value
            #expect(try shown == JSONText(#"{ "id":"a", "title":"y", "price":1.50, "more":{"z":null} }"#.utf8))
            let write = try #require(try await notes.row("a")?.writes.last)
            #expect(write.patch.changes.map(\.path) == [["title"]])
        }
    }

    @Test func updateThatChangesNothingIsNoWrite() throws {
        try RecordsApp.run { _, _, notes in
            try await notes.pull([#"{"id":"a","title":"x","rank":null}"#])
            let same = try await notes.update("a") { $0.title = "x" }
            #expect(same.state == .synced)
            #expect(try await notes.books() == Books())
        }
    }

    @Test func updateOfAMissingRecordIsAnErrorAndItsOwnErrorIsThrown() throws {
        struct Stop: Error {}
        try RecordsApp.run { _, _, notes in
            let error = await #expect(throws: RecordError.self) { try await notes.update("a") { $0.title = "y" } }
            #expect(error?.code == .noRecord)
            try await notes.pull([#"{"id":"a","title":"x"}"#])
            await #expect(throws: Stop.self) {
                try await notes.update("a") {
                    $0.title = "y"
                    throw Stop()
                }
            }
            #expect(try await notes.get("a").record?.value.title == "x")
        }
    }

    @Test func putKeepsUnknownFieldsUnlessItIsRaw() throws {
        try RecordsApp.run { _, pantry, notes in
            try await notes.pull([#"{"id":"a","title":"x","price":1.50,"rank":3}"#])
            try await notes.put(Note(id: "a", title: "y"))
            let raw = pantry.records("notes")
            #expect(try await raw.get("a").record?.value == JSONText(#"{"id":"a","title":"y","price":1.50}"#.utf8))
            try await raw.put(JSONText(#"{"id":"a","title":"z"}"#.utf8))
            #expect(try await raw.get("a").record?.value == JSONText(#"{"id":"a","title":"z"}"#.utf8))
            #expect(try await notes.put(Note(id: "b", title: "new")).id == "b")
            let error = await #expect(throws: RecordError.self) { try await notes.put(Note(title: "no id")) }
            #expect(error?.code == .unsuitable)
        }
    }

    @Test func createOrUpdateMergesWithoutDuplicates() throws {
        try RecordsApp.run { _, pantry, notes in
            try await notes.createOrUpdate(Note(id: "a", title: "x", rank: 1))
            try await notes.createOrUpdate(Note(id: "a", title: "y"))
            let found = try await notes.query().records
            #expect(found.map(\.value) == [Note(id: "a", title: "y", rank: 1)])
        }
    }

    @Test func createOrUpdateSetsTheMembersOfObjectsOneByOne() throws {
        try RecordsApp.run { _, pantry, notes in
            try await notes.pull([
                #"{ "id":"a", "title":"x", "shop":{ "name":"A", "at":{"x":1.50,"y":2} }, "tags":["a","b"], "more":{"z":1} }"#
            ])
            let raw = pantry.records("notes")
            let value = #"{"id":"a","shop":{"at":{"y":3}},"tags":["c"],"more":null,"new":{"k":[]}}"#
            let merged = try await raw.createOrUpdate(JSONText(value.utf8))
            let wanted =
                #"{"id":"a","title":"x","shop":{"name":"A","at":{"x":1.50,"y":3}},"tags":["c"],"more":null,"new":{"k":[]}}"#
            #expect(try merged.value.means(JSONText(wanted.utf8)))
            let write = try #require(try await notes.row("a")?.writes.last)
            #expect(write.patch.changes.map(\.path) == [["more"], ["new"], ["shop", "at", "y"], ["tags"]])
        }
    }

    @Test func deletedRecordIsAbsentAndCanBeMadeAgain() throws {
        try RecordsApp.run { _, _, notes in
            try await notes.pull([#"{"id":"a","title":"x"}"#])
            try await notes.delete("a")
            #expect(try await notes.get("a") == .absent)
            #expect(try await notes.query().records.isEmpty)
            let error = await #expect(throws: RecordError.self) { try await notes.delete("a") }
            #expect(error?.code == .noRecord)
            #expect(try await notes.create(Note(id: "a", title: "again")).value.title == "again")
        }
    }

    @Test func valueThatIsNoObjectIsRefused() throws {
        try RecordsApp.run { _, pantry, _ in
            for text in ["[]", "1", "null", #""a""#] {
                let error = await #expect(throws: RecordError.self) {
                    try await pantry.records("notes").create(JSONText(text.utf8))
                }
                #expect(error?.code == .unsuitable)
            }
        }
    }

    @Test func newRecordThatItsTypeCannotReadIsRefused() throws {
        try RecordsApp.run(Self.notes(#", "version": "/revision""#)) { _, pantry, notes in
            let error = await #expect(throws: RecordError.self) {
                try await pantry.records("notes", of: Versioned.self).create(Versioned(title: "a", revision: 0))
            }
            #expect(error?.code == .undecodable)
            let count = try await notes.count()
            #expect(count == 0)
        }
    }

    @Test func fullQueueThrowsAndDropsNothing() throws {
        try RecordsApp.run(Self.notes("", outbox: #"{ "most": 2 }"#)) { app, pantry, notes in
            let first = try await notes.create(Note(title: "a"))
            try await notes.create(Note(title: "b"))
            let error = await #expect(throws: RecordError.self) { try await notes.create(Note(title: "c")) }
            #expect(error?.code == .full)
            // A change that merges needs no room.
            try await notes.update(first.id) { $0.title = "A" }
            #expect(try await notes.query().records.map(\.value.title) == ["A", "b"])
            // The setting of another section is followed at once.
            try await app.change("notes", Self.notes("", outbox: #"{ "most": 3 }"#), of: pantry)
            try await notes.create(Note(title: "c"))
            #expect(try await notes.books() == Books(made: 4, merged: 1, pending: 3))
        }
    }

    @Test func transactionStaysInTheAccountInWhichItBegan() throws {
        try SimulatedWorld(seed: 1).run(leaving: .anything) { world in
            let app = try RecordsApp(in: world)
            app.account.withLock { $0 = "alice" }
            let pantry = try await app.pantry([
                "notes": #"{ "resource": "notes", "origin": "signed", "records": { "id": "/id" } }"#,
                "trips": #"{ "resource": "trips", "origin": "signed", "records": { "id": "/id" } }"#,
            ])
            let (notes, trips) = (pantry.records("notes", of: Note.self), pantry.records("trips", of: Note.self))
            try await pantry.write { changes in
                try changes.create(Note(title: "Osaka"), in: trips)
                app.account.withLock { $0 = "bob" }
                try changes.create(Note(title: "book!"), in: notes)
            }
            let ofBob = try await (trips.count(), notes.count())
            #expect(ofBob == (0, 0))
            app.account.withLock { $0 = "alice" }
            let ofAlice = try await (trips.count(), notes.count())
            #expect(ofAlice == (1, 1))
            await pantry.close()
        }
    }

    @Test func failureOfAnotherDatabaseIsNoDamageOfTheRecords() throws {
        try RecordsApp.run { app, pantry, notes in
            let made = try await notes.create(Note(title: "kept"))
            let schema = SQLiteSchema(application: 1, tables: "CREATE TABLE own(n INTEGER PRIMARY KEY);")
            let own = SQLiteFile(app.folder.path + "/own.sqlite", schema, refusalsAreDamage: false) {}
            for isInUpdate in [false, true] {
                let failure = await #expect(throws: SQLiteFailure.self) {
                    try await pantry.write { changes in
                        func insertTwice() throws {
                            for _ in 0..<2 { try own.writing { try $0.run("INSERT INTO own VALUES(1)") } }
                        }
                        try changes.update(made.id, in: notes) {
                            $0.title = "changed"
                            if isInUpdate { try insertTwice() }
                        }
                        try insertTwice()
                    }
                }
                #expect(failure?.code == 1_555)
                #expect(try await notes.get(made.id) == .found(made))
            }
            let path = try notes.attachment().database.file.path
            #expect(Disk.item(path + "-damaged") == nil)
            own.close()
        }
    }

    @Test func transactionWithARefusedChangeLeavesNothing() throws {
        try RecordsApp.run(Self.notes("", outbox: #"{ "most": 1 }"#)) { _, pantry, notes in
            do {
                try await pantry.write { changes in
                    _ = try changes.create(Note(title: "a"), in: notes)
                    // The app goes on although the queue is full.
                    _ = try? changes.create(Note(title: "b"), in: notes)
                }
                Issue.record("the transaction ended well")
            } catch let error as RecordError {
                #expect(error.code == .full)
            }
            let count = try await notes.count()
            #expect(count == 0)
        }
    }

    @Test func transactionGoesOnAfterACreateOfATakenId() throws {
        try RecordsApp.run { _, pantry, notes in
            try await notes.pull([#"{"id":"pulled","title":"x"}"#])
            try await pantry.write { changes in
                try changes.create(Note(id: "mine", title: "a"), in: notes)
                for id in ["mine", "pulled"] {
                    let error = #expect(throws: RecordError.self) {
                        try changes.create(Note(id: id, title: "b"), in: notes)
                    }
                    #expect(error?.code == .exists)
                }
                try changes.create(Note(id: "other", title: "c"), in: notes)
            }
            #expect(try await notes.query().records.map(\.value.title).sorted() == ["a", "c", "x"])
            #expect(try await notes.books() == Books(made: 2, pending: 2))
        }
    }

    @Test(arguments: [false, true]) func deletedRecordIsMadeAgain(_ isPulled: Bool) throws {
        try RecordsApp.run(Self.notes("", outbox: #"{ "merge": false }"#)) { _, _, notes in
            if isPulled {
                try await notes.pull([#"{"id":"a","title":"x"}"#])
            } else {
                try await notes.create(Note(id: "a", title: "x"))
            }
            try await notes.delete("a")
            let again = try await notes.create(Note(id: "a", title: "y"))
            #expect(again.state == .pending)
            #expect(try await notes.query().records == [again])
            #expect(try await notes.row("a")?.writes.suffix(2).map(\.kind) == [.delete, .create])
        }
    }

    @Test func queueThatIsTooLargeThrowsUntilItIsSmaller() throws {
        try RecordsApp.run(Self.notes("", outbox: #"{ "capacity": "2KB" }"#)) { _, _, notes in
            let long = String(repeating: "x", count: 1_200)
            let first = try await notes.create(Note(title: long))
            let error = await #expect(throws: RecordError.self) { try await notes.create(Note(title: long)) }
            #expect(error?.code == .full)
            try await notes.delete(first.id)
            try await notes.create(Note(title: long))
            #expect(try await notes.count() == 1)
        }
    }

    @Test func editsMergeUnlessThePolicySaysOtherwise() throws {
        for (outbox, count) in [("{}", 1), (#"{ "merge": false }"#, 3)] {
            try RecordsApp.run(Self.notes("", outbox: outbox)) { _, _, notes in
                let made = try await notes.create(Note(title: "a"))
                try await notes.update(made.id) { $0.title = "b" }
                try await notes.update(made.id) { $0.title = "c" }
                #expect(try await notes.row(made.id)?.writes.count == count)
            }
        }
    }

    @Test func undoTakesBackTheLastChangeThatWasNeverSent() throws {
        try RecordsApp.run(Self.notes("", outbox: #"{ "merge": false }"#)) { _, _, notes in
            try await notes.pull([#"{"id":"a","title":"x"}"#])
            try await notes.update("a") { $0.title = "y" }
            try await notes.update("a") { $0.title = "z" }
            #expect(try await notes.undo("a"))
            #expect(try await notes.get("a").record?.value.title == "y")
            #expect(try await notes.undo("a"))
            #expect(try await notes.get("a").record?.state == .synced)
            #expect(try await !notes.undo("a"))
            #expect(try await notes.books() == Books(made: 2, discarded: 2))
        }
    }

    @Test func undoTakesBackAllEditsThatWereNeverSentTogether() throws {
        try RecordsApp.run { _, _, notes in
            try await notes.pull([#"{"id":"a","title":"x"}"#])
            try await notes.update("a") { $0.title = "y" }
            try await notes.update("a") { $0.rank = 1 }
            #expect(try await notes.undo("a"))
            #expect(try await notes.get("a").record?.value == Note(id: "a", title: "x"))
            let made = try await notes.create(Note(title: "new"))
            try await notes.update(made.id) { $0.title = "newer" }
            #expect(try await notes.undo(made.id))
            let count = try await notes.count()
            #expect(count == 1)
            #expect(try await notes.books() == Books(made: 4, merged: 2, discarded: 2))
        }
    }

    // MARK: Stamps

    @Test func changesAreStampedAsTheFirstRecordIsWritten() throws {
        for (time, expected) in [
            (#""2026-01-05T00:00:00.000Z""#, #""2026-01-05T00:00:00.001Z""#), ("1767571200000", "1767571200001"),
            (#""2025-01-05T00:00:00Z""#, #""2026-01-05T00:00:00Z""#), ("1736035200", "1767571200"),
        ] {
            try RecordsApp.run(Self.notes(#", "updatedAt": "/updatedAt""#)) { _, pantry, notes in
                try await notes.pull([#"{"id":"a","title":"x","updatedAt":\#(time)}"#])
                try await notes.update("a") { $0.title = "y" }
                let shown = try await pantry.records("notes").get("a").record?.value
                #expect(try shown?["updatedAt"] == JSONText(expected.utf8))
            }
        }
    }

    // MARK: Transactions

    private static let collections =
        #"{ "resource": "collections", "origin": "service", "records": { "id": "/id", "ids": "server" } }"#

    private func runBoth(
        _ test: @escaping @Sendable (Pantry, Records<Note>, Records<Note>) async throws -> Void
    ) throws {
        try SimulatedWorld(seed: 1).run(leaving: .anything) { world in
            let app = try RecordsApp(in: world)
            let pantry = try await app.pantry(["notes": RecordsApp.notes, "collections": Self.collections])
            try await test(
                pantry, pantry.records("collections", of: Note.self), pantry.records("notes", of: Note.self))
            await pantry.close()
        }
    }

    @Test func changesOfSeveralResourcesAreOneTransaction() throws {
        struct Stop: Error {}
        try runBoth { pantry, collections, notes in
            await #expect(throws: Stop.self) {
                try await pantry.write { changes in
                    try changes.create(Note(title: "Osaka"), in: collections)
                    try changes.create(Note(title: "book!"), in: notes)
                    throw Stop()
                }
            }
            #expect(try await collections.count() == 0)
            #expect(try await notes.count() == 0)
            let trip = try await pantry.write { changes in
                let trip = try changes.create(Note(title: "Osaka"), in: "collections")
                let note = try changes.create(Note(title: "book!", collection: trip.id), in: notes)
                #expect(try changes.get(note.id, in: notes)?.value.collection == trip.id)
                try changes.update(note.id, in: notes) { $0.title = "Book!" }
                return trip
            }
            let note = try #require(try await notes.query().records.first)
            #expect(note.value.title == "Book!" && note.value.collection == trip.id)
        }
    }

    @Test func temporaryIdInAnotherResourceBecomesTheNameOfTheService() throws {
        try runBoth { pantry, collections, notes in
            let trip = try await pantry.write { changes in
                let trip = try changes.create(Note(title: "Osaka"), in: collections)
                try changes.create(Note(title: "book!", collection: trip.id), in: notes)
                return trip
            }
            let (table, attachment) = (try collections.table(), try collections.attachment())
            try await attachment.writing { database in
                try database.changing(.power) { transaction in
                    let decisions = try RecordDecisions(transaction, table, attachment.planner)
                    let claimed = try decisions.claim(most: 1)
                    try decisions.settle(
                        .accepted(JSONText(#"{"id":"42","title":"Osaka"}"#.utf8)), of: claimed[0])
                }
            }
            #expect(try await notes.query().records.first?.value.collection == "42")
            #expect(try await collections.get(trip.id).record?.id == "42")
            try await collections.update(trip.id) { $0.title = "Kyoto" }
            #expect(try await collections.get("42").record?.value.title == "Kyoto")
        }
    }

    @Test func resourceWithoutRecordsIsAnError() throws {
        try SimulatedWorld(seed: 1).run(leaving: .anything) { world in
            let pantry = try await RecordsApp(in: world).pantry([
                "feed": #"{ "resource": "feed", "origin": "service", "strategy": "network-only" }"#
            ])
            for name in ["feed", "missing"] {
                let error = await #expect(throws: RecordError.self) { try await pantry.records(name).get("a") }
                #expect(error?.code == .noRecords)
            }
            let error = await #expect(throws: RecordError.self) { try await pantry.write { _ in } }
            #expect(error?.code == .noRecords)
        }
    }

    // MARK: Import

    @Test func importedRecordsAreNoWritesAndChangeNothingThatIsThere() throws {
        try RecordsApp.run { _, _, notes in
            try await notes.pull([#"{"id":"a","title":"service"}"#])
            let count = try await notes.importing([Note(id: "a", title: "old"), Note(id: "b", title: "kept")])
            #expect(count == 1)
            #expect(try await notes.query().records.map(\.value.title) == ["service", "kept"])
            #expect(try await notes.get("b").record?.state == .synced)
            #expect(try await notes.books() == Books())
            let error = await #expect(throws: RecordError.self) {
                try await notes.importing([Note(id: "c", title: "c"), Note(title: "no id")])
            }
            #expect(error?.code == .unsuitable)
            #expect(try await notes.count() == 2)
        }
    }
}
