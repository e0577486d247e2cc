import Larder

/// An eviction in use, beside the places that a store would have filled.
struct EvictionTrial {
    /// Something that a store tells its eviction.
    enum Event: Sendable {
        case insert(hash: Int, weight: Int)
        case use(Int)
        case change(Int, weight: Int)
        case remove(Int)
        case evict
    }

    private var eviction: any Eviction
    private(set) var findings = Findings()
    /// The places with an entry in them.
    private(set) var filled: Set<Int> = []
    /// Empty places that were emptied by ``remove(_:)``.
    private var removed: Set<Int> = []
    private var free: [Int] = []
    private var count = 0
    /// The places it named, in order.
    private(set) var choices: [Int?] = []

    init(_ eviction: any Eviction, _ situation: String) {
        self.eviction = eviction
        findings.situation = situation
    }

    /// Whether something is wrong that would only show again.
    var isOver: Bool { !findings.broken.isEmpty }

    /// Fills a place: one that was emptied, or else a new one.
    mutating func insert(hash: Int, weight: Int = 1) {
        let place = free.popLast() ?? count
        count = max(count, place + 1)
        removed.remove(place)
        filled.insert(place)
        eviction.inserted(place, hash: hash, weight: weight)
    }

    /// Tells of a use, also of a place that is empty.
    mutating func use(_ place: Int) { eviction.used(place) }

    /// Tells of many uses at once.
    mutating func use(_ places: [Int]) {
        places.map { Int32($0) }.withUnsafeBufferPointer { eviction.used($0) }
    }

    mutating func change(_ place: Int, weight: Int) { eviction.changed(place, weight: weight) }

    /// Empties a place for a reason of the store's own.
    mutating func remove(_ place: Int) {
        eviction.removed(place)
        if filled.remove(place) != nil {
            free.append(place)
            removed.insert(place)
        }
    }

    /// Tells of something, unless it is about a place that is empty.
    mutating func tell(_ event: Event) {
        switch event {
        case .insert(let hash, let weight): insert(hash: hash, weight: weight)
        case .use(let place): if filled.contains(place) { use(place) }
        case .change(let place, let weight): if filled.contains(place) { change(place, weight: weight) }
        case .remove(let place): if filled.contains(place) { remove(place) }
        case .evict: evict()
        }
    }

    /// Asks for a place and empties it.
    mutating func evict() {
        let place = eviction.evict()
        choices.append(place)
        guard let place else {
            findings.expect(
                filled.isEmpty, .namesWhileFilled, "one of \(filled.count) filled places", got: "none")
            return
        }
        guard filled.remove(place) != nil else {
            let promise: Promise =
                filled.isEmpty ? .namesWhileFilled : removed.contains(place) ? .heedsRemovals : .namesFilled
            let expected = filled.isEmpty ? "no place of an empty store" : "a place that is filled"
            findings.expect(false, promise, expected, got: "place \(place), which is empty")
            return
        }
        free.append(place)
    }

    /// Asks for all there are, and then once more.
    mutating func drain() {
        for _ in 0...filled.count where !isOver { evict() }
    }
}
