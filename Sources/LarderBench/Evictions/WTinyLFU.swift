extension KnownEvictions {
    /// After Einziger, Friedman and Manes (ACM ToS 2017), with a hundredth of the store for new keys and four fifths of
    /// the rest for keys that were used twice.
    ///
    /// The frequencies are exact, not a sketch. They are halved after ten requests for each place of the store.
    struct WTinyLFU: KnownEviction {
        private var lists: KeyLists
        private let capacity: Int
        private var frequency: [UInt8]
        private var requests = 0

        private static let window = 0
        private static let probation = 1
        private static let protected = 2

        init(keys: Int, capacity: Int) {
            (lists, self.capacity) = (KeyLists(3, keys: keys), capacity)
            frequency = Array(repeating: 0, count: keys)
        }

        mutating func request(_ key: Int) -> Bool {
            count(key)
            let list = lists.list(of: key)
            guard let list else {
                lists.push(key, to: Self.window)
                makeRoom()
                return false
            }
            lists.push(key, to: list == Self.window ? Self.window : Self.protected)
            let most = (capacity - max(1, capacity / 100)) * 4 / 5
            if lists.counts[Self.protected] > most, let oldest = lists.oldest(Self.protected) {
                lists.push(oldest, to: Self.probation)
            }
            return true
        }

        private mutating func makeRoom() {
            guard lists.counts[Self.window] > max(1, capacity / 100), let new = lists.oldest(Self.window) else {
                return
            }
            guard lists.counts.reduce(0, +) > capacity else { return lists.push(new, to: Self.probation) }
            let victim = lists.oldest(Self.probation) ?? lists.oldest(Self.protected)
            guard let victim, frequency[new] > frequency[victim] else { return lists.remove(new) }
            lists.remove(victim)
            lists.push(new, to: Self.probation)
        }

        private mutating func count(_ key: Int) {
            if frequency[key] < 15 { frequency[key] += 1 }
            requests += 1
            guard requests >= 10 * capacity else { return }
            for key in frequency.indices { frequency[key] /= 2 }
            requests /= 2
        }
    }
}
