/// The counters and levels that a dump may have. It is used while a dump is read.
struct DumpDeclarations {
    /// The most counters of plugins that a dump may have.
    private static let mostCounters = 1_000
    /// The most levels that a dump may have.
    private static let mostLevels = 100
    private static let longestHelp = 1_000

    private var counters: [String: Counter]
    private(set) var levels: [Level] = []
    private var claims = FamilyClaims()
    /// The numbers of the dump's elements so far, by their name.
    private var elements: [String: Int] = [:]

    /// Reads the declarations of a dump, if it has any. Invalid counters and levels are ignored, and so are those whose
    /// family in the text formats another one has already.
    ///
    /// - Throws: ``MetricsDump/Unreadable`` if there are too many declarations.
    init(_ node: Node?) throws(MetricsDump.Unreadable) {
        self.counters = Dictionary(Counter.core.map { ($0.name, $0) }, uniquingKeysWith: { $1 })
        if let node { try read(node) }
    }

    private mutating func read(_ node: Node) throws(MetricsDump.Unreadable) {
        for member in node["counters"]?.members ?? [] {
            guard let help = member.value.string, help.utf8.count <= Self.longestHelp else { continue }
            let counter = Counter(member.name, help)
            if counter.fault == nil { _ = try add(counter) }
        }
        for member in node["levels"]?.members ?? [] {
            guard case .list(let values)? = member.value["values"]?.content, let help = member.value["help"]?.string,
                help.utf8.count <= Self.longestHelp
            else { continue }
            let level = Level(member.name, help, values: values.compactMap(\.string))
            if level.fault == nil, claims.claim(level) { levels.append(level) }
        }
        guard levels.count <= Self.mostLevels else { throw .init("more than \(Self.mostLevels) levels") }
    }

    /// Returns the counter with this name, and adds it if it is not declared. Returns nil if the name is invalid.
    ///
    /// - Throws: ``MetricsDump/Unreadable`` if there are too many counters.
    mutating func counter(named name: String) throws(MetricsDump.Unreadable) -> Counter? {
        if let counter = counters[name] { return counter }
        let counter = Counter(name, "")
        guard counter.fault == nil, try add(counter) else { return nil }
        return counter
    }

    /// Counts elements of the dump, which are kept and take many times the memory of their text.
    ///
    /// - Throws: ``MetricsDump/Unreadable`` if the dump has more than `most` of them.
    mutating func count(_ count: Int, _ name: String, most: Int) throws(MetricsDump.Unreadable) {
        elements[name, default: 0] += count
        guard elements[name, default: 0] <= most else { throw .init("more than \(most) \(name)") }
    }

    /// Adds a counter, unless its family is taken.
    private mutating func add(_ counter: Counter) throws(MetricsDump.Unreadable) -> Bool {
        guard claims.claim(counter) else { return false }
        counters[counter.name] = counter
        guard counters.count <= Self.mostCounters else { throw .init("more than \(Self.mostCounters) counters") }
        return true
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
