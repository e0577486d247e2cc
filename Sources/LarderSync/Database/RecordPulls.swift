import Larder
import LarderSystem

extension RecordDecisions {
    /// Begins a pull, or goes on with one that a former process began.
    ///
    /// - Returns: the state of the pulls.
    func beginPull(isFull: Bool = false, edition: Int = 1) throws -> PullState {
        var state = try transaction.facts(of: number).pull
        planner.beginPull(&state, isFull: isFull, edition: edition, at: &transaction.moment)
        try save(state)
        return state
    }

    /// Gives up the pull, because the service does not know its position any more.
    func positionExpired() throws {
        var state = try transaction.facts(of: number).pull
        planner.positionExpired(&state)
        try save(state)
    }

    /// Gives up the pull, because its pages lead nowhere. The next one begins at the last position.
    func abandonPull() throws {
        var state = try transaction.facts(of: number).pull
        state.run = nil
        try save(state)
    }

    /// Notes that the service has refused to answer the next page.
    func pageFailed() throws {
        var state = try transaction.facts(of: number).pull
        planner.pageFailed(&state)
        try save(state)
    }

    /// Notes that a pull has failed.
    ///
    /// - Parameter reason: the reason. The same one is written once.
    func pullFailed(because reason: String) throws {
        var state = try transaction.facts(of: number).pull
        // An account that was cleared meanwhile has no pulls.
        if state.failure == reason || state.source.isEmpty { return }
        state.failure = reason
        try save(state)
    }

    private func save(_ state: PullState) throws { try transaction.change(number) { $0.pull = state } }

    /// Merges a page: rows, deletions, and the position behind them. After the last page it ends the pull.
    ///
    /// - Returns: the state of the pulls after the page.
    /// - Throws: ``PullRefusal`` if the page cannot be right. Nothing has changed then.
    @discardableResult
    func merge(_ page: PulledPage) throws -> PullState {
        var state = try transaction.facts(of: number).pull
        guard state.run != nil else { return state }
        try planner.check(page, state)
        let waiting = Set(try waitingRecords())
        let before = try transaction.counts(of: number).staleRows
        for record in page.records { try merge(record, among: waiting, by: state) }
        for id in page.deleted { try mergeDeletion(of: id, state) }
        planner.turn(page, &state, staleRows: try transaction.counts(of: number).staleRows - before)
        try transaction.count(in: number) { counts in
            counts.pages += 1
            counts.rows += page.records.count + page.deleted.count
            counts.bytes += page.records.reduce(0) { $0 + $1.record.bytes.count }
        }
        if page.isLast { try end(&state) }
        try save(state)
        return state
    }

    private func merge(_ pulled: PulledRecord, among waiting: Set<Int64>, by state: PullState) throws {
        guard let run = state.run else { return }
        let connection = transaction.connection
        var present: Int64?
        if !waiting.isEmpty || planner.rules.versionsIncrease {
            present = try connection.record(of: pulled.id, in: number)
        }
        let mustDecide = present.map { waiting.contains($0) || planner.rules.versionsIncrease } ?? false
        if !mustDecide {
            let row = RecordRow(
                number: 0, id: pulled.id, idText: pulled.idText, base: pulled.record,
                version: pulled.version ?? planner.version(of: pulled.record), generation: state.generation,
                receivedAt: transaction.moment.now)
            if try connection.put(row, into: number, began: run.began) { return }
            present = try connection.record(of: pulled.id, in: number)
        }
        guard let present else { return }
        _ = try decide(record: present) { row, moment, effects in
            planner.merge(pulled, into: &row, state, at: &moment, &effects)
        }
    }

    private func mergeDeletion(of id: String, _ state: PullState) throws {
        _ = try decide(id) { row, moment, effects in
            planner.mergeDeletion(into: &row, state, at: &moment, &effects)
        }
    }

    /// The time for which letters and the quarantine are kept, in milliseconds: 90 days.
    private static let longestKept: Int64 = 90 * 86_400_000

