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
