extension KnownEvictions {
    /// After Megiddo and Modha (FAST 2003).
    struct ARC: KnownEviction {
        private var lists: KeyLists
        private let capacity: Int
        /// The number of keys that the list of recent keys should have.
        private var target = 0

        private static let recent = 0
        private static let frequent = 1
        private static let recentGhosts = 2
        private static let frequentGhosts = 3

        init(keys: Int, capacity: Int) {
            (lists, self.capacity) = (KeyLists(4, keys: keys), capacity)
        }

        mutating func request(_ key: Int) -> Bool {
            let list = lists.list(of: key)
            let (recentGhosts, frequentGhosts) = (lists.counts[Self.recentGhosts], lists.counts[Self.frequentGhosts])
            switch list {
            case Self.recent, Self.frequent:
                lists.push(key, to: Self.frequent)
                return true
            case Self.recentGhosts:
                target = min(capacity, target + max(1, frequentGhosts / recentGhosts))
            case Self.frequentGhosts:
                target = max(0, target - max(1, recentGhosts / frequentGhosts))
            default:
                insert(key)
                return false
            }
            replace(isFrequentGhost: list == Self.frequentGhosts)
            lists.push(key, to: Self.frequent)
            return false
        }

        private mutating func insert(_ key: Int) {
            let all = lists.counts.reduce(0, +)
            if lists.counts[Self.recent] + lists.counts[Self.recentGhosts] == capacity {
                if lists.counts[Self.recent] < capacity {
                    lists.removeOldest(Self.recentGhosts)
                    replace(isFrequentGhost: false)
                } else {
                    lists.removeOldest(Self.recent)
                }
            } else if all >= capacity {
                if all == 2 * capacity { lists.removeOldest(Self.frequentGhosts) }
                replace(isFrequentGhost: false)
            }
            lists.push(key, to: Self.recent)
        }

        private mutating func replace(isFrequentGhost: Bool) {
            let recent = lists.counts[Self.recent]
            let isRecent = recent > 0 && (recent > target || isFrequentGhost && recent == target)
            if !isRecent, let oldest = lists.oldest(Self.frequent) {
                lists.push(oldest, to: Self.frequentGhosts)
            } else if let oldest = lists.oldest(Self.recent) {
                lists.push(oldest, to: Self.recentGhosts)
            }
        }
    }

    /// After Johnson and Shasha (VLDB 1994), with a quarter of the store for new keys and ghosts for half of it.
    struct TwoQueues: KnownEviction {
        private var lists: KeyLists
        private let capacity: Int

        private static let new = 0
        private static let main = 1
        private static let ghosts = 2

        init(keys: Int, capacity: Int) {
            (lists, self.capacity) = (KeyLists(3, keys: keys), capacity)
        }

        mutating func request(_ key: Int) -> Bool {
            let list = lists.list(of: key)
            if list == Self.main { lists.push(key, to: Self.main) }
            if list == Self.main || list == Self.new { return true }
            lists.remove(key)
            if lists.counts[Self.new] + lists.counts[Self.main] >= capacity { makeRoom() }
            lists.push(key, to: list == Self.ghosts ? Self.main : Self.new)
            return false
        }

        private mutating func makeRoom() {
            guard lists.counts[Self.new] > max(1, capacity / 4) || lists.counts[Self.main] == 0 else {
                lists.removeOldest(Self.main)
                return
            }
            if let oldest = lists.oldest(Self.new) { lists.push(oldest, to: Self.ghosts) }
            if lists.counts[Self.ghosts] > max(1, capacity / 2) { lists.removeOldest(Self.ghosts) }
        }
    }

    /// After Yang, Zhang, Qiu, Yue and Rashmi (SOSP 2023), with a tenth of the store for new keys.
    struct S3FIFO: KnownEviction {
        private var lists: KeyLists
        private let capacity: Int
        private let smallCapacity: Int
        private var uses: [UInt8]

        private static let small = 0
        private static let main = 1
        private static let ghosts = 2

        init(keys: Int, capacity: Int) {
            (lists, self.capacity) = (KeyLists(3, keys: keys), capacity)
            smallCapacity = max(1, capacity / 10)
            uses = Array(repeating: 0, count: keys)
        }

        mutating func request(_ key: Int) -> Bool {
            let list = lists.list(of: key)
            if list == Self.small || list == Self.main {
                uses[key] = min(3, uses[key] + 1)
                return true
            }
            lists.remove(key)
            while lists.counts[Self.small] + lists.counts[Self.main] >= capacity {
                if lists.counts[Self.small] >= smallCapacity { evictSmall() } else { evictMain() }
            }
            uses[key] = 0
            lists.push(key, to: list == Self.ghosts ? Self.main : Self.small)
            return false
        }

        private mutating func evictSmall() {
            while let oldest = lists.oldest(Self.small) {
                guard uses[oldest] > 1 else {
                    lists.push(oldest, to: Self.ghosts)
                    if lists.counts[Self.ghosts] > capacity - smallCapacity { lists.removeOldest(Self.ghosts) }
                    return
                }
                uses[oldest] = 0
                lists.push(oldest, to: Self.main)
                if lists.counts[Self.main] > capacity - smallCapacity { return evictMain() }
            }
        }

        private mutating func evictMain() {
            while let oldest = lists.removeOldest(Self.main), uses[oldest] > 0 {
                uses[oldest] -= 1
                lists.push(oldest, to: Self.main)
            }
        }
    }
}
