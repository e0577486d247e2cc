import Larder
import LarderSimulation
import LarderSystem
import Testing

@testable import LarderSync

/// The gauges and counters of records in dumps.
@Suite struct RecordsMetricsTests {
    private static func gauges(of pantry: Pantry) async throws -> [String: Double] {
        let notes = try #require(await pantry.metrics.dump().resources.first { $0.name == "notes" })
        return Dictionary(uniqueKeysWithValues: notes.gauges.map { ($0.key.name, $0.value) })
    }

    private static func queue(_ pending: Double, oldest: Double, unaccounted: Double = 0) -> [String: Double] {
        ["sync_pending": pending, "sync_oldest_pending_seconds": oldest, "sync_unaccounted": unaccounted]
    }

    /// The counters of records that are not zero.
    private static func counts(of pantry: Pantry) async throws -> [String: UInt64] {
        let notes = try #require(await pantry.metrics.dump().resources.first { $0.name == "notes" }).total
        let counters = notes.counters.filter { $0.name.hasPrefix("sync_") && notes[$0] > 0 }
        return Dictionary(uniqueKeysWithValues: counters.map { ($0.name, notes[$0]) })
    }

    @Test func dumpShowsTheQueueAlsoAfterARestart() throws {
        try RecordsApp.run { app, pantry, notes in
            #expect(try await Self.gauges(of: pantry) == Self.queue(0, oldest: 0))
            try await notes.create(Note(id: "a", title: "x"))
            try await app.world.sleep(for: .seconds(60))
            try await notes.create(Note(id: "b", title: "y"))
            try await notes.update("a") { $0.title = "z" }
            try await app.world.sleep(for: .seconds(30))
            #expect(try await Self.gauges(of: pantry) == Self.queue(2, oldest: 90))
            await pantry.close()
            let next = try await app.pantry()
            try await app.world.sleep(for: .seconds(10))
            #expect(try await Self.gauges(of: next) == Self.queue(2, oldest: 100))
            await next.close()
        }
    }

    @Test func queuesOfAllAccountsAreOne() throws {
        try RecordsApp.run { app, pantry, _ in
            for scope in ["ann", "bob"] {
                try await pantry.records("notes", of: Note.self, scope: scope).create(Note(id: "a", title: "x"))
                try await app.world.sleep(for: .seconds(5))
            }
            #expect(try await Self.gauges(of: pantry) == Self.queue(2, oldest: 10))
            #expect(try await Self.counts(of: pantry) == ["sync_made": 2])
        }
    }

    @Test func resourcesAreCountedApart() throws {
        try RecordsApp.run { app, pantry, _ in
            await pantry.close()
            let trips = RecordsApp.notes.replacing("\"notes\"", with: "\"trips\"")
            let both = try await app.pantry(["notes": RecordsApp.notes, "trips": trips])
            try await both.records("trips", of: Note.self).create(Note(id: "a", title: "x"))
            let counts = try await Self.counts(of: both)
            #expect(counts.isEmpty)
            #expect(both.resource("trips").metrics[Counter("sync_made", "")] == 1)
            #expect(try await Self.gauges(of: both) == Self.queue(0, oldest: 0))
            await both.close()
        }
    }

    @Test func lossesOfTwoAccountsDoNotCancelOut() throws {
        try RecordsApp.run { _, pantry, notes in
            let attachment = try notes.attachment()
            for (scope, loss) in [("ann", 1), ("bob", -1)] {
                try await pantry.records("notes", of: Note.self, scope: scope).create(Note(id: "a", title: "x"))
                try await attachment.writing { database in
                    try database.changing(.process) { transaction in
                        let table = RecordTable(resource: "notes", scope: scope)
                        let number = try transaction.number(of: table, idPath: ["id"])
                        try transaction.change(number) { $0.books.accepted += loss }
                    }
                }
            }
            #expect(try await Self.gauges(of: pantry)["sync_unaccounted"] == 2)
        }
    }

