/// Remembers of entries that are gone when something happened to them, in four bytes each: half a hash and half a time.
///
/// It is a table of small buckets in which the oldest memory makes room for the newest. Another key is taken for one that is
/// remembered about once in ten thousand times, which costs a wrong guess and nothing else.
struct Ghosts: Sendable {
    private static let width = 8

    /// Tag and time; 0 is empty. The tag's lowest bit is always set.
    private var slots = [UInt32](repeating: 0, count: Ghosts.width)
    private var buckets: UInt32 = 1
    /// Times are kept in units of 2 to the power of this: fine enough to compare, coarse enough to fit in 16 bits.
    private var grain: UInt32 = 0
    /// How many entries a store may have before the table grows.
    private var entries = 0
    private let perEntry: Double

    /// An empty table, which grows to hold so many memories for each entry of a store, up to twice as many.
    init(perEntry: Double) {
        self.perEntry = perEntry
    }

    /// Makes room for the memories of a store of so many entries.
    mutating func reserve(_ entries: Int, now: UInt32) {
        guard entries > self.entries else { return }
        while Double(slots.count) < Double(entries) * perEntry {
            // A bucket's memories belong into either of two now: they are put into both, and the wrong ones age away.
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

    /// Remembers an entry that is gone.
    mutating func insert(_ hash: UInt32, at time: UInt32, now: UInt32) {
        let (start, tag) = place(of: hash)
        var (chosen, age) = (start, UInt32(0))
        for index in start..<start + Self.width {
            let slot = slots[index]
            if slot == 0 || slot & 0xFFFF_0000 == tag {
                chosen = index
                break
            }
            let since = ((now >> grain) &- slot) & 0xFFFF
            if since > age { (chosen, age) = (index, since) }
        }
        slots[chosen] = tag | (time >> grain) & 0xFFFF
    }

    /// The time that is remembered of an entry, which then is forgotten; it is a little early rather than late.
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
    /// The half of a key's hash that evictions keep, stirred so that any of its bits will do.
    init(stirring hash: Int) {
        var bits = UInt64(bitPattern: Int64(hash))
        bits = (bits ^ bits >> 32) &* 0xD6E8_FEB8_6659_FD93
        bits = (bits ^ bits >> 32) &* 0xD6E8_FEB8_6659_FD93
        self = UInt32(truncatingIfNeeded: bits >> 32)
    }

    /// Whether this point of time is later than another. Counters of uses begin anew after four thousand million.
    func isAfter(_ other: UInt32) -> Bool { Int32(bitPattern: self &- other) > 0 }
}
