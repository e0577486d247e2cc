import Larder
import LarderSimulation
import LarderSystem
import Testing

@testable import LarderSync

/// The file of the records: its log, and what happens when another process replaces it.
struct RecordFileTests {
    private let folder: TemporaryFolder
    private let world = SimulatedWorld(seed: 1)
    private let notes = RecordTable(resource: "notes", scope: "alice")
    private let planner = SyncPlanner(SyncRules(idPath: ["id"], source: "service"))
    private var path: String { folder.path + "/records.sqlite" }

    init() throws { folder = try TemporaryFolder() }

    private func put(_ id: String, size: Int = 1, in database: RecordDatabase, then: () throws -> Void = {}) throws {
        try database.changing(.process) { transaction in
            let record = JSONText(
                object: [("id", JSONText(string: id)), ("text", JSONText(string: String(repeating: "a", count: size)))])
            try RecordDecisions(transaction, notes, planner).write(.put(record), id: id, random: world.random)
            try then()
        }
    }

    @Test func logStaysShortDuringManyWrites() throws {
        let database = RecordDatabase(path, in: world)
        for number in 0..<800 { try put("\(number)", size: 200, in: database) }
        let size = try #require(Disk.item(path + "-wal")?.size)
        #expect(size < 8_000_000)
        #expect(try database.count(RecordSelection(), of: notes) == 800)
    }

    @Test func recordThatIsTooLargeWithItsChangeIsRefusedAndStaysAsItWas() throws {
        let database = RecordDatabase(path, in: world, longestRow: 100_000)
        try put("a", size: 60_000, in: database)
        let error = #expect(throws: RecordError.self) {
            try database.changing(.process) { transaction in
                let decisions = try RecordDecisions(transaction, notes, planner)
                _ = try transaction.running {
                    try decisions.importBase([pulled("b", size: 60_000)])
                }
                // The row would have the record twice.
                let changed = pulled("b", size: 60_001).record
                // The app goes on although the change is refused.
                _ = try? transaction.running { try decisions.write(.put(changed), id: "b", random: world.random) }
            }
        }
        #expect(error?.code == .tooLarge && error?.description.contains("too large") == true)
        #expect(try database.records(["a", "b"], of: notes).count == 1)
    }

    @Test func letterThatIsTooLargeHasTheWriteOnly() throws {
        let database = RecordDatabase(path, in: world, longestRow: 100_000)
        try database.changing(.process) { transaction in
            let decisions = try RecordDecisions(transaction, notes, planner)
            _ = try decisions.importBase([pulled("a", size: 30_000)])
            try decisions.write(.put(pulled("a", size: 30_001).record), id: "a", random: world.random)
            for write in try decisions.claim(most: 1) { try decisions.settle(.rejected(status: 422), of: write) }
        }
        let letter = try #require(try database.letters(of: notes).first?.letter)
        #expect(letter.base == nil && letter.shown == nil && letter.write.patch.changes.count == 1)
    }

    private func pulled(_ id: String, size: Int) -> PulledRecord {
        let record = JSONText(
            object: [("id", JSONText(string: id)), ("text", JSONText(string: String(repeating: "a", count: size)))])
        return PulledRecord(id: id, idText: JSONText(string: id), record: record)
    }

    @Test func writeIntoFileThatWasSetAsideMeanwhileIsNotAcknowledged() throws {
        let database = RecordDatabase(path, in: world)
        try put("first", in: database)
        #expect(throws: SQLiteFailure.damaged) {
            try put("second", in: database) { try Disk.move(path, to: path + "-damaged") }
        }
        try put("third", in: database)
        let found = try database.records(["first", "second", "third"], of: notes)
        #expect(found.count == 1 && found["third"] != nil)
    }
}
