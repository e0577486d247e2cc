import Larder

/// An eviction under test, with a model of the places that a store would have filled.
struct EvictionTrial {
    /// A call that a store makes to its eviction.
    enum Event: Sendable {
        case insert(hash: Int, weight: Int)
        case use(Int)
        case change(Int, weight: Int)
        case remove(Int)
        case evict
    }

    private var eviction: any Eviction
    private(set) var findings = BrokenPromises()
    /// The places that contain an entry.
    private(set) var filled: Set<Int> = []
    /// The empty places that ``remove(_:)`` emptied.
    private var removed: Set<Int> = []
    private var free: [Int] = []
    private var count = 0
    /// The places that the eviction named, in order.
    private(set) var choices: [Int?] = []

    init(_ eviction: any Eviction, _ situation: String) {
        self.eviction = eviction
        findings.situation = situation
    }

    /// Whether a promise is broken already, so that further calls show nothing new.
    var isOver: Bool { !findings.broken.isEmpty }

    /// Fills a place. Uses an empty place if there is one, or else a new one.
    mutating func insert(hash: Int, weight: Int = 1) {
        let place = free.popLast() ?? count
        count = max(count, place + 1)
        removed.remove(place)
        filled.insert(place)
        eviction.inserted(place, hash: hash, weight: weight)
    }

    /// Reports a use, even if the place is empty.
    mutating func use(_ place: Int) { eviction.used(place) }

    /// Reports several uses in one call.
    mutating func use(_ places: [Int]) {
        places.map { Int32($0) }.withUnsafeBufferPointer { eviction.used($0) }
    }

    mutating func change(_ place: Int, weight: Int) { eviction.changed(place, weight: weight) }

    /// Empties a place that the eviction did not choose.
    mutating func remove(_ place: Int) {
        eviction.removed(place)
        if filled.remove(place) != nil {
            free.append(place)
            removed.insert(place)
        }
    }

    /// Reports an event, unless it concerns an empty place.
    mutating func report(_ event: Event) {
        switch event {
        case .insert(let hash, let weight): insert(hash: hash, weight: weight)
        case .use(let place): if filled.contains(place) { use(place) }
        case .change(let place, let weight): if filled.contains(place) { change(place, weight: weight) }
        case .remove(let place): if filled.contains(place) { remove(place) }
        case .evict: evict()
        }
    }

    /// Asks the eviction for a place and empties it.
    mutating func evict() {
        let place = eviction.evict()
        choices.append(place)
        guard let place else {
            findings.expect(
                filled.isEmpty, promise: .namesWhileFilled, expected: "one of \(filled.count) filled places",
                got: "none")
            return
        }
        guard filled.remove(place) != nil else {
            let promise: Promise =
                filled.isEmpty ? .namesWhileFilled : removed.contains(place) ? .namesNoneRemoved : .namesFilled
            let expected = filled.isEmpty ? "no place of an empty store" : "a place that is filled"
            findings.expect(false, promise: promise, expected: expected, got: "place \(place), which is empty")
            return
        }
        free.append(place)
    }

    /// Asks the eviction for each filled place, and then once more.
    mutating func drain() {
        for _ in 0...filled.count where !isOver { evict() }
    }
}
