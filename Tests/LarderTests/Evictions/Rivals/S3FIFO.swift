import LarderCore
@testable import LarderPlugins

/// An eviction with three queues, after Yang, Zhang, Qiu, Yue and Rashmi (SOSP 2023): a small one for new entries, a
/// main one, and one of evicted keys.
///
/// A use only adds to a count. Entries move between the queues when one must be evicted. This differs from the paper in
/// one way: while there is room, entries that leave the small queue go into the main one. So if keys repeat in a loop
/// that does not fit into the store, a part of the loop stays.
struct S3FIFO: Eviction {
    private struct Record: Sendable {
        var hash: UInt32 = 0
        var uses: UInt8 = 0
    }

    private var queues = LinkedQueues(lists: 2, blank: Record())
    private var sizer: WindowSizer
    private var ghosts = RecentlyEvicted(perEntry: 1)
    /// The number of entries that were evicted from the small queue.
    private var gone: UInt32 = 0

    private static let small = 0
    private static let main = 1

    init(small: Double) {
        sizer = WindowSizer(share: small)
    }

    /// The place of the entry that was inserted last, if it had been evicted before; otherwise -1.
    private var returned = -1

    mutating func inserted(_ place: Int, hash: Int, weight: Int) {
        let record = Record(hash: UInt32(stirring: hash))
        returned = -1
        ghosts.reserve(queues.count, now: gone)
        let wentAt = ghosts.take(record.hash, now: gone)
        if let wentAt, gone &- wentAt <= UInt32(truncatingIfNeeded: queues.count) {
            queues.insert(place, weight: weight, record: record, in: Self.main)
            returned = place
        } else {
            let isLarge = queues.count > 0 && weight > sizer.window(queues)
            queues.insert(place, weight: weight, record: record, in: Self.small, asOldest: isLarge)
        }
        guard sizer.isFilling(queues) else { return }
        let window = sizer.window(queues)
        for _ in 0..<2 where queues.weights[Self.small] > window {
            if let oldest = queues.oldest(Self.small) { queues.move(oldest, to: Self.main) }
        }
    }

    mutating func used(_ place: Int) {
        if queues.list(of: place) != nil, queues[place].uses < 3 { queues[place].uses += 1 }
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
        while let oldest = queues.oldest(Self.small), queues.weights[Self.small] > window {
            guard queues[oldest].uses > 1 else {
                gone &+= 1
                ghosts.insert(queues[oldest].hash, at: gone)
                queues.remove(oldest)
                return oldest
            }
            queues[oldest].uses = 0
            queues.move(oldest, to: Self.main)
        }
        while let oldest = queues.oldest(Self.main) {
            guard queues[oldest].uses > 0 else {
                // The entry that has just returned is not the one to evict, whatever its weight is.
                let next = oldest == returned ? queues.oldest(Self.small) ?? oldest : oldest
                queues.remove(next)
                return next
            }
            queues[oldest].uses -= 1
            queues.move(oldest, to: Self.main)
        }
        let oldest = queues.oldest(Self.small)
        if let oldest { queues.remove(oldest) }
        return oldest
    }
}
