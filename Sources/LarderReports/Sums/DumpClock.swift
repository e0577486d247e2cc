import LarderSystem
import Larder

/// Judges the clocks of processes by their dumps.
///
/// A clock that is ten years ahead would move the beginning of `--since 2h` ten years too. So the dumps of such clocks are
/// set apart. Only what cannot be true counts as wrong: a time after the present, or one before any version of Larder.
struct DumpClock: Sendable {
    /// The wall time of the reader.
    let now: Timestamp

    /// The time that a clock may be ahead of the reader's: both may be a little wrong.
    private static let tolerance = Duration.seconds(86_400)
    /// The beginning of 2025. No dump is older.
    private static let earliest = Timestamp(seconds: 1_735_689_600)

    /// Returns the reason why a dump with this time is set apart; nil if the time can be true.
    func fault(of written: Timestamp) -> String? {
        if written > now + Self.tolerance { return "its clock was ahead: it was written on \(written.spelled)" }
        if written < Self.earliest { return "its clock was behind: it was written on \(written.spelled)" }
        return nil
    }

    /// Whether a process can have counted at this time.
    func isPlausible(_ time: Timestamp) -> Bool { fault(of: time) == nil }

    /// Returns the start of a process that wrote a dump. A clock that was corrected since leaves a start that cannot be
    /// true, and the dump's own time is taken instead.
    func start(of head: MetricsDump.Head) -> Timestamp { isPlausible(head.started) ? head.started : head.written }
}
