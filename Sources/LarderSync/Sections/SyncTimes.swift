import Larder

/// The times of the next runs of a table, as uptimes.
struct SyncTimes {
    private var failures = 0
    /// The time of the next pull.
    private(set) var pull = Duration.zero
    /// The time at which changes are sent; nil if none waits for a time.
    var push: Duration?

    init(push: Duration? = nil) { self.push = push }

    /// The waits after failures: doubling from the first to the longest.
    static let (firstWait, longestWait) = (Duration.seconds(60), Duration.seconds(900))

    mutating func pulled(at now: Duration, every: Duration) { (failures, pull) = (0, now + every) }

    mutating func failed(at now: Duration, every: Duration) {
        pull = now + min(Self.firstWait * (1 << failures), Self.longestWait, max(every, Self.firstWait))
        failures = min(failures + 1, 10)
    }
}

extension RecordDecisions {
    /// Returns the number of records whose changes were made for another source.
    func heldRecords() throws -> Int {
        try nextSteps().count { if case .otherSource = $0.step { true } else { false } }
    }

    /// Returns the milliseconds until the next change can be sent; nil if none waits for a time.
    func nextWait(pause: Duration?) throws -> Int64? {
        let now = transaction.moment.now
        let steps = try nextSteps().map(\.step)
        let waits = steps.compactMap { if case .wait(_, let until) = $0 { max(1, until - now) } else { nil } }
        let others = steps.compactMap { step -> Int64? in
            switch step {
            case .send:
                guard let pause else { return 1 }
                return waits.isEmpty ? pause.milliseconds : nil
            // Its record could not be looked up, or its outcome could not be kept.
            case .lookUp, .sending: return SyncTimes.firstWait.milliseconds
            case .wait, .rest, .needs, .ask, .otherSource: return nil
            }
        }
        return (waits + others).min()
    }
}
