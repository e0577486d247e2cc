import Larder

/// The situations in which an eviction is tested. Each uses a new eviction.
struct EvictionSituations {
    let part: Part
    private(set) var findings = BrokenPromises()

    private typealias Event = EvictionTrial.Event

    mutating func checkAll() throws {
        try checkDraining()
        try checkRemovals()
        try checkTraffic()
        try checkOddNumbers()
        // The following checks compare choices, which makes sense only if the choices are valid.
        if !findings.broken.isEmpty { return }
        try checkUnknownPlaces()
        try checkUsesTogether()
        try checkHistory()
    }

    private mutating func check(_ situation: String, _ run: (inout EvictionTrial) -> Void) throws {
        var trial = EvictionTrial(try part.eviction(), situation)
        run(&trial)
        findings.add(trial.findings.broken)
    }

    private static func hash(_ number: Int) -> Int { number &* 0x1234_5678_9ABC_DEF1 }

    private mutating func checkDraining() throws {
        for count in [0, 1, 2, 7, 400] {
            try check("\(counted(count)) filled, then all are emptied, twice over") { trial in
                for _ in 0..<2 {
                    for number in 0..<count { trial.insert(hash: Self.hash(number)) }
                    trial.drain()
                }
            }
        }
    }

    private mutating func checkRemovals() throws {
        try check("every other place is emptied, and some are filled again") { trial in
            for number in 0..<60 { trial.insert(hash: Self.hash(number)) }
            for place in stride(from: 0, to: 60, by: 2) { trial.remove(place) }
            for number in 100..<110 { trial.insert(hash: Self.hash(number)) }
            for place in [1, 3, 5, 7] { trial.use(place) }
            trial.drain()
        }
        try check("the place that is used most is emptied") { trial in
            for number in 0..<20 { trial.insert(hash: Self.hash(number)) }
            for _ in 0..<9 { trial.use(4) }
            trial.remove(4)
            trial.drain()
        }
        try check("a store is cleared and filled again, over and over") { trial in
            for round in 0..<20 where !trial.isOver {
                for number in 0..<30 { trial.insert(hash: Self.hash(round * 7 + number)) }
                trial.evict()
                for place in trial.filled.sorted() { trial.remove(place) }
            }
            trial.drain()
        }
    }

    private mutating func checkTraffic() throws {
        for (capacity, weight) in [(1, 1), (12, 1), (150, 1), (3_000, 400)] {
            try check("a store of capacity \(capacity) under traffic, entries of up to \(weight)") { trial in
                for event in Self.traffic(seed: UInt64(capacity), weight: weight) where !trial.isOver {
                    trial.report(event)
                    while trial.filled.count > capacity / max(1, weight / 2), !trial.isOver { trial.evict() }
                }
                trial.drain()
            }
        }
    }

    private mutating func checkOddNumbers() throws {
        let hashes: [(String, @Sendable (Int) -> Int)] = [
            ("the same hash for all", { _ in 42 }), ("the hash 0 for all", { _ in 0 }),
            ("the smallest and the largest hashes", { $0 % 2 == 0 ? .min : .max }), ("hashes in a row", { $0 - 50 }),
        ]
        for (name, hash) in hashes {
            try check(name) { trial in
                for number in 0..<200 where !trial.isOver {
                    trial.insert(hash: hash(number))
                    if trial.filled.contains(number % 40) { trial.use(number % 40) }
                    if trial.filled.count > 50 { trial.evict() }
                }
                trial.drain()
            }
        }
        try check("changing weights of zero to a terabyte") { trial in
            let weights = [0, 1, 1 << 40, 7, 0, 1 << 31, 1 << 32, 3]
            for number in 0..<200 where !trial.isOver {
                trial.insert(hash: Self.hash(number), weight: weights[number % weights.count])
                let place = number * 7 % 40
                if trial.filled.contains(place) { trial.change(place, weight: weights[(number + 3) % weights.count]) }
                if trial.filled.count > 50 { trial.evict() }
            }
            trial.drain()
        }
    }

