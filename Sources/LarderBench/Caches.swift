import Foundation
import Larder
@_spi(Bench) import LarderPlugins
import Synchronization

/// A key with a hash.
protocol BenchKey: Hashable, Sendable {
    static func key(_ number: Int) -> Self
    var seededHash: Int { get }
}

/// A cache of numbers. Each candidate conforms to it.
protocol BenchCache<Key>: Sendable {
    associatedtype Key: BenchKey
    static var name: String { get }
    init(capacity: Int) throws
    func get(_ key: Key) -> UInt64?
    func set(_ key: Key, _ value: UInt64)
}

extension UInt64: BenchKey {
    /// Random, so that keys cannot be chosen to collide.
    static let seed = (SystemWorld().random(), SystemWorld().random() | 1)

    static func key(_ number: Int) -> UInt64 { UInt64(number) &* 0x9E37_79B9_7F4A_7C15 }

    @inline(__always)
    var seededHash: Int {
        let product = (self ^ Self.seed.0).multipliedFullWidth(by: Self.seed.1)
        return Int(truncatingIfNeeded: product.high ^ product.low)
    }
}

/// A `String` of 20 bytes that is hashed at each use.
struct ShortText: BenchKey {
    let text: String

    static func key(_ number: Int) -> ShortText { ShortText(text: "image/" + digits(number, 14)) }

    var seededHash: Int { text.hashValue }
}

/// A longer text that is hashed at each use.
struct LongText: BenchKey {
    let text: String

    static func key(_ number: Int) -> LongText {
        LongText(text: "https://images.example.com/catalog/products/large/thumbnail/" + digits(number, 20))
    }

    var seededHash: Int { text.hashValue }
}

extension Key: BenchKey {
    static func key(_ number: Int) -> Key { Key(resource: "images", parameters: ["id": digits(number, 10)]) }

    var seededHash: Int { hash }
}

private func digits(_ number: Int, _ length: Int) -> String {
    let text = "\(number)"
    return String(repeating: "0", count: length - text.count) + text
}

/// The table of Larder's memory store.
struct LarderCache<Key: BenchKey>: BenchCache {
    static var name: String { "larder" }
    private let table: ShardedTable<Key, UInt64>

    init(capacity: Int) throws {
        let part = try Registry.standard.defaultPart(of: .eviction)
        table = ShardedTable(bytes: .max, entries: capacity, eviction: try part.eviction())
    }

    @inline(__always)
    func get(_ key: Key) -> UInt64? { table.find(key, hash: key.seededHash) }

    @inline(__always)
    func set(_ key: Key, _ value: UInt64) { _ = table.insert(value, as: key, hash: key.seededHash, weight: 1) }

    /// The share of reads that find a value. A key that is missed is inserted.
    func hitRatio(of keys: [Key]) -> Double {
        var hits = 0
        for key in keys {
            if get(key) == nil { set(key, 1) } else { hits += 1 }
        }
        return Double(hits) / Double(keys.count)
    }
}

/// A dictionary behind a lock. It never evicts, so it is never full.
final class LockedDictionary<Key: BenchKey>: BenchCache {
    static var name: String { "Dictionary + Mutex" }
    private let values = Mutex<[Key: UInt64]>([:])

    init(capacity: Int) {}

    @inline(__always)
    func get(_ key: Key) -> UInt64? { values.withLock { $0[key] } }

    @inline(__always)
    func set(_ key: Key, _ value: UInt64) { values.withLock { $0[key] = value } }
}

/// NSCache, which is thread-safe. That is why the conformance is unchecked.
final class FoundationCache<Key: BenchKey>: BenchCache, @unchecked Sendable {
    static var name: String { "NSCache" }
    private final class Box: NSObject {
        let key: Key
        init(_ key: Key) { self.key = key }
        override var hash: Int { key.hashValue }
        override func isEqual(_ object: Any?) -> Bool { (object as? Box)?.key == key }
    }
    private let cache = NSCache<Box, NSNumber>()

    init(capacity: Int) { cache.countLimit = capacity }

    func get(_ key: Key) -> UInt64? { cache.object(forKey: Box(key))?.uint64Value }

    func set(_ key: Key, _ value: UInt64) { cache.setObject(NSNumber(value: value), forKey: Box(key)) }
}
