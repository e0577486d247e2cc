import Larder

/// The outcome of a load as its user notices it, in terms that hold for a whole range of situations.
struct Outcome: Hashable, Sendable {
    /// The value that is shown.
    enum Shown: Hashable, Sendable {
        /// A value that the origin sent or confirmed.
        case answer
        case copy(isStale: Bool)
        case fallback
        case error(String)
        /// The load never ends.
        case nothing

        /// Whether there is a value.
        var isValue: Bool {
            switch self {
            case .answer, .copy, .fallback: true
            case .error, .nothing: false
            }
        }

        /// Whether both are copies, fresh or stale.
        func isSameKind(as other: Shown) -> Bool {
            if case .copy = self, case .copy = other { return true }
            return self == other
        }
    }

    /// The time until something is shown.
    enum Wait: Hashable, Sendable {
        case none
        /// As long as a fallback takes that is not on the device.
        case fallback
        /// As long as the origin takes, and this time longer.
        case origin(and: Duration)
        case time(Duration)
    }

    var shown: Shown
    var wait: Wait
    /// Whether the origin's answer replaces the copy that is shown.
    var isRefreshed: Bool
    var calls: Int

    /// - Parameter situation: the situation in which `seen` was observed.
    init(_ seen: ObservedLoad, in situation: Story) {
        let isAnswered = seen.refreshedAfter.map { after in seen.waited.map { after <= $0 } ?? false } ?? false
        switch seen.ending {
        case .value where seen.isFallback: shown = .fallback
        case .value where seen.isLive || isAnswered: shown = .answer
        case .value: shown = .copy(isStale: seen.isStale)
        case .error(let code, let status): shown = .error(status.map { "error \($0)" } ?? "error (\(code))")
        case .never: shown = .nothing
        }
        let isRemote = shown == .fallback && seen.refreshedAfter != nil
        wait = isRemote ? .fallback : Self.wait(seen.waited ?? .zero, for: shown, in: situation)
        isRefreshed = seen.refreshedAfter != nil && shown.isValue && shown != .answer
        calls = seen.calls
    }

    private static func wait(_ time: Duration, for shown: Shown, in situation: Story) -> Wait {
        if time == .zero { return .none }
        guard let act = situation.origin.first, act.ending.isAnswer, act.brings(shown) || act.after == time else {
            return .time(time)
        }
        return .origin(and: time - act.after)
    }
}

extension Story.OriginAct {
    /// Whether a value or an error is that of this behaviour.
    fileprivate func brings(_ shown: Outcome.Shown) -> Bool {
        guard case .status(let status, retryAfter: _) = ending else { return shown == .answer }
        return shown == .error("error \(status)")
    }
}

/// The difference between the outcomes of two policies, in words. Only what differs is told.
struct OutcomeChange: Hashable, Sendable {
    /// The weight of a difference for users, the heaviest first.
    enum Weight: Int, Comparable, Sendable {
        case lost, gained, shown, wait, refresh, calls

        static func < (one: Weight, other: Weight) -> Bool { one.rawValue < other.rawValue }
    }

    let old: String
    let new: String
    let weight: Weight

    /// - Parameters:
    ///   - isOutage: whether the origin gives no answer, so that calls are told in any case.
    ///   - isDelay: whether a circumstance makes loads longer by itself, so that only values and errors are told.
    init?(from old: Outcome, to new: Outcome, isOutage: Bool, isDelay: Bool = false) {
        let isSameKind = old.shown.isSameKind(as: new.shown)
        let staleness = isSameKind && old.shown != new.shown
        let isShownDifferent = old.shown != new.shown
        let isWaitDifferent = !isDelay && old.wait != new.wait
        // Whether a copy is refreshed is told where both are copies. An error is not refreshed.
        let isRefreshDifferent = !isDelay && isSameKind && old.isRefreshed != new.isRefreshed
        // The call that an answer or a refresh needs goes without saying.
        let isTold = !isDelay && (isOutage || isSameKind && !isRefreshDifferent)
        let isCallDifferent = isTold && old.calls != new.calls
        guard isShownDifferent || isWaitDifferent || isRefreshDifferent || isCallDifferent else { return nil }
        func words(_ outcome: Outcome, isSecond: Bool) -> String {
            var words: [String] = []
            if isShownDifferent || isWaitDifferent || !isRefreshDifferent && !isCallDifferent {
                let noun = isSecond && isSameKind && !staleness && isWaitDifferent ? "" : outcome.noun(staleness)
                words.append([noun, isDelay ? "" : outcome.waiting].filter { !$0.isEmpty }.joined(separator: " "))
            }
            if isRefreshDifferent { words.append(outcome.isRefreshed ? "refreshed" : "not refreshed") }
            if isCallDifferent { words.append(counted(outcome.calls)) }
            return words.joined(separator: ", ")
        }
        self.old = words(old, isSecond: false)
        self.new = words(new, isSecond: true)
        weight =
            if old.shown.isValue != new.shown.isValue {
                new.shown.isValue ? .gained : .lost
            } else if isShownDifferent {
                .shown
            } else if isWaitDifferent {
                .wait
            } else {
                isRefreshDifferent ? .refresh : .calls
            }
    }
}

private func counted(_ calls: Int) -> String {
    switch calls {
    case 0: "no call"
    case 1: "1 call"
    default: "\(calls) calls"
    }
}

extension Outcome {
    /// The outcome in plain words: "stale copy at once, refreshed".
    ///
    /// - Parameter isDelay: whether a circumstance makes loads longer by itself, so that no time is told.
    func words(isDelay: Bool = false) -> String {
        if isDelay { return noun(true) }
        let value = [noun(true), waiting].filter { !$0.isEmpty }.joined(separator: " ")
        return isRefreshed ? value + ", refreshed" : value
    }

    /// The same outcome, whatever the number of calls is.
    var withoutCalls: Outcome {
        var copy = self
        copy.calls = 0
        return copy
    }

    /// - Parameter staleness: whether it is told of a copy whether it is stale.
    fileprivate func noun(_ staleness: Bool) -> String {
        switch shown {
        case .answer: "the origin's answer"
        case .copy(let isStale): (staleness ? isStale ? "stale " : "fresh " : "") + "copy"
        case .fallback: "fallback"
        case .error(let name): name
        case .nothing: "never ends"
        }
    }

    fileprivate var waiting: String {
        switch (wait, shown) {
        case (_, .nothing), (.fallback, _), (.origin(and: .zero), .answer), (.origin(and: .zero), .error): ""
        case (.none, _): "at once"
        case (.origin(and: .zero), _): "when the origin answers"
        case (.origin(let time), .answer): "\(time.inWords) late"
        case (.origin(let time), _): "\(time.inWords) after the origin answers"
        case (.time(let time), _): "after \(time.inWords)"
        }
    }
}
