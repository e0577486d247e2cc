import Larder

extension SyncPlanner {
    /// The most pages of one pull.
    static let mostPages = 1_000_000
    /// The number of records up to which the guard does not concern itself with a sweep.
    static let smallTable = 20

    /// Begins a pull, or goes on with the one that a former process began. Call it just before a page is fetched.
    ///
    /// - Parameters:
    ///   - isFull: whether everything is fetched. It is anyway if there is no position of this source, or if the last full
    ///     pull missed so much that a second one must agree.
    ///   - edition: the edition of the policy.
    func beginPull(_ state: inout PullState, isFull: Bool = false, edition: Int = 1, at moment: inout SyncMoment) {
        if !rules.isPresent(state.source) || state.edition != edition {
            (state.run, state.position, state.suspected, state.epoch) = (nil, nil, nil, nil)
            (state.completedAt, state.isExpired, state.isTrimmed, state.failure) = (nil, false, false, nil)
        }
        (state.source, state.edition) = (rules.source, edition)
        let mustBeFull = isFull || state.position == nil || state.suspected != nil
        if let run = state.run, run.isFull || !mustBeFull {
            // Before its first page, it begins only now: answers may have come since.
            if run.pages == 0 {
                state.run?.began = moment.next()
                state.run?.startedAt = moment.now
            }
            return
        }
        if mustBeFull { state.generation += 1 }
        state.run = PullRun(began: moment.next(), startedAt: moment.now, isFull: mustBeFull)
    }

    /// Gives up a pull, because the service does not know its position any more. The next one fetches everything.
    func positionExpired(_ state: inout PullState) {
        (state.run, state.position, state.isExpired) = (nil, nil, true)
    }

    /// The number of failures at one cursor after which a pull is given up.
    static let mostFailures = 3

    /// Notes that the service has refused to answer a page. After some, the pull is given up, because its cursor may lead
    /// nowhere. The next one begins at the last position.
    func pageFailed(_ state: inout PullState) {
        guard var run = state.run else { return }
        run.failures += 1
        state.run = run.failures < Self.mostFailures ? run : nil
    }

    /// Checks a page before any of it is merged.
    ///
    /// - Throws: ``PullRefusal`` if the page cannot be right. The state and all rows stay as they are.
    func check(_ page: PulledPage, _ state: PullState) throws(PullRefusal) {
        guard let run = state.run else { return }
        if run.pages >= Self.mostPages { throw .tooManyPages }
        if let next = page.next, next == run.cursor || next == run.landmark { throw .cursorSeen }
        if let epoch = page.epoch, let known = state.epoch, epoch != known, !(run.isFull && run.pages == 0) {
            throw .epochChanged
        }
        if page.records.contains(where: { TemporaryID.isOne($0.id) }) || page.deleted.contains(where: TemporaryID.isOne)
        {
            throw .temporaryID
        }
    }

    /// Goes on to the next page. Called with the rows of the page in one transaction.
    ///
    /// - Parameter staleRows: the number of rows and deletions of the page that were not merged, because an answer had
    ///   come since the pull began.
    func turn(_ page: PulledPage, _ state: inout PullState, staleRows: Int = 0) {
        guard var run = state.run else { return }
        if run.pages == 0 || run.candidate == nil {
            run.candidate = page.position
            run.isCandidateEarly = run.pages == 0
        }
        if staleRows > 0 { run.hasStaleRows = true }
        run.pages += 1
        run.failures = 0
        run.cursor = page.next
        // At each power of two, so that the distance becomes as long as any circle.
        if run.pages & (run.pages - 1) == 0 { run.landmark = page.next }
        if let epoch = page.epoch { state.epoch = epoch }
        state.run = run
    }

    /// Merges a row of a page into its record.
    ///
    /// - Parameter row: the record; one without base and writes if it is new.
    func merge(
        _ pulled: PulledRecord, into row: inout RecordRow, _ state: PullState, at moment: inout SyncMoment,
        _ effects: inout SyncEffects
    ) {
        guard let run = state.run else { return }
        row.generation = state.generation
        if row.answered > run.began || isOlder(pulled, than: row) {
            // The changes that it misses come again with a later pull.
            if !pulled.record.means(row.base ?? .null) { effects.staleRows += 1 }
            return
        }
        foldAccepted(into: &row, before: run.began)
        notePull(over: &row)
        row.answered = 0
        rebase(&row, onto: pulled.record, version: pulled.version, at: &moment, &effects)
    }

