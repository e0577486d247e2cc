import Larder
import LarderReports

/// Compares a simulation of a policy with one of the policy after a piece of advice.
struct AdviceCheck: Sendable {
    enum Verdict: String, Sendable {
        case confirmed, refuted
        /// The requests and the origin do not bring about what the advice is about.
        case notTested = "not tested"
    }

    let advice: AdviceFile.Item
    let before: Double
    let after: Double

    /// The figure from which the effect can be judged.
    private static let fewest = 20.0
    /// The part of the promised share that must come true.
    private static let leastPart = 0.5

    init(_ advice: AdviceFile.Item, before: ResourceMetrics, after: ResourceMetrics) {
        self.advice = advice
        self.before = advice.effect.figure(before)
        self.after = advice.effect.figure(after)
    }

    /// The share of the figure that was saved.
    var share: Double { before > 0 ? (before - after) / before : 0 }

    var verdict: Verdict {
        if before < Self.fewest { return .notTested }
        return share > 0 && share >= advice.share.lowerBound * Self.leastPart ? .confirmed : .refuted
    }

    /// The verdict in lines of text.
    var lines: [String] {
        let name = advice.effect.rawValue.replacing("_", with: " ")
        let promised = Self.percents(advice.share)
        let changes = advice.changes.map { change in
            "\(change.path) \(change.new.map { $0.text(indented: false).printable } ?? "removed")"
        }
        let figures = "\(before.whole) → \(after.whole)"
        return [
            "\(advice.resource.printable): \(changes.joined(separator: ", ")): \(verdict.rawValue)",
            verdict == .notTested
                ? "  \(name): \(before.whole) in this simulation, which is too little to judge"
                : "  \(name): promised \(promised) less, simulated \(figures), \(share.percent) less",
        ]
    }

    /// The verdict as JSON.
    var json: JSON {
        [
            "resource": .string(advice.resource), "effect": .string(advice.effect.rawValue),
            "promised": [.number(advice.share.lowerBound), .number(advice.share.upperBound)],
            "before": .number(before), "after": .number(after), "verdict": .string(verdict.rawValue),
        ]
    }

    private static func percents(_ share: ClosedRange<Double>) -> String {
        share.lowerBound.percent == share.upperBound.percent
            ? share.lowerBound.percent : "\(share.lowerBound.percent) to \(share.upperBound.percent)"
    }
}
