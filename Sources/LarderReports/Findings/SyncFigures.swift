import Larder

/// The figures of the changes that users made and a service gets later.
struct SyncFigures {
    let accepted, rejected, expired, overtaken, discarded, merged: UInt64
    let conflicts, repeated, runs, failedRuns: UInt64
    /// The queries of records for which no index fits.
    let scans: UInt64
    let waiting, unaccounted: UInt64
    /// The age of the oldest change that waits; nil if none does.
    let oldest: Duration?
    /// The times from a change to its acceptance; nil if none was accepted.
    let acceptance: Sketch?

    /// The age of a waiting change that stands out.
    private static let long = Duration.seconds(86_400)
    /// The number of changes that must have ended before shares of them are judged, and the shares that stand out.
    private static let fewest: UInt64 = 50
    private static let (noticedRejections, noticedConflicts) = (0.01, 0.1)
    /// The same for runs.
    private static let (fewestRuns, noticedFailures): (UInt64, Double) = (20, 0.1)
    /// The duration from which sketches know no longer one.
    private static let longestKnown = Duration.seconds(129_600)

    /// Returns nil if nothing was changed or fetched.
    init?(_ section: Report.Section) {
        let total = section.total
        (accepted, rejected, expired) = (total[.changesAccepted], total[.changesRejected], total[.changesExpired])
        (overtaken, discarded) = (total[.changesOvertaken], total[.changesDiscarded])
        (merged, conflicts, repeated) = (total[.changesMerged], total[.changeConflicts], total[.changesRepeated])
        (runs, failedRuns) = (total[.syncRuns], total[.syncFailedRuns])
        scans = total[.recordScans]
        func number(_ gauge: Gauge) -> UInt64 { UInt64(clamping: (section.gauges[gauge] ?? 0).whole) }
        (waiting, unaccounted) = (number(.changesWaiting), number(.changesUnaccounted))
        let age = min(max(section.gauges[.oldestChange] ?? 0, 0), 1e12)
        oldest = waiting > 0 ? .milliseconds(Int64((age * 1_000).rounded())) : nil
        acceptance = total.timings[.changeAcceptance].flatMap { $0.count > 0 ? $0 : nil }
        if [all, merged, conflicts, repeated, runs, failedRuns, unaccounted, scans].allSatisfy({ $0 == 0 }) {
            return nil
        }
    }

    /// The changes that have ended. Those that were merged have ended as part of another.
    private var ended: UInt64 { [rejected, expired, overtaken, discarded].reduce(accepted) { $0.plus($1) } }
    /// The changes that have ended, and those that wait.
    var all: UInt64 { ended.plus(waiting) }
    private var allRuns: UInt64 { runs.plus(failedRuns) }

    private static func share(_ part: UInt64, of whole: UInt64) -> Double {
        whole > 0 ? Double(part) / Double(whole) : 0
    }

    // MARK: Sentences

    /// The sentences, the gravest first.
    var sentences: [String] { (alarms + [summary] + findings).compactMap(\.self) }

    /// The sentences about what is wrong with Larder itself.
    private var alarms: [String] {
        if unaccounted == 0 { return [] }
        let told = unaccounted == 1 ? "1 change is" : "\(unaccounted) changes are"
        return [told + " unaccounted for, which is a fault of Larder: please report it"]
    }

    /// `9812 of 9821 changes reached the service (p95 3 s, worst 26 h); 6 rejected; 3 wait, the oldest for 2 h; 41 conflicts; 33
    /// merged into earlier ones; nothing unaccounted`; nil if nobody changed anything.
    private var summary: String? {
        if !hasChanges { return nil }
        let times = acceptance.map { " (p95 \($0.percentile(0.95).waited), worst \(Self.worst(of: $0)))" } ?? ""
        let losses = [
            (rejected, "rejected"), (expired, "waited too long"), (overtaken, "overtaken by others"),
            (discarded, "taken back"),
        ]
        var parts = ["\(accepted) of \(counted(Int(clamping: all), one: "change")) reached the service\(times)"]
        parts += losses.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        if waiting > 0 { parts.append("\(waiting) \(waiting == 1 ? "waits" : "wait, the oldest") for \(oldest.aged)") }
        if conflicts > 0 { parts.append(counted(Int(clamping: conflicts), one: "conflict")) }
        if merged > 0 { parts.append("\(merged) merged into earlier ones") }
        parts.append(unaccounted == 0 ? "nothing unaccounted" : "\(unaccounted) unaccounted")
        return parts.joined(separator: "; ")
    }

