import Foundation
import Larder
import LarderSystem

@testable import LarderSync

/// A small table of records in a real database.
final class QuerySample {
    private let folder: URL
    let connection: SQLiteConnection
    private(set) var records: [(id: String, record: JSONText)] = []

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "larder-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let path = folder.appending(path: "a.sqlite").path
        try Disk.create(path, with: UnsafeRawBufferPointer(start: nil, count: 0))
        connection = try SQLiteConnection(path, hasIndexedFunctions: true)
        try connection.run("CREATE TABLE records(n INTEGER PRIMARY KEY, id TEXT, base TEXT, shown TEXT)")
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Adds a record.
    ///
    /// - Parameter base: the service's state, if the user has changed the record.
    func add(_ id: String, _ record: JSONText, base: JSONText? = nil) throws {
        let texts = [base ?? record, base == nil ? nil : record].map { text in
            SQLiteValue(text.map { String(decoding: $0.bytes, as: UTF8.self) })
        }
        try connection.run("INSERT INTO records(id, base, shown) VALUES(?,?,?)", [.text(id)] + texts)
        records.append((id, record))
    }

    func add(_ records: [String: String]) throws {
        for (id, text) in records.sorted(by: { $0.key < $1.key }) { try add(id, try JSONText(text.utf8)) }
    }

    /// Returns the ids of the records that a query selects.
    func ids(_ query: Query, in format: (any JSONFormat.Type)? = nil) throws -> [String] {
        let (sql, values) = try statement(query, in: format)
        var ids: [String] = []
        try connection.each(sql, values) {
            ids.append($0.text(0))
            return true
        }
        return ids
    }

    /// Returns the way in which SQLite finds the records.
    func plan(_ query: Query) throws -> String {
        let (sql, values) = try statement(query, in: nil)
        var lines: [String] = []
        try connection.each("EXPLAIN QUERY PLAN " + sql, values) {
            lines.append($0.text(3))
            return true
        }
        return lines.joined(separator: "\n")
    }

    private func statement(_ query: Query, in format: (any JSONFormat.Type)?) throws -> (String, [SQLiteValue]) {
        let selection = try query.selection(in: format)
        var sql = "SELECT id FROM records"
        if let condition = selection.condition { sql += " WHERE " + condition }
        sql += " ORDER BY " + (selection.order + ["n"]).joined(separator: ", ")
        if let limit = selection.limit { sql += " LIMIT \(limit)" }
        let values: [SQLiteValue] = selection.values.map { value in
            switch value {
            case .null: .null
            case .integer(let number): .integer(number)
            case .number(let number): .double(number)
            case .text(let text): .text(text)
            }
        }
        return (sql, values)
    }
}
