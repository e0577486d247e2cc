/// A family of series with the same name, in a form that suits every format of metrics.
///
/// A sink of your own writes the families of a dump in its format: see ``MetricsDump/families``. A series never has a key,
/// an address or a payload as a label.
public struct MetricFamily: Sendable {
    /// The kind of the series.
    public enum Kind: String, Sendable {
        /// Counts that never decrease.
        case counter
        /// Numbers that may increase and decrease.
        case gauge
        /// Labels that carry the information. The number is always 1.
        case info
        /// Distributions in fixed buckets.
        case histogram
    }

    /// A unit. The text formats require it as the last word of a name.
    public enum Unit: String, Sendable {
        /// Durations, ages and points in time.
        case seconds
        /// Sizes.
        case bytes
    }

    /// One series of a family, or the buckets, the sum and the count of one distribution.
    public struct Series: Sendable {
        /// A number or a distribution.
        public enum Value: Sendable {
            /// A whole number.
            case count(UInt64)
            /// Any number.
            case number(Double)
            /// A time in seconds.
            case duration(Duration)
            /// A distribution.
            case distribution(Sketch)
        }

        /// The labels, in the order of the text.
        public var labels: [(name: String, value: String)]
        /// The present value.
        public var value: Value

        /// Creates a series.
        package init(labels: [(name: String, value: String)] = [], _ value: Value) {
            self.labels = labels
            self.value = value
        }
    }

    /// The name with its unit, without the suffix that text formats add for the kind: `larder_loads`.
    public let name: String
    /// The kind of the series.
    public let kind: Kind
    /// The unit, which is the suffix of the name; nil if there is none.
    public let unit: Unit?
    /// A description, in one line.
    public let help: String
    /// The series. All have different labels.
    public var series: [Series] = []

    /// Creates a family without series. Its name is `larder_<name>`, followed by the unit.
    package init(_ name: String, kind: Kind, unit: Unit? = nil, help: String) {
        self.name = "larder_" + name + (unit.map { "_" + $0.rawValue } ?? "")
        self.kind = kind
        self.unit = unit
        self.help = help
    }

    /// Returns the family with these series.
    package func with(_ series: [Series]) -> MetricFamily {
        var family = self
        family.series = series
        return family
    }
}

extension MetricFamily {
    /// The name of the numbers in the text formats: `larder_loads_total`. The numbers of a histogram have a further suffix.
    package var sampleName: String { name + kind.suffix }
}

extension MetricFamily.Kind {
    /// The suffix of the names of all numbers of the family in the text formats.
    var suffix: String {
        switch self {
        case .counter: "_total"
        case .info: "_info"
        case .gauge, .histogram: ""
        }
    }
}

extension Sketch {
    /// The upper bounds of the buckets of a histogram with fixed buckets. Every sketch of a scale has the same bounds.
    public var histogramBounds: [Duration] {
        switch scale {
        case .latency:
            [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000].map { .milliseconds($0) }
        case .age:
            [1, 10, 60, 300, 900, 3_600, 21_600, 86_400, 259_200, 604_800, 1_209_600, 2_592_000].map { .seconds($0) }
        }
    }
}
