import LarderSystem

/// Remembers keys whose copies a full store has evicted, to tell at a later miss how much capacity the store lacked.
///
/// It holds no keys but a sample of their hashes, in bounded memory. It assumes that the store first evicts the copies
/// with the longest time since their last use. This is roughly true for every eviction.
final class EvictedKeys: Sendable {
    /// A copy that was evicted and is asked for again.
    struct Evicted: Sendable {
        fileprivate let ageStart: Timestamp
        /// The capacity that the store lacked, in bytes.
        let missing: Int
        /// The number of calls for which this one stands, because most keys are not in the sample.
        let times: UInt64

        /// Returns whether the copy would still be fresh if `permissions` were those of its successor.
        func isFresh(at now: Timestamp, for permissions: Permissions) -> Bool {
            guard let fresh = permissions.freshFor else { return false }
            return now >= ageStart && now - ageStart < fresh
        }
    }

    private struct Ghost: Sendable {
        let hash: Int
        let size: Int
        let ageStart: Timestamp
    }

    private struct State: Sendable {
        /// The sampled copies that were evicted, the first first.
        var ghosts: [Ghost] = []
        var size = 0
        /// One of 2ⁿ keys is in the sample.
        var power = 0

        func samples(_ hash: Int) -> Bool { hash & ((1 << power) - 1) == 0 }

        mutating func remove(_ hash: Int) -> (ghost: Ghost, newer: Int)? {
            var newer = 0
            for place in ghosts.indices.reversed() {
                if ghosts[place].hash == hash {
                    size -= ghosts[place].size
                    return (ghosts.remove(at: place), newer)
                }
                newer += ghosts[place].size
            }
            return nil
        }
    }

    /// The most copies in the sample.
    private static let most = 2_048
    /// The number of times by which a capacity that is still of interest may exceed the present one.
    private static let range = 8

    private let capacity: Int
    private let state = Locked(State())

    /// - Parameter capacity: the capacity of the store, in bytes.
    init(capacity: Int) {
        self.capacity = min(max(1, capacity), 1 << 50)
    }

    /// Remembers the keys of evicted entries.
    func add(_ entries: some Collection<EvictedEntry>, in world: any World) {
        state.withLock { state in
            for entry in entries where entry.reason == .capacity {
                guard let metadata = entry.metadata, let size = entry.size else { continue }
                let hash = Self.hash(of: entry.key, in: world)
                if !state.samples(hash) { continue }
                _ = state.remove(hash)
                let ghost = Ghost(hash: hash, size: min(max(0, size), capacity), ageStart: metadata.ageStart)
                state.ghosts.append(ghost)
                state.size += ghost.size
            }
            while state.ghosts.count > Self.most, state.power < 32 {
                state.power += 1
                state.ghosts = state.ghosts.filter { state.samples($0.hash) }
                state.size = state.ghosts.reduce(0) { $0 + $1.size }
            }
            let most = capacity.multipliedReportingOverflow(by: Self.range).partialValue >> state.power
            var old = 0
            while state.size > max(most, 0), old < state.ghosts.count {
                state.size -= state.ghosts[old].size
                old += 1
            }
            state.ghosts.removeFirst(old)
        }
    }

    /// Forgets everything, because copies were cleared.
    func clear() { state.withLock { ($0.ghosts, $0.size) = ([], 0) } }

    /// Returns and forgets what is known about a key that is not in the store; nil if it was not evicted.
    func take(_ key: Key, in world: any World) -> Evicted? {
        let hash = Self.hash(of: key, in: world)
        return state.withLock { state in
            guard !state.ghosts.isEmpty, state.samples(hash), let (ghost, newer) = state.remove(hash) else {
                return nil
            }
            return Evicted(
                ageStart: ghost.ageStart, missing: (newer << state.power) + ghost.size, times: 1 << UInt64(state.power))
        }
    }

    private static func hash(of key: Key, in world: any World) -> Int {
        world.evictionHash(of: key.text, processHash: key.hash)
    }
}
