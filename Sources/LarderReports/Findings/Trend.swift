import Larder

/// The first and the last third of a time, if one was much worse than the other.
struct Trend: Sendable {
    private let early: FiveMinutes
    private let late: FiveMinutes
    private let isWorse: Bool

    /// Compares the thirds; nil if they differ too little.
    init?(_ periods: [FiveMinutes]) {
        guard periods.count >= 6 else { return nil }
        early = Self.sum(periods.prefix(periods.count / 3))
        late = Self.sum(periods.suffix(periods.count / 3))
        // An incident that is over does not get worse.
        let present = Self.sum(periods.suffix(max(1, periods.count / 12))).trouble
        let (before, after) = (early.trouble, late.trouble)
        isWorse = after >= before + 0.02 && after >= before * 1.5 && present >= after / 2
        guard isWorse || before >= after + 0.02 && before >= after * 1.5 else { return nil }
    }

    private static func sum(_ periods: ArraySlice<FiveMinutes>) -> FiveMinutes {
        periods.reduce(into: FiveMinutes(start: Timestamp(seconds: 0))) { $0.merge($1) }
    }

    var sentence: String {
        "getting \(isWorse ? "worse" : "better"): \(early.trouble.roundPercent) of loads fell back or failed in the first third "
            + "of the time, \(late.trouble.roundPercent) in the last third"
    }

    /// The titles of the columns of ``rows``. The time without a network has one if there was such a time.
    var columns: [String] { ["over time", "loads", "fell back or failed"] + (hasOffline ? ["offline"] : []) }

    private var hasOffline: Bool { early.offline > .zero || late.offline > .zero }

    var rows: [[String]] {
        [("first third", early), ("last third", late)].map { label, part in
            [label, "\(part[.loads])", "\(part.troubled) (\(part.trouble.roundPercent))"]
                + (hasOffline ? [part.offline.shownOffline] : [])
        }
    }
}
