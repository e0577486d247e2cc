import LarderCore

/// An estimate of how often keys were requested recently, up to 15 times, in 8 bytes for each entry of a store.
///
/// Each key has four counters of four bits, all in one block of 64 bytes. The smallest of the four is the estimate.
/// When ten times as many uses were counted as there are entries, all counters are halved, so that old uses count less.
struct FrequencySketch: Sendable {
    private var words = [UInt64](repeating: 0, count: 8)
    private var counted = 0

    /// Makes room for the keys of a store with this number of entries.
    mutating func reserve(_ entries: Int) {
        // Both halves of the larger table begin with the counts of the smaller one.
        while words.count < entries { words += words }
    }

    /// Returns the estimate for a key.
    func frequency(of hash: UInt32) -> Int {
        var least: UInt64 = 15
        for row in 0..<4 {
            let (word, shift) = place(of: hash, row)
            least = min(least, words[word] >> shift & 15)
        }
        return Int(least)
    }

    /// Counts a use of a key.
    mutating func count(_ hash: UInt32) {
        var isCounted = false
        for row in 0..<4 {
            let (word, shift) = place(of: hash, row)
            guard words[word] >> shift & 15 < 15 else { continue }
            words[word] += 1 << shift
            isCounted = true
        }
        guard isCounted else { return }
        counted += 1
        guard counted >= words.count * 10 else { return }
        for word in words.indices { words[word] = words[word] >> 1 & 0x7777_7777_7777_7777 }
        counted /= 2
    }

    private func place(of hash: UInt32, _ row: Int) -> (word: Int, shift: UInt64) {
        let block = Int(hash) & (words.count / 8 - 1)
        // Other bits choose the counters than the ones that choose the block.
        let bits = hash &* 0x9E37_79B1
        let counter = bits >> UInt32(row * 5 + 12) & 31
        return (block * 8 + row * 2 + Int(counter >> 4), UInt64(counter & 15) * 4)
    }
}
