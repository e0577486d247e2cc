/// Series of one name, described once for every text format.
package struct Family {
    /// What the series are.
    package enum Kind: String {
        /// Counts that only grow.
        case counter
        /// Numbers that go up and down.
        case gauge
        /// Labels that say something by themselves; the number is 1.
        case info
        /// Distributions in fixed buckets.
        case histogram
    }

    /// What both formats want to be the last word of a name.
    package enum Unit: String {
        /// Durations, ages and points in time.
        case seconds
        /// Sizes.
        case bytes
    }

    /// One series of a family, or the buckets, the sum and the count of one distribution.
    package struct Series {
        /// A number, or what numbers are read from.
        package enum Value {
            /// A whole number.
            case count(UInt64)
            /// Any number.
            case number(Double)
            /// A time in seconds.
            case duration(Duration)
            /// A distribution.
            case distribution(Sketch)
        }

        /// The labels, in order.
        package var labels: [Label]
        /// What it says now.
        package var value: Value

        /// A series.
        package init(labels: [Label] = [], _ value: Value) {
            self.labels = labels
            self.value = value
        }
    }

    /// A label and its value.
    package typealias Label = (name: String, value: String)

    /// The name, without what the kind adds to it: `larder_loads`.
    package let name: String
    /// What the series are.
    package let kind: Kind
    /// The unit, which is the end of the name.
    package let unit: Unit?
    /// What is told, in one line.
    package let help: String
    /// The series. None has the labels of another.
    package var series: [Series] = []

    /// A family without series, named `larder_<name>` and its unit.
    package init(_ name: String, _ kind: Kind, _ unit: Unit? = nil, help: String) {
        self.name = "larder_" + name + (unit.map { "_" + $0.rawValue } ?? "")
        self.kind = kind
        self.unit = unit
        self.help = help
    }

    /// The family with these series.
    package func with(_ series: [Series]) -> Family {
        var family = self
        family.series = series
        return family
    }
}

extension Sketch {
    /// What a distribution is told in.
    package var limits: [Duration] {
        switch scale {
        case .latency:
            [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000].map { .milliseconds($0) }
        case .age:
            [1, 10, 60, 300, 900, 3_600, 21_600, 86_400, 259_200, 604_800, 1_209_600, 2_592_000].map { .seconds($0) }
        }
    }
}
