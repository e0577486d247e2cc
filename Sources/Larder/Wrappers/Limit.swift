extension Plugin {
    /// A bound on calls.
    static let limit = Plugin.wrapper(
        "limit", "Lets only so many calls run at once and start each second; the others queue, the most urgent first.",
        Setting("concurrent", optional: .int(1...1_000_000), help: "How many calls may run at once"),
        Setting("perSecond", optional: .int(1...10_000), help: "How many calls may start within any second"),
        Setting("queue", .int(0...1_000_000), default: 100, help: "How many calls may wait; further ones are refused")
    ) { context, inner, concurrent, perSecond, queue in
        let gate = context.keep {
            LimitGate(LimitState(concurrent: concurrent, perSecond: perSecond, queue: queue), world: context.world)
        }
        return Limit(inner: inner, gate: gate)
    }
}

/// Lets only so many calls through.
struct Limit: Loader {
    let inner: any Loader
    let gate: LimitGate

    func load(_ call: Call) async throws -> Loaded<Entry> {
        try await gate.enter(call.request.priority)
        defer { gate.leave() }
        return try await inner.load(call)
    }
}

/// Where calls wait for their turn.
final class LimitGate: Sendable {
    private struct State {
        var limits: LimitState
        var waiters: [Int: CheckedContinuation<Void, any Error>] = [:]
        var cancelled: Set<Int> = []
        var isTimed = false
    }

    private let world: any World
    private let state: Locked<State>

    init(_ limits: LimitState, world: any World) {
        self.world = world
        state = Locked(State(limits: limits))
    }

    /// Returns when the call may go on; ``leave()`` must follow.
    ///
    /// - Throws: ``LoadError`` when the queue is full; `CancellationError` when the task is cancelled.
    func enter(_ priority: Request.Priority) async throws {
        let now = world.uptime
        switch state.withLock({ $0.limits.enter(priority, at: now) }) {
        case .go: return
        case .refuse: throw LoadError(.unavailable, "too many calls wait already")
        case .wait(let number):
            try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { wait(number, $0) }
            } onCancel: {
                cancel(number)
            }
        }
    }

    func leave() {
        state.withLock { $0.limits.leave() }
        advance()
    }

    private func wait(_ number: Int, _ waiter: CheckedContinuation<Void, any Error>) {
        let isCancelled = state.withLock { state in
            if state.cancelled.remove(number) != nil { return true }
            state.waiters[number] = waiter
            return false
        }
        if isCancelled { return waiter.resume(throwing: CancellationError()) }
        advance()
    }

    private func cancel(_ number: Int) {
        let waiter = state.withLock { state -> CheckedContinuation<Void, any Error>? in
            guard state.limits.drop(number) else { return nil }
            let waiter = state.waiters.removeValue(forKey: number)
            if waiter == nil { state.cancelled.insert(number) }
            return waiter
        }
        waiter?.resume(throwing: CancellationError())
    }

    /// Lets go on whoever may, and sees to it that somebody looks again when the next one may.
    private func advance() {
        let now = world.uptime
        let (waiters, pause) = state.withLock { state -> ([CheckedContinuation<Void, any Error>], Duration?) in
            var waiters: [CheckedContinuation<Void, any Error>] = []
            while let number = state.limits.next(at: now, among: { state.waiters[$0] != nil }) {
                if let waiter = state.waiters.removeValue(forKey: number) { waiters.append(waiter) }
            }
            let pause = state.isTimed ? nil : state.limits.pause(at: now)
            if pause != nil { state.isTimed = true }
            return (waiters, pause)
        }
        for waiter in waiters { waiter.resume() }
        guard let pause else { return }
        world.spawn { [weak self, world] in
            try? await world.sleep(for: pause)
            self?.state.withLock { $0.isTimed = false }
            self?.advance()
        }
    }
}

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
