import Larder
import LarderSystem

/// A field of a declared index.
struct IndexField: Hashable, Sendable {
    var path: [String]
    var isDescending = false
}

/// The indexes that policies declare. They are made and dropped while the app runs.
enum RecordIndexes {
    static let prefix = "declared_"

    /// Makes the missing indexes of a resource, and drops those that its policy has no more.
    ///
    /// All accounts of a resource share an index, because a row of `tables` stands first in it.
    static func prepare(
        _ declared: [[IndexField]], of resource: String, in connection: SQLiteConnection
    ) throws {
        let own = prefix + name(resource.utf8) + "_"
        var wanted: [String: String] = [:]
        for fields in declared {
            let columns = fields.compactMap { field in
                RecordColumns.field(field.path).map { $0 + (field.isDescending ? " DESC" : "") }
            }
            guard columns.count == fields.count else { continue }
            let list = (["t"] + columns).joined(separator: ", ")
            let index = own + String(Checksum.of(Array(list.utf8)), radix: 36)
            wanted[index] = "CREATE INDEX \(index) ON records(\(list))"
        }
        var present: [String: String] = [:]
        try connection.each("SELECT name, sql FROM sqlite_master WHERE type='index'") { row in
            if row.text(0).hasPrefix(own) { present[row.text(0)] = row.text(1) }
            return true
        }
        if present == wanted { return }
        try connection.transaction {
            for (name, sql) in present where wanted[name] != sql {
                try connection.run("DROP INDEX \"\(name.replacing("\"", with: "\"\""))\"")
            }
            for (name, sql) in wanted.sorted(by: { $0.key < $1.key }) where present[name] != sql {
                try connection.run(sql)
            }
        }
    }

    /// Returns a text of letters and digits for the bytes of any text.
    private static func name(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                ? String(UnicodeScalar(byte)) : "0" + String(byte, radix: 16) + "0"
        }.joined()
    }
}