    @Test func acceptedWriteThatIsStillShownIsNotPending() throws {
        try RecordsApp.run { app, pantry, notes in
            try await notes.create(Note(id: "a", title: "x"))
            try await app.world.sleep(for: .seconds(5))
            try await notes.create(Note(id: "b", title: "y"))
            try await Self.settle(.accepted(nil), in: notes)
            try await app.world.sleep(for: .seconds(7))
            #expect(try await notes.row("a")?.writes.count == 1)
            #expect(try await Self.gauges(of: pantry) == Self.queue(1, oldest: 7))
            #expect(try await Self.counts(of: pantry) == ["sync_made": 2, "sync_accepted": 1])
        }
    }

    @Test func booksAndPagesAreCounted() throws {
        try RecordsApp.run { _, pantry, notes in
            try await notes.pull([#"{"id":"a","title":"x"}"#, #"{"id":"c","title":"x"}"#], deleted: ["b"])
            try await notes.update("a") { $0.title = "y" }
            try await notes.update("a") { $0.rank = 1 }
            try await notes.create(Note(id: "d", title: "z"))
            #expect(try await notes.undo("d"))
            try await Self.settle(.unknown, in: notes)
            try await Self.settle(.rejected(status: 422), in: notes, after: .seconds(3_600))
            #expect(
                try await Self.counts(of: pantry) == [
                    "sync_made": 3, "sync_merged": 1, "sync_discarded": 1, "sync_rejected": 1, "sync_repeated": 1,
                    "sync_pages": 1, "sync_rows": 3, "sync_bytes": 44, "sync_full_pulls": 1,
                ])
            #expect(try await Self.gauges(of: pantry) == Self.queue(0, oldest: 0))
        }
    }

    @Test func changeThatFailedIsNotCounted() throws {
        struct Refused: Error {}
        try RecordsApp.run { _, pantry, notes in
            await #expect(throws: Refused.self) {
                try await pantry.write { changes in
                    try changes.create(Note(title: "x"), in: notes)
                    throw Refused()
                }
            }
            let counts = try await Self.counts(of: pantry)
            #expect(counts.isEmpty)
            #expect(try await Self.gauges(of: pantry) == Self.queue(0, oldest: 0))
        }
    }

    @Test func changesBeforeAndAfterAReloadAreCountedOnce() throws {
        try RecordsApp.run { app, pantry, notes in
            let former = try notes.attachment()
            try await notes.create(Note(title: "x"))
            try await app.change(
                "notes", RecordsApp.notes.replacing("{ \"id\"", with: "{ \"edition\": 2, \"id\""), of: pantry)
            #expect(try notes.attachment() !== former)
            try await notes.create(Note(title: "y"))
            #expect(try await Self.counts(of: pantry) == ["sync_made": 2])
            #expect(try await Self.gauges(of: pantry)["sync_pending"] == 2)
        }
    }

    @Test func dumpMakesNoDatabaseAndHasNoGaugesOfOneThatCannotBeRead() throws {
        try RecordsApp.run { _, pantry, notes in
            let database = try notes.attachment().database
            _ = await pantry.metrics.dump()
            #expect(Disk.stamp(of: database.file.path) == nil)
            try await notes.create(Note(title: "x"))
            #expect(try await Self.gauges(of: pantry)["sync_pending"] == 1)
            database.close()
            #expect(try await Self.gauges(of: pantry).isEmpty)
        }
    }

    /// Sends the first write, and settles it.
    private static func settle(
        _ outcome: WriteOutcome, in notes: Records<Note>, after pause: Duration = .zero
    ) async throws {
        let (attachment, table) = (try notes.attachment(), try notes.table())
        try await attachment.world.sleep(for: pause)
        try await attachment.writing { database in
            try database.changing(.power) { transaction in
                let decisions = try RecordDecisions(transaction, table, attachment.planner)
                for write in try decisions.claim(most: 1) { try decisions.settle(outcome, of: write) }
            }
        }
    }
}
