import LarderCore

/// A table that remembers a time for each evicted entry, in four bytes: half of its hash and half of the time.
///
/// The table has small buckets, each ordered from the newest ghost to the oldest. A new ghost replaces the oldest. About one
/// lookup in 10,000 mistakes another key for a remembered one. The only cost is a wrong guess.
struct RecentlyEvicted: Sendable {
    private static let width = 8

    /// The ghosts, each with a tag above and a time below; 0 is empty. The lowest bit of a tag is always set.
    private var slots = [UInt32](repeating: 0, count: RecentlyEvicted.width)
    private var buckets: UInt32 = 1
    /// The logarithm of the unit of time, to the base 2. The unit is coarse enough that times fit in 16 bits.
    private var grain: UInt32 = 0
    /// The number of entries that a store may have before the table grows.
    private var entries = 0
    private let perEntry: Double

    /// Makes an empty table. It grows to hold between `perEntry` and twice as many ghosts for each entry of a store.
    init(perEntry: Double) {
        self.perEntry = perEntry
    }

    /// Makes room for the ghosts of a store with this number of entries.
    mutating func reserve(_ entries: Int, now: UInt32) {
        guard entries > self.entries else { return }
        while Double(slots.count) < Double(entries) * perEntry {
            // Each ghost of a bucket now belongs to one of two buckets. It is copied to both, and the wrong copy ages
            // away.
            slots += slots
            buckets *= 2
        }
        self.entries = Int(Double(slots.count) / perEntry)
        let coarser = UInt32(max(0, Int.bitWidth - self.entries.leadingZeroBitCount - 7))
        guard coarser > grain else { return }
        for index in slots.indices where slots[index] != 0 {
            let time = time(of: slots[index], now: now)
            slots[index] = slots[index] & 0xFFFF_0000 | (time >> coarser) & 0xFFFF
        }
        grain = coarser
    }

    /// Remembers a time for an evicted entry.
    mutating func insert(_ hash: UInt32, at time: UInt32) {
        let (start, tag) = place(of: hash)
        var moved = tag | (time >> grain) & 0xFFFF
        for index in start..<start + Self.width {
            swap(&slots[index], &moved)
            // A slot that was empty or held the same entry ends the move.
            if moved == 0 || moved & 0xFFFF_0000 == tag { return }
        }
    }

    /// Forgets an entry and returns the time that was remembered for it, or nil if there was none. The time is rounded
    /// down.
    mutating func take(_ hash: UInt32, now: UInt32) -> UInt32? {
        let (start, tag) = place(of: hash)
        for index in start..<start + Self.width where slots[index] & 0xFFFF_0000 == tag {
            let time = time(of: slots[index], now: now)
            slots[index] = 0
            return time
        }
        return nil
    }

    private func time(of slot: UInt32, now: UInt32) -> UInt32 {
        let current = now >> grain
        return (current &- ((current &- slot) & 0xFFFF)) << grain
    }

    private func place(of hash: UInt32) -> (start: Int, tag: UInt32) {
        (Int(hash & (buckets - 1)) * Self.width, hash & 0xFFFF_0000 | 0x1_0000)
    }
}

extension UInt32 {
    /// Makes the half of a key's hash that evictions keep. All of its bits are mixed, so any of them can be used.
    init(stirring hash: Int) {
        var bits = UInt64(bitPattern: Int64(hash))
        bits = (bits ^ bits >> 32) &* 0xD6E8_FEB8_6659_FD93
        bits = (bits ^ bits >> 32) &* 0xD6E8_FEB8_6659_FD93
        self = UInt32(truncatingIfNeeded: bits >> 32)
    }

    /// Returns whether this time is later than another. The times are counts of uses, which wrap around after 4
    /// billion.
    func isAfter(_ other: UInt32) -> Bool { Int32(bitPattern: self &- other) > 0 }
}
