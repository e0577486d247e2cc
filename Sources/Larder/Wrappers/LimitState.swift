/// Who may go on: counts and times only.
struct LimitState: Sendable {
    enum Turn: Sendable, Equatable {
        case go
        case wait(Int)
        case refuse
    }

    private struct Waiting {
        var number: Int
        var priority: Request.Priority
    }

    private let concurrent: Int
    private let perSecond: Int?
    private let most: Int
    private var running = 0
    /// When the calls of the last second started, the oldest first.
    private var starts: [Duration] = []
    private var queue: [Waiting] = []
    private var count = 0

    init(concurrent: Int?, perSecond: Int?, queue: Int) {
        self.concurrent = concurrent ?? .max
        self.perSecond = perSecond
        most = queue
    }

    mutating func enter(_ priority: Request.Priority, at now: Duration) -> Turn {
        if queue.isEmpty, start(at: now) { return .go }
        guard queue.count < most else { return .refuse }
        count += 1
        // Behind everyone who is at least as urgent.
        let place = queue.firstIndex { $0.priority < priority } ?? queue.endIndex
        queue.insert(Waiting(number: count, priority: priority), at: place)
        return .wait(count)
    }

    mutating func leave() {
        running -= 1
    }

    /// Whether nobody waits.
    var isEmpty: Bool { queue.isEmpty }

    /// Takes a call out of the queue; false if it is not in it any more.
    mutating func drop(_ number: Int) -> Bool {
        guard let place = queue.firstIndex(where: { $0.number == number }) else { return false }
        queue.remove(at: place)
        return true
    }

    /// The next call that goes on now, of those that have begun to wait.
    mutating func next(at now: Duration, among isWaiting: (Int) -> Bool) -> Int? {
        guard let place = queue.firstIndex(where: { isWaiting($0.number) }), start(at: now) else { return nil }
        return queue.remove(at: place).number
    }

    /// How long until the next call may go on, if only time is in its way.
    func pause(at now: Duration) -> Duration? {
        guard let perSecond, !queue.isEmpty, running < concurrent, starts.count >= perSecond, let first = starts.first
        else { return nil }
        return max(.nanoseconds(1), first + .seconds(1) - now)
    }

    private mutating func start(at now: Duration) -> Bool {
        guard running < concurrent else { return false }
        if let perSecond {
            starts.removeAll { $0 + .seconds(1) <= now }
            guard starts.count < perSecond else { return false }
            starts.append(now)
        }
        running += 1
        return true
    }
}
