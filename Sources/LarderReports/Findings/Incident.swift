import LarderSystem
import Larder

/// A time in which many loads were answered by a copy or a fallback, or failed.
struct Incident: Sendable {
    /// The start of the first period and the end of the last one. Nil for the sum of lesser incidents.
    var times: ClosedRange<Timestamp>?
    /// The name: `Monday 2026-01-05 11:30–18:00`, or `2 lesser incidents`.
    var title: String
    /// The counts of all periods together.
    private var sum = FiveMinutes(start: Timestamp(seconds: 0))
    /// The largest number of processes that counted at the same time.
    private var processes = 1

    /// The share of troubled loads from which five minutes belong to an incident.
    private static let noticed = 0.10
    /// The number of troubled loads from which five minutes belong to an incident.
    private static let fewestTroubled: UInt64 = 5
    private static let mostShown = 3

    /// Returns the incidents in periods, the worst first: an operator may read no further. Of many, the last one is the sum
    /// of the lesser ones.
    ///
    /// - Parameter processes: the number of processes that counted in each period.
    static func all(in periods: [FiveMinutes], of processes: [Timestamp: Int]) -> [Incident] {
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
        let incidents = bad.map { Incident(periods[$0], of: processes) }.sorted { $0.troubled > $1.troubled }
        let lesser = incidents.dropFirst(mostShown)
        guard !lesser.isEmpty else { return incidents }
        var rest = Incident(title: counted(lesser.count, one: "lesser incident"))
        for incident in lesser { rest.sum.merge(incident.sum) }
        return incidents.prefix(mostShown) + [rest]
    }

    private init(title: String) { self.title = title }

    private init(_ periods: ArraySlice<FiveMinutes>, of processes: [Timestamp: Int]) {
        self.init(title: periods.first.map(\.start).spelled(to: periods.last?.end))
        times = periods.first.flatMap { first in periods.last.map { first.start...$0.end } }
        for period in periods { sum.merge(period) }
        self.processes = periods.compactMap { processes[$0.start] }.max() ?? 1
    }

    private var troubled: UInt64 { sum.troubled }
    /// The time without a network, of all processes together.
    fileprivate var offline: Duration { sum.offline }

    // MARK: Words

    /// The sentence about the incident.
    var sentence: String {
        guard times != nil else { return "\(title) of that kind" }
        let (loads, calls) = (sum[.loads], sum[.originCalls])
        let (failures, fallbacks) = (sum.failuresWithoutAnswers, sum[.fallbacks])
        let callErrors = sum[.originErrors]
        let isFailing = failures > fallbacks
        var clauses = [
            isFailing
                ? "\(title): \(share(failures, of: loads)) failed\(refusal)"
                : "\(title): \(share(fallbacks, of: loads)) fell back"
        ]
        if offline > .zero {
            clauses.append(
                "offline for \(Optional(offline).aged)" + (processes > 1 ? " in all processes together" : ""))
        }
        if callErrors > 0 { clauses.append("\(share(callErrors, of: calls, "calls")) to the origin failed") }
        if !isFailing, callErrors == 0, calls > 0, offline == .zero {
            clauses.append("no call to the origin failed: it was slow, or rested after earlier failures")
        }
        if let oldest = sum.oldest { clauses.append("users saw data up to \(Optional(oldest).aged) old") }
        if !isFailing {
            clauses.append(
                failures == 0
                    ? "nobody got an error" : "\(counted(Int(clamping: failures), one: "load")) got an error\(refusal)")
        }
        return clauses.joined(separator: "; ")
    }

    /// The number of refused copies that the sentence tells.
    var refusedTold: UInt64 { times == nil ? 0 : sum[.staleErrors] }

    /// The part of the failed loads whose copies were refused, in words; empty if there is none.
    private var refusal: String {
        let refused = sum[.staleErrors]
        if refused == 0 { return "" }
        return (refused < sum.failuresWithoutAnswers ? ", \(refused) of them " : ", ") + refused.refusal
    }

    private func share(_ part: UInt64, of whole: UInt64, _ things: String = "loads") -> String {
        if part >= whole { return "all \(whole) \(things)" }
        return "\(part) of \(whole) \(things) (\((Double(part) / Double(whole)).roundPercent))"
    }

    fileprivate static let columns = [
        "incidents", "loads", "failed", "fell back", "copy refused", "calls", "calls failed", "oldest served",
    ]

    /// The numbers of the sentence, and the others.
    fileprivate var row: [String] {
        func cell(_ part: UInt64, of whole: UInt64) -> String {
            whole == 0 ? "\(part)" : "\(part) (\(min(1, Double(part) / Double(whole)).roundPercent))"
        }
        return [
            title, "\(sum[.loads])", cell(sum.failuresWithoutAnswers, of: sum[.loads]),
            cell(sum[.fallbacks], of: sum[.loads]), "\(sum[.staleErrors])", "\(sum[.originCalls])",
            cell(sum[.originErrors], of: sum[.originCalls]), sum.oldest.aged,
        ]
    }
}

extension [Incident] {
    /// The titles of the columns of ``rows``. The time without a network has one if there was such a time.
    var columns: [String] { Incident.columns + (hasOffline ? ["offline"] : []) }

    /// A row for each incident.
    var rows: [[String]] { map { $0.row + (hasOffline ? [$0.offline.shownOffline] : []) } }

    private var hasOffline: Bool { contains { $0.offline > .zero } }
}

extension FiveMinutes {
    /// Loads that failed. Errors that are answers of the origin do not count.
    var failuresWithoutAnswers: UInt64 { self[.failures] - min(self[.failures], self[.answers]) }

    /// The number of loads that fell back or failed.
    var troubled: UInt64 { self[.fallbacks].plus(failuresWithoutAnswers) }

    /// The share of loads that fell back or failed.
    var trouble: Double { self[.loads] == 0 ? 0 : min(1, Double(troubled) / Double(self[.loads])) }
}

extension Double {
    /// A share in whole percents: `31 %`. A share that is more than nothing is at least `< 1 %`.
    var roundPercent: String {
        self > 0 && self < 0.01 ? "< 1 %" : "\(Int((self * 100).rounded())) %"
    }
}
