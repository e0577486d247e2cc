import Larder

// The metrics of changes that wait for a service, as the plugins of synchronisation declare them. Metrics are equal by name.

extension Counter {
    static let changesAccepted = Counter("sync_accepted", "")
    static let changesMerged = Counter("sync_merged", "")
    static let changesOvertaken = Counter("sync_overtaken", "")
    static let changesRejected = Counter("sync_rejected", "")
    static let changesExpired = Counter("sync_expired", "")
    static let changesDiscarded = Counter("sync_discarded", "")
    static let changesRepeated = Counter("sync_repeated", "")
    static let changeConflicts = Counter("sync_conflicts", "")
    static let recordScans = Counter("records_scans", "")
    static let syncRuns = Counter("sync_runs", "")
    static let syncFailedRuns = Counter("sync_failed_runs", "")
}

extension Gauge {
    static let changesWaiting = Gauge("sync_pending", "")
    static let oldestChange = Gauge("sync_oldest_pending_seconds", "")
    static let changesUnaccounted = Gauge("sync_unaccounted", "")
}

extension Timing {
    static let changeAcceptance = Timing("sync_acceptance", "")
}
