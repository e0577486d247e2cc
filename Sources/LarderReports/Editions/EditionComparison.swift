import Larder

/// The loads of one resource under an edition, and those under other policies.
struct EditionComparison: Sendable {
    var resource: String
    private let comparison: RevisionComparison

    /// Returns the comparisons for all resources with loads on both sides. Editions that have a policy of the resource in
    /// common with this one are not compared with it.
    ///
    /// - Parameter policies: the policies of all editions, by resource.
    static func all(of edition: String, in policies: [String: [EditionPolicies.Policy]]) -> [EditionComparison] {
        policies.sorted { $0.key < $1.key }.compactMap { resource, policies in
            let own = policies.filter { $0.editions.contains(edition) }
            let alike = own.reduce(into: Set<String>()) { $0.formUnion($1.editions) }
            let rest = policies.filter { $0.editions.isDisjoint(with: alike) }
            if own.isEmpty || rest.isEmpty { return nil }
            return EditionComparison(
                resource: resource, comparison: RevisionComparison(from: sum(of: rest), to: sum(of: own)))
        }
    }

    private static func sum(of policies: [EditionPolicies.Policy]) -> Report.Revision {
        let none = Report.Revision(name: "", strategy: "", isCurrent: true, metrics: ResourceMetrics())
        return policies.reduce(into: none) { sum, policy in
            sum.metrics.merge(policy.loads.metrics)
            sum.sums.add(policy.loads.sums)
        }
    }

    static let columns =
        ["resource", "difference"] + ["loads", "failed", "fell back", "load p95"].flatMap { [$0, "\($0) without"] }

    /// An explanation of the columns.
    static let note =
        "The columns 'without' are of the loads under other policies. Resources whose policy the edition does not change "
        + "are left out. Rates are of the times in which both were in use, if there were any. The load p95 is of all times."

    var row: [String] {
        let (with, without) = (comparison.new.metrics, comparison.old.metrics)
        let rates = [RevisionFigure.failedRate, .fallbackRate].flatMap { [rate($0).new.shown, rate($0).old.shown] }
        return [resource.printable, verdict, with.loads.grouped, without.loads.grouped] + rates
            + [with, without].map { $0.load(percentile: 0.95).waited }
    }

    /// A rate without the edition and with it: over the times that are compared, else over all times.
    private func rate(_ figure: RevisionFigure) -> (old: Double, new: Double) {
        if let line = comparison.lines.first(where: { $0.figure == figure }) { return (line.old, line.new) }
        let rate: Rate = figure == .failedRate ? .failedRate : .fallbackRate
        return (comparison.old.metrics[rate], comparison.new.metrics[rate])
    }

    /// The figures that differ by more than chance.
    private var verdict: String {
        let certain = comparison.lines.filter { $0.standsOut && $0.figure.isWorseIfLarger }
        let parts = [("better", certain.filter { !$0.isWorse }), ("worse", certain.filter(\.isWorse))].compactMap {
            word, lines in
            lines.isEmpty ? nil : "\(word): " + lines.map(\.figure.title).joined(separator: ", ")
        }
        if !parts.isEmpty {
            return parts.joined(separator: "; ") + (comparison.periods == 0 ? "; not in use at the same time" : "")
        }
        return comparison.lines.contains { $0.difference.error != nil } ? "may be chance" : "too little data"
    }

    var json: JSON {
        func seconds(_ metrics: ResourceMetrics) -> JSON {
            metrics.load(percentile: 0.95).map { .number($0.inSeconds) } ?? .null
        }
        func figures(_ metrics: ResourceMetrics, _ side: KeyPath<(old: Double, new: Double), Double>) -> JSON {
            [
                "loads": .int(Int(clamping: metrics.loads)), "failed_rate": .number(rate(.failedRate)[keyPath: side]),
                "fallback_rate": .number(rate(.fallbackRate)[keyPath: side]), "load_p95": seconds(metrics),
            ]
        }
        return [
            "resource": .string(resource), "with": figures(comparison.new.metrics, \.new),
            "without": figures(comparison.old.metrics, \.old), "periods": .int(comparison.periods),
            "difference": .string(verdict),
        ]
    }
}
