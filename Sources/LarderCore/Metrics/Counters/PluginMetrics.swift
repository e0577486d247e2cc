/// A metric that a plugin declares: a counter, a level, a gauge or a timing.
package protocol PluginMetric: EqualByName, Sendable {
    /// The word for its kind: `counter`.
    static var kind: String { get }
    /// A description, in one line.
    var help: String { get }
    /// Its families in the text formats, without series.
    var families: [MetricFamily] { get }
    /// The reason why a plugin cannot declare it; nil if it can.
    var fault: String? { get }
}

/// A metric that is declared by a name and a description alone.
package protocol NamedMetric: PluginMetric {
    init(_ name: String, _ help: String)
    /// Its family in the text formats, without series.
    var family: MetricFamily { get }
}

extension NamedMetric {
    package var families: [MetricFamily] { [family] }
}

extension PluginMetric {
    /// The metric in an error: `counter 'naps'`.
    var quoted: String { "\(Self.kind) '\(name)'" }
}

/// The metrics that a plugin declares.
package struct PluginMetrics: Sendable {
    /// Counters beside those of every resource.
    package var counters: [Counter] = []
    /// States with a small number of values.
    package var levels: [Level] = []
    /// Numbers that may increase and decrease.
    package var gauges: [Gauge] = []
    /// Durations.
    package var timings: [Timing] = []

    /// Creates the metrics of a plugin.
    package init(
        counters: [Counter] = [], levels: [Level] = [], gauges: [Gauge] = [], timings: [Timing] = []
    ) {
        (self.counters, self.levels, self.gauges, self.timings) = (counters, levels, gauges, timings)
    }

    /// The metrics of several plugins together.
    init(joining all: [PluginMetrics]) {
        self.init(
            counters: all.flatMap(\.counters), levels: all.flatMap(\.levels), gauges: all.flatMap(\.gauges),
            timings: all.flatMap(\.timings))
    }

    /// All of them, kind by kind.
    package var all: [any PluginMetric] { counters + levels + gauges + timings }

    /// Whether there are metrics whose values a part sets.
    var hasValues: Bool { !levels.isEmpty || !gauges.isEmpty }
}
