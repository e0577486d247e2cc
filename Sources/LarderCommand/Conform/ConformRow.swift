import Larder
import LarderSimulation

/// What a row sets up, what happens in it, and what must come of that.
struct ConformRow: Sendable {
    var strategy: Strategy
    var tiers: [Tier]
    var seeds: [Seed]
    var answers: [Answer]
    var steps: [Step]
    var end: End

    /// What a row says of the cache's behaviour, in the file's own terms. What is nil is off.
    struct Strategy: Sendable {
        enum Kind: String, Sendable, CaseIterable {
            case networkFirst = "network-first"
            case cacheFirst = "cache-first"
            case staleWhileRevalidate = "stale-while-revalidate"
            case race
            case cacheOnly = "cache-only"
            case networkOnly = "network-only"
        }

        var kind: Kind
        var ttl: Duration?
        var jitter: Duration?
        var window: Duration?
        var revalidatesAlways: Bool
        var refreshAfter: Duration?
        var timeout: Duration?
        var softTimeout: Duration?
        var hardTimeout: Duration?
        var tierTimeout: Duration?
        var staleFallback: StaleFallback?
        /// The conditions under which the origin may be asked again.
        var conditions: [String]
        var eviction: String?
    }

    /// How far a stale copy may stand in for a call that failed.
    struct StaleFallback: Sendable {
        /// Counted from when the copy was stored.
        var maxAge: Duration?
        /// How long the origin is left alone after it failed.
        var throttle: Duration?
    }

    struct Tier: Sendable {
        var name: String
        var mostEntries: Int64?
        var faults: [FaultyStore.Operation: FaultyStore.Fault]
    }

    /// An entry that is there from the beginning.
    struct Seed: Sendable {
        var tier: Int
        var key: String
        /// Nil for one whose payload is lost.
        var value: String?
        var age: Duration
        var etag: String?
        var lastModified: String?
    }

    /// What the origin does in one call.
    struct Answer: Sendable {
        enum Ending: Sendable {
            case value(String, etag: String?, lastModified: String?)
            case unchanged
            case status(Int)
            case failure(String)
        }

        var ending: Ending
        var after: Duration
        /// What the call must carry, by name; nil for what it must not.
        var requires: [String: String?]
    }

    struct Step: Sendable {
        var at: Duration
        var key: String
        var count: Int
        var cancelAt: Duration?
        var expected: Expectation
    }

    /// What a caller must see; what is nil is not looked at.
    struct Expectation: Sendable {
        var value: String?
        var error: String?
        /// The caller must get some value.
        var isValue = false
        var freshness: Freshness?
        var from: String?
        var doneAt: Duration?
        var originCalls: Int64?
        var status: Int64?

        var isEmpty: Bool {
            value == nil && error == nil && !isValue && freshness == nil && from == nil && doneAt == nil
                && originCalls == nil && status == nil
        }
    }

    /// What must be so in the end; what is nil is not looked at.
    struct End: Sendable {
        var at: Duration?
        var originCalls: Int64?
        var bodyWrites: Int64?
        /// The whole content of tiers, by their names.
        var stored: [String: [String: String]] = [:]
        /// Failures of tiers, by their names.
        var storeErrors: [String: Int64] = [:]

        var isEmpty: Bool { originCalls == nil && bodyWrites == nil && stored.isEmpty && storeErrors.isEmpty }
    }
}
