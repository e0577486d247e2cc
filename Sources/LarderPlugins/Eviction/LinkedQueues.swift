import LarderCore

/// A few lists of places in one array, each ordered from the newest to the oldest. A place is in one list or in none.
///
/// The record that an eviction keeps of a place is stored beside its links, so that a use touches one cache line.
struct LinkedQueues<Record: Sendable>: Sendable {
    private struct Node: Sendable {
        var newer: Int32
        var older: Int32
        var weight: UInt32
        var record: Record
        var list: UInt8
    }

    /// The first nodes are the ends of the lists; the place 0 comes after them.
    private var nodes: [Node]
    private let ends: Int
    private let blank: Record
    /// The total weight of each list. There are at most four lists.
    private(set) var weights = SIMD4<Int>()
    /// The total weight of all lists.
    private(set) var weight = 0
    /// The number of places that are in a list.
    private(set) var count = 0

    private static var none: UInt8 { .max }

    /// Makes empty lists. `blank` is the record of a place that is in no list.
    init(lists: Int, blank: Record) {
        ends = lists
        self.blank = blank
        nodes = (0..<Int32(lists)).map { Node(newer: $0, older: $0, weight: 0, record: blank, list: UInt8($0)) }
    }

    /// The record of a place that is in a list.
    subscript(place: Int) -> Record {
        get { nodes[place + ends].record }
        set { nodes[place + ends].record = newValue }
    }

    /// Returns the list that contains a place, or nil if none does.
    func list(of place: Int) -> Int? {
        guard place >= 0, place < nodes.count - ends else { return nil }
        let index = place + ends
        guard nodes[index].list != Self.none else { return nil }
        return Int(nodes[index].list)
    }

    /// Returns the weight of a place, at least 1 and at most the largest number of 32 bits.
    func weight(of place: Int) -> Int { Int(nodes[place + ends].weight) }

    /// Returns the oldest place of a list, or nil if the list is empty.
    func oldest(_ list: Int) -> Int? {
        let oldest = Int(nodes[list].newer)
        return oldest == list ? nil : oldest - ends
    }

    /// Returns the newest place of a list, or nil if the list is empty.
    func newest(_ list: Int) -> Int? {
        let newest = Int(nodes[list].older)
        return newest == list ? nil : newest - ends
    }

    /// Puts a place into a list as its newest or its oldest.
    mutating func insert(_ place: Int, weight: Int, record: Record, in list: Int, asOldest: Bool = false) {
        let index = place + ends
        while nodes.count <= index {
            // The array grows by a quarter: doubling would leave half of a large store's array empty.
            if nodes.count == nodes.capacity { nodes.reserveCapacity(nodes.count / 4 * 5 + 16) }
            nodes.append(Node(newer: -1, older: -1, weight: 0, record: blank, list: Self.none))
        }
        remove(place)
        nodes[index].record = record
        nodes[index].weight = UInt32(clamping: max(1, weight))
        link(index, list, after: asOldest ? list : Int(nodes[list].older))
        self.weight += self.weight(of: place)
        count += 1
    }

    /// Makes a place the newest of the same list or another one. Does nothing if the place is in no list.
    mutating func move(_ place: Int, to list: Int) {
        guard self.list(of: place) != nil else { return }
        let index = place + ends
        unlink(index)
        link(index, list, after: Int(nodes[list].older))
    }

    /// Changes the weight of a place.
    mutating func setWeight(_ weight: Int, of place: Int) {
        guard let list = list(of: place) else { return }
        let changed = UInt32(clamping: max(1, weight))
        let difference = Int(changed) - self.weight(of: place)
        nodes[place + ends].weight = changed
        weights[list] += difference
        self.weight += difference
    }

    /// Takes a place out of its list. Does nothing if it is in no list.
    mutating func remove(_ place: Int) {
        guard list(of: place) != nil else { return }
        let index = place + ends
        unlink(index)
        nodes[index].list = Self.none
        weight -= weight(of: place)
        count -= 1
    }

    private mutating func link(_ index: Int, _ list: Int, after older: Int) {
        let newer = Int(nodes[older].newer)
        nodes[index].older = Int32(truncatingIfNeeded: older)
        nodes[index].newer = Int32(truncatingIfNeeded: newer)
        nodes[older].newer = Int32(truncatingIfNeeded: index)
        nodes[newer].older = Int32(truncatingIfNeeded: index)
        nodes[index].list = UInt8(truncatingIfNeeded: list)
        weights[list] += Int(nodes[index].weight)
    }

    private mutating func unlink(_ index: Int) {
        let (older, newer) = (Int(nodes[index].older), Int(nodes[index].newer))
        nodes[older].newer = Int32(truncatingIfNeeded: newer)
        nodes[newer].older = Int32(truncatingIfNeeded: older)
        weights[Int(nodes[index].list)] -= Int(nodes[index].weight)
    }
}
