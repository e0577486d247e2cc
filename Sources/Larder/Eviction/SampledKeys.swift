/// The keys that trials know of, by hash.
struct SampledKeys: Sendable {
    struct Key: Sendable {
        var hash: UInt32 = 0
        /// When it was last asked for.
        var last: UInt32 = 0
        var weight: UInt32 = 0
        var next: Int16 = 0
        /// How many of the trials keep it.
        var keepers: Int8 = 0
        /// Whether it was asked for since it was last considered for being forgotten.
        var isFresh = false
    }

    /// The first two are no keys: trials use their numbers for the ends of lists.
    var keys = [Key](repeating: Key(), count: SampledKeys.first)
    private var heads = [Int16](repeating: 0, count: 16)
    private var free: [Int16] = []
    private var hand = SampledKeys.first

    static let first = 2

    /// How many keys are known.
    var count: Int { keys.count - Self.first - free.count }

    /// The number of a key; nil for one that is not known.
    func find(_ hash: UInt32) -> Int? {
        var number = Int(heads[Int(hash) & (heads.count - 1)])
        while number != 0 {
            if keys[number].hash == hash { return number }
            number = Int(keys[number].next)
        }
        return nil
    }

    /// Takes a key in. When there are more than so many, one that no trial keeps is forgotten, if there is one near.
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

    /// Forgets a key that no trial keeps.
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
        keys[number].keepers = -1
        free.append(Int16(number))
    }

    private mutating func forgetOne() {
        for _ in 0..<24 {
            hand = hand + 1 < keys.count ? hand + 1 : Self.first
            guard keys[hand].keepers == 0 else { continue }
            if !keys[hand].isFresh { return remove(hand) }
            keys[hand].isFresh = false
        }
    }

    private mutating func link(_ number: Int) {
        let bucket = Int(keys[number].hash) & (heads.count - 1)
        keys[number].next = heads[bucket]
        heads[bucket] = Int16(number)
    }

    private mutating func rehash() {
        heads = Array(repeating: 0, count: heads.count * 2)
        for number in Self.first..<keys.count - 1 where keys[number].keepers >= 0 { link(number) }
    }
}