    private var findings: [String?] {
        [
            oldest.flatMap { $0 > Self.long ? "a change has waited for \(Optional($0).aged)" : nil },
            isMuch(rejected, of: ended, from: Self.fewest, share: Self.noticedRejections)
                ? "\(rejectedShare) of the changes that have ended were rejected" : nil,
            isMuch(conflicts, of: ended, from: Self.fewest, share: Self.noticedConflicts)
                ? "many conflicts: \(conflicts), while \(counted(Int(clamping: ended), one: "change")) ended" : nil,
            isMuch(failedRuns, of: allRuns, from: Self.fewestRuns, share: Self.noticedFailures)
                ? "\(failedShare) of the runs that bring records and the service together failed" : nil,
            scans > 0
                ? "\(counted(Int(clamping: scans), one: "query", many: "queries")) of records looked at far more than they "
                    + "found: 'indexes' lacks one that fits, which the log names" : nil,
        ]
    }

    private func isMuch(_ part: UInt64, of whole: UInt64, from fewest: UInt64, share: Double) -> Bool {
        whole >= fewest && Self.share(part, of: whole) > share
    }

    private var rejectedShare: String { Self.share(rejected, of: ended).percent }
    private var failedShare: String { Self.share(failedRuns, of: allRuns).percent }

    private static func worst(of sketch: Sketch) -> String {
        guard let worst = sketch.percentile(1), worst >= longestKnown else { return sketch.percentile(1).waited }
        return "\(Optional(longestKnown).aged) or more"
    }

    // MARK: Tables

    /// Whether users changed anything.
    var hasChanges: Bool { all > 0 || merged > 0 || unaccounted > 0 }

    static let changesTitle = [
        "changes", "accepted", "rejected", "share of ended", "waited too long", "overtaken", "taken back", "ended",
        "wait", "oldest", "unaccounted",
    ]

    /// The figures in the order of ``changesTitle``. `show` writes a count.
    func changesRow(_ show: (UInt64) -> String) -> [String] {
        [show(all), show(accepted), show(rejected), ended == 0 ? "–" : rejectedShare]
            + [expired, overtaken, discarded, ended, waiting].map(show) + [oldest.aged, show(unaccounted)]
    }

    static let runsTitle = [
        "accepted after: p50", "p95", "worst", "merged", "conflicts", "sent again", "runs", "failed", "share failed",
    ]

    /// The figures in the order of ``runsTitle``. `show` writes a count.
    func runsRow(_ show: (UInt64) -> String) -> [String] {
        let times = [0.5, 0.95].map { acceptance?.percentile($0).waited ?? "–" }
        return times + [acceptance.map { Self.worst(of: $0) } ?? "–"]
            + [merged, conflicts, repeated, allRuns, failedRuns].map(show) + [allRuns == 0 ? "–" : failedShare]
    }

    /// The figures as JSON. Durations are seconds.
    var json: JSON {
        func number(_ count: UInt64) -> JSON { .int(Int(clamping: count)) }
        func seconds(_ duration: Duration?) -> JSON { duration.map { .number($0.inSeconds) } ?? .null }
        return [
            "changes": number(all), "accepted": number(accepted), "rejected": number(rejected),
            "expired": number(expired), "overtaken": number(overtaken), "discarded": number(discarded),
            "pending": number(waiting), "unaccounted": number(unaccounted), "oldest_pending": seconds(oldest),
            "acceptance_p95": seconds(acceptance?.percentile(0.95)),
            "acceptance_worst": seconds(acceptance?.percentile(1)), "merged": number(merged),
            "conflicts": number(conflicts), "repeated": number(repeated), "runs": number(allRuns),
            "failed_runs": number(failedRuns), "scans": number(scans),
        ]
    }
}
