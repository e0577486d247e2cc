import LarderSystem
import LarderCore

/// The settings of a store in a database.
struct SQLiteOptions: Sendable {
    /// The condition under which a write is acknowledged.
    enum Durability: String, CaseIterable, Sendable {
        /// The entry is queued.
        case none
        /// The entry survives the end of the process.
        case process
        /// The entry survives a power cut.
        case power
    }

    /// The folder of the database and of the payloads' files.
    var folder: String
    var capacity: Int
    /// The largest number of entries; nil for no limit.
    var mostEntries: Int?
    var maxAge = Duration.forever
    var durability = Durability.process
    /// The size from which a payload gets a file of its own.
    var smallestFile = 128_000
    var checksum = SQLiteChecksum.fast

    /// The most bytes of a payload that is found in a row, although payloads of its size get files now.
    private static let longestFormerPayload = 32_000_000
    /// The most bytes of a payload in a row.
    var longestPayload: Int { max(smallestFile, Self.longestFormerPayload) }
}
