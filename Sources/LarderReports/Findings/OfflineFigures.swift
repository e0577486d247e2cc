package import Larder

/// The figures of the time without a network.
package struct OfflineFigures {
    package let time: Duration
    package let spells: UInt64
    /// The loads in that time by outcome, all outcomes in order.
    let loads: [(outcome: Outcome, count: UInt64)]

    /// Returns nil if the devices always had a network.
    package init?(_ metrics: ResourceMetrics) {
        spells = metrics[.offlineSpells]
        if spells == 0 { return nil }
        time = .milliseconds(Int64(clamping: metrics[.offlineTime]))
        loads = [
            (.live, metrics[.offlineLive]), (.fresh, metrics[.offlineFresh]), (.stale, metrics[.offlineStale]),
            (.fallback, metrics[.offlineFallbacks]), (.failed, metrics[.offlineFailures]),
        ]
    }

    /// `offline 14 min, 3 times: 96.0 % of loads were answered`.
    var sentence: String {
        let told = "offline \(Optional(time).aged), \(counted(Int(clamping: spells), one: "time"))"
        return total == 0 ? told + ", without loads" : told + ": \(answered) of loads were answered"
    }

    /// The number of loads in that time.
    package var total: UInt64 { loads.reduce(0) { $0.plus($1.count) } }

    /// The share of the loads that were answered.
    private var answered: String {
        let failed = loads.last?.count ?? 0
        return total == 0 ? "–" : (Double(total - failed) / Double(total)).percent
    }

    package static let title = ["offline", "times", "loads", "answered"] + Outcome.allCases.map(\.rawValue)

    /// The figures in the order of ``title``. `show` writes a count.
    package func row(_ show: (UInt64) -> String) -> [String] {
        [Optional(time).aged, show(spells), show(total), answered] + loads.map { show($0.count) }
    }
}

extension FiveMinutes {
    /// The time without a network, of all processes together.
    var offline: Duration { .milliseconds(Int64(clamping: self[.offlineTime])) }
}

extension Duration {
    /// A time without a network: `5 h`, or a dash if there was none.
    var shownOffline: String { self > .zero ? Optional(self).aged : "–" }
}
