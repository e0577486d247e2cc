/// A timer that runs actions at given times, with one sleeping task for all of them.
///
/// With a task for each action, the tasks would cost a crowd of waiting loads more than everything else.
package final class SharedTimer: Sendable {
    private struct State {
        var number: UInt64 = 0
        var actions = DeadlineQueue<@Sendable () -> Void>()
        var sleeper: Task<Void, Never>?
        /// The number of the current sleeper. Earlier sleepers end when they see that it has changed.
        var generation = 0
        var wakesAt = Duration.forever
    }

    private let state = Locked(State())
    /// Whether the sleeper stays until its time when there are no alarms left.
    private let keepsSleeper: Bool

    /// Creates a timer without alarms.
    ///
    /// - Parameter keepsSleeper: whether the sleeper stays until its time when there are no alarms left. Pass true if a
    ///   cancelled sleep takes memory until its time, as with `Task.sleep` on Linux.
    package init(keepsSleeper: Bool = false) {
        self.keepsSleeper = keepsSleeper
    }

    /// Has `action` done after `delay`, unless the alarm is cancelled first.
    ///
    /// - Parameter world: the world whose time it is, the same each time.
    package func set(after delay: Duration, in world: any World, _ action: @escaping @Sendable () -> Void) -> Alarm {
        let time = min(world.uptime + delay, .forever)
        let (number, generation, former) = state.withLock { state -> (UInt64, Int?, Task<Void, Never>?) in
            state.number += 1
            state.actions.add(state.number, at: time, action)
            guard time < state.wakesAt else { return (state.number, nil, nil) }
            state.wakesAt = time
            state.generation += 1
            return (state.number, state.generation, state.sleeper.take())
        }
        if let generation {
            former?.cancel()
            start(generation, in: world)
        }
        return Alarm { self.cancel(number) }
    }

    private func cancel(_ number: UInt64) {
        let sleeper = state.withLock { state -> Task<Void, Never>? in
            state.actions.take(number)
            guard !keepsSleeper, state.actions.next() == nil else { return nil }
            // Nothing is left behind that sleeps for nobody. An alarm that is set to `.forever` needs no sleeper.
            state.generation += 1
            state.wakesAt = .forever
            return state.sleeper.take()
        }
        sleeper?.cancel()
    }

    private func start(_ generation: Int, in world: any World) {
        let task = world.spawn {
            while let time = self.nextTime(generation) {
                do { try await world.sleep(for: time - world.uptime) } catch { return self.stop(generation) }
                self.ring(generation, by: world.uptime)
            }
        }
        let isNeeded = state.withLock { state -> Bool in
            guard state.generation == generation, keepsSleeper || state.actions.next() != nil else { return false }
            state.sleeper = task
            return true
        }
        if !isNeeded { task.cancel() }
    }

    /// Returns the uptime at which the sleeper of this generation must wake. Returns nil if that sleeper is no longer
    /// needed.
    private func nextTime(_ generation: Int) -> Duration? {
        state.withLock { state in
            guard state.generation == generation else { return nil }
            let time = state.actions.next()
            state.wakesAt = time ?? .forever
            if time == nil { state.sleeper = nil }
            return time
        }
    }

    /// Forgets all alarms if the present sleeper was cancelled: the world has come to its end.
    private func stop(_ generation: Int) {
        let forgotten = state.withLock { state -> [@Sendable () -> Void] in
            guard state.generation == generation else { return [] }
            state.wakesAt = .forever
            state.sleeper = nil
            return state.actions.takeAll()
        }
        withExtendedLifetime(forgotten) {}
    }

    private func ring(_ generation: Int, by uptime: Duration) {
        while let action = state.withLock({ state in
            state.generation == generation ? state.actions.takeNext(by: uptime)?.item : nil
        }) { action() }
    }
}
