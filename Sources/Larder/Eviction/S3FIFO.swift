extension Plugin {
    /// S3-FIFO.
    static let s3FIFO = Plugin.eviction(
        "s3-fifo", "Forgets what was not used again soon; the cheapest for its hit ratio.",
        Setting("small", .share, default: 0.1, help: "The part of the store in which entries have to prove themselves")
    ) { S3FIFO(small: $0) }
}

/// Three queues, after Yang, Zhang, Qiu, Yue and Rashmi (SOSP 2023): a small one, a main one, and one of what is gone.
///
/// A use only counts; the queues move when room is made. One thing differs from the paper: while there is room, what
/// leaves the small queue goes into the main one, so that a loop that does not fit leaves a part of itself behind.
struct S3FIFO: Eviction {
    private struct Mark: Sendable {
        var hash: UInt32 = 0
        var uses: UInt8 = 0
    }

    private var places = Chains(lists: 2, blank: Mark())
    private var portions: Portions
    private var ghosts = Ghosts(perEntry: 1)
    /// How many went from the small queue for good.
    private var gone: UInt32 = 0

    private static let (small, main) = (0, 1)

    init(small: Double) {
        portions = Portions(share: small)
    }

    /// The place of the last entry that came back.
    private var comeBack = -1

    mutating func inserted(_ place: Int, hash: Int, weight: Int) {
        let mark = Mark(hash: UInt32(stirring: hash))
        comeBack = -1
        ghosts.reserve(places.count, now: gone)
        let wentAt = ghosts.take(mark.hash, now: gone)
        if let wentAt, gone &- wentAt <= UInt32(truncatingIfNeeded: places.count) {
            places.insert(place, weight: weight, mark: mark, in: Self.main)
            comeBack = place
        } else {
            let isLarge = places.count > 0 && weight > portions.window(places)
            places.insert(place, weight: weight, mark: mark, in: Self.small, asOldest: isLarge)
        }
        portions.inserted(weight: weight)
        guard portions.isFilling(places) else { return }
        let window = portions.window(places)
        for _ in 0..<2 where places.weights[Self.small] > window {
            if let oldest = places.oldest(Self.small) { places.move(oldest, to: Self.main) }
        }
    }

    mutating func used(_ place: Int) {
        if places.list(of: place) != nil, places[place].uses < 3 { places[place].uses += 1 }
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
        while let oldest = places.oldest(Self.small), places.weights[Self.small] > window {
            guard places[oldest].uses > 1 else {
                gone &+= 1
                ghosts.insert(places[oldest].hash, at: gone, now: gone)
                places.remove(oldest)
                return oldest
            }
            places[oldest].uses = 0
            places.move(oldest, to: Self.main)
        }
        while let oldest = places.oldest(Self.main) {
            guard places[oldest].uses > 0 else {
                // What has just come back is not what goes, however heavy it is.
                let next = oldest == comeBack ? places.oldest(Self.small) ?? oldest : oldest
                places.remove(next)
                return next
            }
            places[oldest].uses -= 1
            places.move(oldest, to: Self.main)
        }
        let oldest = places.oldest(Self.small)
        if let oldest { places.remove(oldest) }
        return oldest
    }
}
