import Testing

import Larder
@testable import LarderSystem
@testable import LarderCore
@testable import LarderPlugins

/// All evictions, each new and with its defaults, and two published ones to compare them with.
enum Evictions {
    static let rivals: [String: @Sendable () -> any Eviction] = [
        "s3-fifo": { S3FIFO(small: 0.1) }, "w-tinylfu": { WTinyLFU() },
    ]
    static let names = Registry.standard[.eviction].map(\.name) + rivals.keys.sorted()

    static func named(_ name: String) throws -> any Eviction {
        if let rival = rivals[name] { return rival() }
        let node = try JSONParser.parse(SourceText(name: "test", bytes: Array("\"\(name)\"".utf8)))
        let reading = PartReader(registry: .standard, folder: "", file: "test")
        return try #require(Part(.eviction, node: node, reading: reading)).eviction()
    }
}

/// A store of numbers that tracks the state with which an eviction must agree.
struct PlainStore {
    private(set) var eviction: any Eviction
    /// The places by key, and the keys by place.
    private(set) var places: [Int: Int] = [:]
    private(set) var weights: [Int: (key: Int, weight: Int)] = [:]
    private var free: [Int] = []
    private var taken = 0
    private(set) var weight = 0
    let capacity: Int
    /// The keys have other hashes for each seed.
    let seed: Int
    private(set) var hits = 0
    /// The defects of the eviction.
    private(set) var complaint: String?

    init(_ eviction: any Eviction, capacity: Int, seed: Int = 0) {
        self.eviction = eviction
        self.capacity = capacity
        self.seed = seed
    }

    mutating func ask(_ key: Int, weight: Int = 1) {
        if let place = places[key] {
            hits += 1
            eviction.used(place)
        } else {
            insert(key, weight: weight)
        }
    }

    mutating func insert(_ key: Int, weight: Int) {
        remove(key)
        let place = free.popLast() ?? taken
        taken = max(taken, place + 1)
        places[key] = place
        weights[place] = (key, weight)
        self.weight += weight
        eviction.inserted(place, hash: (key ^ seed << 32) &* 0x1234_5678_9ABC_DEF1, weight: weight)
        fit()
    }

    mutating func use(_ keys: [Int]) {
        let used = keys.compactMap { places[$0].map(Int32.init) }
        used.withUnsafeBufferPointer { eviction.used($0) }
    }

    mutating func change(_ key: Int, weight: Int) {
        guard let place = places[key], let old = weights[place] else { return }
        weights[place] = (key, weight)
        self.weight += weight - old.weight
        eviction.changed(place, weight: weight)
        fit()
    }

    mutating func remove(_ key: Int) {
        guard let place = places[key] else { return }
        close(place)
        eviction.removed(place)
    }

    /// Evicts everything.
    mutating func drain() {
        while complaint == nil, !places.isEmpty { evictOne() }
        if let place = eviction.evict() { complaint = complaint ?? "gives up \(place) of an empty store" }
    }

    private mutating func fit() {
        while complaint == nil, weight > capacity { evictOne() }
    }

    private mutating func evictOne() {
        guard let place = eviction.evict() else {
            complaint = "gives up nothing of \(places.count)"
            return
        }
        guard weights[place] != nil else {
            complaint = "gives up \(place), which is empty"
            return
        }
        close(place)
    }

    private mutating func close(_ place: Int) {
        guard let old = weights.removeValue(forKey: place) else { return }
        places[old.key] = nil
        weight -= old.weight
        free.append(place)
    }
}
