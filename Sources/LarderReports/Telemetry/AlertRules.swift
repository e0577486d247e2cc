package import Larder

/// Rules by which Prometheus warns of what users notice, and of what will not heal by itself.
package struct AlertRules {
    /// The limits beyond which the rules warn. Without a limit there is no rule.
    package struct Limits {
        package var failed: Double?
        package var refused: Double?
        package var fallback: Double?
        package var originErrors: Double?
        package var refreshErrors: Double?
        package var p95: Duration?
        package var age: Duration?
        package var rejected: Double?
        package var waiting: Duration?

        /// No limits.
        package init() {}
    }

    enum Severity: String {
        case critical, warning
    }

    struct Rule {
        var name: String
        var expression: String
        var severity: Severity
        var summary: String
        var description: String
    }

    let registry: Registry
    var limits: Limits
    /// The time over which counters are compared.
    var window: Duration
    /// How long a condition must hold.
    var lasting: Duration
    /// The fewest loads or calls in the window that a share or a percentile is judged by.
    var loads: Int

    package init(_ registry: Registry, limits: Limits, window: Duration, lasting: Duration, loads: Int) {
        (self.registry, self.limits, self.window) = (registry, limits, window)
        (self.lasting, self.loads) = (lasting, loads)
    }

    var query: PromQL { PromQL(window: window.promQL, labels: ["job", "resource"]) }

    /// The rules as a file for Prometheus, which is YAML.
    package var json: JSON {
        ["groups": [["name": "larder", "rules": .list(rules.map { $0.json(lasting: lasting.promQL) })]]]
    }

    private var rules: [Rule] { userRules + originRules + levelRules + syncRules + storeRules }

    // MARK: What users notice

    private var userRules: [Rule] {
        // A 404 is an answer, so it is no reason to wake anybody.
        let failures = "(\(query.rate(.failures)) - \(query.rate(.answers))) / \(query.rate(.loads))"
        return [
            share(
                "LarderLoadsFail", expression: failures, limit: limits.failed, severity: .critical,
                summary: "Loads of %@ fail",
                what: "of the loads ended with an error that is no answer of the origin"),
            share(
                "LarderCopiesRefused", expression: query.share(.staleErrorRate), limit: limits.refused,
                severity: .critical,
                summary: "Loads of %@ fail although there are copies",
                what:
                    "of the loads failed because the policy did not allow the copy; a longer onError would have shown it"
            ),
            share(
                "LarderFallsBack", expression: query.share(.fallbackRate), limit: limits.fallback, severity: .warning,
                summary: "Users get copies of %@ in place of live data",
                what:
                    "of the loads were answered by a copy or a fallback because a call failed, was refused or was too slow"
            ),
            time(
                "LarderLoadsSlow", family: .loadDuration, limit: limits.p95, summary: "Loads of %@ are slow",
                what: "is the time that 95 % of the loads did not exceed"),
            time(
                "LarderCopiesOld", family: .servedAge, limit: limits.age, summary: "Users get old copies of %@",
                what: "is the age that 95 % of the served stale copies did not exceed", where: #"freshness="stale""#),
        ].compactMap { $0 }
    }

    // MARK: Where it comes from

    private var originRules: [Rule] {
        [
            share(
                "LarderOriginFails", expression: query.share(.originErrorRate), limit: limits.originErrors,
                severity: .warning,
                summary: "The origin of %@ fails", what: "of the calls failed or had no answer in time",
                of: .originCalls),
            share(
                "LarderRefreshesFail", expression: query.share(.revalidationErrorRate), limit: limits.refreshErrors,
                severity: .warning,
                summary: "Background refreshes of %@ fail", what: "of the background refreshes failed", of: .refreshes),
        ].compactMap { $0 }
    }

    /// A rule for the worst value of each level that a plugin declares.
    private var levelRules: [Rule] {
        registry.distinctLevels.compactMap { level in
            guard let family = level.families.last, let worst = level.values.last else { return nil }
            let name = (level.name.split(separator: "_") + worst.split(separator: "-")).map {
                String($0).capitalizedFirst
            }
            return Rule(
                name: "Larder" + name.joined(), expression: "\(query.gauge("max", family)) == 1", severity: .warning,
                summary: "\(level.name.words.capitalizedFirst) of %@ is \(worst)",
                description: "\(level.help). It has been \(worst) in at least one process.")
        }
    }

    private var storeRules: [Rule] {
        let process = PromQL(window: window.promQL, labels: ["job"])
        return [
            Rule(
                name: "LarderStoreFails", expression: "\(query.rate(.storeFaults, by: ["tier", "kind"])) > 0",
                severity: .warning, summary: "A store of %@ fails",
                description: "The tier {{ $labels.tier }} fails to {{ $labels.kind }}, so users get less from it."),
            Rule(
                name: "LarderCopiesDamaged", expression: "\(query.increase(Counter.corrupt.family)) > 0",
                severity: .warning, summary: "Copies of %@ are damaged",
                description: "{{ $value | humanize }} damaged copies were removed within \(window.promQL)."),
            Rule(
                name: "LarderCacheUnusable",
                expression: "\(process.gauge("max", .unusable, by: ["resource", "part"])) > 0",
                severity: .warning, summary: "A part of the cache folder cannot be used",
                description:
                    "{{ $labels.part }} {{ $labels.resource }} cannot be used. The process goes on without it."),
            Rule(
                name: "LarderLogLosesLines", expression: "\(process.rate(.logLostLines)) > 0", severity: .warning,
                summary: "Lines are missing in the log", description: "The log of decisions cannot be written."),
            Rule(
                name: "LarderMetricsMissing", expression: "absent(\(Counter.loads.family.sampleName))",
                severity: .warning, summary: "There are no metrics of Larder",
                description: "No process is scraped, or none writes a dump."),
        ]
    }

    // MARK: Kinds of rules

    private func share(
        _ name: String, expression: String, limit: Double?, severity: Severity, summary: String,
        what: String, of whole: Counter = .loads
    ) -> Rule? {
        limit.map { limit in
            Rule(
                name: name, expression: "\(expression) > \(limit.promQL) and \(isJudged(whole))", severity: severity,
                summary: summary,
                description:
                    "{{ $value | humanizePercentage }} \(what) (over \(window.promQL); limit \(limit.percent)).")
        }
    }

    private func time(
        _ name: String, family: MetricFamily, limit: Duration?, summary: String, what: String,
        where condition: String = ""
    ) -> Rule? {
        limit.map { limit in
            let time = query.percentile(0.95, of: family, where: condition)
            return Rule(
                name: name, expression: "\(time) > \(limit.promQLSeconds) and \(isJudged(.loads))", severity: .warning,
                summary: summary,
                description: "{{ $value | humanizeDuration }} \(what) (over \(window.promQL); limit \(limit.spelled)).")
        }
    }

    /// The condition that there were enough events to judge by.
    private func isJudged(_ counter: Counter) -> String { "\(query.increase(counter.family)) >= \(loads)" }
}

extension AlertRules.Rule {
    fileprivate func json(lasting: String) -> JSON {
        [
            "alert": .string(name), "expr": .string(expression), "for": .string(lasting),
            "labels": ["severity": .string(severity.rawValue)],
            "annotations": [
                "summary": .string(summary.replacing("%@", with: "{{ $labels.resource }}")),
                "description": .string(description),
            ],
        ]
    }
}
