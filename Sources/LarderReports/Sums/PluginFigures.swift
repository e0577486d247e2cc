import Larder
import LarderSystem

extension Report.Section {
    /// The gauges that have a value, sorted by name, each with its value in words.
    var gaugeFigures: [(gauge: Gauge, value: String)] {
        gauges.sorted { $0.key.name < $1.key.name }.map { ($0.key, $0.key.figure($0.value)) }
    }

    /// The timings that have durations, sorted by name, each with two percentiles in words.
    var timingFigures: [(timing: Timing, value: String)] {
        total.timings.sorted { $0.key.name < $1.key.name }.compactMap { timing, sketch in
            guard let half = sketch.percentile(0.5), let most = sketch.percentile(0.95) else { return nil }
            return (timing, "p50 \(half.brief), p95 \(most.brief)")
        }
    }
}

extension NamedMetric {
    /// The name in words, without a unit of time: `breaker open`.
    var title: String {
        var words = name.split(separator: "_")
        if family.unit == .seconds, let last = words.last, ["seconds", "milliseconds"].contains(last) {
            words.removeLast()
        }
        return words.joined(separator: " ")
    }

    /// The description in a table; the name in words if there is none.
    var label: String { help.isEmpty ? title : help.prefix(1).lowercased() + help.dropFirst() }
}

extension Counter {
    /// A count with its unit: `40 s`.
    func figure(_ count: UInt64) -> String {
        switch unit {
        case .events: count.grouped
        case .bytes: count.weight
        case .milliseconds: Duration.milliseconds(Int64(clamping: count)).brief
        }
    }
}

extension Gauge {
    /// A value with its unit: `40 s`.
    func figure(_ value: Double) -> String {
        let (sign, size) = (value < 0 ? "-" : "", UInt64(min(abs(value).rounded(), 1e15)))
        return switch unit {
        case .seconds: sign + Duration.milliseconds(Int64((min(abs(value), 1e12) * 1_000).rounded())).brief
        case .bytes: sign + size.weight
        case nil: value == value.rounded() ? sign + size.grouped : "\((value * 100).rounded() / 100)"
        }
    }
}
