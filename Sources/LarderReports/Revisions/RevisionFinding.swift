import Larder

/// The sentence about a change of the policy: how users fare since then.
struct RevisionFinding {
    let comparison: RevisionComparison

    /// The number of figures that the sentence tells. The table has all of them.
    private static let mostClauses = 2

    /// Whether users fare worse in some respect, and that is no chance.
    var isWorse: Bool { comparison.lines.contains(where: \.isWorse) }

    /// `with 0dd9… (strategy.patience 800ms → 3s) the mean wait is 540 ms instead of 310 ms with 0123…`. Nil if no
    /// difference stands out.
    var sentence: String? {
        let certain = comparison.lines.filter(\.standsOut)
        // A difference without an interval is reported, but not attributed to the policy.
        let unknown = comparison.lines.filter {
            $0.difference.error == nil && $0.figure.isNotable(from: $0.old, to: $0.new)
        }
        let told = certain.isEmpty ? unknown : certain
        guard !told.isEmpty else { return nil }
        let order = told.filter { isWorse == $0.isWorse } + told.filter { isWorse != $0.isWorse }
        let clauses = order.prefix(Self.mostClauses).map(clause)
        let isTogether = comparison.periods > 0
        var sentence =
            "\(isTogether ? "with" : "since") \(comparison.new.title)\(changes) " + clauses.joined(separator: ", and ")
        if isTogether {
            sentence += " with \(comparison.old.title)"
        } else {
            sentence += "; the two were not in use at the same time"
        }
        if certain.isEmpty { sentence += "; there is too little data to tell whether that is chance" }
        return sentence
    }

    private var changes: String {
        guard let changes = comparison.changes else { return "" }
        guard let first = changes.first else { return " (\(RevisionChange.hiddenLine))" }
        let more = changes.count > 2 ? " and more" : ""
        let second = changes.count > 1 ? ", " + changes[1].line : ""
        return " (\(first.line)\(second)\(more))"
    }

    private func clause(_ line: RevisionComparison.Line) -> String {
        let (new, old) = (line.figure.text(line.new), line.figure.text(line.old))
        switch line.figure {
        case .wait: return "the mean wait is \(new) instead of \(old)"
        case .failedRate: return "\(new) of loads fail instead of \(old)"
        case .staleErrorRate: return "\(new) of loads fail although there is a copy, instead of \(old)"
        case .fallbackRate: return "\(new) of loads fall back instead of \(old)"
        case .staleRate: return "\(new) of loads get stale data instead of \(old)"
        case .hitRate: return "\(new) of loads are hits instead of \(old)"
        }
    }
}
