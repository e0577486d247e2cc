import Larder

/// Makes PromQL expressions over the families that ``MetricsDump/prometheus`` writes.
struct PromQL {
    /// The conditions on labels, as they stand in braces; empty for all series.
    var matchers: String = ""
    /// The time over which counters are compared, such as `5m`.
    var window: String
    /// The labels by which all sums are kept apart.
    var labels: [String]

    /// Returns the sum of the increases of a counter in a second.
    func rate(_ family: MetricFamily, by more: [String] = []) -> String {
        "sum by (\(list(more))) (rate(\(series(family.sampleName))[\(window)]))"
    }

    /// Returns the sum of the increases of a counter in a second.
    func rate(_ counter: Counter, by more: [String] = []) -> String { rate(counter.family, by: more) }

    /// Returns the sum of the increases of a counter in the window.
    func increase(_ family: MetricFamily, by more: [String] = []) -> String {
        "sum by (\(list(more))) (increase(\(series(family.sampleName))[\(window)]))"
    }

    /// Returns the value of a rate in the window.
    func share(_ rate: Rate) -> String { "\(self.rate(rate.part)) / \(self.rate(rate.whole))" }

    /// Returns a percentile of a histogram in the window, from 0 to 1.
    func percentile(_ share: Double, of family: MetricFamily, by more: [String] = [], where condition: String = "")
        -> String
    {
        let buckets = series(family.sampleName + "_bucket", condition)
        return "histogram_quantile(\(share), sum by (\(list(more + ["le"]))) (rate(\(buckets)[\(window)])))"
    }

    /// Returns the rate of the samples of a histogram.
    func samples(of family: MetricFamily, by more: [String]) -> String {
        "sum by (\(list(more))) (rate(\(series(family.sampleName + "_count"))[\(window)]))"
    }

    /// Returns an aggregate of a gauge, such as `sum` or `max`, now or as it was before a time such as `5m`.
    func gauge(_ aggregate: String, _ family: MetricFamily, by more: [String] = [], before: String? = nil) -> String {
        let offset = before.map { " offset \($0)" } ?? ""
        return "\(aggregate) by (\(list(more))) (\(series(family.sampleName))\(offset))"
    }

    /// Returns the selector of the series with a name.
    func series(_ name: String, _ condition: String = "") -> String {
        let all = [matchers, condition].filter { !$0.isEmpty }.joined(separator: ",")
        return all.isEmpty ? name : "\(name){\(all)}"
    }

    private func list(_ more: [String]) -> String { (labels + more).joined(separator: ", ") }
}

extension Duration {
    /// The duration as PromQL and rules spell it: `5m`.
    var promQL: String { spelled }

    /// The duration in seconds, without needless digits: `2` or `0.25`.
    var promQLSeconds: String { inSeconds.promQL }
}

extension Double {
    /// The number without needless digits: `2` or `0.25`.
    var promQL: String { Int(exactly: self).map(String.init) ?? "\(self)" }
}
