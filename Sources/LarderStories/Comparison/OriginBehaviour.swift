import Larder

/// A behaviour of the origin for which two policies are compared. Answers are ranges of times, because a policy treats all
/// times between two of its borders alike.
enum OriginBehaviour: Hashable, Sendable {
    /// It answers with a new value, at some time from `from` on and before `to`; nil if there is no end.
    case answers(from: Duration, to: Duration?)
    /// It says that the copy is unchanged, as soon as the first of the answers.
    case confirms
    /// It answers that there is no such instance, as soon as the first of the answers.
    case refuses
    /// The first call fails at once, and the next one answers.
    case failsOnce
    /// Each call fails at once.
    case fails
    /// No call ends.
    case hangs
    /// The device knows that it has no network.
    case offline

    /// The behaviours for which policies are compared.
    ///
    /// - Parameters:
    ///   - borders: the times of waiting at which the policies change their minds.
    ///   - limit: the time after which each origin gives a call up by itself; nil if one does not.
    ///   - isRetried: whether a policy calls again after a failure.
    static func all(
        between borders: [Duration], until limit: Duration? = nil, isRetried: Bool = true
    ) -> [OriginBehaviour] {
        let starts = [.zero] + borders.filter { $0 > .zero && $0 < limit ?? .forever }
        let answers = zip(starts, starts.dropFirst().map { Optional($0) } + [limit]).map {
            OriginBehaviour.answers(from: $0, to: $1)
        }
        return answers + [.confirms, .refuses] + (isRetried ? [.failsOnce] : []) + [.fails, .hangs, .offline]
    }

    /// Whether the origin gives no answer in time, so that each call is one too many.
    ///
    /// - Parameter limit: the time after which every policy gives a call up; nil if one does not.
    func isOutage(after limit: Duration?) -> Bool {
        switch self {
        case .fails, .hangs, .offline: true
        case .answers(let from, to: _): limit.map { from >= $0 } ?? false
        case .confirms, .refuses, .failsOnce: false
        }
    }

    /// Returns a time in the middle of a range, or a second after the beginning of one without an end.
    private static func middle(_ from: Duration, _ to: Duration?) -> Duration {
        guard let to else { return from + .seconds(1) }
        return max(from.middle(to: to), from + .milliseconds(1))
    }

    /// Returns the situation in which the origin behaves so.
    ///
    /// - Parameters:
    ///   - first: the end of the first range of answers; nil if there is only one range.
    ///   - hanging: a call that never ends, as far as the origin allows.
    func situation(first: Duration?, hanging: Story.OriginAct) -> Story {
        let soon = Self.middle(.zero, first)
        return Story().with { situation in
            switch self {
            case .answers(let from, let to): situation.origin = [.init(.value, after: Self.middle(from, to))]
            case .confirms: situation.origin = [.init(.unchanged, after: soon)]
            case .refuses: situation.origin = [.init(.status(404), after: soon)]
            case .failsOnce: situation.origin = [.init(.status(503), calls: 1), .init(.value)]
            case .fails: situation.origin = [.init(.status(503))]
            case .hangs: situation.origin = [hanging]
            case .offline: (situation.network, situation.origin) = (.offline, [.init(.unreachable)])
            }
        }
    }
}

extension [OriginBehaviour] {
    /// The behaviours in plain words: "offline or the origin fails at once".
    ///
    /// - Parameter all: all behaviours that were compared, in order. These are some of them.
    func inWords(of all: [OriginBehaviour]) -> String {
        if count == all.count { return "whatever the origin does" }
        var verbs: [String] = contains(.fails) ? ["fails at once"] : []
        if contains(.failsOnce) { verbs.append("fails once") }
        var times = answeringTimes(of: all)
        // An answer that the copy is unchanged is an answer.
        let first = all.first { $0.isAnswer }
        if contains(.confirms), first.map(contains) != true { verbs.append("says that the copy is unchanged") }
        if contains(.refuses) { verbs.append("answers 404") }
        if contains(.hangs), times.isEmpty { verbs.append("never answers") }
        if contains(.hangs), !times.isEmpty { times.append("never") }
        if !times.isEmpty { verbs.append(times == [""] ? "answers" : "answers " + times.joined(separator: " or ")) }
        let origin = verbs.isEmpty ? [] : ["the origin " + verbs.joined(separator: " or ")]
        return ((contains(.offline) ? ["offline"] : []) + origin).joined(separator: " or ")
    }

    /// The ranges of answers, neighbours joined: "within 800ms", "after 1s to 4s". Empty text if they are all times.
    private func answeringTimes(of all: [OriginBehaviour]) -> [String] {
        var ranges: [(from: Duration, to: Duration?)] = []
        for case .answers(let from, let to) in all where contains(.answers(from: from, to: to)) {
            if let last = ranges.last, last.to == from {
                ranges[ranges.count - 1].to = to
            } else {
                ranges.append((from, to))
            }
        }
        return ranges.map { from, to in
            switch (from, to) {
            case (.zero, nil): contains(.hangs) ? "at any time" : ""
            case (.zero, let to?): "within \(to.inWords)"
            case (let from, nil): "after more than \(from.inWords)"
            case (let from, let to?): "after \(from.inWords) to \(to.inWords)"
            }
        }
    }
}

extension OriginBehaviour {
    /// Whether the origin behaves so in a situation.
    func isIn(_ situation: Story) -> Bool {
        if situation.network == .offline { return self == .offline }
        guard let act = situation.origin.first else { return false }
        if situation.origin.count > 1 { return self == .failsOnce && act.calls == 1 && act.ending.isFailure }
        switch (self, act.ending) {
        case (.answers(let from, let to), .value): return from <= act.after && to.map { act.after < $0 } ?? true
        case (.confirms, .unchanged), (.hangs, .hangs): return true
        case (.fails, let ending): return ending.isFailure
        case (.refuses, .status(let status, retryAfter: _)): return LoadError.status(status).isAnswer
        default: return false
        }
    }

    fileprivate var isAnswer: Bool { if case .answers = self { true } else { false } }
}
