import Larder
import LarderFoundation
import LarderSimulation
import LarderSystem
import Testing

@testable import LarderSync

struct RecordDatabaseTests {
    private let folder: TemporaryFolder
    private let world = SimulatedWorld(seed: 1)
    private let notes = RecordTable(resource: "notes", scope: "alice")
    private let planner = SyncPlanner(SyncRules(idPath: ["id"], ids: .server, source: "service"))

    init() throws { folder = try TemporaryFolder() }

    private func database() -> RecordDatabase { RecordDatabase(folder.path + "/records.sqlite", in: world) }

    private func change<Result>(
        _ database: RecordDatabase, _ planner: SyncPlanner? = nil, _ body: (RecordDecisions) throws -> Result
    ) throws -> Result {
        try database.changing(.power) { transaction in
            try body(RecordDecisions(transaction, notes, planner ?? self.planner))
        }
    }

    private func create(_ text: String, in database: RecordDatabase) throws -> String {
        try change(database) { decisions in
            try decisions.write(.create(json(text)), id: nil, random: { [world] in world.random() })
        }
    }

    private func json(_ text: String) -> JSONText { (try? JSONText(text.utf8)) ?? .null }

    private func titles(_ database: RecordDatabase) throws -> [String] {
        try database.records(RecordSelection(), of: notes).compactMap { $0.shown["title"]?.string }
    }

