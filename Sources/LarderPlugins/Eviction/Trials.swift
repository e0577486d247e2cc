import LarderCore

/// Small simulated stores, each with another rule of eviction, that show on a sample of the keys how many hits each
/// rule would have.
///
/// All trials see the same keys, so only the requests that one trial finds and another does not are compared. The share
/// of sampled keys is halved whenever a trial would keep more than 256 entries, or 2,048 once the share is below 2 %. A
/// small store is simulated completely.
struct Trials: Sendable {
    /// A rule of eviction.
    struct Choice: Sendable {
        /// The window's share of the store.
        var share: Double
        /// The number of uses in the window that an entry needs to enter the main part.
        var threshold: UInt8
        /// The largest number of uses in the main part that count. Each gives the entry another turn.
        var mostUses: UInt8
    }

    /// All rules. An eviction begins with the first one.
    static let choices = [
        Choice(share: 0.01, threshold: 1, mostUses: 3), Choice(share: 0.01, threshold: 1, mostUses: 1),
        Choice(share: 0.1, threshold: 2, mostUses: 3), Choice(share: 0.15, threshold: 1, mostUses: 3),
        Choice(share: 0.6, threshold: 1, mostUses: 3), Choice(share: 1, threshold: 1, mostUses: 1),
    ]

    private var sample = SampledKeys()
    private var ranking = Ranking(count: Trials.choices.count)
    private var trials = Trials.choices.map { TrialRun.Trial(choice: $0) }
    /// The position of each key in each trial. The keys 0 and 1 are the ends of the trial's window and main part.
    private var links: [TrialRun.Link]
    private var now: UInt32 = 0
    /// The number of requests since results were last made to count less.
    private var sinceFade = 0
    private var shift: UInt32 = 0
    private var mask: UInt32 = 0

    /// The number of entries that a trial may keep. It is larger once the sample is so small that trials cost almost
    /// nothing.
    private var capacity: Int { shift < 6 ? 256 : 2_048 }

    init() {
        let ends = (0..<2).map { TrialRun.Link(newer: $0, older: $0, list: UInt8($0)) }
        links = ends.flatMap { Array(repeating: $0, count: Trials.choices.count) }
    }

    /// Whether all keys belong to the sample.
    var seesAll: Bool { mask == 0 }

    /// Returns whether a key belongs to the sample.
    func isSampled(_ hash: UInt32) -> Bool { (hash &* 0x9E37_79B1) & mask == 0 }

    /// Requests a key of the sample in all trials.
    ///
    /// - Parameter room: the capacity of the whole store; `Int.max` while the store is not full.
    /// - Returns: another rule, if it has proved to be better.
    mutating func request(_ hash: UInt32, weight: UInt32, room: Int) -> Choice? {
        let isFull = room != .max
        let room = room >> Int(shift)
        // An entry that is larger than a trial's capacity fits into none of them.
        guard Int(weight) <= room else { return nil }
        now &+= 1
        let known = sample.find(hash)
        let key = known ?? sample.add(hash, weight: weight, limit: 16 + 6 * trials[0].count)
        while links.count < sample.keys.count * trials.count { links.append(TrialRun.Link()) }
        let lastUse = known.map { sample.keys[$0].last }
        sample.keys[key].last = now
        let found = run { $0.request(key, lastUse: lastUse, room: room, isFull: isFull) }
        // Entries of very different weights may be few in one trial and many in another.
        if trials[0].count > capacity || sample.count > 8 * capacity { halve() }
        guard isFull else { return nil }
        ranking.record(found)
        sinceFade += 1
        if sinceFade >= max(16, trials[0].count) {
            sinceFade = 0
            ranking.fade()
        }
        guard now & 31 == 0, ranking.decide() else { return nil }
        return trials[ranking.leader].choice
    }

    /// Removes half of the keys from the sample.
    private mutating func halve() {
        shift += 1
        mask = mask >> 1 | 1 << 31
        for key in SampledKeys.first..<sample.keys.count where !isSampled(sample.keys[key].hash) {
            guard sample.keys[key].trialCount >= 0 else { continue }
            run { $0.drop(key) }
            sample.remove(key)
        }
    }

    /// Runs `body` with pointers to the arrays. Each key needs about a hundred accesses, and checking each time whether
    /// the array is shared took longer than all other work.
    private mutating func run<Result>(_ body: (TrialRun) -> Result) -> Result {
        links.withUnsafeMutableBufferPointer { links in
            trials.withUnsafeMutableBufferPointer { trials in
                sample.keys.withUnsafeMutableBufferPointer { keys in
                    body(TrialRun(links: links, trials: trials, keys: keys))
                }
            }
        }
    }
}
