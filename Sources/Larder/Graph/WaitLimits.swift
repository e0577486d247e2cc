/// How long one load waits for the origin at a time: until its patience ends, then until its caller's deadline.
///
/// Where only a deadline limits it, the copy begins to be read when half of the time is over; a read that nobody needs
/// any more ends with these limits.
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
        /// There is no copy that may: the origin's answer, or nothing.
        case open
        /// The caller's time is over.
        case over
    }

    typealias CopyReading = Pursuit<CachedCopy?>

    private let due: Duration?
    private let state: Locked<(stage: Stage, reading: CopyReading?)>

    /// The limits of a load that begins now.
    init(_ patience: Duration?, until due: Duration?, at uptime: Duration) {
        self.due = due
        let time = due.map { $0 - uptime }
        let stage: Stage
        if let patience, patience < time ?? .forever {
            stage = .patience(patience)
        } else if let time {
            stage = .half(of: time)
        } else {
            stage = .open
        }
        state = Locked((stage, nil))
    }

    deinit { state.withLock { $0.reading }?.cancel() }

    var stage: Stage { state.withLock { $0.stage } }

    /// Whether the next wait ends before the caller's time does.
    var isHalf: Bool { if case .half = stage { true } else { false } }

    var isOver: Bool { if case .over = stage { true } else { false } }

    /// How long to wait now; nil for as long as it takes.
    func next(at uptime: Duration) -> Duration? {
        switch stage {
        case .patience(let patience): patience
        case .half(let time): time / 2
        case .reading, .whole, .open, .over: due.map { $0 - uptime }
        }
    }

    /// Goes on to the next stage.
    func pass(reading: CopyReading? = nil) {
        state.withLock { state in
            switch state.stage {
            case .patience: state = (.reading, reading)
            // Woken by the copy, or else by the caller's deadline.
            case .reading: state.stage = state.reading?.outcome == nil ? .over : .open
            case .half(let whole): state = (.whole(whole), reading)
            case .whole, .open, .over: state.stage = .over
            }
        }
    }

    /// The copy, if it has been read.
    var copy: CachedCopy? {
        let outcome = state.withLock { $0.reading }?.outcome
        return (try? outcome?.get()) ?? nil
    }
}
