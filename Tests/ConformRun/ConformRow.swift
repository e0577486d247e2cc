import LarderFoundation
import Larder

/// A row: the setup, the events, and the expected results.
struct ConformRow: Sendable {
    var strategy: Strategy
    var tiers: [Tier]
    var seeds: [Seed]
    var answers: [Answer]
    var steps: [Step]
    var end: End

    /// The behaviour of the cache, in the file's own terms. An option that is nil is off.
    struct Strategy: Sendable {
        enum Kind: String, Sendable, CaseIterable {
            case networkFirst = "network-first"
            case cacheFirst = "cache-first"
            case staleWhileRevalidate = "stale-while-revalidate"
            case race
            case cacheOnly = "cache-only"
            case networkOnly = "network-only"
            /// Requests that wait for the origin.
            case outbox
        }

        var kind: Kind
        /// Whether the rules of HTTP hold for entries, answers and requests.
        var honoursHTTP: Bool
        /// Whether the entries are for several users, so that the rules of HTTP for shared caches hold.
        var isShared: Bool
        var ttl: Duration?
        var jitter: Duration?
        /// Whether the lifetime that an answer names counts.
        var usesAnswerLifetime: Bool
        var window: Duration?
        var revalidatesAlways: Bool
        var refreshAfter: Duration?
        var timeout: Duration?
        var softTimeout: Duration?
        var hardTimeout: Duration?
        var tierTimeout: Duration?
        var staleFallback: StaleFallback?
        /// The conditions of conditional requests.
        var conditions: [String]
        var checksPayloads: Bool
        /// The statuses that count as failures of the origin; nil for Larder's own.
        var failureStatuses: [Int]?
        var eviction: String?
        /// The time for which stores keep an entry.
        var retention: Duration?
        /// Whether a read looks for what waits first, and tries to send it.
        var looksFirst: Bool
        /// Whether a later write of a key replaces one that waits.
        var collapsesKeys: Bool
    }

    /// The limits for stale copies after a failed call.
    struct StaleFallback: Sendable {
        /// The age limit, counted from the time the copy was stored.
        var maxAge: Duration?
        /// The time without calls after the origin failed.
        var throttle: Duration?
    }

    struct Tier: Sendable {
        var name: String
        var mostEntries: Int64?
        var mostBytes: Int64?
        var faults: [Fault]
    }

    /// A fault of a store's operations.
    struct Fault: Sendable {
        var operation: String
        var error: String?
        var delay: Duration?
        /// The only operation of its kind that it concerns, counted from 1; nil for all.
        var number: Int64?
    }

    /// An entry that is in the store at the beginning.
    struct Seed: Sendable {
        var tier: Int
        var key: String
        /// The payload; nil if it is lost.
        var body: Data?
        var age: Duration
        var ttl: Duration?
        var validators: AnswerValidators
        var headers: [Header]
        /// Whether the noted checksum is that of another payload.
        var hasOtherChecksum: Bool
    }

    /// The origin's identifiers of a version.
    struct AnswerValidators: Sendable {
        var etag: String?
        var lastModified: String?
    }

    struct Header: Sendable {
        var name: String
        var value: String
    }

    /// The behaviour of the origin in one call.
    struct Answer: Sendable {
        enum Ending: Sendable {
            case status(Int)
            case failure(String)
        }

        var ending: Ending
        var after: Duration
        var body: Data
        var validators: AnswerValidators
        var headers: [Header]
        var ttl: Duration?
        /// The conditions that the call must carry, by name; nil for one that it must not carry.
        var requires: [String: String?]
    }

    struct Step: Sendable {
        enum Operation: Sendable {
            case get
            /// A load that never asks the origin.
            case getLocal
            /// The app sends a change to the origin.
            case send(method: String, body: Data?)
            /// The app writes a value to all stores.
            case put(Data)
            /// A request that waits for a replay.
            case enqueue(method: String, body: Data?)
            /// The requests of a queue are sent.
            case replay
            /// One store loses the entry.
            case drop(tier: Int)
            /// The stores enforce their limits.
            case sweep
        }

        var operation: Operation
        var at: Duration
        var key: String
        var queue: String
        var count: Int
        var cancelAt: Duration?
        var requestHeaders: [Header]
        var expected: Expectation
    }

    /// The expected answer to a caller. A field that is nil is not checked.
    struct Expectation: Sendable {
        var value: String?
        var length: Int64?
        var error: String?
        /// Whether the caller must get a value.
        var isValue = false
        var freshness: Freshness?
        var from: String?
        var doneAt: Duration?
        var originCalls: Int64?
        var status: Int64?
        /// The headers of the value; nil for one that it must not have.
        var headers: [(name: String, text: String?)] = []
        /// The number of failures of tiers so far, by the tiers' names.
        var storeErrors: [String: Int64] = [:]

        /// The keys of the requests that the origin must have taken, and of those that were given up.
        var sent: [String]?
        var dropped: [String]?
        /// Whether what was written must wait for the origin.
        var isPending: Bool?

        var isEmpty: Bool {
            value == nil && length == nil && error == nil && !isValue && freshness == nil && from == nil
                && doneAt == nil && originCalls == nil && status == nil && headers.isEmpty && storeErrors.isEmpty
                && sent == nil && dropped == nil && isPending == nil
        }
    }

    /// The expected state at the end. A field that is nil is not checked.
    struct End: Sendable {
        var at: Duration?
        var originCalls: Int64?
        var bodyWrites: Int64?
        /// The complete content of tiers, by their names.
        var stored: [String: [String: String]] = [:]
        /// Failures of tiers, by their names.
        var storeErrors: [String: Int64] = [:]

        /// The keys of the requests that wait, by their queues.
        var queues: [String: [String]] = [:]

        var isEmpty: Bool {
            originCalls == nil && bodyWrites == nil && stored.isEmpty && storeErrors.isEmpty && queues.isEmpty
        }
    }
}
