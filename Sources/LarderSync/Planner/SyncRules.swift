import Larder

/// The parts of a policy that decide what happens to records and writes.
struct SyncRules: Sendable {
    /// The ways to name new records.
    enum IDs: String, Sendable, CaseIterable { case client, server }
    /// The ways to show a record whose write was rejected.
    enum OnReject: String, Sendable, CaseIterable { case revert, keep }

    /// The place of the id in a record.
    var idPath: [String]
    var ids = IDs.client
    /// The place of the version in a record; nil if records have none there.
    var versionPath: [String]?
    /// Whether versions are numbers that grow, so that a row with a smaller one is older.
    var versionsIncrease = false
    /// The place of the time of the last change, and how it is written; nil if records have none.
    var stamp: StampPlace?
    var conflict: any ConflictRule = MergeFields()
    /// The places of lists whose changes are merged item by item.
    var unions: [[String]] = []
    /// Whether changes of one record that were never sent become one write.
    var merges = true
    var onReject = OnReject.revert
    /// The largest share of at least twenty records that one full pull may delete.
    var sweepGuard = 0.5
    /// The source of the policy, and the earlier ones that gave the same data.
    var source = ""
    var formerSources: Set<String> = []
    /// Whether records are fetched. If not, nothing else tells what an accepted write has made of its record.
    var isPulled = true
    /// Whether records go when the service has accepted them, because they are no more than changes.
    var forgetsAccepted = false
    /// The order in which changes of different records are sent.
    var order = SendOrder.ofRecords
    /// The waits between tries, in milliseconds.
    var backoff = BackoffRule()
    /// The time after which a write is not sent any more, in milliseconds; nil for never.
    var retention: Int64?

    /// The places of a record that no write changes.
    var fixedPaths: [[String]] { [idPath] + (versionPath.map { [$0] } ?? []) }

    /// Returns whether changes of a place are merged item by item.
    func isUnion(_ path: [String]) -> Bool { unions.contains { $0.isSamePlace(as: path) } }

    /// Returns whether a place is that of the time of the last change.
    func isStamp(_ path: [String]) -> Bool { stamp?.path.isSamePlace(as: path) == true }

    /// Returns whether a write may be sent to the present source.
    func isSent(_ write: QueuedWrite) -> Bool { write.source == source || formerSources.contains(write.source) }
}

/// The order in which writes of different records are sent.
enum SendOrder: Hashable, Sendable {
    /// No record waits for another one.
    case ofRecords
    /// Records are sent one after the other, in the order in which they were made.
    case inLine
    /// So are those that have the same value at this place.
    case inLines([String])
}

/// The lines of those waiting records that were looked at already.
struct SendLines {
    let order: SendOrder
    private var taken: Set<JSONText> = []

    init(_ order: SendOrder) { self.order = order }

    /// Whether every further record waits for one that was looked at.
    var areAllTaken: Bool { order == .inLine && !taken.isEmpty }

    /// Returns whether no record that was looked at stands before this one, and puts it into its line.
    mutating func enter(_ row: RecordRow, as step: NextStep) -> Bool {
        switch step {
        // They are sent when the app or the policy says so, and until then as if they were not there.
        case .otherSource, .rest: return true
        case .send, .wait, .sending, .lookUp, .needs, .ask: break
        }
        switch order {
        case .ofRecords: return true
        case .inLine: return taken.insert(.null).inserted
        case .inLines(let path): return taken.insert(row.first?.content?[path] ?? .null).inserted
        }
    }
}

/// The waits after failed tries of a write.
struct BackoffRule: Sendable, Hashable {
    /// The number of quick retries, within a run.
    var retries = 3
    var first: Int64 = 1_000
    var factor = 2.0
    /// The first wait between runs.
    var between: Int64 = 60_000
    var limit: Int64 = 900_000

    /// Returns the wait after a number of tries.
    func wait(after tries: Int) -> Int64 {
        let quick = tries <= retries
        let doublings = max(0, quick ? tries - 1 : tries - retries - 1)
        // Beyond this, every wait is the limit.
        let factor = quick ? self.factor : 2
        var wait = Double(quick ? first : between)
        for _ in 0..<min(doublings, 64) where wait < Double(limit) { wait *= factor }
        return Int64(min(wait, Double(limit)))
    }
}
