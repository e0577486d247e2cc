import LarderCore

/// The work of ``Trials`` on one key, in the memory of their arrays.
struct TrialRun {
    /// The position of a key in a trial.
    struct Link: Sendable {
        var newer: Int16 = 0
        var older: Int16 = 0
        var list = TrialRun.none
        var uses: UInt8 = 0
    }

    /// A trial: its choice, the weights of its two parts, and the number of its keys.
    struct Trial: Sendable {
        var choice: Trials.Choice
        var window = 0
        var main = 0
        var count = 0
    }

    /// The position of each key in each trial. The keys 0 and 1 are the ends of the trial's window and main part.
    let links: UnsafeMutableBufferPointer<Link>
    let trials: UnsafeMutableBufferPointer<Trial>
    let keys: UnsafeMutableBufferPointer<SampledKeys.Key>

    private static let window: UInt8 = 0
    private static let main: UInt8 = 1
    private static let none: UInt8 = 2

    /// Requests a key in all trials. `lastUse` is the time of the request before, if it is known.
    ///
    /// - Returns: the set of trials that had the key, one bit for each.
    func request(_ key: Int, lastUse: UInt32?, room: Int, isFull: Bool) -> Int {
        var found = 0
        for number in trials.indices {
            let index = key * trials.count + number
            let list = links[index].list
            if list == Self.none {
                insert(key, lastUse: lastUse, in: number, isFull: isFull)
                while trials[number].window + trials[number].main > room { makeRoom(number) }
            } else {
                found |= 1 << number
                let mostUses = list == Self.main ? trials[number].choice.mostUses : 3
                if links[index].uses < mostUses { links[index].uses += 1 }
            }
        }
        return found
    }

    /// Takes a key out of all trials.
    func drop(_ key: Int) {
        for number in trials.indices where links[key * trials.count + number].list != Self.none { drop(key, number) }
    }

    private func insert(_ key: Int, lastUse: UInt32?, in number: Int, isFull: Bool) {
        trials[number].count += 1
        keys[key].trialCount += 1
        links[key * trials.count + number].uses = 0
        let weight = Int(keys[key].weight)
        let isMainUsed = trials[number].choice.share < 1
        if let lastUse, victim(number).map({ lastUse.isAfter(keys[$0].last) }) ?? isMainUsed {
            return link(key, number: number, list: Self.main)
        }
        link(key, number: number, list: Self.window, asOldest: weight > windowRoom(number))
        guard !isFull, trials[number].window > windowRoom(number) else { return }
        if let oldest = oldest(Self.window, number) { move(oldest, number) }
    }

    private func makeRoom(_ number: Int) {
        guard let oldest = oldest(Self.window, number) else { return victim(number).map { drop($0, number) } ?? () }
        if trials[number].window <= windowRoom(number), let victim = victim(number) { return drop(victim, number) }
        let isUsed = links[oldest * trials.count + number].uses >= trials[number].choice.threshold
        isUsed ? move(oldest, number) : drop(oldest, number)
    }

    private func windowRoom(_ number: Int) -> Int {
        let trial = trials[number]
        return max(
            Int(Double(trial.window + trial.main) * trial.choice.share),
            (trial.window + trial.main) / max(1, trial.count))
    }

    private func victim(_ number: Int) -> Int? {
        while let oldest = oldest(Self.main, number) {
            let uses = min(links[oldest * trials.count + number].uses, trials[number].choice.mostUses)
            guard uses > 0 else { return oldest }
            unlink(oldest, number)
            link(oldest, number: number, list: Self.main)
            links[oldest * trials.count + number].uses = uses - 1
        }
        return nil
    }

    private func move(_ key: Int, _ number: Int) {
        unlink(key, number)
        link(key, number: number, list: Self.main)
        links[key * trials.count + number].uses = 0
    }

    private func drop(_ key: Int, _ number: Int) {
        unlink(key, number)
        links[key * trials.count + number].list = Self.none
        keys[key].trialCount -= 1
        trials[number].count -= 1
    }

    // MARK: Lists

    private func oldest(_ list: UInt8, _ number: Int) -> Int? {
        let oldest = Int(links[Int(list) * trials.count + number].newer)
        return oldest == Int(list) ? nil : oldest
    }

    private func link(_ key: Int, number: Int, list: UInt8, asOldest: Bool = false) {
        let end = Int(list)
        let older = asOldest ? end : Int(links[end * trials.count + number].older)
        let newer = Int(links[older * trials.count + number].newer)
        links[key * trials.count + number].older = Int16(older)
        links[key * trials.count + number].newer = Int16(newer)
        links[key * trials.count + number].list = list
        links[older * trials.count + number].newer = Int16(key)
        links[newer * trials.count + number].older = Int16(key)
        weigh(Int(keys[key].weight), list: list, number: number)
    }

    private func unlink(_ key: Int, _ number: Int) {
        let link = links[key * trials.count + number]
        links[Int(link.older) * trials.count + number].newer = link.newer
        links[Int(link.newer) * trials.count + number].older = link.older
        weigh(-Int(keys[key].weight), list: link.list, number: number)
    }

    private func weigh(_ weight: Int, list: UInt8, number: Int) {
        if list == Self.main { trials[number].main += weight } else { trials[number].window += weight }
    }
}
