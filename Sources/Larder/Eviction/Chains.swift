/// A few lists of places, each from the newest to the oldest, all in one array. A place is in one of them or in none.
///
/// What an eviction notes of a place stands beside its links, so that a use touches one cache line.
struct Chains<Mark: Sendable>: Sendable {
    private struct Node: Sendable {
        var newer: Int32
        var older: Int32
        var weight: UInt32
        var mark: Mark
        var list: UInt8
    }

    /// The first nodes are the ends of the lists; the place 0 comes after them.
    private var nodes: [Node]
    private let ends: Int
    private let blank: Mark
    /// What the places of each list weigh together.
    private(set) var weights: [Int]
    /// What all places weigh together.
    private(set) var weight = 0
    /// How many places are in some list.
    private(set) var count = 0

    private static var none: UInt8 { .max }

    /// Empty lists. `blank` is the mark of a place that is in none.
    init(lists: Int, blank: Mark) {
        ends = lists
        self.blank = blank
        weights = Array(repeating: 0, count: lists)
        nodes = (0..<Int32(lists)).map { Node(newer: $0, older: $0, weight: 0, mark: blank, list: UInt8($0)) }
    }

    /// What is noted of a place that is in a list.
    subscript(place: Int) -> Mark {
        get { nodes[place + ends].mark }
        set { nodes[place + ends].mark = newValue }
    }

    /// The list a place is in.
    func list(of place: Int) -> Int? {
        guard place >= 0, place < nodes.count - ends else { return nil }
        let index = place + ends
        guard nodes[index].list != Self.none else { return nil }
        return Int(nodes[index].list)
    }

    /// What a place weighs, at most what 32 bits hold and at least 1.
    func weight(of place: Int) -> Int { Int(nodes[place + ends].weight) }

    /// The place that is in a list for the longest time.
    func oldest(_ list: Int) -> Int? {
        let oldest = Int(nodes[list].newer)
        return oldest == list ? nil : oldest - ends
    }

    /// The place that was put into a list last.
    func newest(_ list: Int) -> Int? {
        let newest = Int(nodes[list].older)
        return newest == list ? nil : newest - ends
    }

    /// Puts a place that is in none into a list, as its newest or its oldest.
    mutating func insert(_ place: Int, weight: Int, mark: Mark, in list: Int, asOldest: Bool = false) {
        let index = place + ends
        while nodes.count <= index {
            // A quarter more at a time: doubling would leave half of a large store's array empty.
            if nodes.count == nodes.capacity { nodes.reserveCapacity(nodes.count / 4 * 5 + 16) }
            nodes.append(Node(newer: -1, older: -1, weight: 0, mark: blank, list: Self.none))
        }
        remove(place)
        nodes[index].mark = mark
        nodes[index].weight = UInt32(clamping: max(1, weight))
        link(index, list, after: asOldest ? list : Int(nodes[list].older))
        self.weight += self.weight(of: place)
        count += 1
    }

    /// Makes a place the newest of a list, which may be another than it is in. Does nothing with a place that is in none.
    mutating func move(_ place: Int, to list: Int) {
        guard self.list(of: place) != nil else { return }
        let index = place + ends
        unlink(index)
        link(index, list, after: Int(nodes[list].older))
    }

    /// Notes another weight.
    mutating func setWeight(_ weight: Int, of place: Int) {
        guard let list = list(of: place) else { return }
        let changed = UInt32(clamping: max(1, weight))
        let difference = Int(changed) - self.weight(of: place)
        nodes[place + ends].weight = changed
        weights[list] += difference
        self.weight += difference
    }

    /// Takes a place out of the list it is in, if it is in one.
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
