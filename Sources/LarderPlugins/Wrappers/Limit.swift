import LarderSystem
import LarderCore

extension Plugin {
    /// A limit on the number of calls.
    static let limit = Plugin.wrapper(
        "limit",
        "Limits how many calls run at once and start per second. Other calls queue, the most urgent first; background "
            + "calls leave a quarter of the places free.",
        Setting("concurrent", optional: .int(1...1_000_000), help: "How many calls may run at once")
            .alsoCalled("max", "maxConcurrent", "concurrency", "parallel"),
        Setting("perSecond", optional: .int(1...10_000), help: "How many calls may start in any second")
            .alsoCalled("rate", "rps", "qps", "rateLimit"),
        Setting("queue", .int(0...1_000_000), default: 100, help: "How many calls may wait; further calls are refused")
    ) { context, inner, concurrent, perSecond, queue in
        let gate = context.keep {
            LimitGate(LimitState(concurrent: concurrent, perSecond: perSecond, queue: queue), world: context.world)
        }
        return Limit(inner: inner, gate: gate)
    }.alsoCalled("rateLimit", "throttle", "bulkhead")
}

/// A loader that limits concurrent calls and calls per second.
struct Limit: Loader {
    let inner: any Loader
    let gate: LimitGate

    func load(_ call: Call) async throws -> Loaded<Entry> {
        try await gate.enter(call)
        defer { gate.leave() }
        return try await inner.load(call)
    }
}

/// The queue in which calls wait until they may start.
final class LimitGate: Sendable {
    private struct State {
        var limits: LimitState
        var turns: [Int: AwaitableWork<Void>] = [:]
        /// The number of the running timer, or nil.
        var timer: Int?
        var timers = 0
        var timing: Alarm?

        /// Returns the number of a new timer. No other is started until it has ended.
        mutating func setTimer() -> Int {
            timers += 1
            timer = timers
            return timers
        }

        /// Ends the timer with this number. Returns false if it was not running.
        mutating func end(_ number: Int) -> Bool {
            guard timer == number else { return false }
            (timer, timing) = (nil, nil)
            return true
        }

        /// Drops the timer if the queue is empty.
        ///
        /// - Returns: the alarm to cancel.
        mutating func dropTimer() -> Alarm? {
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

    /// Waits until the call may start. The caller must call ``leave()`` afterwards.
    ///
    /// - Throws: ``LoadError`` if the queue is full, `CancellationError` if the task is cancelled.
    func enter(_ call: Call) async throws {
        let (now, priority) = (world.uptime, call.priority)
        switch state.withLock({ $0.limits.enter(priority, at: now) }) {
        case .go: return
        case .refuse: throw LoadError(.unavailable, "the queue of waiting calls is full")
        case .wait(let number):
            let raising = call.onRaise { [weak self] priority in
                self?.state.withLock { $0.limits.raise(number, to: priority) }
                // It may use the places now that calls of low priority leave free.
                self?.advance()
            }
            defer { raising.stop() }
            let turn = AwaitableWork<Void>(in: world)
            state.withLock { $0.turns[number] = turn }
            advance()
            do { _ = try await turn.value() } catch {
                giveUp(number)
                throw error
            }
        }
    }

    func leave() {
        state.withLock { $0.limits.leave() }
        advance()
    }

    /// Takes a call out of the queue, or gives its place back if it has got one meanwhile.
    private func giveUp(_ number: Int) {
        let (isInQueue, timing) = state.withLock { state in
            state.turns[number] = nil
            let isInQueue = state.limits.drop(number)
            return (isInQueue, isInQueue ? state.dropTimer() : nil)
        }
        timing?.cancel()
        if !isInQueue { leave() }
    }

    /// Resumes all calls that may start now, and starts a timer for the next one.
    private func advance() {
        let now = world.uptime
        let (turns, pause, number) = state.withLock { state in
            var turns: [AwaitableWork<Void>] = []
            while let number = state.limits.next(at: now, among: { state.turns[$0] != nil }) {
                if let turn = state.turns.removeValue(forKey: number) { turns.append(turn) }
            }
            let pause = state.timer == nil ? state.limits.pause(at: now) : nil
            return (turns, pause, pause == nil ? 0 : state.setTimer())
        }
        for turn in turns { turn.end(.success(())) }
        if let pause { time(pause, number) }
    }

    /// Calls ``advance()`` after `pause`, unless the queue is empty by then.
    private func time(_ pause: Duration, _ number: Int) {
        let timing = world.alarm(after: pause) { [weak self] in
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