    @Test func createdRecordIsReadByAnotherConnection() throws {
        let id = try create(#"{"title":"a"}"#, in: database())
        #expect(TemporaryID.isOne(id))
        let found = try #require(try database().records([id], of: notes)[id])
        #expect(found.state == .pending)
        #expect(found.shown == json(#"{"title":"a","id":"\#(id)"}"#))
        let facts = try database().facts(of: notes)
        #expect(facts.books == Books(made: 1, pending: 1))
    }

    @Test func recordOfOneAccountIsNotSeenByAnother() throws {
        let database = database()
        let id = try create(#"{"title":"a"}"#, in: database)
        for scope in [nil, "", "bob"] {
            let other = RecordTable(resource: "notes", scope: scope)
            #expect(try database.records([id], of: other).count == 0)
            #expect(try database.records(RecordSelection(), of: other).isEmpty)
        }
    }

    @Test(arguments: [
        PullState(),
        PullState(
            source: "a", position: "7", run: PullRun(began: 3, isFull: true, cursor: "c"), generation: 2,
            completedAt: 1, suspected: 1, epoch: "e", edition: 4),
        PullState(
            run: PullRun(
                began: -1, isFull: false, candidate: "\"9\"", isCandidateEarly: true, hasStaleRows: true,
                landmark: "l", pages: 5)),
    ])
    func pullStateIsReadAsItWasWritten(state: PullState) { #expect(PullState(state.text) == state) }

    @Test func pullStateOfAnEarlierLarderIsRead() {
        let text = #"{"completedAt":5,"edition":1,"generation":2,"position":"9","source":"s"}"#
        #expect(PullState(json(text)) == PullState(source: "s", position: "9", generation: 2, completedAt: 5))
    }

    @Test func failedTransactionLeavesNothing() throws {
        struct Stop: Error {}
        let database = database()
        #expect(throws: Stop.self) {
            try change(database) { decisions in
                try decisions.write(.create(json(#"{"title":"a"}"#)), id: nil, random: { 1 })
                throw Stop()
            }
        }
        #expect(try titles(database) == [])
        #expect(try database.facts(of: notes).books == Books())
    }

    @Test func acceptedCreateIsFoundUnderBothIds() throws {
        let database = database()
        let id = try create(#"{"title":"a"}"#, in: database)
        let claimed = try change(database) { try $0.claim(most: 10) }
        #expect(claimed.map(\.idText.name) == [id])
        try change(database) { try $0.settle(.accepted(json(#"{"id":42,"title":"a"}"#)), of: claimed[0]) }
        let found = try database.records([id, "42"], of: notes)
        #expect(found[id]?.shown == json(#"{"id":42,"title":"a"}"#))
        #expect(found["42"]?.state == .synced)
        #expect(try database.facts(of: notes).books == Books(made: 1, accepted: 1))
    }

    @Test func nameOfRecordReplacesItsTemporaryIdEverywhere() throws {
        let database = database()
        let trip = try create(#"{"title":"Osaka"}"#, in: database)
        let note = try create(#"{"title":"book!","trip":"\#(trip)"}"#, in: database)
        let first = try change(database) { try $0.claim(most: 10) }
        #expect(first.map(\.idText.name) == [trip])
        try change(database) { try $0.settle(.accepted(json(#"{"id":"7","title":"Osaka"}"#)), of: first[0]) }
        #expect(try database.records([note], of: notes)[note]?.shown["trip"]?.string == "7")
        let second = try change(database) { try $0.claim(most: 10) }
        #expect(second.map(\.idText.name) == [note])
        #expect(second[0].write.content?["trip"]?.string == "7")
    }

    @Test func changeIsSettledAlthoughItsRecordBecameOneWithAnother() throws {
        let database = database()
        _ = try create(#"{"title":"Osaka"}"#, in: database)
        let create = try change(database) { try $0.claim(most: 10) }
        // The answer to the create is on its way, and a pull brings its record, which the user changes.
        try change(database) { decisions in
            _ = try decisions.beginPull(isFull: true)
            let record = PulledRecord(id: "7", idText: json(#""7""#), record: json(#"{"id":"7","title":"Osaka"}"#))
            try decisions.merge(PulledPage(records: [record], position: "p"))
        }
        try change(database) { decisions in
            let text = json(#"{"id":"7","title":"Osaka"}"#)
            let intent = RecordIntent.update(from: text, to: text.setting(["title"], to: json(#""Kyoto""#)))
            _ = try decisions.write(intent, id: "7", random: { 0 })
        }
        let update = try change(database) { try $0.claim(most: 10) }
        #expect(update.map(\.write.kind) == [.update])
        try change(database) { try $0.settle(.accepted(json(#"{"id":"7","title":"Osaka"}"#)), of: create[0]) }
        try change(database) { try $0.settle(.accepted(json(#"{"id":"7","title":"Kyoto"}"#)), of: update[0]) }
        #expect(try database.facts(of: notes).books == Books(made: 2, accepted: 2))
        #expect(try titles(database) == ["Kyoto"])
    }

    @Test func rejectedCreateGivesUpWhatNeedsIt() throws {
        let database = database()
        let trip = try create(#"{"title":"Osaka"}"#, in: database)
        _ = try create(#"{"title":"book!","trip":"\#(trip)"}"#, in: database)
        let claimed = try change(database) { try $0.claim(most: 10) }
        try change(database) { try $0.settle(.rejected(status: 422), of: claimed[0]) }
        #expect(try titles(database) == [])
        #expect(try database.letters(of: notes).map(\.letter.reason) == [.needsRejected, .rejected])
        let books = try database.facts(of: notes).books
        #expect(books == Books(made: 2, rejected: 2))
    }

    @Test func pulledPageAndPositionAreKeptTogether() throws {
        let database = database()
        try change(database) { _ = try $0.beginPull() }
        let page = PulledPage(
            records: (1...3).map { number in
                let record = json(#"{"id":"\#(number)","title":"n\#(number)"}"#)
                return PulledRecord(id: "\(number)", idText: json("\"\(number)\""), record: record)
            }, position: "p1")
        _ = try change(database) { try $0.merge(page) }
        #expect(try titles(database) == ["n1", "n2", "n3"])
        let pull = try database.facts(of: notes).pull
        #expect(pull.position == "p1")
        #expect(pull.completedAt != nil)
    }

    @Test func logoutKeepsWritesAndHidesThem() throws {
        let database = database()
        try pulledPageAndPositionAreKeptTogether()
        try change(database) { decisions in
            let shown = try #require(try decisions.transaction.row("2", of: decisions.number)).base ?? .null
            try decisions.write(
                .update(from: shown, to: shown.setting(["title"], to: json(#""new""#))), id: "2", random: { 1 })
        }
        try change(database) { try $0.clear(discardingUnsent: false) }
        #expect(try titles(database) == [])
        // The change is there, and nobody knows of what.
        #expect(try database.row("2", of: notes)?.base == nil)
        let absent = try database.lookUp(["1", "2"], of: notes) { _ in false }.absent
        #expect(!absent.contains("1") && !absent.contains("2"))
        #expect(try database.facts(of: notes).books == Books(made: 1, pending: 1))
        try change(database) { _ = try $0.beginPull() }
        let record = json(#"{"id":"2","title":"n2","more":1}"#)
        _ = try change(database) {
            try $0.merge(
                PulledPage(records: [PulledRecord(id: "2", idText: json(#""2""#), record: record)], position: "p"))
        }
        #expect(try titles(database) == ["new"])
        try change(database) { try $0.clear(discardingUnsent: true) }
        #expect(try database.facts(of: notes).books == Books(made: 1, discarded: 1))
    }

    @Test func idsThatLookAlikeHaveTheirOwnAnswers() throws {
        let database = database()
        let (composed, parts) = ("\u{E9}", "e\u{301}")
        for (id, title) in [(composed, "a"), (parts, "b")] {
            try change(database, SyncPlanner(SyncRules(idPath: ["id"], source: "service"))) { decisions in
                let record = json(#"{"id":"\#(id)","title":"\#(title)"}"#)
                _ = try decisions.write(.put(record), id: id, random: { 1 })
            }
        }
        let found = try database.records([composed, parts, "e"], of: notes)
        #expect(found.count == 2)
        #expect(found[composed]?.shown["title"]?.string == "a")
        #expect(found[parts]?.shown["title"]?.string == "b")
    }

    @Test func conditionThatIsTooDeepIsNoDamage() throws {
        let database = database()
        _ = try create(#"{"title":"a"}"#, in: database)
        let deep = RecordSelection(condition: String(repeating: "(", count: 5_000) + "1")
        #expect(throws: QueryFailure.tooComplex) { try database.records(deep, of: notes) }
        #expect(try titles(database) == ["a"])
    }

    @Test func recordThatIsNoJSONIsDamage() throws {
        let database = database()
        _ = try create(#"{"title":"a"}"#, in: database)
        try SQLiteConnection(folder.path + "/records.sqlite").run("UPDATE records SET base='{', shown='{'")
        let query = RecordSelection(condition: try #require(RecordColumns.field(["title"])) + " = 'a'")
        #expect(throws: SQLiteFailure.damaged) { try database.records(query, of: notes) }
        #expect(throws: SQLiteFailure.damaged) { try database.count(query, of: notes) }
    }

    @Test func changesAreSeenAlsoIfTheRowOfTheirTableIsLost() throws {
        let database = database()
        try pulledPageAndPositionAreKeptTogether()
        for (id, title) in [("1", nil), ("2", #""new""#)] {
            try change(database) { decisions in
                let shown = try #require(try decisions.transaction.row(id, of: decisions.number)).base ?? .null
                let write = title.map { RecordIntent.update(from: shown, to: shown.setting(["title"], to: json($0))) }
                try decisions.write(write ?? .delete, id: id, random: { 1 })
            }
        }
        let before = try titles(database)
        database.close()
        try SQLiteConnection(folder.path + "/records.sqlite").run("UPDATE tables SET seal=seal+1 WHERE n>0")
        let next = self.database()
        _ = try? create(#"{"title":"lost"}"#, in: next)
        #expect(try titles(next) == before)
    }

    @Test func damagedFileKeepsTheOutbox() throws {
        let database = database()
        let ids = try (0..<50).map { try create(#"{"title":"n\#($0)"}"#, in: database) }
        database.close()
        try damageRecords(at: folder.path + "/records.sqlite")
        let next = self.database()
        _ = try? next.records(ids, of: notes)
        _ = try? create(#"{"title":"more"}"#, in: next)
        #expect(Set(try titles(next)).isSuperset(of: (0..<50).map { "n\($0)" }))
        let books = try next.facts(of: notes).books
        #expect(books.unaccounted == 0)
        #expect(books.pending >= 50)
    }
}

extension RecordDatabase {
    /// Returns those of some records that are there.
    func records(_ ids: [String], of table: RecordTable) throws -> RecordsByID {
        try lookUp(ids, of: table) { _ in false }.found
    }

    /// Returns the records that a query selects.
    func records(_ selection: RecordSelection, of table: RecordTable) throws -> [StoredRecord] {
        try page(selection, of: table).stored
    }
}

/// Fills the first page of the table of records with garbage. No process may have the database open.
func damageRecords(at path: String) throws {
    let connection = try SQLiteConnection(path)
    try connection.run("PRAGMA wal_checkpoint(TRUNCATE)")
    let page = try connection.first("SELECT rootpage FROM sqlite_master WHERE name='records'") { $0.integer(0) }
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    let start = Int(try #require(page) - 1) * 4_096
    bytes.replaceSubrange(start..<(start + 4_096), with: Data(repeating: 0xA5, count: 4_096))
    try bytes.write(to: URL(fileURLWithPath: path), options: [])
}
