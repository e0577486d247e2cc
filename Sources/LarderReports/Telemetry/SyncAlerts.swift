import Larder

extension Registry {
    /// Whether a plugin declares the metrics of changes that wait for a service.
    var countsChanges: Bool { counters.contains(.changesRejected) }
}

extension PromQL {
    /// The changes that a service has accepted or refused, as `amount` writes the series of one counter.
    private func answered(_ amount: (MetricFamily) -> String) -> String {
        "(" + [Counter.changesAccepted, .changesRejected].map { amount($0.family) }.joined(separator: " + ") + ")"
    }

    /// The share of the changes that a service has refused, of those that it has answered in the window.
    var rejectedShare: String { "\(rate(.changesRejected)) / \(answered { rate($0) })" }

    /// The number of changes that a service has answered in the window.
    var answeredChanges: String { answered { increase($0) } }
}

extension AlertRules {
    /// Rules about changes that do not reach their service. They concern plugins that declare the metrics.
    var syncRules: [Rule] {
        guard registry.countsChanges else { return [] }
        let rejected = limits.rejected.map { limit in
            Rule(
                name: "LarderChangesRejected",
                expression: "\(query.rejectedShare) > \(limit.promQL) and \(query.answeredChanges) >= \(loads)",
                severity: .warning, summary: "The service refuses changes of %@",
                description: "{{ $value | humanizePercentage }} of the changes that the service answered were refused "
                    + "(over \(window.promQL); limit \(limit.percent)).")
        }
        let waiting = limits.waiting.map { limit in
            Rule(
                name: "LarderChangesWait",
                expression: "\(query.gauge("max", Gauge.oldestChange.family)) > \(limit.promQLSeconds)",
                severity: .warning, summary: "Changes of %@ do not reach the service",
                description:
                    "The oldest change has waited for {{ $value | humanizeDuration }} (limit \(limit.spelled)).")
        }
        let unaccounted = Rule(
            name: "LarderChangesUnaccounted",
            expression: "\(query.gauge("max", Gauge.changesUnaccounted.family)) > 0", severity: .critical,
            summary: "Changes of %@ are unaccounted for",
            description: "{{ $value | humanize }} changes that users made are in no account. That must never be.")
        return [rejected, waiting, unaccounted].compactMap(\.self)
    }
}

extension GrafanaDashboard {
    /// The panel of the changes that a service refuses; the numbers that wait have panels as metrics of plugins.
    var syncPanels: [GrafanaPanel] {
        guard registry.countsChanges else { return [] }
        return [
            GrafanaPanel(
                "Rejected changes", about: "Changes that the service refused / changes that it answered", unit: .share,
                queries: [.init(every.rejectedShare, "rejected")])
        ]
    }
}
