/// The pinned places of a ``ShardedTable``, with the weights of their items.
struct Pins {
    private var weights: [Int: Int] = [:]
    /// The sum of the weights.
    private(set) var bytes = 0

    var isEmpty: Bool { weights.isEmpty }

    var count: Int { weights.count }

    func contains(_ place: Int) -> Bool { !weights.isEmpty && weights[place] != nil }

    func weight(of place: Int) -> Int? { weights[place] }

    /// Returns false if the place was pinned already.
    mutating func add(_ place: Int, weight: Int) -> Bool {
        if contains(place) { return false }
        weights[place] = weight
        bytes += weight
        return true
    }

    /// Changes the weight of a pinned place. Returns false if the place is not pinned.
    mutating func change(_ place: Int, to weight: Int) -> Bool {
        guard !weights.isEmpty, let old = weights[place] else { return false }
        weights[place] = weight
        bytes += weight - old
        return true
    }

    /// Returns false if the place was not pinned.
    mutating func remove(_ place: Int) -> Bool {
        guard !weights.isEmpty, let old = weights.removeValue(forKey: place) else { return false }
        bytes -= old
        return true
    }
}
