import Larder

/// The limit of a promise: a time or a number of calls.
public enum PromiseLimit: Hashable, Sendable, CustomStringConvertible {
    /// A time.
    case time(Duration)
    /// A number of calls.
    case calls(Int)

    /// The limit as a policy writes it, with all units of a time beside it: `"365m" (6h 5m)`, `3`.
    package var spelled: String {
        switch self {
        case .time(let time) where time.spelled == time.inWords: "\"\(time.spelled)\""
        case .time(let time): "\"\(time.spelled)\" (\(time.inWords))"
        case .calls(let calls): "\(calls)"
        }
    }

    /// The limit as a policy writes it, without quotation marks: `365m`, `3`.
    var written: String {
        switch self {
        case .time(let time): time.spelled
        case .calls(let calls): "\(calls)"
        }
    }

    /// Whether it is at least as large as the limit that an observation needs. An observation that keeps every limit
    /// needs none.
    func covers(_ needed: NeededLimit?) -> Bool {
        needed.map { $0 <= self.needed } ?? true
    }

    /// The same limit, to compare it with those that observations need.
    var needed: NeededLimit {
        switch self {
        case .time(let time): .time(time)
        case .calls(let calls): .calls(calls)
        }
    }

    /// The limit as a sentence shows it: `6h 5m`, `3`.
    public var description: String {
        switch self {
        case .time(let time): time.inWords
        case .calls(let calls): "\(calls)"
        }
    }
}

/// The limit that a promise would need so that one observation keeps it.
enum NeededLimit: Sendable, Comparable {
    case time(Duration)
    case calls(Int)
    /// No limit is enough.
    case none

    static func < (one: NeededLimit, other: NeededLimit) -> Bool {
        switch (one, other) {
        case (.time(let one), .time(let other)): one < other
        case (.calls(let one), .calls(let other)): one < other
        case (.none, _): false
        case (_, .none): true
        default: false
        }
    }

    /// The limit as a promise; nil if none is enough.
    var limit: PromiseLimit? {
        switch self {
        case .time(let time): .time(time)
        case .calls(let calls): .calls(calls)
        case .none: nil
        }
    }
}

/// The quantity that a promise or an expectation limits.
enum PromiseMeasure: Sendable {
    /// The age of the value. A copy that is older than `oldest` is shown at any age.
    case age(oldest: Duration)
    /// The time until the load ends.
    case wait
    /// The number of calls.
    case calls
    /// The age of the value, or the time until the origin answers if that is shorter.
    case freshness(oldest: Duration)

    /// Returns the limit that an observation needs; nil if it keeps every limit.
    func limitNeeded(by seen: ObservedLoad) -> NeededLimit? {
        switch self {
        case .wait: return seen.waited.map(NeededLimit.time) ?? NeededLimit.none
        case .calls: return .calls(seen.calls)
        case .age(let oldest):
            guard case .value(let age) = seen.ending else { return nil }
            guard let age, age <= oldest else { return NeededLimit.none }
            return .time(age)
        case .freshness(let oldest):
            let refreshed = seen.refreshedAfter.map(NeededLimit.time) ?? NeededLimit.none
            return PromiseMeasure.age(oldest: oldest).limitNeeded(by: seen).map { min($0, refreshed) }
        }
    }
}

/// A promise of a policy, with the situations that it is about and the way it is judged.
struct PromiseRule: Sendable {
    /// The name of the setting.
    let name: String
    let limit: PromiseLimit
    /// Says whether a smaller limit is easier to keep, as that of `offlineFor`. The need of `offlineFor` is the first
    /// time that is too late.
    var isShortened = false
    /// Whether the promise is only about loads that have a copy which may be shown.
    var needsCopy = false
    /// Whether the promise is about a situation.
    let concerns: @Sendable (Story) -> Bool
    /// Returns the limit that the observation needs; nil if it keeps every promise.
    let needed: @Sendable (Story, ObservedLoad) -> NeededLimit?

    /// Whether an observation that needs a limit breaks the promise.
    func isBroken(needing needed: NeededLimit) -> Bool {
        isShortened ? needed < limit.needed : limit.needed < needed
    }

    /// Returns the rules of the promises of a policy.
    ///
    /// - Parameters:
    ///   - soon: the origin answers in time if it takes less.
    ///   - oldest: a copy that is shown although it is older is shown at any age.
    static func rules(of promises: Promises, soon: Duration, oldest: Duration) -> [PromiseRule] {
        var rules: [PromiseRule] = []
        if let limit = promises.neverOlderThan { rules.append(neverOlder(than: limit, oldest)) }
        if let limit = promises.waits {
            rules.append(
                PromiseRule(name: "waits", limit: .time(limit), needsCopy: true) {
                    $0.load.mode == .normal && !$0.isOfflineHistory
                } needed: {
                    PromiseMeasure.wait.limitNeeded(by: $1)
                })
        }
        if let limit = promises.waitsAtMost {
            rules.append(
                PromiseRule(name: "waitsAtMost", limit: .time(limit), concerns: { _ in true }) {
                    PromiseMeasure.wait.limitNeeded(by: $1)
                })
        }
        if let limit = promises.offlineFor {
            rules.append(
                PromiseRule(name: "offlineFor", limit: .time(limit), isShortened: true) {
                    $0.isOfflineHistory && $0.lead < limit
                } needed: {
                    $1.isAnswered ? nil : .time($0.lead)
                })
        }
        if let limit = promises.callsPerLoad {
            rules.append(
                // The calls of loads that began earlier are not this load's.
                PromiseRule(name: "callsPerLoad", limit: .calls(limit), concerns: { $0.earlier.isEmpty }) {
                    PromiseMeasure.calls.limitNeeded(by: $1)
                })
        }
        if let limit = promises.freshWithin { rules.append(fresh(within: limit, soon, oldest)) }
        return rules
    }

    private static func neverOlder(than limit: Duration, _ oldest: Duration) -> PromiseRule {
        PromiseRule(name: "neverOlderThan", limit: .time(limit), concerns: { _ in true }) {
            PromiseMeasure.age(oldest: oldest).limitNeeded(by: $1)
        }
    }

    private static func fresh(within limit: Duration, _ soon: Duration, _ oldest: Duration) -> PromiseRule {
        PromiseRule(name: "freshWithin", limit: .time(limit)) { situation in
            situation.load.mode != .cachedOnly && situation.network != .offline && situation.load.deadline == nil
                && situation.earlier.isEmpty
                && situation.origin.allSatisfy {
                    ($0.ending == .value || $0.ending == .unchanged) && $0.after < soon
                }
        } needed: {
            PromiseMeasure.freshness(oldest: oldest).limitNeeded(by: $1)
        }
    }
}

extension Story {
    /// The story of a request that only takes the copy, some time after the load would begin. Earlier loads go on as if
    /// there were no load.
    func askingForTheCopy(after time: Duration) -> Story {
        with { situation in
            (situation.load.mode, situation.load.deadline, situation.load.pause) = (.cachedOnly, nil, time)
            // Nobody else asks this origin, so that equal requests are played once.
            if earlier.allSatisfy(\.isOther) { situation.origin = [OriginAct(.unreachable)] }
        }
    }

    /// Whether there may be a copy: one that lies there, or the answer of an earlier load.
    var mayHaveACopy: Bool { copy != nil || earlier.contains { !$0.isOther } }
}
