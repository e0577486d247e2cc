import Larder
import LarderSimulation
import Testing

@testable import LarderSync

/// Queries for which no index fits are counted, so that a dump tells of them.
@Suite struct QueryScanTests {
    private static let policy =
        #"{ "resource": "notes", "origin": "service", "records": { "id": "/id", "indexes": [["-rank"]] } }"#
    private static let latest = Query().limit(10)

    private static func scans(_ pantry: Pantry) -> UInt64 { pantry.metrics["notes"]?["records_scans"] ?? 0 }

    @Test func queryWithoutIndexIsCounted() throws {
        try RecordsApp.run(Self.policy) { _, pantry, notes in
            try await notes.importing(
                (0..<12_000).map { (number: Int) in
                    Note(id: "n\(number)", title: "t\(number % 7_919)", rank: number)
                })
            let byTitle = Query().sorted(by: Field<String>("title")).limit(10)
            for _ in 0..<2 { #expect(try await notes.query(byTitle).records.count == 10) }
            #expect(Self.scans(pantry) == 2)
            #expect(try await notes.query(Query(Field<String>("title") == "t5")).records.count == 2)
            #expect(Self.scans(pantry) == 3)
            // The first has an index, the second needs none, and the third finds all that it looks at.
            _ = try await notes.query(Query().sorted(by: Field<Int?>("rank"), .descending).limit(10))
            _ = try await notes.query(Query().limit(10))
            _ = try await notes.query(Query(Field<Int?>("rank") > -1))
            #expect(Self.scans(pantry) == 3)
        }
    }

    @Test func queryOfFewRecordsNeedsNoIndex() throws {
        try RecordsApp.run(Self.policy) { _, pantry, notes in
            try await notes.importing(
                (0..<1_000).map { (number: Int) in Note(id: "n\(number)", title: "t\(number)", rank: number) })
            _ = try await notes.query(Query().sorted(by: Field<String>("title")).limit(10))
            #expect(Self.scans(pantry) == 0)
        }
    }
}
