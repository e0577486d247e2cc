extension KnownEvictions {
    struct LRU: KnownEviction {
        private var lists: KeyLists
        private let capacity: Int

        init(keys: Int, capacity: Int) {
            (lists, self.capacity) = (KeyLists(keys: keys), capacity)
        }

        mutating func request(_ key: Int) -> Bool {
            let isHit = lists.list(of: key) != nil
            lists.push(key)
            if lists.counts[0] > capacity { lists.removeOldest() }
            return isHit
        }
    }

    struct FIFO: KnownEviction {
        private var lists: KeyLists
        private let capacity: Int

        init(keys: Int, capacity: Int) {
            (lists, self.capacity) = (KeyLists(keys: keys), capacity)
        }

        mutating func request(_ key: Int) -> Bool {
            if lists.list(of: key) != nil { return true }
            lists.push(key)
            if lists.counts[0] > capacity { lists.removeOldest() }
            return false
        }
    }

    /// A queue in which a used key gets another turn.
    struct Clock: KnownEviction {
        private var lists: KeyLists
        private let capacity: Int
        private var isUsed: [Bool]

        init(keys: Int, capacity: Int) {
            (lists, self.capacity) = (KeyLists(keys: keys), capacity)
            isUsed = Array(repeating: false, count: keys)
        }

        mutating func request(_ key: Int) -> Bool {
            isUsed[key] = lists.list(of: key) != nil
            if isUsed[key] { return true }
            while lists.counts[0] >= capacity, let oldest = lists.removeOldest() {
                guard isUsed[oldest] else { break }
                isUsed[oldest] = false
                lists.push(oldest)
            }
            lists.push(key)
            return false
        }
    }

    /// After Zhang, Yang, Yue, Vigfusson and Rashmi (NSDI 2024).
    struct Sieve: KnownEviction {
        private var lists: KeyLists
        private let capacity: Int
        private var isUsed: [Bool]
        private var hand: Int?

        init(keys: Int, capacity: Int) {
            (lists, self.capacity) = (KeyLists(keys: keys), capacity)
            isUsed = Array(repeating: false, count: keys)
        }

        mutating func request(_ key: Int) -> Bool {
            isUsed[key] = lists.list(of: key) != nil
            if isUsed[key] { return true }
            if lists.counts[0] >= capacity {
                while let next = hand ?? lists.oldest() {
                    hand = lists.following(next)
                    guard isUsed[next] else {
                        lists.remove(next)
                        break
                    }
                    isUsed[next] = false
                }
            }
            lists.push(key)
            return false
        }
    }

    /// Counts uses only while a key is in the store. Of equal counts, the least recently used key is evicted.
    struct LFU: KnownEviction {
        /// A list for each number of uses up to the most that are told apart.
        private var lists: KeyLists
        private let capacity: Int
        private var least = 0

        private static let most = 20_000

        init(keys: Int, capacity: Int) {
            (lists, self.capacity) = (KeyLists(Self.most, keys: keys), capacity)
        }

        private var count = 0

        mutating func request(_ key: Int) -> Bool {
            if let uses = lists.list(of: key) {
                lists.push(key, to: min(uses + 1, Self.most - 1))
                return true
            }
            if count == capacity {
                while lists.counts[least] == 0 { least += 1 }
                lists.removeOldest(least)
            } else {
                count += 1
            }
            lists.push(key, to: 0)
            least = 0
            return false
        }
    }
}
