import Larder
import LarderSystem

/// The queue of a resource, of all its accounts together.
struct QueueFacts: Hashable, Sendable {
    /// The number of changes that the service may still have to be told of.
    var pending = 0
    /// The time at which the oldest of them was made, in milliseconds since 1970; nil if there are none.
    var oldest: Int64?
    /// The number of changes that the books of the accounts have lost.
    var unaccounted = 0
    /// The state of the changes that wait: of several, the worst.
    var level = OutboxLevel.empty
}

extension RecordDatabase {
    /// The number of waiting changes of an account among which those are looked for that cannot go on.
    private static let mostLookedAt = 200

    /// Returns the queue of a resource. Makes no file.
    ///
    /// - Parameters:
    ///   - resource: the name of the resource.
    ///   - rules: the rules by which its state is judged.
    func queue(of resource: String, by rules: QueueRules) throws -> QueueFacts {
        var facts = QueueFacts()
        guard Disk.stamp(of: file.path) != nil else { return facts }
        try reading { connection in
            for table in try TableFacts.all(connection) where table.table.resource.utf8.elementsEqual(resource.utf8) {
                facts.pending += table.books.pending
                facts.unaccounted += abs(table.books.unaccounted)
                if table.books.pending > 0 { try facts.add(table, by: rules, connection, most: Self.mostLookedAt) }
            }
        }
        return facts
    }
}

extension QueueFacts {
    /// Adds the age and the state of the first changes of a table that wait.
    fileprivate mutating func add(
        _ table: TableFacts, by rules: QueueRules, _ connection: SQLiteConnection, most: Int
    ) throws {
        level = max(level, rules.isAway(table.table) ? .held : .pending)
        let size = try rules.knownSize(table.table, table.version) ?? connection.queueSize(of: table.number)
        if rules.isFull(table.books.pending, size: size) { level = .full }
        var records: Set<Int64> = []
        var left = most
        try connection.each(
            "SELECT \(KeptWrite.columns) FROM outbox WHERE t=? ORDER BY n", .integer(table.number)
        ) { row in
            let kept = try KeptWrite(reading: row)
            guard kept.write.isPending else { return true }
            oldest = min(oldest ?? kept.write.made, kept.write.made)
            if records.insert(kept.record).inserted { level = max(level, rules.level(of: kept.write)) }
            left -= 1
            return left > 0
        }
    }
}
