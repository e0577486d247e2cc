import LarderCore
@testable import LarderPlugins

/// An eviction with a window for new entries and a main part, after Einziger, Friedman and Manes (ACM ToS 2017).
///
/// An entry enters the main part only if its key is requested more often than that of the entry it would replace. The
/// window grows and shrinks with the hit ratio.
struct WTinyLFU: Eviction {
    private var queues = LinkedQueues(lists: 3, blank: UInt32(0))
    private var sizer = WindowSizer(share: 0.01)
    private var sketch = FrequencySketch()
    private var climber = Climber()
    /// The weight of the newest entry.
    private var newest = 0
    /// The state of a random generator. It decides when a frequent entry may replace one that is requested as often.
    private var chance: UInt32 = 1

    /// The lists. Entries of the main part are on probation until they are used there.
    private static let window = 0
    private static let probation = 1
    private static let protected = 2

    mutating func inserted(_ place: Int, hash: Int, weight: Int) {
        let hash = UInt32(stirring: hash)
        sketch.reserve(queues.count)
        sketch.count(hash)
        let isLarge = queues.count > 0 && weight > sizer.window(queues)
        queues.insert(place, weight: weight, record: hash, in: Self.window, asOldest: isLarge)
        newest = max(1, weight)
        if sizer.isFilling(queues) {
            let window = sizer.window(queues)
            for _ in 0..<2 where queues.weights[Self.window] > window {
                if let oldest = queues.oldest(Self.window) { queues.move(oldest, to: Self.probation) }
            }
        } else {
            climb(isHit: false)
        }
    }

    mutating func used(_ place: Int) {
        guard let list = queues.list(of: place) else { return }
        sketch.count(queues[place])
        queues.move(place, to: list == Self.window ? Self.window : Self.protected)
        if list == Self.probation {
            let capacity = (queues.weight - sizer.window(queues)) / 5 * 4
            if queues.weights[Self.protected] > capacity, let oldest = queues.oldest(Self.protected) {
                queues.move(oldest, to: Self.probation)
            }
        }
        climb(isHit: true)
    }

    mutating func changed(_ place: Int, weight: Int) {
        queues.setWeight(weight, of: place)
    }

    mutating func removed(_ place: Int) {
        queues.remove(place)
    }

    mutating func evict() -> Int? {
        sizer.willEvict(queues)
        let window = sizer.window(queues)
        for _ in 0..<4 {
            // Whether the entry fits into the main part without an eviction, as after the window became smaller.
            guard let oldest = queues.oldest(Self.window),
                queues.weights[Self.window] >= window + queues.weight(of: oldest) + newest
            else { break }
            queues.move(oldest, to: Self.probation)
        }
        let candidate = queues.oldest(Self.window)
        // If the main part is empty, the oldest and the newest entry of the window compete.
        let victim =
            queues.oldest(Self.probation) ?? queues.oldest(Self.protected)
            ?? queues.newest(Self.window).flatMap { $0 == candidate ? nil : $0 }
        guard let candidate, queues.weights[Self.window] > window else { return drop(victim ?? candidate) }
        guard let victim, isBetter(queues[candidate], than: queues[victim]) else { return drop(candidate) }
        queues.move(candidate, to: Self.probation)
        return drop(victim)
    }

    private mutating func drop(_ place: Int?) -> Int? {
        if let place { queues.remove(place) }
        return place
    }

    private mutating func isBetter(_ candidate: UInt32, than victim: UInt32) -> Bool {
        let (frequency, other) = (sketch.frequency(of: candidate), sketch.frequency(of: victim))
        guard frequency <= other, frequency > 5 else { return frequency > other }
        // Keys that were made to collide in the sketch must not block all other keys.
        chance = chance &* 1_664_525 &+ 1_013_904_223
        return chance >> 25 == 0
    }

    private mutating func climb(isHit: Bool) {
        guard sizer.limit != .max, let step = climber.step(isHit: isHit, entries: queues.count) else { return }
        sizer.share = min(max(sizer.share + step, 0), 1)
    }
}

/// A search for the window size with the best hit ratio, by hill climbing.
///
/// It continues in a direction that raised the hit ratio and turns after one that did not. Its steps become smaller
/// until the traffic changes.
struct Climber: Sendable {
    private var hits = 0
    private var requests = 0
    private var before: Double?
    private var step = Climber.largest

    private static let largest = 0.0625

    /// Counts a hit or a miss. Once enough are counted, returns the amount by which the window's share should grow.
    mutating func step(isHit: Bool, entries: Int) -> Double? {
        requests += 1
        if isHit { hits += 1 }
        guard requests >= 10 * entries else { return nil }
        let ratio = Double(hits) / Double(requests)
        (hits, requests) = (0, 0)
        guard let before else {
            self.before = ratio
            return nil
        }
        self.before = ratio
        let next = ratio >= before ? step : -step
        step = abs(ratio - before) >= 0.05 ? (next < 0 ? -Self.largest : Self.largest) : next * 0.98
        return next
    }
}
