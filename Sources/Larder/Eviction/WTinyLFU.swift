extension Plugin {
    /// W-TinyLFU.
    static let wTinyLFU = Plugin.eviction(
        "w-tinylfu", "Forgets what is asked for less often, and what is new keeps a window of its own."
    ) { WTinyLFU() }
}

/// A window, and a main part that lets in only what is asked for more often than what would have to leave for it; after
/// Einziger, Friedman and Manes (ACM ToS 2017), with a window that grows and shrinks as that turns out well.
struct WTinyLFU: Eviction {
    private var places = Chains(lists: 3, blank: UInt32(0))
    private var portions = Portions(share: 0.01)
    private var sketch = FrequencySketch()
    private var climber = Climber()
    /// Decides for what is asked for often that it may replace what is asked for just as often, once in a while.
    private var chance: UInt32 = 1

    /// The main part's entries are on probation until they are used there.
    private static let (window, probation, protected) = (0, 1, 2)

    mutating func inserted(_ place: Int, hash: Int, weight: Int) {
        let hash = UInt32(stirring: hash)
        sketch.reserve(places.count)
        sketch.count(hash)
        let isLarge = places.count > 0 && weight > portions.window(places)
        places.insert(place, weight: weight, mark: hash, in: Self.window, asOldest: isLarge)
        portions.inserted(weight: weight)
        if portions.isFilling(places) {
            let window = portions.window(places)
            for _ in 0..<2 where places.weights[Self.window] > window {
                if let oldest = places.oldest(Self.window) { places.move(oldest, to: Self.probation) }
            }
        } else {
            climb(isHit: false)
        }
    }

    mutating func used(_ place: Int) {
        guard let list = places.list(of: place) else { return }
        sketch.count(places[place])
        places.move(place, to: list == Self.window ? Self.window : Self.protected)
        if list == Self.probation {
            let most = (places.weight - portions.window(places)) / 5 * 4
            if places.weights[Self.protected] > most, let oldest = places.oldest(Self.protected) {
                places.move(oldest, to: Self.probation)
            }
        }
        climb(isHit: true)
    }

    mutating func changed(_ place: Int, weight: Int) {
        places.setWeight(weight, of: place)
    }

    mutating func removed(_ place: Int) {
        places.remove(place)
    }

    mutating func evict() -> Int? {
        portions.pressed(places)
        let window = portions.window(places)
        for _ in 0..<4 {
            guard let oldest = places.oldest(Self.window), portions.mainHasRoom(for: oldest, in: places, window: window)
            else { break }
            places.move(oldest, to: Self.probation)
        }
        let candidate = places.oldest(Self.window)
        // Where there is nothing else, two of the window compete.
        let victim =
            places.oldest(Self.probation) ?? places.oldest(Self.protected)
            ?? places.newest(Self.window).flatMap { $0 == candidate ? nil : $0 }
        guard let candidate, places.weights[Self.window] > window else { return drop(victim ?? candidate) }
        guard let victim, isBetter(places[candidate], than: places[victim]) else { return drop(candidate) }
        places.move(candidate, to: Self.probation)
        return drop(victim)
    }

    private mutating func drop(_ place: Int?) -> Int? {
        if let place { places.remove(place) }
        return place
    }

    private mutating func isBetter(_ candidate: UInt32, than victim: UInt32) -> Bool {
        let (frequency, other) = (sketch.frequency(of: candidate), sketch.frequency(of: victim))
        guard frequency <= other, frequency > 5 else { return frequency > other }
        // Keys that are made to collide in the sketch must not keep everything else out.
        chance = chance &* 1_664_525 &+ 1_013_904_223
        return chance >> 25 == 0
    }

    private mutating func climb(isHit: Bool) {
        guard portions.limit != .max, let step = climber.step(isHit: isHit, entries: places.count) else { return }
        portions.share = min(max(portions.share + step, 0), 1)
    }
}

/// Climbs the hit ratio's hill: goes on in the direction that helped, turns where it did not, in ever smaller steps until
/// the traffic changes.
struct Climber: Sendable {
    private var hits = 0
    private var asked = 0
    private var before: Double?
    private var step = Climber.largest

    private static let largest = 0.0625

    /// Counts a hit or a miss; how much larger the window should be, once enough were counted.
    mutating func step(isHit: Bool, entries: Int) -> Double? {
        asked += 1
        if isHit { hits += 1 }
        guard asked >= 10 * entries else { return nil }
        let ratio = Double(hits) / Double(asked)
        (hits, asked) = (0, 0)
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
