import LarderSystem
import LarderCore

/// The plan of a schedule: the start of its last run, and the time of its next one. It survives restarts in a file.
struct RefreshPlan: Hashable, Sendable {
    /// The start of the last run; nil before the first one.
    var began: Timestamp?
    /// The time at which the next run is due.
    var next: Timestamp
}

/// The rules by which a schedule makes its plan. They spread the runs of many installations over time:
///
/// - The first run of an installation is due at a random time in the first interval.
/// - Each pause between the starts of two runs is longer than the interval by up to a fiftieth, at random. With longer pauses,
///   the runs of all installations that were late together would meet again one interval later.
/// - A run that could not start in time starts at the installation's next turn. Its turns follow its due time at a distance
///   of a little more than the interval, and of about a quarter of an hour at most. So installations that were all without a
///   network do not all call when it returns.
struct RefreshTimes: Hashable, Sendable {
    /// The shortest time between the starts of two runs.
    let every: Duration

    /// The longest time over which late runs are spread. If it were shorter than the usual pauses, the turns of some
    /// installations would fall together.
    var spread: Duration { min(every + jitter, .seconds(1_000)) }

    /// How late a run may start without being spread. Alarms are seldom later than that.
    var tolerance: Duration { .seconds(5) }

    /// The time by which pauses differ.
    private var jitter: Duration { every / 50 }

    /// The longest pause between the starts of two runs.
    private var longestPause: Duration { every * 2 + jitter * 2 }

    /// How late a run may be and still keep its turns. Later ones start at random, so that none is always asleep at its turn.
    private static let longestTurns = Duration.seconds(86_400)
    /// A plan that was late by more than this was made with another clock: its misses are not counted.
    private static let longestLateness = Duration.seconds(366 * 86_400)

    /// Returns the plan of a new installation.
    ///
    /// - Parameter chance: a random number in 0 ..< 1.
    func first(at now: Timestamp, _ chance: Double) -> RefreshPlan {
        RefreshPlan(next: now + every.scaled(by: chance))
    }

    /// Returns the plan that holds after a restart.
    ///
    /// The saved plan is changed if the interval has changed since. It is replaced if it was made with a clock far
    /// ahead. Otherwise nothing would run until that time.
    func restored(_ saved: RefreshPlan, at now: Timestamp, _ chance: Double) -> RefreshPlan {
        guard saved.next <= now + longestPause else { return first(at: now, chance) }
        guard let began = saved.began, began <= now else { return saved }
        let isOfThisInterval = saved.next >= began + every && saved.next <= began + longestPause
        return isOfThisInterval ? saved : RefreshPlan(began: began, next: began + pause(chance))
    }

    /// Returns the plan for the time after a run that began now.
    ///
    /// - Parameter lateness: how late the run began.
    func plan(afterRunAt now: Timestamp, late lateness: Duration, _ chance: Double) -> RefreshPlan {
        // Installations that were late together began within the spread. A longer pause separates them again.
        guard lateness >= every else { return RefreshPlan(began: now, next: now + pause(chance)) }
        let width = max(jitter, every - spread)
        return RefreshPlan(began: now, next: now + every + width.scaled(by: chance))
    }

    /// Returns the number of runs that were missed before one that begins with this lateness.
    func missed(late lateness: Duration) -> UInt64 {
        guard lateness >= every, lateness <= Self.longestLateness else { return 0 }
        return UInt64(lateness.nanoseconds / max(1, every.nanoseconds))
    }

    /// Returns the time until a late run starts.
    func delay(late lateness: Duration, _ chance: Double) -> Duration {
        guard lateness < max(every, Self.longestTurns) else { return spread.scaled(by: chance) }
        // Due times are spread already, and so are the turns.
        let past = lateness.nanoseconds % max(1, spread.nanoseconds)
        return past == 0 ? .zero : spread - .nanoseconds(past)
    }

    private func pause(_ chance: Double) -> Duration { every + jitter.scaled(by: chance) }
}
