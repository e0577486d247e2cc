/// A simulated store of keys of equal size, with a well-known algorithm of eviction.
protocol KnownEviction: SendableMetatype {
    /// Makes an empty store for the keys below `keys`.
    init(keys: Int, capacity: Int)

    /// Requests a key and inserts it if it is missing. Returns whether the store had it.
    mutating func request(_ key: Int) -> Bool
}

extension KnownEviction {
    /// Returns the number of hits for a stream of requests.
    static func hits(_ traffic: EvictionTraffic, capacity: Int) -> Int {
        var store = Self(keys: traffic.keys, capacity: capacity)
        var hits = 0
        for key in traffic.requests where store.request(Int(key)) { hits += 1 }
        return hits
    }
}

/// The ten evictions that the evictions of Larder are compared with.
enum KnownEvictions {
    static let all: [(name: String, type: any KnownEviction.Type)] = [
        ("LRU", LRU.self), ("FIFO", FIFO.self), ("CLOCK", Clock.self), ("SIEVE", Sieve.self), ("LFU", LFU.self),
        ("ARC", ARC.self), ("LIRS", LIRS.self), ("2Q", TwoQueues.self), ("S3-FIFO", S3FIFO.self),
        ("W-TinyLFU", WTinyLFU.self),
    ]

    /// Returns the most hits that one of them has, and its name.
    static func best(_ traffic: EvictionTraffic, capacity: Int) -> (name: String, hits: Int) {
        all.map { ($0.name, $0.type.hits(traffic, capacity: capacity)) }.max { $0.1 < $1.1 } ?? ("", 0)
    }
}
