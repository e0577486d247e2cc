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
        /// The number of the timer that is set; nil when none is.
        var timer: Int?
        var timers = 0
        var timing: Task<Void, Never>?

        /// Sets no further timer until the one of this number is over.
        mutating func setTimer() -> Int {
            timers += 1
            timer = timers
            return timers
        }

        /// Whether the timer of this number is the one that is set; it is not any more.
        mutating func end(_ number: Int) -> Bool {
            guard timer == number else { return false }
            (timer, timing) = (nil, nil)
            return true
        }

        /// Forgets the timer if nobody waits for it any more.
        ///
        /// - Returns: what is to be cancelled.
        mutating func dropTimer() -> Task<Void, Never>? {
            guard limits.isEmpty else { return nil }
            defer { (timer, timing) = (nil, nil) }
            return timing
        }
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
        let (waiter, timing) = state.withLock { state -> (CheckedContinuation<Void, any Error>?, Task<Void, Never>?) in
            guard state.limits.drop(number) else { return (nil, nil) }
            let waiter = state.waiters.removeValue(forKey: number)
            if waiter == nil { state.cancelled.insert(number) }
            return (waiter, state.dropTimer())
        }
        timing?.cancel()
        waiter?.resume(throwing: CancellationError())
    }

    /// Lets go on whoever may, and sees to it that somebody looks again when the next one may.
    private func advance() {
        let now = world.uptime
        let (waiters, pause, number) = state.withLock { state in
            var waiters: [CheckedContinuation<Void, any Error>] = []
            while let number = state.limits.next(at: now, among: { state.waiters[$0] != nil }) {
                if let waiter = state.waiters.removeValue(forKey: number) { waiters.append(waiter) }
            }
            let pause = state.timer == nil ? state.limits.pause(at: now) : nil
            return (waiters, pause, pause == nil ? 0 : state.setTimer())
        }
        for waiter in waiters { waiter.resume() }
        if let pause { time(pause, number) }
    }

    /// Advances after `pause`, unless nobody waits any more by then.
    private func time(_ pause: Duration, _ number: Int) {
        let timing = world.spawn { [weak self, world] in
            try? await world.sleep(for: pause)
            guard let self, state.withLock({ $0.end(number) }) else { return }
            advance()
        }
        let isWanted = state.withLock { state in
            if state.timer == number { state.timing = timing }
            return state.timer == number
        }
        if !isWanted { timing.cancel() }
    }
}
