import Larder

/// The first and the last third of a time, if one was much worse than the other.
struct Trend: Sendable {
    private struct Part: Sendable {
        var loads: UInt64 = 0
        var troubled: UInt64 = 0
        var offline: Duration = .zero

        init(_ periods: ArraySlice<FiveMinutes>) {
            loads = periods.reduce(0) { $0.plus($1[.loads]) }
            troubled = periods.reduce(0) { $0.plus($1.troubled) }
            offline = .milliseconds(Int64(clamping: periods.reduce(UInt64(0)) { $0.plus($1[.offlineTime]) }))
        }

        var rate: Double { loads == 0 ? 0 : min(1, Double(troubled) / Double(loads)) }
    }

    private let early: Part
    private let late: Part
    private let isWorse: Bool

    /// Compares the thirds; nil if they differ too little.
    init?(_ periods: [FiveMinutes]) {
        guard periods.count >= 6 else { return nil }
        early = Part(periods.prefix(periods.count / 3))
        late = Part(periods.suffix(periods.count / 3))
        // An incident that is over does not get worse.
        let present = Part(periods.suffix(max(1, periods.count / 12))).rate
        let (before, after) = (early.rate, late.rate)
        isWorse = after >= before + 0.02 && after >= before * 1.5 && present >= after / 2
        guard isWorse || before >= after + 0.02 && before >= after * 1.5 else { return nil }
    }

    var sentence: String {
        "getting \(isWorse ? "worse" : "better"): \(early.rate.roundPercent) of loads fell back or failed in the first third "
            + "of the time, \(late.rate.roundPercent) in the last third"
    }

    /// The titles of the columns of ``rows``. The time without a network has one if there was such a time.
    var columns: [String] { ["over time", "loads", "fell back or failed"] + (hasOffline ? ["offline"] : []) }

    private var hasOffline: Bool { early.offline > .zero || late.offline > .zero }

    var rows: [[String]] {
        [("first third", early), ("last third", late)].map { label, part in
            [label, "\(part.loads)", "\(part.troubled) (\(part.rate.roundPercent))"]
                + (hasOffline ? [part.offline.shownOffline] : [])
        }
    }
}
