// It sees what only the tests of a module see, so an ordinary optimised build leaves it out.
#if DEBUG || TESTABLE
    import Larder
    import LarderSystem
    import Synchronization
    @testable import LarderSync

    /// All that is found in a database.
    ///
    /// - `record ID TOKEN`, with the token `bad` if the record has wrong bytes
    /// - `position NAME TOKEN`: the position of the feed
    /// - `books RESOURCE NAME UNACCOUNTED PENDING WRITES`: the last is the number of writes in the queue that are pending
    /// - `damaged` if the file was set aside
    struct Dump {
        let notes: Notes

        init(of notes: Notes) { self.notes = notes }

        /// The records and the writes that wait, as they are.
        struct Contents: Equatable {
            var records: [String: JSONText] = [:]
            var writes: [Int64: QueuedWrite] = [:]
            var lines: [String] = []
        }

        func print() throws {
            // The next start can write.
            try notes.probe()
            let contents = try contents()
            for (id, record) in contents.records.sorted(by: { $0.key < $1.key }) where !id.hasPrefix("probe") {
                SyncRun.say("record \(id) \(Notes.token(of: record, of: id) ?? "bad")")
            }
            contents.lines.forEach(SyncRun.say)
            if notes.damages.count.load(ordering: .relaxed) > 0 { SyncRun.say("damaged") }
            notes.database.close()
        }

        /// Reads everything at one moment. The name of a record is that of its account and its id.
        func contents() throws -> Contents {
            try notes.database.reading { connection in
                var contents = Contents()
                for facts in try TableFacts.all(connection) {
                    let (number, table) = (facts.number, facts.table)
                    let name = table.scope ?? ""
                    var rows: [Int64] = []
                    try connection.each("SELECT n FROM records WHERE t=?", .integer(number)) { row in
                        rows.append(row.integer(0))
                        return true
                    }
                    for row in rows {
                        guard let kept = try connection.keptRow(row, of: number),
                            let shown = kept.shown ?? kept.row.base,
                            kept.state.seen != nil
                        else { continue }
                        contents.records["\(name) \(kept.row.id)"] = shown
                    }
                    var pending = 0
                    let queue = "SELECT \(KeptWrite.columns) FROM outbox WHERE t=?"
                    try connection.each(queue, .integer(number)) { row in
                        let write = try KeptWrite(reading: row).write
                        contents.writes[write.number] = write
                        if write.isPending { pending += 1 }
                        return true
                    }
                    if let position = facts.pull.position { contents.lines.append("position \(name) \(position)") }
                    contents.lines.append(
                        "books \(table.resource) \(name) \(facts.books.unaccounted) \(facts.books.pending) \(pending)")
                }
                return contents
            }
        }
    }
#endif
