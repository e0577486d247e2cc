extension Plugin {
    /// What suits the traffic.
    static let adaptive = Plugin.eviction(
        "adaptive", "Finds out which way of forgetting the traffic rewards, and follows it."
    ) { Adaptive() }
}

/// A window in which entries begin, a main part for those that are worth it, and trials that tell how large the window
/// should be, what is worth it, and how long that holds.
///
/// - An entry that was used in the window goes into the main part when it comes to the window's end.
/// - So does, at once, one that comes back after less time than the main part's next victim has gone unused, as in
///   LIRS: what is seen twice within that time would have been a better thing to keep.
/// - The main part is a clock: what was used since it was last looked at stays.
/// - Where most of what comes back from far away beats what the main part keeps, the main part is stale: then what
///   leaves the window goes in unasked.
struct Adaptive: Eviction {
    private struct Mark: Sendable {
        var hash: UInt32 = 0
        /// When it was last used, in uses and insertions of any entry.
        var last: UInt32 = 0
        var uses: UInt8 = 0
    }

    private var places = Chains(lists: 2, blank: Mark())
    private var portions = Portions(share: Trials.choices[0].share)
    private var choice = Trials.choices[0]
    private var trials = Trials()
    private var ghosts = Ghosts(perEntry: 1.4)
    /// One of sixteen ghosts is remembered for longer.
    private var farGhosts = Ghosts(perEntry: 0.35)
    /// The place of the last entry that came back.
    private var comeBack = -1
    private var now: UInt32 = 0
    /// Which part of the far ghosts that would have to be remembered were, and beat the main part's next victim; in 4096ths.
    private var staleness = 0
    /// How many entries may go from the window to the main part unasked.
    private var passes = 0

    private static let (window, main) = (0, 1)
    private static let isFar: UInt32 = 0xF000_0000

    mutating func inserted(_ place: Int, hash: Int, weight: Int) {
        now &+= 1
        comeBack = -1
        let mark = Mark(hash: UInt32(stirring: hash), last: now)
        ghosts.reserve(places.count, now: now)
        farGhosts.reserve(places.count, now: now)
        if let before = ghosts.take(mark.hash, now: now), victim().map({ before.isAfter(places[$0].last) }) ?? true {
            places.insert(place, weight: weight, mark: mark, in: Self.main)
            comeBack = place
        } else {
            let isLarge = places.count > 0 && weight > portions.window(places)
            places.insert(place, weight: weight, mark: mark, in: Self.window, asOldest: isLarge)
        }
        if mark.hash & Self.isFar == 0 { lookFar(mark.hash) }
        portions.inserted(weight: weight)
        if portions.isFilling(places) { fill() }
        observe(mark.hash, weight: UInt32(clamping: places.weight(of: place)))
    }

    mutating func used(_ place: Int) {
        guard let list = places.list(of: place) else { return }
        now &+= 1
        places[place].last = now
        let most: UInt8 = list == Self.main ? choice.most : 3
        if places[place].uses < most { places[place].uses += 1 }
        let hash = places[place].hash
        // A store that is small and not full has nothing to decide, and would pay for it with every hit.
        let isIdle = portions.limit == .max && trials.seesAll
        if !isIdle, trials.isSampled(hash) { observe(hash, weight: UInt32(clamping: places.weight(of: place))) }
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
        var free = 4
        while let oldest = places.oldest(Self.window) {
            if places.weights[Self.window] <= window, let victim = victim() {
                // What has just come back is not what goes, however heavy it is.
                return drop(victim == comeBack ? oldest : victim)
            }
            if places[oldest].uses >= choice.threshold {
                enter(oldest)
            } else if free > 0, portions.mainHasRoom(for: oldest, in: places, window: window) {
                free -= 1
                enter(oldest)
            } else if passes > 0 {
                passes -= 1
                enter(oldest)
            } else {
                return drop(oldest)
            }
        }
        return victim().flatMap { drop($0) }
    }

    private mutating func enter(_ place: Int) {
        places[place].uses = 0
        places.move(place, to: Self.main)
    }

    /// The entry of the main part that goes next.
    private mutating func victim() -> Int? {
        while let oldest = places.oldest(Self.main) {
            guard places[oldest].uses > 0 else { return oldest }
            places[oldest].uses = min(places[oldest].uses, choice.most) - 1
            places.move(oldest, to: Self.main)
        }
        return nil
    }

    private mutating func drop(_ place: Int) -> Int {
        let mark = places[place]
        ghosts.insert(mark.hash, at: mark.last, now: now)
        if mark.hash & Self.isFar == 0 { farGhosts.insert(mark.hash, at: mark.last, now: now) }
        places.remove(place)
        return place
    }

    /// While there is room, the window keeps to its share and the main part takes all.
    private mutating func fill() {
        let window = portions.window(places)
        for _ in 0..<2 where places.weights[Self.window] > window {
            if let oldest = places.oldest(Self.window) { enter(oldest) }
        }
    }

    private mutating func lookFar(_ hash: UInt32) {
        var isBetter = false
        if let before = farGhosts.take(hash, now: now), let oldest = places.oldest(Self.main) {
            isBetter = (now &- before) < (now &- places[oldest].last) / 2
        }
        staleness += ((isBetter ? 4096 : 0) - staleness) / 16
        // It stands for the fifteen others.
        if isBetter, staleness > 1024 { passes = min(passes + 16, places.count) }
    }

    private mutating func observe(_ hash: UInt32, weight: UInt32) {
        guard trials.isSampled(hash), let chosen = trials.saw(hash, weight: weight, room: portions.limit) else {
            return
        }
        choice = chosen
        portions.share = chosen.share
    }
}
