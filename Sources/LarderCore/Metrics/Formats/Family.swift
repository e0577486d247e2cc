/// A family of series with the same name, in a form for all text formats.
package struct Family {
    /// The kind of the series.
    package enum Kind: String {
        /// Counts that never decrease.
        case counter
        /// Numbers that may increase and decrease.
        case gauge
        /// Labels that carry the information. The number is always 1.
        case info
        /// Distributions in fixed buckets.
        case histogram
    }

    /// A unit. Both formats require it as the last word of a name.
    package enum Unit: String {
        /// Durations, ages and points in time.
        case seconds
        /// Sizes.
        case bytes
    }

    /// One series of a family, or the buckets, the sum and the count of one distribution.
    package struct Series {
        /// A number or a distribution.
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

        /// The labels, in the order of the text.
        package var labels: [Label]
        /// The present value.
        package var value: Value

        /// Creates a series.
        package init(labels: [Label] = [], _ value: Value) {
            self.labels = labels
            self.value = value
        }
    }

    /// A label and its value.
    package typealias Label = (name: String, value: String)

    /// The name, without the suffix of the kind: `larder_loads`.
    package let name: String
    /// The kind of the series.
    package let kind: Kind
    /// The unit, which is the suffix of the name; nil if there is none.
    package let unit: Unit?
    /// A description, in one line.
    package let help: String
    /// The series. All have different labels.
    package var series: [Series] = []

    /// Creates a family without series. Its name is `larder_<name>`, followed by the unit.
    package init(_ name: String, _ kind: Kind, _ unit: Unit? = nil, help: String) {
        self.name = "larder_" + name + (unit.map { "_" + $0.rawValue } ?? "")
        self.kind = kind
        self.unit = unit
        self.help = help
    }

    /// Returns the family with these series.
    package func with(_ series: [Series]) -> Family {
        var family = self
        family.series = series
        return family
    }
}

extension Sketch {
    /// The upper bounds of a histogram's buckets in the text formats.
    package var histogramBounds: [Duration] {
        switch scale {
        case .latency:
            [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000].map { .milliseconds($0) }
        case .age:
            [1, 10, 60, 300, 900, 3_600, 21_600, 86_400, 259_200, 604_800, 1_209_600, 2_592_000].map { .seconds($0) }
        }
    }
}
