/// Small stores that keep nothing, each of which forgets in another way: what each way would have found is seen on a
/// sample of the keys.
///
/// All see the same keys, so what is compared are the few uses that one finds and another does not. The share of keys
/// halves whenever the trials would grow beyond a few hundred entries; a small store is tried out in full.
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

    /// Where a key is in a trial.
    private struct Link: Sendable {
        var newer: Int16 = 0
        var older: Int16 = 0
        var list = Trials.none
        var uses: UInt8 = 0
    }

    /// What a trial keeps.
    private struct Arm: Sendable {
        var choice: Choice
        var window = 0
        var main = 0
        var count = 0
    }

    private var sample = SampledKeys()
    private var ranking = Ranking(count: Trials.choices.count)
    private var arms = Trials.choices.map { Arm(choice: $0) }
    /// For each key, where it is in each trial; the keys 0 and 1 are the ends of the trial's window and main part.
    private var links: [Link]
    private var now: UInt32 = 0
    private var shift: UInt32 = 0
    private var mask: UInt32 = 0

    private static let (window, main, none): (UInt8, UInt8, UInt8) = (0, 1, 2)
    private static let mostEntries = 256

    init() {
        let ends = (0..<2).map { Link(newer: $0, older: $0, list: UInt8($0)) }
        links = ends.flatMap { Array(repeating: $0, count: Trials.choices.count) }
    }

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
        while links.count < sample.keys.count * arms.count { links.append(Link()) }
        let before = known.map { sample.keys[$0].last }
        sample.keys[key].last = now
        sample.keys[key].isFresh = true
        var found = 0
        for number in arms.indices {
            let index = key * arms.count + number
            let list = links[index].list
            if list == Self.none {
                insert(key, before: before, in: number, isFull: isFull)
                while arms[number].window + arms[number].main > room { makeRoom(number) }
            } else {
                found |= 1 << number
                let most = list == Self.main ? arms[number].choice.most : 3
                if links[index].uses < most { links[index].uses += 1 }
            }
        }
        if arms[0].count > Self.mostEntries { halve() }
        guard isFull else { return nil }
        ranking.record(found)
        if Int(now) % max(16, arms[0].count) == 0 { ranking.fade() }
        guard now & 127 == 0, ranking.decide(notBefore: arms[0].count / 2) else { return nil }
        return arms[ranking.leader].choice
    }

    private mutating func insert(_ key: Int, before: UInt32?, in number: Int, isFull: Bool) {
        arms[number].count += 1
        sample.keys[key].keepers += 1
        links[key * arms.count + number].uses = 0
        let weight = Int(sample.keys[key].weight)
        if let before, victim(number).map({ before.isAfter(sample.keys[$0].last) }) ?? true {
            return link(key, number, Self.main)
        }
        link(key, number, Self.window, asOldest: weight > windowRoom(number))
        guard !isFull, arms[number].window > windowRoom(number) else { return }
        if let oldest = oldest(Self.window, number) { move(oldest, number) }
    }

    private mutating func makeRoom(_ number: Int) {
        guard let oldest = oldest(Self.window, number) else { return victim(number).map { drop($0, number) } ?? () }
        if arms[number].window <= windowRoom(number), let victim = victim(number) { return drop(victim, number) }
        let isUsed = links[oldest * arms.count + number].uses >= arms[number].choice.threshold
        isUsed ? move(oldest, number) : drop(oldest, number)
    }

    private func windowRoom(_ number: Int) -> Int {
        let arm = arms[number]
        return max(Int(Double(arm.window + arm.main) * arm.choice.share), (arm.window + arm.main) / max(1, arm.count))
    }

    private mutating func victim(_ number: Int) -> Int? {
        while let oldest = oldest(Self.main, number) {
            let uses = min(links[oldest * arms.count + number].uses, arms[number].choice.most)
            guard uses > 0 else { return oldest }
            unlink(oldest, number)
            link(oldest, number, Self.main)
            links[oldest * arms.count + number].uses = uses - 1
        }
        return nil
    }

    private mutating func move(_ key: Int, _ number: Int) {
        unlink(key, number)
        link(key, number, Self.main)
        links[key * arms.count + number].uses = 0
    }

    private mutating func drop(_ key: Int, _ number: Int) {
        unlink(key, number)
        links[key * arms.count + number].list = Self.none
        sample.keys[key].keepers -= 1
        arms[number].count -= 1
    }

    /// Half of the keys are seen no more.
    private mutating func halve() {
        shift += 1
        mask = mask >> 1 | 1 << 31
        for key in SampledKeys.first..<sample.keys.count where !isSampled(sample.keys[key].hash) {
            guard sample.keys[key].keepers >= 0 else { continue }
            for number in arms.indices where links[key * arms.count + number].list != Self.none { drop(key, number) }
            sample.remove(key)
        }
    }

    // MARK: Lists

    private func oldest(_ list: UInt8, _ number: Int) -> Int? {
        let oldest = Int(links[Int(list) * arms.count + number].newer)
        return oldest == Int(list) ? nil : oldest
    }

    private mutating func link(_ key: Int, _ number: Int, _ list: UInt8, asOldest: Bool = false) {
        let end = Int(list)
        let older = asOldest ? end : Int(links[end * arms.count + number].older)
        let newer = Int(links[older * arms.count + number].newer)
        links[key * arms.count + number].older = Int16(older)
        links[key * arms.count + number].newer = Int16(newer)
        links[key * arms.count + number].list = list
        links[older * arms.count + number].newer = Int16(key)
        links[newer * arms.count + number].older = Int16(key)
        weigh(Int(sample.keys[key].weight), list, number)
    }

    private mutating func unlink(_ key: Int, _ number: Int) {
        let link = links[key * arms.count + number]
        links[Int(link.older) * arms.count + number].newer = link.newer
        links[Int(link.newer) * arms.count + number].older = link.older
        weigh(-Int(sample.keys[key].weight), link.list, number)
    }

    private mutating func weigh(_ weight: Int, _ list: UInt8, _ number: Int) {
        if list == Self.main { arms[number].main += weight } else { arms[number].window += weight }
    }
}
