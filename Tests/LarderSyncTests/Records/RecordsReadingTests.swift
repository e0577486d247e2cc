import Larder
import LarderFoundation
import LarderSimulation
import LarderSystem
import Testing

@testable import LarderSync

@Suite struct RecordsReadingTests {
    private let title = Field<String>("title")
    private let rank = Field<Int>("rank")

    private static let three = [
        #"{"id":"a","title":"x","rank":3}"#, #"{"id":"b","title":"y","rank":1}"#, #"{"id":"c","title":"z"}"#,
    ]

    // MARK: Single records

    @Test func recordIsAbsentOnlyAfterACompletePullOfThePresentSource() throws {
        try RecordsApp.run { app, pantry, notes in
            #expect(try await notes.get("d") == .unknown)
            try await notes.importing([Note(id: "a", title: "kept")])
            #expect(try await notes.get("d") == .unknown)
            try await notes.pull(Self.three)
            #expect(try await notes.get("d") == .absent)
            #expect(try await notes.get(["a", "d", "a"]).map { $0?.record?.value.title } == ["x", nil, "x"])
            // The records of another service are not known.
            let other = RecordsApp.notes.replacing(#""service""#, with: #"{ "use": "service", "at": "there" }"#)
            try await app.change("notes", other, of: pantry)
            #expect(try await notes.get("d") == .unknown)
            #expect(try await !notes.query().isComplete)
        }
    }

    @Test func raisedEditionMakesThePullIncomplete() throws {
        try RecordsApp.run { app, pantry, notes in
            try await notes.pull(Self.three)
            #expect(try await notes.query().isComplete)
            let raised = RecordsApp.notes.replacing(#""id": "/id""#, with: #""id": "/id", "edition": 2"#)
            try await app.change("notes", raised, of: pantry)
            #expect(try await !notes.query().isComplete)
            #expect(try await notes.count() == 3)
        }
    }

    @Test func recordTellsWhenItWasReceived() throws {
        try RecordsApp.run { app, _, notes in
            try await app.world.sleep(for: .seconds(100))
            try await notes.pull(Self.three)
            let received = Timestamp(seconds: 1_767_571_300)
            try await app.world.sleep(for: .seconds(100))
            try await notes.update("a") { $0.title = "mine" }
            #expect(try await notes.get("a").record?.receivedAt == received)
            #expect(try await notes.create(Note(title: "new")).receivedAt == nil)
        }
    }

    // MARK: Lists

    @Test func queriesSelectSortAndCount() throws {
        try RecordsApp.run { _, _, notes in
            try await notes.pull(Self.three)
            try await notes.update("c") { $0.rank = 2 }
            let ranked = try await notes.query(Query(rank >= 1).sorted(by: rank, .descending)).records
            #expect(ranked.map(\.id) == ["a", "c", "b"])
            #expect(try await notes.query(Query().limit(2)).records.map(\.id) == ["a", "b"])
            #expect(try await notes.count(Query(rank < 3)) == 2)
            #expect(try await notes.count(Query(rank < 3).limit(1)) == 1)
            await #expect(throws: QueryError.self) { try await notes.query(Query(Field<String>("a\"b") == "x")) }
        }
    }

    @Test func filteredListKeepsWhatIsNotKnown() throws {
        try RecordsApp.run { app, pantry, notes in
            func titles() async throws -> [String] {
                try await notes.get(["d", "c", "b", "a", "e"], where: rank >= 2).map { id, lookup in
                    switch lookup {
                    case .found(let record): "\(id) \(record.value.title)"
                    case .absent: "\(id) absent"
                    case .unknown: "\(id) unknown"
                    }
                }
            }
            #expect(try await titles() == ["d unknown", "c unknown", "b unknown", "a unknown", "e unknown"])
            try await notes.importing([Note(id: "a", title: "x", rank: 3), Note(id: "b", title: "y", rank: 1)])
            #expect(try await titles() == ["d unknown", "c unknown", "a x", "e unknown"])
            try await notes.pull(Self.three + [#"{"id":"e","rank":5}"#])
            #expect(try await titles() == ["d absent", "a x"])
            #expect(pantry.resource("notes").metrics[.undecodableRecords] == 1)
            // Of this record, only the user's own change is known.
            try await notes.update("c") { $0.title = "mine" }
            try await pantry.clear(.all)
            #expect(try await titles() == ["d unknown", "c unknown", "b unknown", "a unknown", "e unknown"])
            await #expect(throws: QueryError.self) { try await notes.get(["a"], where: Field<String>("a\"b") == "x") }
        }
    }

    @Test func declaredIndexesAreUsed() throws {
        let policy = RecordsApp.notes.replacing(#""/id""#, with: #""/id", "indexes": [["-rank"], ["title", "rank"]]"#)
        try RecordsApp.run(policy) { _, _, notes in
            try await notes.pull(Self.three)
            let selection = try Query(rank >= 1).sorted(by: rank, .descending).selection(in: nil)
            let attachment = try notes.attachment()
            let plan = try await attachment.reading { database in
                try database.reading { connection in
                    var lines = ""
                    let sql =
                        "EXPLAIN QUERY PLAN SELECT n FROM records WHERE t=? AND state<4 AND "
                        + (selection.condition ?? "") + " ORDER BY " + selection.order.joined(separator: ", ") + ", n"
                    try connection.each(sql, [.integer(1)] + selection.values.map(\.bound)) {
                        lines += $0.text(3) + "\n"
                        return true
                    }
                    return lines
                }
            }
            #expect(plan.contains("SEARCH records USING INDEX declared_notes_") && !plan.contains("TEMP B-TREE"))
        }
    }

    @Test func recordThatDoesNotDecodeIsLeftOutAndCounted() throws {
        try RecordsApp.run { _, pantry, notes in
            try await notes.pull(Self.three + [#"{"id":"d","title":7}"#])
            let page = try await notes.query()
            #expect(page.records.map(\.id) == ["a", "b", "c"] && page.undecodable == 1)
            #expect(try await notes.get(["a", "d"]).map { $0 == nil } == [false, true])
            let error = await #expect(throws: RecordError.self) { try await notes.get("d") }
            #expect(error?.code == .undecodable)
            #expect(try await pantry.records("notes").query().records.count == 4)
            #expect(pantry.resource("notes").metrics[.undecodableRecords] == 2)
        }
    }

    @Test func datesAreInTheFormatOfTheHandle() throws {
        try RecordsApp.run { _, pantry, _ in
            let notes = pantry.records("notes", of: Note.self, format: ISODates.self)
            let date = Date(timeIntervalSince1970: 1_777_629_600)
            let made = try await notes.create(Note(title: "a", at: date))
            let raw = try await pantry.records("notes").get(made.id).record?.value
            #expect(raw?["at"]?.string == "2026-05-01T10:00:00Z")
            #expect(try await notes.query(Query(Field<Date>("at") <= date)).records.map(\.value.at) == [date])
            #expect(try await notes.query(Query(Field<Date>("at") < date)).records.isEmpty)
        }
    }

    // MARK: Observing

    @Test func observerSeesWhatIsThereAndThenEachChange() throws {
        try RecordsApp.run { _, _, notes in
            var pages = notes.observe(Query(title != "z").sorted(by: title)).makeAsyncIterator()
            let first = try #require(await pages.next())
            #expect(first.records.isEmpty && !first.isComplete)
            try await notes.pull(Self.three)
            let second = try #require(await pages.next())
            #expect(second.records.map(\.id) == ["a", "b"] && second.isComplete)
            // A change of another record shows nothing.
            try await notes.update("c") { $0.rank = 9 }
            try await notes.update("a") { $0.title = "zz" }
            let third = try #require(await pages.next())
            #expect(third.records.map(\.id) == ["b", "a"] && third.records[1].state == .pending)
        }
    }

    @Test func slowObserverGetsTheLatestPageOnly() throws {
        try RecordsApp.run { app, _, notes in
            var pages = notes.observe().makeAsyncIterator()
            _ = await pages.next()
            for number in 0..<5 {
                try await notes.create(Note(title: "\(number)"))
                try await app.world.sleep(for: .seconds(1))
            }
            #expect(await pages.next()?.records.count == 5)
        }
    }

    @Test func observerStaysInItsAccount() throws {
        let policy = #"{ "resource": "notes", "origin": "signed", "records": { "id": "/id" } }"#
        try RecordsApp.run(policy) { app, pantry, notes in
            var refused = notes.observe().makeAsyncIterator()
            #expect((await refused.next()?.error as? RecordError)?.code == .notSignedIn)
            #expect(await refused.next() == nil)
            app.account.withLock { $0 = "alice" }
            var pages = notes.observe().makeAsyncIterator()
            _ = await pages.next()
            app.account.withLock { $0 = "bob" }
            try await notes.create(Note(title: "his"))
            try await pantry.records("notes", of: Note.self, scope: "alice").create(Note(title: "hers"))
            #expect(await pages.next()?.records.map(\.value.title) == ["hers"])
        }
    }

    @Test func observerFollowsAReloadAndEndsWithThePantry() throws {
        try RecordsApp.run { app, pantry, notes in
            var pages = notes.observe().makeAsyncIterator()
            _ = await pages.next()
            let changed = RecordsApp.notes.replacing(#""/id""#, with: #""/id", "sweepGuard": "10%""#)
            try await app.change("notes", changed, of: pantry)
            try await notes.create(Note(title: "after"))
            #expect(await pages.next()?.records.map(\.value.title) == ["after"])
            await pantry.close()
            #expect(await pages.next() == nil)
        }
    }

    @Test func queryThatCannotBeAskedEndsTheStream() throws {
        try RecordsApp.run { _, _, notes in
            var pages = notes.observe(Query(Field<String>("") == "x")).makeAsyncIterator()
            #expect(await pages.next()?.error is QueryError)
            #expect(await pages.next() == nil)
        }
    }

    @Test func observersShareOneWatchOfTheOtherProcesses() throws {
        try SimulatedWorld(seed: 1).run(leaving: .anything) { base in
            let world = WatchedWorld(base: base)
            let app = try RecordsApp(in: world)
            let policies = ["notes": RecordsApp.notes, "trips": RecordsApp.notes.replacing("notes", with: "trips")]
            let pantry = try await app.pantry(policies)
            let names = ["notes", "notes", "trips"]
            var tasks: [Task<Void, Never>] = []
            for _ in 0..<2 {
                tasks = names.map { name in
                    world.spawn { for await _ in pantry.records(name).observe() {} }
                }
                try await world.sleep(for: .seconds(1))
                #expect(world.watches.withLock { $0 } == 1)
                tasks.removeLast().cancel()
                try await world.sleep(for: .seconds(1))
                #expect(world.watches.withLock { $0 } == 1)
                for task in tasks { task.cancel() }
                try await world.sleep(for: .seconds(1))
                #expect(world.watches.withLock { $0 } == 0)
            }
            await pantry.close()
        }
    }

    @Test func observerSeesTheChangeOfAnotherProcess() async throws {
        // Two pantries share nothing but the files, as two processes do.
        let app = try RecordsApp(in: SystemWorld())
        let (one, other) = (try await app.pantry(), try await app.pantry())
        var pages = one.records("notes", of: Note.self).observe().makeAsyncIterator()
        _ = await pages.next()
        try await other.records("notes", of: Note.self).create(Note(title: "there"))
        #expect(await pages.next()?.records.map(\.value.title) == ["there"])
        await one.close()
        await other.close()
    }
}

private enum ISODates: JSONFormat {
    static func configure(_ decoder: JSONDecoder) { decoder.dateDecodingStrategy = .iso8601 }
    static func configure(_ encoder: JSONEncoder) { encoder.dateEncodingStrategy = .iso8601 }
}
