import LarderCore

/// The keys of a sample that ``Trials`` know, by hash.
struct SampledKeys: Sendable {
    struct Key: Sendable {
        var hash: UInt32 = 0
        /// The time of its last request.
        var last: UInt32 = 0
        var weight: UInt32 = 0
        var next: Int16 = 0
        /// The number of trials that keep it; negative if this number stands for no key.
        var trialCount: Int8 = 0
    }

    /// The keys by number. The first two are not keys: trials use their numbers for the ends of lists.
    var keys = [Key](repeating: Key(), count: SampledKeys.first)
    private var heads = [Int16](repeating: 0, count: 16)
    private var free: [Int16] = []
    private var hand = SampledKeys.first

    static let first = 2

    /// The number of known keys.
    var count: Int { keys.count - Self.first - free.count }

    /// Returns the number of a key, or nil if it is not known.
    func find(_ hash: UInt32) -> Int? {
        var number = Int(heads[Int(hash) & (heads.count - 1)])
        while number != 0 {
            if keys[number].hash == hash { return number }
            number = Int(keys[number].next)
        }
        return nil
    }

    /// Adds a key and returns its number. If `limit` keys are known, first removes a key that no trial keeps, if one of
    /// the next 24 is such a key.
    mutating func add(_ hash: UInt32, weight: UInt32, limit: Int) -> Int {
        if free.isEmpty, keys.count - Self.first >= limit { forgetOne() }
        let key = Key(hash: hash, weight: weight)
        let number: Int
        if let last = free.popLast() {
            number = Int(last)
            keys[number] = key
        } else {
            number = keys.count
            keys.append(key)
            if keys.count > heads.count { rehash() }
        }
        link(number)
        return number
    }

    /// Removes a key that no trial keeps.
    mutating func remove(_ number: Int) {
        let bucket = Int(keys[number].hash) & (heads.count - 1)
        var other = Int(heads[bucket])
        if other == number {
            heads[bucket] = keys[number].next
        } else {
            while keys[other].next != number { other = Int(keys[other].next) }
            keys[other].next = keys[number].next
        }
        keys[number] = Key()
        keys[number].trialCount = -1
        free.append(Int16(number))
    }

    private mutating func forgetOne() {
        for _ in 0..<24 {
            hand = hand + 1 < keys.count ? hand + 1 : Self.first
            if keys[hand].trialCount == 0 { return remove(hand) }
        }
    }

    private mutating func link(_ number: Int) {
        let bucket = Int(keys[number].hash) & (heads.count - 1)
        keys[number].next = heads[bucket]
        heads[bucket] = Int16(number)
    }

    private mutating func rehash() {
        heads = Array(repeating: 0, count: heads.count * 2)
        for number in Self.first..<keys.count - 1 where keys[number].trialCount >= 0 { link(number) }
    }
}
