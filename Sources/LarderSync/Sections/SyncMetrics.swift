import Larder

extension Counter {
    /// The counters that count what a transaction has done, each with its number in it.
    fileprivate static let sync: [(counter: Counter, count: @Sendable (SyncCounts) -> Int)] = [
        (Counter("sync_made", "Changes of records that users made"), { $0.books.made }),
        (Counter("sync_accepted", "Changes of records that the service accepted"), { $0.books.accepted }),
        (
            Counter("sync_merged", "Changes of records that became part of an earlier one which was never sent"),
            { $0.books.merged }
        ),
        (Counter("sync_overtaken", "Changes of records that others' changes replaced"), { $0.books.overtaken }),
        (Counter("sync_rejected", "Changes of records that the service refused"), { $0.books.rejected }),
        (Counter("sync_expired", "Changes of records that waited too long"), { $0.books.expired }),
        (Counter("sync_discarded", "Changes of records that the app took back"), { $0.books.discarded }),
        (Counter("sync_repeated", "Tries to send a change whose outcome was not known"), { $0.repeated }),
        (Counter("sync_conflicts", "Conflicts between a user's change and another one"), { $0.conflicts }),
        (Counter("sync_pages", "Pages of records that were merged"), { $0.pages }),
        (Counter("sync_rows", "Records and deletions in merged pages"), { $0.rows }),
        (Counter("sync_bytes", "Bytes of the records in merged pages"), { $0.bytes }),
        (Counter("sync_full_pulls", "Pulls that have fetched everything"), { $0.fullPulls }),
        (Counter("sync_stale_rows", "Rows of pages that were older than an answer"), { $0.staleRows }),
        (Counter("sync_quarantined", "Records in pages that make no sense, and were set aside"), { $0.quarantined }),
    ]

    /// The records that typed lists have left out.
    static let undecodableRecords = Counter(
        "undecodable_records", "Records that lists have left out because they do not decode")

    static let scans = Counter(
        "records_scans", "Queries that have looked at far more records than they found, because no index fits")

    static let syncRuns = Counter("sync_runs", "Runs that have brought records and the service together")
    static let failedSyncRuns = Counter("sync_failed_runs", "Runs that have failed before they had done so")

    /// The counters of the section `records`.
    static let records = [undecodableRecords, scans, syncRuns, failedSyncRuns] + sync.map(\.counter)
}

extension Gauge {
    fileprivate static let pending = Gauge("sync_pending", "Changes of records that wait for the service")
    fileprivate static let oldestPending = Gauge(
        "sync_oldest_pending_seconds", "Age of the oldest change that waits for the service")
    fileprivate static let unaccounted = Gauge(
        "sync_unaccounted", "Changes of records that were made and are in no account: always 0")

    /// The gauges of the section `records`.
    static let records = [pending, oldestPending, unaccounted]
}

extension Timing {
    fileprivate static let acceptance = Timing(
        "sync_acceptance", "Times from a change of a record to its acceptance by the service")
    /// It begins when this process hears of the change.
    static let showing = Timing(
        "sync_showing", "Times from a change of records to the page of an observed list that shows it")

    /// The timings of the section `records`.
    static let records = [acceptance, showing]
    /// The timings of requests that wait.
    static let sends = [acceptance]
}

extension SectionContext {
    /// Adds what a transaction has done.
    func count(_ counts: SyncCounts) {
        for (counter, count) in Counter.sync where count(counts) > 0 { self.count(counter, UInt64(count(counts))) }
        for wait in counts.waits { record(.acceptance, .milliseconds(wait)) }
    }

    /// Sets the gauges of the section `records`.
    ///
    /// - Parameter queue: the queue of the resource; nil if it cannot be read.
    func set(_ queue: QueueFacts?) {
        let now = world.now.milliseconds
        set(.pending, to: queue.map { Double($0.pending) })
        set(.oldestPending, to: queue.map { $0.oldest.map { max(0, Double(now) - Double($0)) / 1_000 } ?? 0 })
        set(.unaccounted, to: queue.map { Double($0.unaccounted) })
    }
}