    /// Ends a pull: folds what was accepted, and sweeps after a full pull.
    private func end(_ state: inout PullState) throws {
        for record in try waitingRecords() {
            _ = try decide(record: record) { row, _, _ in planner.fold(&row, state) }
        }
        var effects = SyncEffects()
        let sweep = try sweep(state, &effects)
        if state.run?.isFull == true { try transaction.count(in: number) { $0.fullPulls += 1 } }
        planner.endPull(&state, sweep, at: &transaction.moment, &effects)
        try note(effects)
        try forgetOld()
    }

    /// Deletes letters and parts of the quarantine that were kept long enough.
    func forgetOld() throws {
        let oldest = transaction.moment.now - Self.longestKept
        for table in ["letters", "quarantine"] {
            try transaction.connection.run(
                "DELETE FROM \(table) WHERE t=? AND at<?", .integer(number), .integer(oldest))
        }
    }

    private func sweep(_ state: PullState, _ effects: inout SyncEffects) throws -> SyncPlanner.Sweep {
        guard let run = state.run, run.isFull else { return .nothing }
        let connection = transaction.connection
        func count(_ condition: String, _ values: SQLiteValue...) throws -> Int {
            var count: Int64 = 0
            try connection.each(
                "SELECT count(*) FROM records WHERE t=? AND base IS NOT NULL" + condition, [.integer(number)] + values
            ) {
                count = $0.integer(0)
                return false
            }
            return Int(count)
        }
        let missed = " AND generation<? AND answered<=?"
        let missing = try count(missed, .integer(state.generation), .integer(run.began))
        if missing == 0 { return .nothing }
        let twice = try state.suspected.map { try count(missed, .integer($0), .integer(run.began)) } ?? 0
        let all = try count("")
        let sweep = planner.sweep(state, missing: missing, missingTwice: twice, of: all)
        switch sweep {
        case .nothing: break
        case .suspicious: effects.events.append(.suspicious(missing: missing, of: all))
        case .delete(let generation):
            var records: [Int64] = []
            try connection.each(
                "SELECT n FROM records WHERE t=? AND base IS NOT NULL" + missed, .integer(number),
                .integer(generation), .integer(run.began)
            ) {
                records.append($0.integer(0))
                return true
            }
            for record in records {
                _ = try decide(record: record) { row, moment, effects in
                    planner.mergeDeletion(into: &row, state, at: &moment, &effects)
                }
            }
        }
        return sweep
    }

    /// Takes over records that an app has kept before, as what the service sent. Nothing is queued, and records that are
    /// there stay as they are.
    ///
    /// - Returns: the number of records that were taken over.
    func importBase(_ records: [PulledRecord]) throws -> Int {
        var count = 0
        for record in records where try transaction.connection.record(of: record.id, in: number) == nil {
            var row = RecordRow(
                number: 0, id: record.id, idText: record.idText, base: record.record,
                version: record.version ?? planner.version(of: record.record), receivedAt: transaction.moment.now)
            try transaction.save(&row, after: nil, of: number, by: planner)
            count += 1
        }
        return count
    }

    /// Clears what the service sent: the bases, the position and the quarantine. The writes stay, hidden until the records are
    /// there again.
    ///
    /// - Parameter discardsUnsent: whether the writes go, too. They are counted as discarded.
    func clear(discardingUnsent discardsUnsent: Bool) throws {
        let connection = transaction.connection
        if discardsUnsent {
            try discardAll()
            try connection.run("DELETE FROM letters WHERE t=?", .integer(number))
        }
        for record in try waitingRecords() {
            guard let former = try transaction.row(number: record, of: number) else { continue }
            var row = former
            planner.forgetBase(&row)
            try transaction.save(&row, after: former, of: number, by: planner)
        }
        try connection.run(
            "DELETE FROM names WHERE t=? AND record NOT IN (SELECT record FROM outbox WHERE t=?)", .integer(number),
            .integer(number))
        try connection.run(
            "DELETE FROM records WHERE t=? AND n NOT IN (SELECT record FROM outbox WHERE t=?)", .integer(number),
            .integer(number))
        try connection.run("DELETE FROM quarantine WHERE t=?", .integer(number))
        try save(PullState())
    }
}
