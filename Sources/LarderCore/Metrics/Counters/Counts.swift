/// The values of counters. An array holds those of Larder's own counters, so that counting computes no hash. A
/// dictionary holds those of plugins' counters.
struct Counts: Sendable, Hashable {
    private static let zeros = [UInt64](repeating: 0, count: Counter.core.count)

    // Empty counts share this array.
    private var own = Self.zeros
    private var others: [Counter: UInt64] = [:]

    /// Creates counts at zero, which include these counters of plugins.
    init(_ counters: [Counter] = []) {
        for counter in counters where counter.index == nil { others[counter] = 0 }
    }

    subscript(counter: Counter) -> UInt64 {
        get {
            if let index = counter.index { return own[index] }
            return others[counter] ?? 0
        }
        set {
            if let index = counter.index { own[index] = newValue } else { others[counter] = newValue }
        }
    }

    /// Whether all counts are zero.
    var isEmpty: Bool { own.allSatisfy { $0 == 0 } && others.values.allSatisfy { $0 == 0 } }

    /// The included counters of plugins, sorted by name.
    var plugins: [Counter] { others.keys.sorted { $0.name < $1.name } }

    /// Returns whether a counter is one of Larder's own or an included one of a plugin.
    func knows(_ counter: Counter) -> Bool { counter.index != nil || others[counter] != nil }

    /// Adds the counts of another process or time.
    mutating func merge(_ other: Counts) {
        for index in own.indices { own[index] = own[index].plus(other.own[index]) }
        others.merge(other.others) { $0.plus($1) }
    }

    /// Returns the counts since `earlier`, which is a former state of these counts.
    func since(_ earlier: Counts) -> Counts {
        var difference = self
        for index in own.indices { difference.own[index] -= min(own[index], earlier.own[index]) }
        for (counter, count) in earlier.others { difference.others[counter]? -= min(others[counter] ?? 0, count) }
        return difference
    }
}
