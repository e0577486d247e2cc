import LarderCore

extension Plugin {
    /// An eviction that adapts to the traffic.
    static let adaptive = Plugin.eviction(
        "adaptive", "Tries several eviction rules on a sample of the keys, and uses the rule with the most hits."
    ) { Adaptive() }.alsoCalled("lfu", "tinyLFU", "arc", "auto")
}

/// An eviction with a window for new entries and a main part for entries that proved useful.
///
/// Trials on a sample of the keys find out how large the window should be, how many uses an entry needs for the main
/// part, and how many uses count there.
///
/// - An entry that was used in the window moves to the main part when it reaches the window's end.
/// - An evicted entry that returns goes into the main part at once, if it was away for less time than the main part's
///   next victim was unused. This is the rule of LIRS: the returned entry would have been better to keep.
/// - The main part is a clock: an entry that was used since its last turn gets another turn.
struct Adaptive: Eviction {
    private struct Record: Sendable {
        var hash: UInt32 = 0
        /// The time of its last use, counted in uses and insertions of any entry.
        var last: UInt32 = 0
        var uses: UInt8 = 0
    }

    private var queues = LinkedQueues(lists: 2, blank: Record())
    private var sizer = WindowSizer(share: Trials.choices[0].share)
    private var choice = Trials.choices[0]
    private var trials = Trials()
    private var ghosts = RecentlyEvicted(perEntry: 2.8)
    /// The place of the entry that was inserted last, if it had been evicted before; otherwise -1.
    private var returned = -1
    private var now: UInt32 = 0

    private static let window = 0
    private static let main = 1

    mutating func inserted(_ place: Int, hash: Int, weight: Int) {
        now &+= 1
        returned = -1
        let record = Record(hash: UInt32(stirring: hash), last: now)
        ghosts.reserve(queues.count, now: now)
        let before = ghosts.take(record.hash, now: now)
        if let before, victim().map({ before.isAfter(queues[$0].last) }) ?? (choice.share < 1) {
            queues.insert(place, weight: weight, record: record, in: Self.main)
            returned = place
        } else {
            let isLarge = queues.count > 0 && weight > sizer.window(queues)
            queues.insert(place, weight: weight, record: record, in: Self.window, asOldest: isLarge)
        }
        if sizer.isFilling(queues) { fill() }
        observe(record.hash, weight: UInt32(clamping: queues.weight(of: place)))
    }

    mutating func used(_ place: Int) {
        guard let list = queues.list(of: place) else { return }
        now &+= 1
        queues[place].last = now
        let mostUses: UInt8 = list == Self.main ? choice.mostUses : 3
        if queues[place].uses < mostUses { queues[place].uses += 1 }
        let hash = queues[place].hash
        // A small store that is not full needs no trials, and they would slow every hit.
        let isIdle = sizer.limit == .max && trials.seesAll
        if !isIdle, trials.isSampled(hash) { observe(hash, weight: UInt32(clamping: queues.weight(of: place))) }
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
        var moves = 4
        while let oldest = queues.oldest(Self.window) {
            if queues.weights[Self.window] <= window, let victim = victim() {
                // The entry that has just returned is not the one to evict, whatever its weight is.
                return drop(victim == returned ? oldest : victim)
            }
            if queues[oldest].uses < choice.threshold {
                guard moves > 0, isShrinking(to: window, without: oldest) else { return drop(oldest) }
                moves -= 1
            }
            enter(oldest)
        }
        return victim().flatMap { drop($0) }
    }

    /// Returns whether the window became smaller, and remains too large without its oldest and its newest entry.
    private func isShrinking(to window: Int, without oldest: Int) -> Bool {
        let newest = queues.newest(Self.window) ?? oldest
        return queues.weights[Self.window] >= window + queues.weight(of: oldest) + queues.weight(of: newest)
    }

    private mutating func enter(_ place: Int) {
        queues[place].uses = 0
        queues.move(place, to: Self.main)
    }

    /// Returns the entry of the main part to evict next, after it gave another turn to the entries that were used.
    private mutating func victim() -> Int? {
        while let oldest = queues.oldest(Self.main) {
            guard queues[oldest].uses > 0 else { return oldest }
            queues[oldest].uses = min(queues[oldest].uses, choice.mostUses) - 1
            queues.move(oldest, to: Self.main)
        }
        return nil
    }

    private mutating func drop(_ place: Int) -> Int {
        let record = queues[place]
        ghosts.insert(record.hash, at: record.last)
        queues.remove(place)
        return place
    }

    /// Moves entries from the window to the main part while the store has room and the window is larger than its share.
    private mutating func fill() {
        let window = sizer.window(queues)
        for _ in 0..<2 where queues.weights[Self.window] > window {
            if let oldest = queues.oldest(Self.window) { enter(oldest) }
        }
    }

    private mutating func observe(_ hash: UInt32, weight: UInt32) {
        guard trials.isSampled(hash), let chosen = trials.request(hash, weight: weight, room: sizer.limit) else {
            return
        }
        choice = chosen
        sizer.share = chosen.share
    }
}
