import LarderSystem
import LarderCore
import Synchronization

/// The uses of entries since they were last written, for the eviction.
///
/// Times are counted in new rows, as the numbers of the rows are. So an entry that was never read has the time of its row.
final class SQLiteUses: Sendable {
    /// The number of reads of an entry, and the time of the last one.
    struct Use: Sendable {
        var at: Int64
        var count: Int64
    }

    private let uses = Locked<[Int64: Int64]>([:])
    /// The last entry whose age was looked at.
    private let swept = Atomic<Int64>(0)
    var lastSwept: Int64 {
        get { swept.load(ordering: .relaxed) }
        set { swept.store(newValue, ordering: .relaxed) }
    }

    /// The number of entries whose uses are kept in memory. Uses of further entries are not noted.
    private static let most = 8_192

    /// Notes that an entry was read.
    func add(_ id: Int64) {
        uses.withLock { uses in
            if let count = uses[id] { uses[id] = count &+ 1 } else if uses.count < Self.most { uses[id] = 1 }
        }
    }

    /// Returns how often an entry was read, in memory and in the table.
    func use(of id: Int64, _ connection: SQLiteConnection, now: Int64) throws -> Use? {
        let added = uses.withLock { $0[id] }
        let saved = try connection.first("SELECT at, count FROM uses WHERE entry=?", .integer(id)) {
            Use(at: $0.integer(0), count: min(max(0, $0.integer(1)), 1 << 40))
        }
        guard let added else { return saved }
        return Use(at: now, count: (saved?.count ?? 0) &+ added)
    }

    var isEmpty: Bool { uses.withLock { $0.isEmpty } }

    /// Takes the uses of an entry over to the entry that replaces it.
    func move(_ id: Int64, to next: Int64, _ connection: SQLiteConnection) throws {
        uses.withLock { uses in
            if let count = uses.removeValue(forKey: id) { uses[next] = count }
        }
        try connection.run("UPDATE OR REPLACE uses SET entry=? WHERE entry=?", .integer(next), .integer(id))
    }

    /// Whether enough uses were noted to be written.
    var isFull: Bool { uses.withLock { $0.count >= Self.most } }

    /// Writes the uses. Older ones count half.
    func save(_ connection: SQLiteConnection, now: Int64) throws {
        let added = uses.withLock { uses in
            defer { uses = [:] }
            return uses
        }
        for (id, count) in added {
            try connection.run(
                """
                INSERT OR REPLACE INTO uses SELECT id, ?2, ?3 + coalesce((SELECT count / 2 FROM uses WHERE entry=?1), 0)
                FROM entries WHERE id=?1
                """, .integer(id), .integer(now), .integer(count))
        }
    }
}

extension SQLiteTransaction {
    /// The number of entries from which those to remove are chosen.
    private static let sample = 16

    private var isOver: Bool {
        totals.size > capacity || totals.entries > options.mostEntries ?? .max
    }

    /// Removes entries until the others fit into the capacity: of a sample, those that were not read for the longest time
    /// in relation to how often they were read.
    func evict() throws {
        if uses.isFull { try uses.save(connection, now: totals.next) }
        var tries = 0
        while isOver {
            // A sample of pinned entries only brings nothing. After some of these, the oldest entries go.
            let before = evicted.count
            try evict(try tries < 8 ? sample() : oldest())
            tries = evicted.count > before ? 0 : tries + 1
            if tries > 9 { return }
        }
    }

    /// Removes those of the next few entries that are too old. It begins after the entries that were looked at last.
    func removeOld() throws {
        guard options.maxAge < .forever else { return }
        var ids: [Int64] = []
        var last: Int64 = 0
        let sql = "SELECT id, at FROM entries WHERE id > ? ORDER BY id LIMIT ?"
        try connection.each(sql, .integer(uses.lastSwept), .integer(Self.swept)) { row in
            last = row.integer(0)
            if now - Timestamp(nanoseconds: row.integer(1)) >= options.maxAge { ids.append(last) }
            return true
        }
        uses.lastSwept = last
        for id in ids {
            guard let row = try row(id), !isYoung(row) else { continue }
            try delete(row)
        }
    }

    /// The number of entries whose age is looked at in each transaction.
    private static let swept = 8

    private func evict(_ ids: [Int64]) throws {
        let rated = try ids.map { id in (id, try idleness(of: id)) }.sorted { $0.1 > $1.1 }
        var left = max(1, ids.count / 4)
        // The entry that was written last stays: there is room for it beside the pinned ones.
        for (id, _) in rated where isOver && left > 0 && id != totals.next - 1 {
            guard let row = try row(id), !row.isPinned else { continue }
            try delete(row)
            left -= 1
            let head = try EncodedHead(of: row.head)
            guard let key = head.key else { continue }
            evicted.append(
                EvictedEntry(
                    key: key, tier: SQLiteStore.tier, reason: .capacity, metadata: head.metadata, size: row.size))
        }
    }

    private func idleness(of id: Int64) throws -> Double {
        let use = try uses.use(of: id, connection, now: totals.next)
        return Double(1 &+ totals.next &- max(id, use?.at ?? 0)) / Double(1 &+ (use?.count ?? 0))
    }

    /// Returns random entries: those that follow a random place in the index, among the entries of one account. The more
    /// entries an account has, the more often it is chosen.
    private func sample() throws -> [Int64] {
        let first = try connection.first("SELECT id FROM entries ORDER BY id LIMIT 1") { $0.integer(0) } ?? 0
        let choice = first &+ Int64(world.chance() * Double(max(1, totals.next &- first)))
        guard
            let hash = try connection.first(
                "SELECT hash FROM entries WHERE id >= ? ORDER BY id LIMIT 1", .integer(choice), read: { $0.integer(0) })
        else { return [] }
        let account = SQLiteRow.range(around: hash)
        let start = account.lowerBound | Int64(world.chance() * 0x1p40)
        var ids: [Int64] = []
        for range in [start...account.upperBound, account.lowerBound...start] where ids.count < Self.sample {
            try connection.each(
                "SELECT id FROM entries WHERE hash BETWEEN ? AND ? ORDER BY hash LIMIT ?", .integer(range.lowerBound),
                .integer(range.upperBound), .integer(Self.sample - ids.count)
            ) {
                ids.append($0.integer(0))
                return true
            }
        }
        return ids
    }

    /// Returns the oldest entries that are not pinned.
    private func oldest() throws -> [Int64] {
        var ids: [Int64] = []
        try connection.each(
            "SELECT id FROM entries WHERE state & 1 = 0 ORDER BY id LIMIT ?", .integer(Self.sample)
        ) {
            ids.append($0.integer(0))
            return true
        }
        return ids
    }
}
