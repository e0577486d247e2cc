import Larder
import Testing

/// One cell of the design's table: a strategy, a situation, and the expected outcome.
struct Row: Sendable, CustomTestStringConvertible {
    /// The strategies, with `patience` 800 ms where they have that setting.
    enum Strategy: String, Sendable {
        case networkFirst = "network-first"
        case cacheFirst = "cache-first"
        case staleWhileRevalidate = "stale-while-revalidate"
        case cacheOnly = "cache-only"
        case networkOnly = "network-only"
    }

    /// The age of the copy `old`. It is fresh for 5 min, then served for 1 h while revalidating and for 7 d on error.
    enum Copy: String, Sendable {
        case none = "no copy"
        case fresh = "a fresh copy"
        case inWindow = "a copy in both windows"
        case onErrorOnly = "a copy past whileRevalidating"
        case beyond = "a copy past every window"

        var age: Duration? {
            switch self {
            case .none: nil
            case .fresh: .seconds(60)
            case .inWindow: .seconds(30 * 60)
            case .onErrorOnly: .seconds(2 * 3_600)
            case .beyond: .seconds(8 * 86_400)
            }
        }
    }

    /// The behavior of the origin, the store or the caller.
    enum Event: String, Sendable {
        case works = "the origin sends 'new' after 20 ms"
        case unchanged = "the origin says unchanged after 20 ms"
        case fails = "the origin fails with 503 after 20 ms"
        case gone = "the origin answers 404 after 20 ms"
        case forbidden = "the origin answers 403 after 20 ms"
        case slow = "the origin takes 2 s"
        case cancelled = "the caller is cancelled after 10 ms"
        case cleared = "the pantry is cleared after 10 ms"
        case unreadable = "the store cannot be read"
        case unreadableAndFails = "the store cannot be read and the origin fails"
        case unwritable = "the store cannot be written"
    }

    enum Outcome: Sendable, Equatable {
        case value(String, Freshness, Source, isStored: Bool, fellBack: Bool)
        case error(LoadError.Code, status: Int?, storeToo: Bool)
        case cancelled
    }

    var strategy: Strategy
    var copy: Copy
    var event: Event
    var outcome: Outcome
    /// The milliseconds after which the load ends.
    var after: Int
    /// The number of calls in the end, and how many of them included the copy.
    var calls: Int
    var conditional: Int
    /// The number of payloads written in the end.
    var writes: Int
    /// The contents of the store in the end.
    var holds: String?

    var testDescription: String { "\(strategy.rawValue): \(copy.rawValue), \(event.rawValue)" }

    init(_ strategy: Strategy, _ copy: Copy, _ event: Event, _ result: Result) {
        self.strategy = strategy
        self.copy = copy
        self.event = event
        outcome = result.outcome
        after = result.after
        calls = result.calls
        conditional = result.conditional ?? (copy == .none || result.calls == 0 ? 0 : 1)
        writes = result.writes
        holds = result.holds
    }

    /// The expected outcome. The situations of a strategy differ in little else.
    struct Result: Sendable {
        var outcome: Outcome
        var after: Int
        var calls = 1
        var conditional: Int?
        var writes = 0
        var holds: String?

        /// 'new' from the origin, saved.
        static func new(after: Int = 20) -> Result {
            Result(
                outcome: .value("new", .fresh, .origin, isStored: true, fellBack: false), after: after, writes: 1,
                holds: "new")
        }

        /// 'new' from the origin, not saved.
        static func unsaved(after: Int = 20, holds: String? = nil) -> Result {
            Result(
                outcome: .value("new", .fresh, .origin, isStored: false, fellBack: false), after: after, holds: holds)
        }

        /// 'old', which the origin has just confirmed.
        static let revalidated = Result(
            outcome: .value("old", .fresh, .revalidated, isStored: true, fellBack: false), after: 20, holds: "old")

        /// The copy, without a call.
        static func copy(_ freshness: Freshness, holds: String? = "old") -> Result {
            Result(
                outcome: .value("old", freshness, .store("faulty"), isStored: true, fellBack: false), after: 0,
                calls: 0, holds: holds)
        }

        /// The copy at once, and a background refresh with this outcome.
        static func refreshing(writes: Int = 0, holds: String? = "old") -> Result {
            Result(
                outcome: .value("old", .stale, .store("faulty"), isStored: true, fellBack: false), after: 0,
                writes: writes, holds: holds)
        }

        /// The copy instead of the call's answer.
        static func standIn(_ freshness: Freshness, after: Int = 20, writes: Int = 0, holds: String = "old") -> Result {
            Result(
                outcome: .value("old", freshness, .store("faulty"), isStored: true, fellBack: true), after: after,
                writes: writes, holds: holds)
        }

        /// The origin's own error.
        static func status(_ status: Int, holds: String?, storeToo: Bool = false) -> Result {
            let code: LoadError.Code = status == 503 ? .failed : .answer
            return Result(outcome: .error(code, status: status, storeToo: storeToo), after: 20, holds: holds)
        }

        /// The error "not cached".
        static func notCached(holds: String? = nil, storeToo: Bool = false) -> Result {
            Result(outcome: .error(.notCached, status: nil, storeToo: storeToo), after: 0, calls: 0, holds: holds)
        }

        /// A cancellation during the call.
        static func cancelled(holds: String?) -> Result {
            Result(outcome: .cancelled, after: 10, holds: holds)
        }

        /// The same outcome without a copy in the call.
        var unconditional: Result {
            var copy = self
            copy.conditional = 0
            return copy
        }
    }
}
