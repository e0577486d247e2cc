/// The metrics of plugins that a dump may have. It is used while a dump is read.
struct DumpDeclarations {
    /// The most levels that a dump may have.
    private static let mostLevels = 100
    fileprivate static let longestHelp = 1_000

    private var counters = DeclaredMetrics<Counter>(Counter.core)
    private(set) var levels: [Level] = []
    private var gauges = DeclaredMetrics<Gauge>()
    private var timings = DeclaredMetrics<Timing>()
    private var claims = FamilyClaims()
    /// The numbers of the dump's elements so far, by their name.
    private var elements: [String: Int] = [:]

    /// Reads the declarations of a dump, if it has any. Invalid metrics are ignored, and so are those whose family in the
    /// text formats another one has already.
    ///
    /// - Throws: ``MetricsDump/Unreadable`` if there are too many declarations.
    init(_ node: Node?) throws(MetricsDump.Unreadable) {
        guard let node else { return }
        try counters.read(node["counters"], &claims)
        for member in node["levels"]?.members ?? [] {
            guard case .list(let values)? = member.value["values"]?.content, let help = member.value["help"]?.string,
                help.utf8.count <= Self.longestHelp
            else { continue }
            let level = Level(member.name, help, values: values.compactMap(\.string))
            if level.fault == nil, claims.claim(level) { levels.append(level) }
        }
        guard levels.count <= Self.mostLevels else { throw .init("more than \(Self.mostLevels) levels") }
        try gauges.read(node["gauges"], &claims)
        try timings.read(node["timings"], &claims)
    }

    /// Returns the counter with this name, and adds it if it is not declared. Returns nil if the name is invalid.
    ///
    /// - Throws: ``MetricsDump/Unreadable`` if there are too many counters.
    mutating func counter(named name: String) throws(MetricsDump.Unreadable) -> Counter? {
        try counters.find(name, &claims)
    }

    /// Returns the gauge with this name, and adds it if it is not declared. Returns nil if the name is invalid.
    ///
    /// - Throws: ``MetricsDump/Unreadable`` if there are too many gauges.
    mutating func gauge(named name: String) throws(MetricsDump.Unreadable) -> Gauge? {
        try gauges.find(name, &claims)
    }

    /// Returns the timing with this name, and adds it if it is not declared. Returns nil if the name is invalid.
    ///
    /// - Throws: ``MetricsDump/Unreadable`` if there are too many timings.
    mutating func timing(named name: String) throws(MetricsDump.Unreadable) -> Timing? {
        try timings.find(name, &claims)
    }

    /// Counts elements of the dump, which are kept and take many times the memory of their text.
    ///
    /// - Throws: ``MetricsDump/Unreadable`` if the dump has more than `most` of them.
    mutating func count(_ count: Int, _ name: String, most: Int) throws(MetricsDump.Unreadable) {
        elements[name, default: 0] += count
        guard elements[name, default: 0] <= most else { throw .init("more than \(most) \(name)") }
    }
}

/// The metrics of one kind that a dump may have, by name.
private struct DeclaredMetrics<Metric: NamedMetric> {
    /// The most metrics of one kind that a dump may have.
    private static var most: Int { 1_000 }

    private var metrics: [String: Metric]

    init(_ known: [Metric] = []) {
        metrics = Dictionary(known.map { ($0.name, $0) }, uniquingKeysWith: { $1 })
    }

    /// Reads the members of an object: names, each with a description.
    mutating func read(_ node: Node?, _ claims: inout FamilyClaims) throws(MetricsDump.Unreadable) {
        for member in node?.members ?? [] {
            guard let help = member.value.string, help.utf8.count <= DumpDeclarations.longestHelp else { continue }
            _ = try find(member.name, help: help, &claims)
        }
    }

    /// Returns the metric with this name, and adds it if it is not known. Returns nil if its name is invalid or its family
    /// is taken.
    mutating func find(
        _ name: String, help: String = "", _ claims: inout FamilyClaims
    ) throws(MetricsDump.Unreadable) -> Metric? {
        if let known = metrics[name] { return known }
        let metric = Metric(name, help)
        guard metric.fault == nil, claims.claim(metric) else { return nil }
        metrics[name] = metric
        guard metrics.count <= Self.most else { throw .init("more than \(Self.most) \(Metric.kind)s") }
        return metric
    }
}

extension Node {
    /// The number of values in the tree.
    var valueCount: Int {
        switch content {
        case .list(let items): items.reduce(1) { $0 + $1.valueCount }
        case .object(let members): members.reduce(1) { $0 + $1.value.valueCount }
        default: 1
        }
    }
}
