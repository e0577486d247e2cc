import LarderFoundation
import LarderSystem
import LarderCore

/// A row of the table of entries, without its payload.
///
/// The column `head` has the encoded head of the entry, the digest of the payload and, at its end, a checksum of all that
/// is in the row. So damage is noticed wherever it is, and the metadata can be replaced without reading the payload.
struct SQLiteRow {
    /// The facts about an entry that are not in its metadata, as bits of one number.
    private enum State {
        static let pinned: Int64 = 1
        static let tagged: Int64 = 2
    }

    var id: Int64
    /// The digest of account and key: see ``hash(of:)``.
    var hash: Int64
    /// The time at which the entry was fetched or last validated, in nanoseconds since 1970.
    var at: Int64
    /// The number of bytes that the entry counts in the capacity.
    var size: Int
    private var state: Int64
    /// The number in the name of the payload's file; nil if the payload is in the row.
    var file: Int64?
    /// The encoded head of the entry.
    private(set) var head: [UInt8]
    /// The digest of the payload.
    private(set) var digest: [UInt8]

    var isPinned: Bool {
        get { state & State.pinned != 0 }
        set { state = newValue ? state | State.pinned : state & ~State.pinned }
    }
    /// Whether the entry has tags.
    var isTagged: Bool { state & State.tagged != 0 }

    /// The columns but the payload.
    private static let ownColumns = "id, hash, at, size, state, file, head"

    /// The columns that ``init(reading:)`` expects. A value of another type, or one that is too long, is read as null, so
    /// that it takes no memory.
    static let columns: String = {
        let numbers = ["hash", "at", "size", "state", "file"].map { name in
            "CASE WHEN typeof(\(name))='integer' THEN \(name) END"
        }
        return "id, \(numbers.joined(separator: ", ")), \(headColumn)"
    }()

    /// The head as a column.
    static let headColumn = bytes("head", "\(longestHead)")

    /// The payload as a column, or null if it is longer than the size of its row says, or than the first value of the
    /// statement.
    static let payloadColumn = bytes("payload", "min(size, ?1)")

    private static func bytes(_ column: String, _ longest: String) -> String {
        "CASE WHEN typeof(\(column))='blob' AND length(\(column)) <= \(longest) THEN \(column) END"
    }

    /// The most bytes of the column `head`, and a little more.
    static let longestHead = (1 << 24) + 1_024

    /// Creates the row of an entry.
    ///
    /// - Parameter digest: the digest of the payload.
    init(_ entry: Entry, for key: Key, id: Int64, file: Int64?, digest: [UInt8], isPinned: Bool) throws(StoreError) {
        self.id = id
        hash = Self.hash(of: key)
        (at, size, head) = (0, 0, [])
        state = isPinned ? State.pinned : 0
        self.file = file
        self.digest = digest
        setHead(try entry.encodedHead(for: key), entry.metadata, payloadSize: entry.payload.bytes.count)
    }

    /// Takes over a head with other metadata.
    mutating func setHead(_ head: [UInt8], _ metadata: Metadata, payloadSize: Int) {
        self.head = head
        at = (metadata.validatedAt ?? metadata.fetchedAt).nanoseconds
        size = head.count + payloadSize
        state = state & State.pinned | (metadata.tags.isEmpty ? 0 : State.tagged)
    }

    /// Reads a row.
    ///
    /// - Throws: ``StoreError`` if the row is damaged.
    init(reading row: SQLiteStatement) throws(StoreError) {
        id = row.integer(0)
        hash = row.integer(1)
        at = row.integer(2)
        size = Int(clamping: row.integer(3))
        state = row.integer(4)
        file = row.optionalInteger(5)
        let bytes = row.bytes(6)
        guard let length = EncodedHead.size(of: bytes), length <= bytes.count - Self.shortest else {
            throw StoreError.damaged
        }
        head = Array(bytes[..<length])
        digest = Array(bytes[length..<bytes.count - Self.sealLength])
        guard bytes[(bytes.count - Self.sealLength)...].elementsEqual(seal) else { throw StoreError.damaged }
    }

