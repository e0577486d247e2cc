import LarderSystem

extension MetricsDump {
    /// The dump in the text format of Prometheus, version 0.0.4, for a textfile collector or a scrape.
    ///
    /// Rates and percentiles are those of the whole run. A duration that is at most 2 % below the upper bound of a
    /// histogram's bucket may be counted in the next bucket.
    public var prometheus: String { TextFormat.prometheus.text(families) }

    /// The dump in the text format of OpenMetrics, version 1.0. It has the same series as ``prometheus``.
    public var openMetrics: String { TextFormat.openMetrics.text(families) }
}

/// A text format for families, with a line for each number.
package enum TextFormat: CaseIterable {
    /// The format of Prometheus, version 0.0.4.
    case prometheus
    /// The format of OpenMetrics, version 1.0.
    case openMetrics

    /// Returns the text of these families.
    package func text(_ families: [MetricFamily]) -> String {
        var text = ""
        for family in families { write(family, to: &text) }
        return self == .openMetrics ? text + "# EOF\n" : text
    }

    // MARK: Headers, which differ by format

    private func write(_ family: MetricFamily, to text: inout String) {
        switch self {
        case .prometheus:
            // The kind's suffix is part of the name, and there is no type `info`.
            let name = family.sampleName
            if !family.help.isEmpty { text += "# HELP \(name) \(family.help.escaped(quotes: false))\n" }
            text += "# TYPE \(name) \(family.kind == .info ? "gauge" : family.kind.rawValue)\n"
        case .openMetrics:
            if !family.help.isEmpty { text += "# HELP \(family.name) \(family.help.escaped(quotes: true))\n" }
            text += "# TYPE \(family.name) \(family.kind.rawValue)\n"
            if let unit = family.unit { text += "# UNIT \(family.name) \(unit.rawValue)\n" }
        }
        for series in family.series { write(series, family.sampleName, to: &text) }
    }

    // MARK: Series, which are the same in both

    private func write(_ series: MetricFamily.Series, _ name: String, to text: inout String) {
        let labels = series.labels.map { "\($0.name)=\"\($0.value.escaped(quotes: true))\"" }
        func line(_ end: String, more: [String], value: some CustomStringConvertible) {
            let labels = (labels + more).joined(separator: ",")
            text += name + end + (labels.isEmpty ? "" : "{\(labels)}") + " \(value)\n"
        }
        switch series.value {
        case .count(let count): line("", more: [], value: count)
        case .number(let number): line("", more: [], value: number)
        case .duration(let duration): line("", more: [], value: duration.seconds)
        case .distribution(let sketch):
            for limit in sketch.histogramBounds {
                line("_bucket", more: ["le=\"\(limit.seconds)\""], value: sketch.count(upTo: limit))
            }
            let count = sketch.count(upTo: .forever)
            line("_bucket", more: ["le=\"+Inf\""], value: count)
            // Rounded to microseconds, as in dumps.
            line("_sum", more: [], value: (max(.zero, sketch.sum).seconds * 1e6).rounded() / 1e6)
            line("_count", more: [], value: count)
        }
    }
}

extension Duration {
    /// The duration in seconds. It is rounded once, so that a millisecond is written as 0.001.
    fileprivate var seconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) / 1e18
    }
}

extension String {
    /// Returns the text with escapes, on one line. The null character becomes its symbol, because readers take it for
    /// the end of the text, and other control characters become `\u{…}`, which terminals do not act on.
    fileprivate func escaped(quotes: Bool) -> String {
        var text = ""
        for scalar in unicodeScalars {
            switch scalar {
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\"" where quotes: text += "\\\""
            case "\0": text += "\u{2400}"
            case _ where scalar.isControl: text += "\\" + scalar.escape
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}
