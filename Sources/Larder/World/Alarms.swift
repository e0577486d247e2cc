/// Actions to be done at certain times, with one sleeping task for all of them: a task for each would cost a crowd of
/// waiting loads more than everything else.
final class Alarms: Sendable {
    private struct State {
        var number: UInt64 = 0
        var due = Deadlines<@Sendable () -> Void>()
        var sleeper: Task<Void, Never>?
        /// Which sleeper is the present one: those before it end when they notice.
        var generation = 0
        var wakesAt = Duration.forever
    }

    private let world: any World
    private let state = Locked(State())

    init(in world: any World) {
        self.world = world
    }

    deinit {
        state.withLock { $0.sleeper }?.cancel()
    }

    /// Has `action` done after `delay`, unless it is cancelled before. It must be quick.
    ///
    /// - Returns: the alarm's number.
    func set(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> UInt64 {
        let time = min(world.uptime + delay, .forever)
        let (number, generation, former) = state.withLock { state -> (UInt64, Int?, Task<Void, Never>?) in
            state.number += 1
            state.due.add(state.number, at: time, action)
            guard time < state.wakesAt else { return (state.number, nil, nil) }
            state.wakesAt = time
            state.generation += 1
            return (state.number, state.generation, state.sleeper.take())
        }
        if let generation {
            former?.cancel()
            start(generation)
        }
        return number
    }

    /// Cancels alarms. One whose action has begun is not.
    func cancel(_ numbers: some Sequence<UInt64>) {
        let sleeper = state.withLock { state -> Task<Void, Never>? in
            for number in numbers { state.due.take(number) }
            guard state.due.isEmpty else { return nil }
            // Nothing is left behind that sleeps for nobody.
            state.generation += 1
            state.wakesAt = .forever
            return state.sleeper.take()
        }
        sleeper?.cancel()
    }

    private func start(_ generation: Int) {
        let task = world.spawn { [weak self, world] in
            while let time = self?.nextTime(generation) {
                do { try await world.sleep(for: time - world.uptime) } catch { return }
                self?.ring(generation)
            }
        }
        let isNeeded = state.withLock { state -> Bool in
            guard state.generation == generation, !state.due.isEmpty else { return false }
            state.sleeper = task
            return true
        }
        if !isNeeded { task.cancel() }
    }

    /// When the sleeper of this generation is to wake; nil when it is not needed any more.
    private func nextTime(_ generation: Int) -> Duration? {
        state.withLock { state in
            guard state.generation == generation else { return nil }
            let time = state.due.next()
            state.wakesAt = time ?? .forever
            if time == nil { state.sleeper = nil }
            return time
        }
    }

    private func ring(_ generation: Int) {
        let uptime = world.uptime
        while let action = state.withLock({ state in
            state.generation == generation ? state.due.takeNext(by: uptime)?.item : nil
        }) { action() }
    }
}