    private func isOlder(_ pulled: PulledRecord, than row: RecordRow) -> Bool {
        guard rules.versionsIncrease, let known = row.version?.number,
            let version = (pulled.version ?? version(of: pulled.record))?.number
        else { return false }
        return version < known
    }

    /// Merges a deletion.
    func mergeDeletion(
        into row: inout RecordRow, _ state: PullState, at moment: inout SyncMoment, _ effects: inout SyncEffects
    ) {
        guard let run = state.run else { return }
        if row.answered > run.began {
            if !row.isGone { effects.staleRows += 1 }
            return
        }
        foldAccepted(into: &row, before: run.began)
        notePull(over: &row)
        rebase(&row, onto: nil, at: &moment, &effects)
    }

    /// Notes that a pull has brought a record when its writes may have reached the service, or belong to another one.
    private func notePull(over row: inout RecordRow) {
        for place in row.writes.indices where isFixed(row.writes[place]) {
            row.writes[place].baseMayHaveIt = true
        }
    }

    /// Forgets what the service sent of a record, because its account was cleared. What the service has accepted goes with it.
    func forgetBase(_ row: inout RecordRow) {
        row.writes.removeAll { !$0.isPending }
        (row.base, row.version, row.rejected, row.isDeletedThere) = (nil, nil, nil, false)
        (row.answered, row.generation, row.receivedAt) = (0, 0, 0)
    }

    // MARK: End of a pull

    /// Puts what the service accepted before the pull into the base, because the pull has not brought the record.
    func fold(_ row: inout RecordRow, _ state: PullState) {
        guard let run = state.run else { return }
        // The sweep decides about a record that a full pull has not brought.
        if run.isFull, row.generation < state.generation, row.base != nil { return }
        foldAccepted(into: &row, before: run.began)
        if row.base == nil || row.isDeletedThere && row.writes.isEmpty {
            (row.base, row.version, row.isDeletedThere) = (nil, nil, false)
        }
    }

    /// The end of the records that a full pull has not brought.
    enum Sweep: Hashable, Sendable {
        /// Nothing is missing, or the pull was not full.
        case nothing
        /// Records of generations before this one are deleted.
        case delete(before: Int64)
        /// Too many are missing. They stay until a second full pull misses them too.
        case suspicious
    }

    /// Decides about the sweep of a full pull.
    ///
    /// - Parameters:
    ///   - missing: the number of records with a base that the pull has not brought.
    ///   - missingTwice: the number of those that the suspected pull has not brought either.
    ///   - all: the number of records with a base.
    func sweep(_ state: PullState, missing: Int, missingTwice: Int, of all: Int) -> Sweep {
        guard state.run?.isFull == true, missing > 0 else { return .nothing }
        let isMuch = all >= Self.smallTable && Double(missing) > rules.sweepGuard * Double(all)
        if !isMuch { return .delete(before: state.generation) }
        guard let suspected = state.suspected else { return .suspicious }
        return missingTwice > 0 ? .delete(before: suspected) : .suspicious
    }

    /// Returns whether a sweep deletes a record.
    func isSwept(_ row: RecordRow, before generation: Int64, _ state: PullState) -> Bool {
        guard let run = state.run else { return false }
        return row.base != nil && row.generation < generation && row.answered <= run.began
    }

    /// Ends a pull after its last page was merged, what was accepted was folded and the sweep was done.
    func endPull(_ state: inout PullState, _ sweep: Sweep, at moment: inout SyncMoment, _ effects: inout SyncEffects) {
        guard let run = state.run else { return }
        // Rows that were not merged come again only from a position before the answers that they had missed.
        if let candidate = run.candidate, run.isCandidateEarly || !run.hasStaleRows { state.position = candidate }
        // Changes during the pull may be missing, so it is as old as its beginning.
        state.completedAt = run.startedAt
        if run.isFull { state.fullAt = run.startedAt }
        (state.run, state.isExpired, state.failure) = (nil, false, nil)
        switch sweep {
        case .suspicious: state.suspected = state.generation
        case .nothing, .delete: if run.isFull { state.suspected = nil }
        }
    }
}
