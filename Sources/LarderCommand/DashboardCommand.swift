import Larder
import LarderReports
import LarderSystem

extension Command {
    /// The names of the files that `--out` writes.
    private static let files = (dashboard: "larder-dashboard.json", alerts: "larder-alerts.yml")

    static let dashboard = Command(
        name: "dashboard", summary: "Writes a Grafana dashboard and Prometheus alert rules for the metrics.",
        details: """
            The dashboard is written to the output, or with --out both are written to files. They cover the metrics of Larder
            and those of every registered plugin, by the names that the Prometheus and OpenMetrics formats have. Grafana asks
            for the data source when the dashboard is imported. Prometheus reads the rules as one of its 'rule_files'.

            A limit is a share such as 5%, or a duration such as 2s. 'off' leaves the rule out.
            """,
        options: [
            .json,
            Option("out", value: "DIR", help: "Write \(files.dashboard) and \(files.alerts) to this folder"),
            Option("alerts", help: "Write the alert rules to the output, not the dashboard"),
            Option(
                "window", value: "TIME",
                help: "The time over which rules compare counters, at least two dumps (default: 5m)"),
            Option("for", value: "TIME", help: "How long a condition must hold (default: 10m)"),
            Option(
                "loads", value: "N",
                help: "How many loads or calls in the window a rule needs to judge by (default: 20)"),
            Option("failed", value: "LIMIT", help: "Loads that fail, without answers such as 404 (default: 5%)"),
            Option("refused", value: "LIMIT", help: "Loads that fail although there is a copy (default: 1%)"),
            Option("fallback", value: "LIMIT", help: "Loads answered by a copy in place of a call (default: 20%)"),
            Option("origin-errors", value: "LIMIT", help: "Calls that the origin fails (default: 50%)"),
            Option("refresh-errors", value: "LIMIT", help: "Background refreshes that fail (default: 50%)"),
            Option("p95", value: "LIMIT", help: "The time that 95 % of the loads take at most (default: 2s)"),
            Option(
                "age", value: "LIMIT", help: "The age that 95 % of the served stale copies have at most (default: 1d)"),
            Option("rejected", value: "LIMIT", help: "Changes of records that the service refuses (default: 1%)"),
            Option("waiting", value: "LIMIT", help: "The age of the oldest change that waits (default: 1d)"),
        ],
        run: { arguments, registry, terminal in
            guard arguments.operands.isEmpty else { throw UsageError(message: "dashboard takes no operands") }
            let rules = try AlertRules(arguments, registry)
            let dashboard = GrafanaDashboard(registry)
            guard let folder = arguments.value(of: "out") else {
                if !arguments.has("alerts") {
                    if let option = ruleOptions.first(where: { arguments.value(of: $0) != nil }) {
                        throw UsageError(message: "--\(option) concerns alert rules; give --alerts or --out")
                    }
                    terminal.print(dashboard.json.text())
                } else if arguments.has("json") {
                    terminal.print(rules.json.text())
                } else {
                    terminal.write(rules.json.yaml.utf8)
                }
                return true
            }
            if arguments.has("alerts") { throw UsageError(message: "--out and --alerts exclude each other") }
            let paths = [files.dashboard, files.alerts].map { folder + "/" + $0 }
            do {
                try Disk.makeFolder(folder)
                for (path, text) in zip(paths, [dashboard.json.text() + "\n", rules.json.yaml]) {
                    try Disk.replace(path, with: [Array(text.utf8)], isPrivate: false)
                }
            } catch {
                terminal.complain("\(folder.printable) cannot be written: \(error)")
                return false
            }
            if arguments.has("json") {
                terminal.print(JSON.object([.init("files", .list(paths.map { .string($0) }))]).text())
            } else {
                for path in paths { terminal.print(path.printable) }
            }
            return true
        })
}

/// The options that have an effect on alert rules only.
private let ruleOptions = [
    "window", "for", "loads", "failed", "refused", "fallback", "origin-errors", "refresh-errors", "p95", "age",
    "rejected", "waiting",
]

extension AlertRules {
    fileprivate init(_ arguments: Arguments, _ registry: Registry) throws(UsageError) {
        var limits = Limits()
        limits.failed = try arguments.share(of: "failed", default: 0.05)
        limits.refused = try arguments.share(of: "refused", default: 0.01)
        limits.fallback = try arguments.share(of: "fallback", default: 0.2)
        limits.originErrors = try arguments.share(of: "origin-errors", default: 0.5)
        limits.refreshErrors = try arguments.share(of: "refresh-errors", default: 0.5)
        limits.p95 = try arguments.limit(of: "p95", default: .seconds(2), within: Sketch(.latency))
        limits.age = try arguments.limit(of: "age", default: .seconds(86_400), within: Sketch(.age))
        limits.rejected = try arguments.share(of: "rejected", default: 0.01)
        limits.waiting = try arguments.limit(of: "waiting", default: .seconds(86_400))
        let window = try arguments.time(of: "window", default: .seconds(300))
        let lasting = try arguments.time(of: "for", default: .seconds(600))
        let loads = try arguments.number(of: "loads", in: 0...1_000_000_000, default: 20)
        self.init(registry, limits: limits, window: window, lasting: lasting, loads: loads)
    }
}

extension Arguments {
    /// A share, or nil for `off`.
    fileprivate func share(of option: String, default fallback: Double) throws(UsageError) -> Double? {
        guard let text = value(of: option) else { return fallback }
        if text == "off" { return nil }
        guard let share = Double(share: text) else {
            throw UsageError(message: "--\(option) takes a share such as 5% or 0.05, or 'off'")
        }
        return share
    }

    /// A duration, or nil for `off`.
    ///
    /// - Parameters:
    ///   - option: the name of the option.
    ///   - fallback: the duration if the option is not given.
    ///   - scale: the sketch of the durations of which the limit concerns a percentile; nil for none. Prometheus knows no
    ///     percentile above the largest bound of a histogram's buckets.
    fileprivate func limit(
        of option: String, default fallback: Duration, within scale: Sketch? = nil
    ) throws(UsageError) -> Duration? {
        guard let text = value(of: option) else { return fallback }
        if text == "off" { return nil }
        guard let duration = Duration(spelled: text), duration < .forever else {
            throw UsageError(message: "--\(option) takes a duration such as 500ms or 30s, or 'off'")
        }
        if let most = scale?.histogramBounds.last, duration >= most {
            throw UsageError(
                message: "--\(option) must be shorter than \(most.spelled): the buckets of the histogram end there, "
                    + "so the rule could never warn")
        }
        return duration
    }

    /// A duration of at least a second.
    fileprivate func time(of option: String, default fallback: Duration) throws(UsageError) -> Duration {
        let time = try duration(of: option) ?? fallback
        guard (.seconds(1) ... .seconds(31_536_000)).contains(time) else {
            throw UsageError(message: "--\(option) takes a time from 1s to 365d")
        }
        return time
    }
}
