import Larder

// Comparisons of revisions in words, rows and JSON.

extension RevisionComparison {
    /// The titles of the columns of ``rows``.
    static let columns = ["", "before", "after", "difference", "95 % interval", "verdict"]

    /// `0123… → 0dd9…`.
    var title: String { "\(old.title) → \(new.title)" }

    /// The changed lines of the policy: `strategy.patience 800ms → 3s`.
    var changedLines: [String] {
        guard let changes else { return ["the dumps do not contain both policies"] }
        if changes.isEmpty { return [RevisionChange.hiddenLine] }
        let most = 20
        return changes.prefix(most).map(\.line)
            + (changes.count > most ? ["and \(changes.count - most) more lines"] : [])
    }

    /// The times and the numbers of loads that are compared.
    var basis: String {
        let loads = "\(oldLoads.grouped) and \(newLoads.grouped) loads"
        if lines.isEmpty { return "too few loads to compare: \(loads)" }
        return periods > 0
            ? "compared over \(counted(periods, one: "period")) of five minutes in which both were in use: \(loads); "
                + "percentiles are of all times, also of those when only one was in use"
            : "not in use at the same time, so that other causes are possible: \(loads)"
    }

    /// The figures: before, after, their difference, its interval, and a verdict.
    var rows: [[String]] {
        lines.map { line in
            let interval = line.difference.interval.map { range in
                "\(line.signed(range.lowerBound)) to \(line.signed(range.upperBound))"
            }
            return [
                line.figure.title, line.figure.text(line.old), line.figure.text(line.new),
                line.signed(line.difference.value), interval ?? "–", line.verdict,
            ]
        } + [
            [
                "load p95, all times", old.metrics.load(percentile: 0.95).waited,
                new.metrics.load(percentile: 0.95).waited, "", "", "",
            ],
            [
                "age p95 of stale copies, all times",
                old.metrics.ages[.stale]?.percentile(0.95).aged ?? "–",
                new.metrics.ages[.stale]?.percentile(0.95).aged ?? "–", "", "", "",
            ],
        ]
    }

    /// The comparison as JSON. Waits are seconds.
    var json: JSON {
        [
            "from": .string(old.name), "to": .string(new.name), "next": .bool(isNext), "periods": .int(periods),
            "loads": .list([.int(Int(clamping: oldLoads)), .int(Int(clamping: newLoads))]),
            "changes": changes.map { changes in
                .list(
                    changes.map { change in
                        [
                            "path": .string(change.path), "old": change.shownOld.map { .string($0) } ?? .null,
                            "new": change.shownNew.map { .string($0) } ?? .null,
                        ]
                    })
            } ?? .null,
            "figures": .list(lines.map(\.json)),
        ]
    }
}

extension RevisionComparison.Line {
    fileprivate func signed(_ value: Double) -> String {
        (value < 0 ? "−" : "+") + figure.text(abs(value))
    }

    fileprivate var verdict: String {
        guard difference.error != nil else { return "too little data to tell" }
        if difference.isCertain { return standsOut ? "not chance" : "not chance, but too small to matter" }
        return difference.interval?.contains(0) == false ? "probably not chance" : "may be chance"
    }

    fileprivate var json: JSON {
        [
            "figure": .string(figure.rawValue), "old": .number(old), "new": .number(new),
            "difference": .number(difference.value),
            "low": difference.interval.map { .number($0.lowerBound) } ?? .null,
            "high": difference.interval.map { .number($0.upperBound) } ?? .null,
            "certain": .bool(difference.isCertain), "stands_out": .bool(standsOut),
        ]
    }
}
