import LarderSystem

/// The limits of one load's waits for the origin: first its patience, then its caller's deadline.
///
/// Without patience the copy begins to be read when half of the time to the deadline is over. The reading is cancelled
/// when this object is released.
final class WaitLimits: Sendable {
    /// The next step when the present wait is over.
    enum Stage: Sendable {
        /// The copy begins to be read.
        case patience(Duration)
        /// The copy stands in as soon as it is read, if it may.
        case reading
        /// The copy begins to be read.
        case half(of: Duration)
        /// The copy that was read stands in, if it may.
        case whole(Duration)
        /// No copy may stand in. The load waits for the origin until the deadline.
        case open
        /// The caller's time is over.
        case over
    }

    typealias CopyReading = AwaitableWork<CachedCopy?>

    private let deadline: Duration?
    /// The uptime at which the load began to wait.
    let start: Duration
    /// Whether the patience of the strategy ends the first wait.
    let hasPatience: Bool
    private let state: Locked<(stage: Stage, reading: CopyReading?)>

    /// The limits of a load that begins now.
    init(_ patience: Duration?, until deadline: Duration?, at uptime: Duration) {
        self.deadline = deadline
        start = uptime
        let time = deadline.map { $0 - uptime }
        let stage: Stage
        if let patience, patience < time ?? .forever {
            stage = .patience(patience)
        } else if let time {
            stage = .half(of: time)
        } else {
            stage = .open
        }
        if case .patience = stage { hasPatience = true } else { hasPatience = false }
        state = Locked((stage, nil))
    }

    deinit { state.withLock { $0.reading }?.cancel() }

    var stage: Stage { state.withLock { $0.stage } }

    /// Whether the next wait ends before the caller's time does.
    var isHalf: Bool { if case .half = stage { true } else { false } }

    var isOver: Bool { if case .over = stage { true } else { false } }

    /// Returns the limit of the next wait, or nil for a wait without a limit.
    func next(at uptime: Duration) -> Duration? {
        switch stage {
        case .patience(let patience): patience
        case .half(let time): time / 2
        case .reading, .whole, .open, .over: deadline.map { $0 - uptime }
        }
    }

    /// Goes on to the next stage.
    func pass(reading: CopyReading? = nil) {
        state.withLock { state in
            switch state.stage {
            case .patience: state = (.reading, reading)
            // The wait was ended by the copy if that has been read, and otherwise by the deadline.
            case .reading: state.stage = state.reading?.outcome == nil ? .over : .open
            case .half(let whole): state = (.whole(whole), reading)
            case .whole, .open, .over: state.stage = .over
            }
        }
    }

    /// The copy; nil if it has not been read or could not be.
    var copy: CachedCopy? {
        let outcome = state.withLock { $0.reading }?.outcome
        return (try? outcome?.get()) ?? nil
    }
}
