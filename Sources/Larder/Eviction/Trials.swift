/// Small stores that keep nothing, each of which forgets in another way: what each way would have found is seen on a
/// sample of the keys.
///
/// All see the same keys, so what is compared are the few uses that one finds and another does not. The share of keys
/// halves whenever the trials would grow beyond a few hundred entries, or a thousand once that share is very small; a small
/// store is tried out in full.
struct Trials: Sendable {
    /// A way of forgetting.
    struct Choice: Sendable {
        /// The window's part of the whole.
        var share: Double
        /// How many uses in the window are worth a place in the main part.
        var threshold: UInt8
        /// How many uses in the main part count, each of which is worth another round.
        var most: UInt8
    }

    /// The ways there are; the first is the one to begin with.
    static let choices = [
        Choice(share: 0.03, threshold: 1, most: 3), Choice(share: 0.01, threshold: 1, most: 3),
        Choice(share: 0.15, threshold: 1, most: 3), Choice(share: 0.3, threshold: 2, most: 3),
        Choice(share: 0.6, threshold: 1, most: 3), Choice(share: 0.03, threshold: 1, most: 1),
        Choice(share: 0.3, threshold: 1, most: 1),
    ]

    private var sample = SampledKeys()
    private var ranking = Ranking(count: Trials.choices.count)
    private var arms = Trials.choices.map { TrialRun.Arm(choice: $0) }
    /// For each key, where it is in each trial; the keys 0 and 1 are the ends of the trial's window and main part.
    private var links: [TrialRun.Link]
    private var now: UInt32 = 0
    private var shift: UInt32 = 0
    private var mask: UInt32 = 0

    /// How many entries a trial may keep: more where so few of the keys are seen that it costs nothing.
    private var most: Int { shift < 7 ? 256 : 1_024 }

    init() {
        let ends = (0..<2).map { TrialRun.Link(newer: $0, older: $0, list: UInt8($0)) }
        links = ends.flatMap { Array(repeating: $0, count: Trials.choices.count) }
    }

    /// Whether every key belongs to the sample.
    var seesAll: Bool { mask == 0 }

    /// Whether a key belongs to the sample.
    func isSampled(_ hash: UInt32) -> Bool { (hash &* 0x9E37_79B1) & mask == 0 }

    /// A key of the sample was asked for. `room` is how much the whole store keeps, `Int.max` while it is not full.
    ///
    /// - Returns: another way of forgetting, when that has turned out to be better.
    mutating func saw(_ hash: UInt32, weight: UInt32, room: Int) -> Choice? {
        let isFull = room != .max
        let room = room >> Int(shift)
        // What is too large for the trials fits in none of them.
        guard Int(weight) <= room else { return nil }
        now &+= 1
        let known = sample.find(hash)
        let key = known ?? sample.add(hash, weight: weight, limit: 16 + 5 * arms[0].count)
        while links.count < sample.keys.count * arms.count { links.append(TrialRun.Link()) }
        let before = known.map { sample.keys[$0].last }
        sample.keys[key].last = now
        sample.keys[key].isFresh = true
        let found = run { $0.saw(key, before: before, room: room, isFull: isFull) }
        // Entries of very different weights may be few in one trial and many in another.
        if arms[0].count > most || sample.count > 8 * most { halve() }
        guard isFull else { return nil }
        ranking.record(found)
        if Int(now) % max(16, arms[0].count) == 0 { ranking.fade() }
        guard now & 127 == 0, ranking.decide(notBefore: arms[0].count / 2) else { return nil }
        return arms[ranking.leader].choice
    }

    /// Half of the keys are seen no more.
    private mutating func halve() {
        shift += 1
        mask = mask >> 1 | 1 << 31
        for key in SampledKeys.first..<sample.keys.count where !isSampled(sample.keys[key].hash) {
            guard sample.keys[key].keepers >= 0 else { continue }
            run { $0.drop(key) }
            sample.remove(key)
        }
    }

    /// Does something with the trials, whose arrays are looked at some hundred times for each key: checking each time that
    /// nobody shares them took longer than all the rest.
    private mutating func run<Result>(_ body: (TrialRun) -> Result) -> Result {
        links.withUnsafeMutableBufferPointer { links in
            arms.withUnsafeMutableBufferPointer { arms in
                sample.keys.withUnsafeMutableBufferPointer { keys in
                    body(TrialRun(links: links, arms: arms, keys: keys))
                }
            }
        }
    }
}
