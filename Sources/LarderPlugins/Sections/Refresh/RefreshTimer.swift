import LarderSystem
import LarderCore

/// Decides when a schedule runs, without clocks and alarms of its own.
///
/// A run is due when either clock says so. The wall clock goes on while the device sleeps and the process is not running, and
/// the monotonic clock cannot be set back.
struct RefreshTimer: Sendable {
    /// The longest time until the clocks are compared again. The monotonic clock may stand still while the device sleeps.
    private static let longestWait = Duration.seconds(900)

    let times: RefreshTimes
    private(set) var plan: RefreshPlan
    /// The uptime at which the next run is due.
    private var dueUptime: Duration
    /// The uptime at which a late run starts; nil if it is not chosen.
    private var lateStart: Duration?

    init(_ times: RefreshTimes, _ plan: RefreshPlan, at now: Timestamp, uptime: Duration) {
        self.times = times
        self.plan = plan
        dueUptime = uptime + (plan.next - now)
    }

    /// Follows another plan.
    mutating func follow(_ plan: RefreshPlan, at now: Timestamp, uptime: Duration) {
        self = RefreshTimer(times, plan, at: now, uptime: uptime)
    }

    /// Returns how late a run would be that begins now; a negative duration if none is due.
    func lateness(at now: Timestamp, uptime: Duration) -> Duration { max(now - plan.next, uptime - dueUptime) }

    /// Returns the next step.
    ///
    /// - Parameters:
    ///   - isMet: whether the conditions of the schedule are met.
    ///   - chance: gives a random number in 0 ..< 1.
    mutating func step(at now: Timestamp, uptime: Duration, isMet: Bool, chance: () -> Double) -> AgendaStep {
        let lateness = lateness(at: now, uptime: uptime)
        guard lateness >= .zero, isMet else {
            lateStart = nil
            return lateness >= .zero ? .waitForDevice : .wait(min(.zero - lateness, Self.longestWait))
        }
        if lateness <= times.tolerance { return .run }
        // A device that slept until after the chosen time chooses again.
        if lateStart.map({ uptime - $0 > times.tolerance }) ?? true {
            lateStart = uptime + times.delay(late: lateness, chance())
        }
        guard let lateStart, lateStart > uptime else { return .run }
        return .wait(min(lateStart - uptime, Self.longestWait))
    }
}
