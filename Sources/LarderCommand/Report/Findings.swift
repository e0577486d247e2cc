import Larder

/// Finds what stands out in a resource's figures, and says it in sentences that need no figures beside them.
struct Findings {
    let sentences: [String]

    /// The share of troubled loads from which five minutes belong to an incident.
    private static let noticed = 0.10
    private static let mostIncidents = 3
    /// The number of troubled loads from which five minutes belong to an incident.
    private static let fewestTroubled: UInt64 = 5
    /// The number of refreshes from which their failures are told.
    private static let fewest: UInt64 = 50

    init(_ section: Report.Section) {
        let total = section.total
        guard total.loads > 0 else {
            sentences = ["no loads were counted"]
            return
        }
        let changes = section.comparisons.filter(\.isNext).map(RevisionFinding.init)
        var sentences = changes.filter(\.isWorse).compactMap(\.sentence)
        sentences += Self.incidents(section.periods)
        if total.staleErrors > 0 {
            sentences.append(
                "\(Self.loads(total.staleErrors)) failed although there was a copy, because the policy no longer allowed it"
            )
        }
        if total.refreshes >= Self.fewest, total.revalidationErrorRate >= Self.noticed {
            sentences.append("\(total.revalidationErrorRate.roundPercent) of background refreshes failed")
        }
        sentences += Self.masking(total)
        sentences += Self.trend(section.periods)
        sentences += changes.filter { !$0.isWorse }.compactMap(\.sentence)
        sentences += Self.store(total)
        self.sentences = sentences.isEmpty ? ["nothing stands out"] : sentences
    }

    // MARK: Incidents

    /// Consecutive periods in which many loads were answered by a copy or a fallback, or failed.
    private static func incidents(_ periods: [Period]) -> [String] {
        var bad: [ClosedRange<Int>] = []
        for (place, period) in periods.enumerated()
        where period.trouble >= noticed && period.troubled >= fewestTroubled {
            // One good period between two bad ones does not end an incident. It belongs to it.
            if let last = bad.last, period.start - periods[last.upperBound].end <= .seconds(300) {
                bad[bad.count - 1] = last.lowerBound...place
            } else {
                bad.append(place...place)
            }
        }
        let incidents = bad.map { Array(periods[$0]) }
        // The worst first: an operator may read no further.
        var sentences = incidents.sorted { $0.affected > $1.affected }.prefix(mostIncidents).map(sentence)
        if incidents.count > mostIncidents {
            let others = incidents.count - mostIncidents
            sentences.append("\(others) lesser \(others == 1 ? "incident" : "incidents") of that kind")
        }
        return sentences
    }

    private static func sentence(_ incident: [Period]) -> String {
        func sum(_ counter: Counter) -> UInt64 { incident.reduce(0) { $0.plus($1[counter]) } }
        func share(_ part: UInt64, of whole: UInt64, _ things: String = "loads") -> String {
            if part >= whole { return "all \(whole) \(things)" }
            return "\(part) of \(whole) \(things) (\((Double(part) / Double(whole)).roundPercent))"
        }
        let times = incident.first.map(\.start).spelled(to: incident.last?.end)
        let (failures, refused) = (sum(.failures) - min(sum(.failures), sum(.answers)), sum(.staleErrors))
        let isFailing = failures > sum(.fallbacks)
        var clauses = [
            isFailing
                ? "\(times): \(share(failures, of: sum(.loads))) failed"
                : "\(times): \(share(sum(.fallbacks), of: sum(.loads))) fell back"
        ]
        if refused > 0, refused.plus(refused) >= failures {
            clauses.append("copies of \(loads(refused)) were older than the policy allows")
        }
        if sum(.originErrors) > 0 {
            clauses.append("\(share(sum(.originErrors), of: sum(.originCalls), "calls")) to the origin failed")
        }
        if let oldest = incident.compactMap(\.oldest).max() {
            clauses.append("users saw data up to \(Optional(oldest).aged) old")
        }
        if !isFailing { clauses.append(failures == 0 ? "nobody got an error" : "\(loads(failures)) got an error") }
        return clauses.joined(separator: "; ")
    }

    // MARK: Causes and trend

    private static func masking(_ total: ResourceMetrics) -> [String] {
        let answered = total.originAnswerLatency
        guard let origin = answered.percentile(0.95), let felt = total.load(percentile: 0.95), felt * 2 <= origin
        else { return [] }
        return [
            "the p95 of the origin's answers was \(Optional(origin).waited), and users felt a p95 of "
                + Optional(felt).waited
        ]
    }

    /// Whether the last third was worse than the first third.
    private static func trend(_ periods: [Period]) -> [String] {
        guard periods.count >= 6 else { return [] }
        func rate(_ part: ArraySlice<Period>) -> Double {
            let loads = part.reduce(UInt64(0)) { $0.plus($1[.loads]) }
            let troubled = part.reduce(UInt64(0)) { $0.plus($1.troubled) }
            return loads == 0 ? 0 : min(1, Double(troubled) / Double(loads))
        }
        let (early, late) = (rate(periods.prefix(periods.count / 3)), rate(periods.suffix(periods.count / 3)))
        // An incident that is over does not get worse.
        let present = rate(periods.suffix(max(1, periods.count / 12)))
        if late >= early + 0.02, late >= early * 1.5, present >= late / 2 {
            return [
                "getting worse: \(early.roundPercent) of loads fell back or failed in the first third of the time, "
                    + "\(late.roundPercent) in the last third"
            ]
        }
        if early >= late + 0.02, early >= late * 1.5 {
            return [
                "getting better: \(early.roundPercent) of loads fell back or failed in the first third of the time, "
                    + "\(late.roundPercent) in the last third"
            ]
        }
        return []
    }

    private static func store(_ total: ResourceMetrics) -> [String] {
        var sentences: [String] = []
        for (fault, count) in total.faults.sorted(by: { $0.key < $1.key }) where count > 0 {
            sentences.append(
                "store '\(fault.tier.printable)' failed to \(fault.kind.rawValue) \(count) \(count == 1 ? "time" : "times")"
            )
        }
        if total.corrupt > 0 {
            sentences.append("\(total.corrupt) damaged \(total.corrupt == 1 ? "copy was" : "copies were") removed")
        }
        return sentences
    }

    private static func loads(_ count: UInt64) -> String { count == 1 ? "1 load" : "\(count) loads" }
}

extension Period {
    /// The number of loads that fell back or failed. Errors that are answers of the origin do not count.
    fileprivate var troubled: UInt64 {
        let failures = self[.failures] - min(self[.failures], self[.answers])
        return self[.fallbacks].plus(failures)
    }

    /// The share of loads that fell back or failed.
    fileprivate var trouble: Double { self[.loads] == 0 ? 0 : Double(troubled) / Double(self[.loads]) }
}

extension [Period] {
    fileprivate var affected: UInt64 { reduce(0) { $0.plus($1.troubled) } }
}

extension Double {
    /// A share in whole percents: `31 %`. A share that is more than nothing is at least `< 1 %`.
    fileprivate var roundPercent: String {
        self > 0 && self < 0.01 ? "< 1 %" : "\(Int((self * 100).rounded())) %"
    }
}