    private mutating func checkUnknownPlaces() throws {
        var plain = EvictionTrial(try part.eviction(), "")
        var told = EvictionTrial(try part.eviction(), "empty places are reported as used, changed and emptied")
        for number in 0..<300 {
            var events: [Event] = [.insert(hash: Self.hash(number * number % 90), weight: 1)]
            if number % 3 == 0 { events.append(.use(number / 3 % 20)) }
            if number > 40 { events.append(.evict) }
            for event in events {
                plain.report(event)
                told.report(event)
            }
        }
        let empty = (0..<400).filter { !told.filled.contains($0) }
        for place in empty { told.remove(place) }
        for place in empty { told.change(place, weight: 9) }
        for place in empty { told.use(place) }
        let before = told.choices.count
        plain.drain()
        told.drain()
        findings.situation = told.findings.situation
        let isSame = plain.choices == told.choices && !told.isOver
        findings.expect(
            isSame, promise: .unknownPlaces, expected: "the same \(told.choices.count - before) places as without it",
            got: "other choices"
        )
    }

    private mutating func checkUsesTogether() throws {
        var single = EvictionTrial(try part.eviction(), "")
        var together = EvictionTrial(try part.eviction(), "many uses are reported at once")
        for number in 0..<400 {
            single.insert(hash: Self.hash(number % 130))
            together.insert(hash: Self.hash(number % 130))
            if number > 60 {
                single.evict()
                together.evict()
            }
            if number % 5 == 0 {
                let used = together.filled.sorted().filter { $0 * 7 % 5 < 2 }
                for place in used { single.use(place) }
                together.use(used)
            }
        }
        single.drain()
        together.drain()
        findings.situation = "many uses are reported at once"
        findings.expect(
            single.choices == together.choices, promise: .usesTogether,
            expected: "the same choices as one after the other",
            got: "other choices")
    }

    private mutating func checkHistory() throws {
        let events = Self.traffic(seed: 5, weight: 1) + Array(repeating: Event.evict, count: 400)
        func choices(beside other: inout EvictionTrial?) throws -> [Int?] {
            var trial = EvictionTrial(try part.eviction(), "")
            for (number, event) in events.enumerated() {
                trial.report(event)
                if trial.filled.count > 100 { trial.evict() }
                other?.report(.insert(hash: number &* 31, weight: 3))
                other?.report(.use(number % 9))
                if number % 2 == 0 { other?.report(.evict) }
            }
            return trial.choices
        }
        var none: EvictionTrial?
        let first = try choices(beside: &none)
        let second = try choices(beside: &none)
        findings.situation = "the same history twice"
        findings.expect(
            first == second, promise: .sameChoices, expected: "the same choices twice", got: "other choices")
        var other: EvictionTrial? = EvictionTrial(try part.eviction(), "")
        let third = try choices(beside: &other)
        findings.situation = "a second store uses another instance"
        findings.expect(
            first == third || first != second, promise: .ownState, expected: "the same choices as alone",
            got: "other choices")
    }

    /// Returns the calls of a store whose entries differ in popularity.
    private static func traffic(seed: UInt64, weight: Int) -> [Event] {
        var dice = SeededGenerator(seed: seed)
        return (0..<2_500).map { _ in
            let place = dice.roll(dice.roll(2) == 0 ? 20 : 160)
            return switch dice.roll(20) {
            case 0..<9: .insert(hash: hash(dice.roll(dice.roll(2) == 0 ? 30 : 500)), weight: 1 + dice.roll(weight))
            case 9..<16: .use(place)
            case 16..<18: .change(place, weight: 1 + dice.roll(weight))
            case 18: .remove(place)
            default: .evict
            }
        }
    }

    private func counted(_ count: Int) -> String { count == 1 ? "one place is" : "\(count) places are" }
}
