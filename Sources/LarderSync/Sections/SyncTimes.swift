import Larder
import LarderSystem

/// The times of the next runs of a table, as uptimes.
struct SyncTimes {
    private var failures = 0
    /// The time of the next pull.
    private(set) var pull = Duration.zero
    /// The time at which changes are sent; nil if none waits for a time.
    var push: PlannedSending?

    init(push: PlannedSending? = nil) { self.push = push }

    /// The waits after failures: doubling from the first to the longest.
    static let (firstWait, longestWait) = (Duration.seconds(60), Duration.seconds(900))

    mutating func pulled(at now: Duration, every: Duration) { (failures, pull) = (0, now + every) }

    mutating func failed(at now: Duration, every: Duration) {
        pull = now + min(Self.firstWait * (1 << failures), Self.longestWait, max(every, Self.firstWait))
        failures = min(failures + 1, 10)
    }
}

/// The next time at which changes are sent.
struct PlannedSending: Sendable {
    /// The uptime.
    var time: Duration
    /// The reason for which they are not sent before.
    var pause: WaitReason.Pause

    /// Returns the earlier one of two.
    static func earlier(_ one: PlannedSending?, _ other: PlannedSending?) -> PlannedSending? {
        guard let one, let other else { return one ?? other }
        return other.time < one.time ? other : one
    }
}

/// The prospect of changes that could be sent as far as they are concerned.
enum SendingProspect: Sendable {
    /// The policy does not say how changes are sent.
    case never
    /// They are sent when there is a network.
    case network
    /// They are sent when somebody signs in.
    case account
    /// They are sent by the run that is under way or begins now, or by the next one that somebody asks for.
    case nextRun
    /// They are sent at a time.
    case planned(Timestamp, WaitReason.Pause)
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
