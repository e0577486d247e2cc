import LarderCore

/// The decisions of a limit, without I/O: it counts calls and remembers when they started.
///
/// Calls of low priority leave a quarter of the places and starts to the others, so that a user's call rarely has to wait
/// for one of them to end. A limit of one has nothing to leave.
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
    private let queueCapacity: Int
    private var running = 0
    /// The uptimes at which the calls of the last second started, the oldest first.
    private var starts: [Duration] = []
    private var queue: [Waiting] = []
    private var count = 0

    init(concurrent: Int?, perSecond: Int?, queue: Int) {
        self.concurrent = concurrent ?? .max
        self.perSecond = perSecond
        queueCapacity = queue
    }

    mutating func enter(_ priority: Request.Priority, at now: Duration) -> Turn {
        if queue.first.map({ $0.priority < priority }) ?? true, start(priority, at: now) { return .go }
        guard queue.count < queueCapacity else { return .refuse }
        count += 1
        insert(Waiting(number: count, priority: priority))
        return .wait(count)
    }

    /// Inserts a call behind all calls that are at least as urgent.
    private mutating func insert(_ call: Waiting) {
        queue.insert(call, at: queue.firstIndex { $0.priority < call.priority } ?? queue.endIndex)
    }

    /// Moves a call before all calls that are less urgent than `priority`. Does nothing if the call is as urgent
    /// already or does not wait any more.
    mutating func raise(_ number: Int, to priority: Request.Priority) {
        guard let place = queue.firstIndex(where: { $0.number == number }), queue[place].priority < priority else {
            return
        }
        queue.remove(at: place)
        insert(Waiting(number: number, priority: priority))
    }

    mutating func leave() {
        running -= 1
    }

    /// Whether no call waits.
    var isEmpty: Bool { queue.isEmpty }

    /// Removes a call from the queue. Returns false if it is not in the queue.
    mutating func drop(_ number: Int) -> Bool {
        guard let place = queue.firstIndex(where: { $0.number == number }) else { return false }
        queue.remove(at: place)
        return true
    }

    /// Removes and returns the next call that may start now, among the calls for which `isWaiting` returns true.
    mutating func next(at now: Duration, among isWaiting: (Int) -> Bool) -> Int? {
        guard let place = queue.firstIndex(where: { isWaiting($0.number) }), start(queue[place].priority, at: now)
        else { return nil }
        return queue.remove(at: place).number
    }

    /// Returns the time until the next call may start. Returns nil if the next call has to wait for another to end, or
    /// if the queue is empty.
    func pause(at now: Duration) -> Duration? {
        guard let perSecond, let priority = queue.first?.priority, running < Self.share(of: concurrent, for: priority)
        else { return nil }
        let most = Self.share(of: perSecond, for: priority)
        guard starts.count >= most else { return nil }
        return max(.nanoseconds(1), starts[starts.count - most] + .seconds(1) - now)
    }

    /// The part of a limit that calls of a priority may use.
    private static func share(of limit: Int, for priority: Request.Priority) -> Int {
        priority == .low ? max(1, limit - max(1, limit / 4)) : limit
    }

    private mutating func start(_ priority: Request.Priority, at now: Duration) -> Bool {
        guard running < Self.share(of: concurrent, for: priority) else { return false }
        if let perSecond {
            starts.removeAll { $0 + .seconds(1) <= now }
            guard starts.count < Self.share(of: perSecond, for: priority) else { return false }
            starts.append(now)
        }
        running += 1
        return true
    }
}
