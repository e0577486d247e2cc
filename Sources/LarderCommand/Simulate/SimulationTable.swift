import Larder
import LarderReports

/// The results of several policies for the same requests, side by side.
struct SimulationTable: Sendable {
    let accounts: [(label: String, account: Replay.Account)]

    /// A figure: its name, and how it is written as text and as JSON.
    private struct Figure: Sendable {
        var name: String
        var text: @Sendable (Replay.Account) -> String
        var json: @Sendable (Replay.Account) -> JSON
    }

    private static let figures: [Figure] =
        [
            count("loads") { Int($0.metrics.loads) }
        ]
        + Rate.all.map { rate in
            Figure(name: rate.name, text: { $0.metrics[rate].percent }, json: { .number($0.metrics[rate]) })
        } + [
            time("load_p50") { $0.metrics.load(percentile: 0.5) },
            time("load_p95") { $0.metrics.load(percentile: 0.95) },
            time("load_p99") { $0.metrics.load(percentile: 0.99) }, count("origin_calls") { $0.calls },
            Figure(name: "origin_bytes", text: { size($0.bytes) }, json: { .int($0.bytes) }),
            age("age_p50", 0.5), age("age_p95", 0.95),
            age("age_p99", 0.99),
        ]

    /// The table, with a line for each figure and a column for each policy.
    var lines: [String] {
        var rows = [[""] + accounts.map(\.label)]
        rows.append(["strategy"] + accounts.map(\.account.policy.answerer.plugin.name))
        rows += Self.figures.map { figure in [figure.name] + accounts.map { figure.text($0.account) } }
        return Table(rows).lines
    }

    /// The table as JSON.
    ///
    /// - Parameter checks: the checks of advice.
    func json(seed: Int, checks: [AdviceCheck] = []) -> JSON {
        let policies = accounts.map { label, account -> JSON in
            .joined(
                [
                    "policy": .string(label), "resource": .string(account.policy.resource),
                    "revision": .string(account.policy.revision),
                    "strategy": .string(account.policy.answerer.plugin.name),
                ],
                .each(Self.figures) { ($0.name, $0.json(account)) })
        }
        return .present([
            "seed": .int(seed), "policies": .list(policies),
            "advice": checks.isEmpty ? nil : .list(checks.map(\.json)),
        ])
    }

    private static func count(_ name: String, _ value: @escaping @Sendable (Replay.Account) -> Int) -> Figure {
        Figure(name: name, text: { "\(value($0))" }, json: { .int(value($0)) })
    }

    private static func time(_ name: String, _ value: @escaping @Sendable (Replay.Account) -> Duration?) -> Figure {
        Figure(name: name, text: { value($0).waited }, json: { value($0).milliseconds })
    }

    private static func age(_ name: String, _ share: Double) -> Figure {
        Figure(
            name: name, text: { $0.ages.percentile(share).aged }, json: { $0.ages.percentile(share).milliseconds })
    }

    private static func size(_ bytes: Int) -> String {
        let units = [("GB", 1e9), ("MB", 1e6), ("KB", 1e3)]
        for (unit, size) in units where Double(bytes) >= size {
            return "\((Double(bytes) / size * 10).rounded() / 10) \(unit)"
        }
        return "\(bytes) B"
    }
}