    private static let sealLength = 8
    /// The length of the shortest digest and the seal.
    private static let shortest = 16

    /// The contents of the column `head`.
    var sealedHead: [UInt8] { head + digest + seal }

    /// The checksum of the row.
    private var seal: [UInt8] {
        var numbers = head + digest
        for number in [id, hash, at, Int64(size), state, file ?? 0, file == nil ? 0 : 1] {
            withUnsafeBytes(of: number.littleEndian) { numbers += $0 }
        }
        return withUnsafeBytes(of: Checksum.of(numbers).littleEndian, Array.init)
    }

    /// Adds the row to its table.
    func insert(_ connection: SQLiteConnection, payload: Data) throws {
        try connection.run(
            "INSERT INTO entries(\(Self.ownColumns), payload) VALUES(?, ?, ?, ?, ?, ?, ?, ?)", .integer(id),
            .integer(hash),
            .integer(at), .integer(size), .integer(state), file.map { .integer($0) } ?? .null, .bytes(sealedHead),
            .data(payload))
    }

    /// Writes all but the payload.
    func update(_ connection: SQLiteConnection) throws {
        try connection.run(
            "UPDATE entries SET at=?, size=?, state=?, head=? WHERE id=?", .integer(at), .integer(size),
            .integer(state), .bytes(sealedHead), .integer(id))
    }

    /// Notes that the entry has a tag.
    func addTag(_ tag: String, _ connection: SQLiteConnection) throws {
        try connection.run("INSERT OR IGNORE INTO tags VALUES(?, ?)", .integer(Self.hash(of: tag)), .integer(id))
    }

    // MARK: Digests

    /// Returns the digest of a key: 23 bits of its account, and 40 bits of its text. So the rows of an account are
    /// neighbours in the index.
    static func hash(of key: Key) -> Int64 {
        let text = SHA256.digest(Array(key.text.utf8)).prefix(5).reduce(Int64(0)) { $0 << 8 | Int64($1) }
        return range(of: key.scope).lowerBound | text
    }

    /// Returns the digests of the keys of an account. Other accounts may have some of them, too.
    static func range(of scope: String?) -> ClosedRange<Int64> {
        scope == nil ? withoutAccount : computedRange(of: scope)
    }

    private static let withoutAccount = computedRange(of: nil)

    private static func computedRange(of scope: String?) -> ClosedRange<Int64> {
        let bytes = SHA256.digest(scope.map { [1] + Array($0.utf8) } ?? [0]).prefix(3)
        return range(around: (bytes.reduce(Int64(0)) { $0 << 8 | Int64($1) } >> 1) << 40)
    }

    /// Returns the digests of the keys of the account to which a digest belongs.
    static func range(around hash: Int64) -> ClosedRange<Int64> {
        let texts: Int64 = 0xFF_FFFF_FFFF
        return (hash & ~texts & .max)...(hash & .max | texts)
    }

    /// Returns the digest of a tag.
    static func hash(of tag: String) -> Int64 {
        SHA256.digest(Array(tag.utf8)).prefix(8).reduce(Int64(0)) { $0 << 8 | Int64($1) }
    }
}

/// The kinds of digest by which payloads are checked.
enum SQLiteChecksum: String, CaseIterable {
    /// A checksum of 64 bits, which notices damage.
    case fast
    /// SHA-256, which also notices changes on purpose.
    case sha256 = "sha-256"

    func digest(of payload: Data) -> [UInt8] {
        switch self {
        case .fast:
            payload.withUnsafeBytes { withUnsafeBytes(of: Checksum.fast(of: $0).littleEndian, Array.init) }
        case .sha256: payload.withUnsafeBytes { SHA256.digest($0) }
        }
    }

    /// Returns whether a payload has a digest of any kind.
    static func check(_ payload: Data, _ digest: [UInt8]) -> Bool {
        (digest.count == 8 ? fast : sha256).digest(of: payload) == digest
    }
}
