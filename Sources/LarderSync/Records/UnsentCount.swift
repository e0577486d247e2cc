public import Larder
import LarderSystem

/// The number of changes of an account that wait for one service: see `Pantry.unsent(of:)`.
public struct UnsentCount: Sendable, Hashable {
    /// The name of the resource. Its policy may be gone.
    public let resource: String
    /// The account; nil for changes that belong to nobody.
    public let account: String?
    /// The number of new records, or of requests of `Resource.send`.
    public internal(set) var creates = 0
    /// The number of changed records.
    public internal(set) var updates = 0
    /// The number of deletions.
    public internal(set) var deletes = 0

    /// The number of all changes.
    public var total: Int { creates + updates + deletes }

    init(of table: RecordTable) { (resource, account) = (table.resource, table.scope) }

    fileprivate mutating func add(_ kind: QueuedWrite.Kind) {
        switch kind {
        case .create: creates += 1
        case .update: updates += 1
        case .delete: deletes += 1
        }
    }
}

extension Pantry {
    /// Returns the number of changes that wait for their services, of all accounts, also of those that are not signed in. Resources
    /// and accounts without such changes are left out.
    ///
    /// - Throws: errors of the disk and the database.
    public func unsent() async throws -> [UnsentCount] { try await unsent { _ in true } }

    /// Returns the number of changes of an account that wait for their services, for a question before a logout.
    ///
    /// ```swift
    /// try await pantry.sendWaiting(within: .seconds(5))
    /// let left = try await pantry.unsent(of: "alice").reduce(0) { $0 + $1.total }
    /// if left == 0 || screen.confirms("\(left) changes are sent when you sign in again.") {
    ///     try await pantry.clear(.scope("alice"))
    /// }
    /// ```
    ///
    /// - Parameter account: the account; nil for changes that belong to nobody.
    /// - Throws: errors of the disk and the database.
    public func unsent(of account: String?) async throws -> [UnsentCount] {
        try await unsent { $0 == RecordTable(resource: $0.resource, scope: account) }
    }

    private func unsent(where isWanted: @escaping @Sendable (RecordTable) -> Bool) async throws -> [UnsentCount] {
        guard let attachment = recordsAttachments.first else { return [] }
        return try await attachment.reading { try $0.unsent(where: isWanted) }
    }

    /// Sends the changes that wait, of all resources and of the accounts that are signed in, for at most this time. A call that is
    /// under way then goes on.
    ///
    /// Waits after failed tries end, and those that the services have asked for do not. Records are fetched only where that must
    /// come first.
    ///
    /// - Returns: the changes of these accounts that still wait, as in ``unsent(of:)``.
    /// - Throws: errors of the disk and the database; `CancellationError` if this task was cancelled. That a service cannot be
    ///   reached is no error.
    @discardableResult
    public func sendWaiting(within limit: Duration) async throws -> [UnsentCount] {
        let parts = recordsAttachments.compactMap { part in
            (try? records(part.resource).table()).map { (part: part, table: $0) }
        }
        guard let world = parts.first?.part.world else { return [] }
        let waiting = Set(try await unsent().map { RecordTable(resource: $0.resource, scope: $0.account) })
        let end = world.uptime + limit
        let works = parts.compactMap { part, table in
            part.work.flatMap { work in
                work.sends && waiting.contains(table)
                    ? AwaitableWork(in: world) { try await work.sync(table, as: .wake) } : nil
            }
        }
        for work in works {
            do { _ = try await work.value(within: max(end - world.uptime, .zero)) } catch {
                try Task.checkCancellation()
            }
        }
        let tables = Set(parts.map(\.table))
        return try await unsent { tables.contains($0) }
    }
}

extension RecordDatabase {
    /// Returns the numbers of waiting changes of some tables. Makes no file.
    fileprivate func unsent(where isWanted: (RecordTable) -> Bool) throws -> [UnsentCount] {
        guard Disk.stamp(of: file.path) != nil else { return [] }
        return try reading { connection in
            try TableFacts.all(connection).filter { $0.books.pending > 0 && isWanted($0.table) }.map { facts in
                var count = UnsentCount(of: facts.table)
                try connection.each(
                    "SELECT \(KeptWrite.columns) FROM outbox WHERE t=? ORDER BY n", .integer(facts.number)
                ) { row in
                    let write = try KeptWrite(reading: row).write
                    if write.isPending { count.add(write.kind) }
                    return true
                }
                return count
            }
        }
    }
}
