/// What ``Trials`` do with a key, in their arrays.
struct TrialRun {
    /// Where a key is in a trial.
    struct Link: Sendable {
        var newer: Int16 = 0
        var older: Int16 = 0
        var list = TrialRun.none
        var uses: UInt8 = 0
    }

    /// What a trial keeps.
    struct Arm: Sendable {
        var choice: Trials.Choice
        var window = 0
        var main = 0
        var count = 0
    }

    /// For each key, where it is in each trial; the keys 0 and 1 are the ends of the trial's window and main part.
    let links: UnsafeMutableBufferPointer<Link>
    let arms: UnsafeMutableBufferPointer<Arm>
    let keys: UnsafeMutableBufferPointer<SampledKeys.Key>

    private static let (window, main, none): (UInt8, UInt8, UInt8) = (0, 1, 2)

    /// A key was asked for, and before that at some time.
    ///
    /// - Returns: which of the trials had it, a trial a bit.
    func saw(_ key: Int, before: UInt32?, room: Int, isFull: Bool) -> Int {
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
        return found
    }

    /// Takes a key out of all trials.
    func drop(_ key: Int) {
        for number in arms.indices where links[key * arms.count + number].list != Self.none { drop(key, number) }
    }

    private func insert(_ key: Int, before: UInt32?, in number: Int, isFull: Bool) {
        arms[number].count += 1
        keys[key].keepers += 1
        links[key * arms.count + number].uses = 0
        let weight = Int(keys[key].weight)
        if let before, victim(number).map({ before.isAfter(keys[$0].last) }) ?? true {
            return link(key, number, Self.main)
        }
        link(key, number, Self.window, asOldest: weight > windowRoom(number))
        guard !isFull, arms[number].window > windowRoom(number) else { return }
        if let oldest = oldest(Self.window, number) { move(oldest, number) }
    }

    private func makeRoom(_ number: Int) {
        guard let oldest = oldest(Self.window, number) else { return victim(number).map { drop($0, number) } ?? () }
        if arms[number].window <= windowRoom(number), let victim = victim(number) { return drop(victim, number) }
        let isUsed = links[oldest * arms.count + number].uses >= arms[number].choice.threshold
        isUsed ? move(oldest, number) : drop(oldest, number)
    }

    private func windowRoom(_ number: Int) -> Int {
        let arm = arms[number]
        return max(Int(Double(arm.window + arm.main) * arm.choice.share), (arm.window + arm.main) / max(1, arm.count))
    }

    private func victim(_ number: Int) -> Int? {
        while let oldest = oldest(Self.main, number) {
            let uses = min(links[oldest * arms.count + number].uses, arms[number].choice.most)
            guard uses > 0 else { return oldest }
            unlink(oldest, number)
            link(oldest, number, Self.main)
            links[oldest * arms.count + number].uses = uses - 1
        }
        return nil
    }

    private func move(_ key: Int, _ number: Int) {
        unlink(key, number)
        link(key, number, Self.main)
        links[key * arms.count + number].uses = 0
    }

    private func drop(_ key: Int, _ number: Int) {
        unlink(key, number)
        links[key * arms.count + number].list = Self.none
        keys[key].keepers -= 1
        arms[number].count -= 1
    }

    // MARK: Lists

    private func oldest(_ list: UInt8, _ number: Int) -> Int? {
        let oldest = Int(links[Int(list) * arms.count + number].newer)
        return oldest == Int(list) ? nil : oldest
    }

    private func link(_ key: Int, _ number: Int, _ list: UInt8, asOldest: Bool = false) {
        let end = Int(list)
        let older = asOldest ? end : Int(links[end * arms.count + number].older)
        let newer = Int(links[older * arms.count + number].newer)
        links[key * arms.count + number].older = Int16(older)
        links[key * arms.count + number].newer = Int16(newer)
        links[key * arms.count + number].list = list
        links[older * arms.count + number].newer = Int16(key)
        links[newer * arms.count + number].older = Int16(key)
        weigh(Int(keys[key].weight), list, number)
    }

    private func unlink(_ key: Int, _ number: Int) {
        let link = links[key * arms.count + number]
        links[Int(link.older) * arms.count + number].newer = link.newer
        links[Int(link.newer) * arms.count + number].older = link.older
        weigh(-Int(keys[key].weight), link.list, number)
    }

    private func weigh(_ weight: Int, _ list: UInt8, _ number: Int) {
        if list == Self.main { arms[number].main += weight } else { arms[number].window += weight }
    }
}
