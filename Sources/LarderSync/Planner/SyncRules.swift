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
    func isSent(_ write: QueuedWrite) -> Bool { isPresent(write.source) }

    /// Returns whether a source is that of the policy, or one that it names as the same.
    func isPresent(_ source: String) -> Bool { source == self.source || formerSources.contains(source) }
}

/// The order in which writes of different records are sent.
enum SendOrder: Hashable, Sendable {
    /// No record waits for another one.
    case ofRecords
    /// Records are sent one after the other, in the order in which they were made.
    case inLine
    /// So are those that have the same values at these places.
    case inLines([[String]])
}

/// The lines of those waiting records that were looked at already.
struct SendLines {
    let order: SendOrder
    /// The lines that were entered, each with the number of the write that goes first.
    private var firsts: [[JSONText?]: Int64] = [:]

    init(_ order: SendOrder) { self.order = order }

    /// Whether every further record waits for one that was looked at.
    var areAllTaken: Bool { order == .inLine && !firsts.isEmpty }

    /// Puts a record into its line.
    ///
    /// - Returns: the number of the write that goes first in this line; nil if the record stands before all others.
    mutating func enter(_ row: RecordRow, as step: NextStep) -> Int64? {
        switch step {
        // They are sent when the app or the policy says so, and until then as if they were not there.
        case .otherSource, .rest: return nil
        case .send, .wait, .sending, .lookUp, .needs, .ask: break
        }
        let line: [JSONText?]
        switch order {
        case .ofRecords: return nil
        case .inLine: line = []
        case .inLines(let places): line = places.map { row.first?.content?[$0] }
        }
        if let first = firsts[line] { return first }
        firsts[line] = row.first?.number
        return nil
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
    /// The largest part by which a wait differs, so that many devices do not call together after an outage.
    var jitter = 0.0

    /// Returns the wait after a number of tries.
    ///
    /// - Parameter key: the key of the write. Its bits decide how the wait differs, so the same history has the same waits.
    func wait(after tries: Int, key: String = "") -> Int64 {
        let quick = tries <= retries
        let doublings = max(0, quick ? tries - 1 : tries - retries - 1)
        // Beyond this, every wait is the limit.
        let factor = quick ? self.factor : 2
        var wait = Double(quick ? first : between)
        for _ in 0..<min(doublings, 64) where wait < Double(limit) { wait *= factor }
        let bits = key.utf8.reduce(UInt64(truncatingIfNeeded: tries) &+ 0xCBF2_9CE4_8422_2325) {
            ($0 ^ UInt64($1)) &* 0x100_0000_01B3
        }
        // Keys that differ little have sums that differ little.
        let mixed = (bits ^ bits >> 32) &* 0x9E37_79B9_7F4A_7C15
        let chance = Double((mixed ^ mixed >> 32) & 0xFFFF_FFFF) / Double(1 << 32)
        return Int64(min(wait * (1 + jitter * (2 * chance - 1)), Double(limit)))
    }
}
