import LarderBase
import LarderCore

// Checking the database, and mending it.
extension SQLiteStore {
    func verify(
        repairing isRepairing: Bool, progress: @escaping @Sendable (Double) -> Void
    ) async throws -> StoreVerification {
        try await settle()
        // The threads that make and find entries go on.
        return try await world.blocking(on: database.path + " check") { [self] in
            do {
                let findings = try check(progress)
                var result = findings.verification
                if isRepairing, result.left > 0 {
                    try repair(findings)
                    result.repaired = result.left
                }
                return result
            } catch {
                throw StoreError(error)
            }
        }
    }

    private func check(_ progress: @escaping @Sendable (Double) -> Void) throws -> SQLiteFindings {
        var findings = SQLiteFindings()
        if Disk.isForeign(database.path) {
            findings.isFileDamaged = true
            return findings
        }
        guard let file = Disk.stamp(of: database.path) else { return findings }
        do {
            try database.checking { connection in
                var check = SQLiteCheck(connection, payloads, progress: progress)
                defer { findings = check.findings }
                try check.run()
            }
        } catch let failure as SQLiteFailure where failure.isDamaged {
            findings.isFileDamaged = true
        }
        findings.file = file
        return findings
    }

    // MARK: Repairing

    /// The damaged rows that are deleted together, so that other changes do not wait long.
    private static let group = 256

    /// Removes and mends what was found.
    private func repair(_ findings: SQLiteFindings) throws {
        guard try isFileMended(findings) else { return try database.writing { try payloads.deleteUnnamed($0) } }
        var rows = findings.damaged[...]
        repeat {
            let group = rows.prefix(Self.group)
            rows = rows.dropFirst(Self.group)
            try change(findings) { transaction in
                for id in group { try transaction.deleteDamaged(id) }
                if rows.isEmpty { try deleteLeftovers(findings, transaction) }
            }
        } while !rows.isEmpty
        _ = try database.writing { try payloads.deleteUnnamed($0) }
    }

    private func deleteLeftovers(_ findings: SQLiteFindings, _ transaction: SQLiteTransaction) throws {
        for record in findings.tags {
            try transaction.connection.run(
                "DELETE FROM tags WHERE tag=? AND entry=?", .integer(record.tag), .integer(record.entry))
        }
        if findings.uses > 0 {
            try transaction.connection.run("DELETE FROM uses WHERE entry NOT IN (SELECT id FROM entries)")
        }
        transaction.recount()
    }

    /// Makes changes in a transaction of the database that was checked.
    private func change(_ findings: SQLiteFindings, _ body: (SQLiteTransaction) throws -> Void) throws {
        try database.writing { connection in
            try Self.checkIsSame(connection, findings)
            let transaction = try connection.transaction {
                let transaction = try SQLiteTransaction(connection, options: options, uses: uses, in: world)
                try body(transaction)
                try transaction.finish()
                return transaction
            }
            payloads.delete(transaction.obsoleteFiles)
            report(transaction.evicted)
        }
    }

    /// Makes the indexes again if the file is damaged, because that mends damage which is in them alone. If it does not help,
    /// sets the file aside.
    ///
    /// - Returns: whether the file that was checked is still used.
    private func isFileMended(_ findings: SQLiteFindings) throws -> Bool {
        guard findings.isFileDamaged || findings.hasWrongIndex else { return true }
        guard let file = findings.file else {
            // The store sets aside the thing that has the name of the file.
            try database.writing { _ in }
            return false
        }
        // If SQLite cannot read the file, it is set aside here.
        try? database.writing { connection in
            try Self.checkIsSame(connection, findings)
            try connection.run("REINDEX")
        }
        guard Disk.stamp(of: database.path)?.isOfSameFile(as: file) == true else { return false }
        let connection = try SQLiteConnection(database.path, isReader: true)
        let verdict = try? connection.first("PRAGMA integrity_check(1)") {
            String(decoding: $0.bytes(0), as: UTF8.self)
        }
        // Tables that another program has changed are sound to SQLite.
        if verdict == "ok", (try? SQLiteSchema.check(connection)) != nil { return true }
        try database.replace(file)
        return false
    }

    private static func checkIsSame(_ connection: SQLiteConnection, _ findings: SQLiteFindings) throws {
        if let file = findings.file, connection.file.isOfSameFile(as: file) { return }
        throw StoreError("the database was replaced during the check: check it again")
    }
}
