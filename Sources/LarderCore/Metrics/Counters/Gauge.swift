/// A number of a plugin that may increase and decrease, such as the number of changes that wait to be sent.
///
/// A plugin declares a gauge like a ``Counter``, lists it when the plugin is created, and reports each change with
/// ``Context/set(_:to:)-(Gauge,_)``. An attachment can also set it when it is asked: see ``Attachment/measure()``.
///
/// ```swift
/// extension Gauge {
///     static let waiting = Gauge("letters_waiting", "Letters that are not sent yet")
/// }
///
/// Plugin.section("letters", "Sends letters.", gauges: [.waiting]) { context in … }
/// ```
///
/// Several parts of a policy, and several processes in a report, are one number: their sum. A gauge whose name ends in
/// `_seconds` is the largest one instead, because ages do not add up. A dump has nothing for a gauge that was never set.
/// Gauges with the same name are equal.
public struct Gauge: Hashable, Sendable, NamedMetric {
    package static let kind = "gauge"

    /// The name in dumps: `letters_waiting`.
    public let name: String
    /// A description, in one line.
    package let help: String

    /// Creates a gauge of a plugin.
    ///
    /// - Parameters:
    ///   - name: lowercase words joined by underscores, at most 64 characters. A name that ends in `_seconds` is for times,
    ///     and one that ends in `_bytes` for sizes.
    ///   - help: a description, in one line.
    public init(_ name: String, _ help: String) {
        self.name = name
        self.help = help
    }

    /// The unit, which follows from the name.
    package var unit: MetricFamily.Unit? { [.seconds, .bytes].first { name.hasSuffix("_" + $0.rawValue) } }

    /// Whether several numbers together are the largest one, and not their sum.
    package var isLargest: Bool { unit == .seconds }

    /// Returns the number of two parts or processes together.
    package func combined(_ one: Double, _ other: Double) -> Double {
        if isLargest { return max(one, other) }
        // A sum beyond all numbers could not be written as JSON.
        return min(max(one + other, -.greatestFiniteMagnitude), .greatestFiniteMagnitude)
    }
}
