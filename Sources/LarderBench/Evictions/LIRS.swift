extension KnownEvictions {
    /// After Jiang and Zhang (SIGMETRICS 2002), with a hundredth of the store for keys that return late, and with ghosts
    /// for twice the store.
    struct LIRS: KnownEviction {
        /// The keys by their last request, down to the last key that returns early.
        private var stack: KeyLists
        /// The keys in the store that return late, and the keys of the stack that are not in the store.
        private var queues: KeyLists
        private let capacity: Int
        private let early: Int
        private var isEarly: [Bool]
        private var earlyCount = 0

        private static let late = 0
        private static let ghosts = 1

        init(keys: Int, capacity: Int) {
            (stack, queues) = (KeyLists(keys: keys), KeyLists(2, keys: keys))
            self.capacity = capacity
            early = capacity - max(1, capacity / 100)
            isEarly = Array(repeating: false, count: keys)
        }

        mutating func request(_ key: Int) -> Bool {
            let isInStack = stack.list(of: key) != nil
            if isEarly[key] {
                stack.push(key)
                prune()
                return true
            }
            let isHit = queues.list(of: key) == Self.late
            if !isHit, earlyCount + queues.counts[Self.late] >= capacity { evict() }
            stack.push(key)
            if isInStack || !isHit && earlyCount < early {
                queues.remove(key)
                isEarly[key] = true
                earlyCount += 1
                if earlyCount > early { demote() }
            } else {
                queues.push(key, to: Self.late)
            }
            return isHit
        }

        private mutating func evict() {
            guard let oldest = queues.removeOldest(Self.late), stack.list(of: oldest) != nil else { return }
            queues.push(oldest, to: Self.ghosts)
            if queues.counts[Self.ghosts] > 2 * capacity, let ghost = queues.removeOldest(Self.ghosts) {
                stack.remove(ghost)
            }
        }

        private mutating func demote() {
            guard let oldest = stack.removeOldest() else { return }
            isEarly[oldest] = false
            earlyCount -= 1
            queues.push(oldest, to: Self.late)
            prune()
        }

        private mutating func prune() {
            while let oldest = stack.oldest(), !isEarly[oldest] {
                stack.remove(oldest)
                if queues.list(of: oldest) == Self.ghosts { queues.remove(oldest) }
            }
        }
    }
}
