import Larder

/// The figures of refreshes on a schedule.
struct ScheduleFigures {
    private let due: UInt64
    private let ran: UInt64
    private let failed: UInt64
    private let missed: UInt64

    /// Returns nil if no refresh was due.
    init?(_ metrics: ResourceMetrics) {
        due = metrics[.scheduledDue]
        if due == 0 { return nil }
        (ran, failed, missed) = (metrics[.scheduledRun], metrics[.scheduledFailed], metrics[.scheduledMissed])
    }

    /// `33.0 % of scheduled refreshes were missed, and 2 failed`; nil if all ran and none failed.
    var sentence: String? {
        let failures =
            failed == 0
            ? nil : "\(counted(Int(clamping: failed), one: "scheduled refresh", many: "scheduled refreshes")) failed"
        guard missed > 0 else { return failures }
        let told = "\(missedShare) of scheduled refreshes were missed"
        return failed == 0 ? told : told + ", and \(failed) failed"
    }

    private var missedShare: String { (Double(missed) / Double(due)).percent }

    static let title = ["scheduled refreshes", "ran", "failed", "missed", "share missed"]

    /// The figures in the order of ``title``. `show` writes a count.
    func row(_ show: (UInt64) -> String) -> [String] {
        [show(due), show(ran), show(failed), show(missed), missedShare]
    }
}
