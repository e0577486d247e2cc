extension MetricsDump {
    /// The dump in the text format of Prometheus, version 0.0.4: for a textfile collector, or to be scraped.
    ///
    /// Rates and percentiles are those of the whole run. A duration within two per cent of the end of a histogram's bucket
    /// may be counted in the next one.
    public var prometheus: String { TextFormat.prometheus.text(families) }

    /// The dump in the text format of OpenMetrics, version 1.0. It has the series of ``prometheus``.
    public var openMetrics: String { TextFormat.openMetrics.text(families) }
}

/// A format that families are written in, a line for each number.
package enum TextFormat: CaseIterable {
    /// Of Prometheus, version 0.0.4.
    case prometheus
    /// Of OpenMetrics, version 1.0.
    case openMetrics

    /// A whole text of these families.
    package func text(_ families: [Family]) -> String {
        var text = ""
        for family in families { write(family, to: &text) }
        return self == .openMetrics ? text + "# EOF\n" : text
    }

    // MARK: What differs

    private func write(_ family: Family, to text: inout String) {
        let suffix = family.kind.suffix
        switch self {
        case .prometheus:
            // The kind's end is part of the name, and nothing says which labels are information.
            let name = family.name + suffix
            text += "# HELP \(name) \(family.help.escaped(quotes: false))\n"
            text += "# TYPE \(name) \(family.kind == .info ? "gauge" : family.kind.rawValue)\n"
        case .openMetrics:
            text += "# HELP \(family.name) \(family.help.escaped(quotes: true))\n"
            text += "# TYPE \(family.name) \(family.kind.rawValue)\n"
            if let unit = family.unit { text += "# UNIT \(family.name) \(unit.rawValue)\n" }
        }
        for series in family.series { write(series, family.name + suffix, to: &text) }
    }

    // MARK: What does not

    private func write(_ series: Family.Series, _ name: String, to text: inout String) {
        let labels = series.labels.map { "\($0.name)=\"\($0.value.escaped(quotes: true))\"" }
        func line(_ end: String, _ more: [String], _ value: some CustomStringConvertible) {
            let labels = (labels + more).joined(separator: ",")
            text += name + end + (labels.isEmpty ? "" : "{\(labels)}") + " \(value)\n"
        }
        switch series.value {
        case .count(let count): line("", [], count)
        case .number(let number): line("", [], number)
        case .duration(let duration): line("", [], duration.seconds)
        case .distribution(let sketch):
            for limit in sketch.limits { line("_bucket", ["le=\"\(limit.seconds)\""], sketch.count(upTo: limit)) }
            let count = sketch.count(upTo: .forever)
            line("_bucket", ["le=\"+Inf\""], count)
            // To the microsecond, as dumps have it.
            line("_sum", [], (max(.zero, sketch.sum).seconds * 1e6).rounded() / 1e6)
            line("_count", [], count)
        }
    }
}

extension Family.Kind {
    /// What every number's name ends in.
    fileprivate var suffix: String {
        switch self {
        case .counter: "_total"
        case .info: "_info"
        case .gauge, .histogram: ""
        }
    }
}

extension Duration {
    /// The seconds, rounded once, so that a millisecond is written as one.
    fileprivate var seconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) / 1e18
    }
}

extension String {
    /// The text in one line. A null, which readers take for the end of everything, becomes a picture of one.
    fileprivate func escaped(quotes: Bool) -> String {
        var text = ""
        for scalar in unicodeScalars {
            switch scalar {
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\"" where quotes: text += "\\\""
            case "\0": text += "\u{2400}"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}
