import LarderFoundation
import Larder
import LarderSimulation

/// The promises of a strategy in a story of one load.
struct StrategyRules {
    /// A promise, the expected result, and whether it is the actual one.
    typealias Rule = (promise: Promise, expected: String, isKept: Bool)

    let story: Story
    let copy: StrategyCopy
    let history: StoryHistory
    let needs: StrategyNeeds
    /// The patience that the strategy declares.
    let patience: Duration?

    private var answer: StoryHistory.Answer { history.answers[0] }
    private var load: Story.Load { story.load }
    private var act: Story.OriginAct { story.origin[0] }
    private var asks: Bool { needs.contains(.origin) && load.mode != .cachedOnly }
    private var keeps: Bool { needs.contains(.store) }
    private var isReadable: Bool { !story.stores.contains { $0.operations == .reads } }
    private var isWritable: Bool { !story.stores.contains { $0.operations == .changes } && story.clearings.isEmpty }
    private var isCancelled: Bool { if case .cancelled = answer.ending { true } else { false } }
    /// Whether there is a copy that this strategy could find.
    private var hasCopy: Bool { keeps && copy.age != nil && isReadable }
    /// The duration of the load.
    private var after: Duration { answer.took ?? .forever }
    private var isValue: Bool { act.ending == .value || act.ending == .unchanged }
    /// Whether the origin had sent a value when the load ended.
    private var isSent: Bool { isValue && after >= act.time }
    /// Whether the origin answers with an error that stands.
    private var isRefusal: Bool { if case .status = act.ending { act.ending.isAnswer } else { false } }
    /// Whether the call fails, so that a copy may replace its answer.
    private var isFailure: Bool { act.ending.isFailure || load.decodes }
    private var hasFailed: Bool { isFailure && after >= act.time }
    /// Whether the call had failed or exceeded patience or deadline when the load ended.
    private var hasCause: Bool {
        hasFailed || [patience, load.deadline].compactMap { $0 }.contains { $0 <= after }
    }

    /// Returns the permitted uses of the copy at a time after the load began.
    private func uses(after time: Duration) -> Uses { hasCopy ? copy.uses(after: time) : [] }

    /// The promises that concern the story and its end.
    var all: [Rule] {
        let rules =
            switch answer.ending {
            case .value(let loaded):
                if case .store = loaded.source { limits + ofCopy(loaded) } else { limits + ofValue }
            case .error(let error): limits + of(error)
            case .cancelled, nil: limits
            }
        return ends + calls + rules + store
    }

    /// Returns the rule that the answer is as expected.
    private func rule(_ promise: Promise, _ expectation: Expectation) -> Rule {
        history.rule(promise, of: answer, expectation)
    }

    // MARK: Ends and calls

    private var ends: [Rule] {
        let isAtOnce = isCancelled ? after == load.cancelledAfter : after < load.cancelledAfter ?? .seconds(30)
        return history.endings + [
            (.endsEverything, "a load that ends", answer.ending != nil),
            (.cancellation, "cancellation only of a load that is cancelled, and then at once", isAtOnce),
        ]
    }

    private var calls: [Rule] {
        let calls = history.calls
        return [
            asks
                ? (.oneFlight, "one call for one load", calls.count <= 1)
                : (needs.contains(.origin) ? .cachedOnly : .needs, "no call", calls.isEmpty),
            (.refreshMode, "a call", !asks || load.mode != .refresh || !calls.isEmpty),
            (.conditional, "a call that names the copy", !hasCopy || calls.allSatisfy(\.isConditional)),
            (.needs, "an unused store", keeps || history.reads + history.writes == 0),
        ]
    }

    /// The rules of the end of patience or deadline, whichever is earlier, if the call takes longer.
    private var limits: [Rule] {
        let patience = load.mode == .normal ? patience ?? .forever : .forever
        let limit = min(patience, load.deadline ?? .forever)
        var rules = load.deadline.map { [rule(.deadline, Expectation(within: $0, answered: "either"))] } ?? []
        let isSlow = story.stores.contains { if case .takes = $0.fault { true } else { false } }
        guard asks, limit < min(act.time, .seconds(30)), !isSlow else { return rules }
        if !uses(after: limit).isEmpty {
            rules.append(rule(limit == patience ? .patience : .deadline, Expectation(within: limit)))
        } else if let deadline = load.deadline, uses(after: after).isEmpty || after >= deadline {
            rules.append(rule(.deadline, Expectation(error: "deadline", takes: deadline)))
        }
        return rules
    }

    // MARK: Values

    private func ofCopy(_ loaded: Loaded<Data>) -> [Rule] {
        let uses = uses(after: after)
        var rules: [Rule] = [
            (.needs, "no copy from a strategy that needs no store", keeps),
            (.window, "no copy that may not be shown", !uses.isEmpty),
        ]
        if asks {
            let isRefreshed = hasCause || uses.contains(.fresh) || !history.calls.isEmpty
            rules += [
                (.answers, "the origin's answer", !isRefusal || after < act.time),
                (.uses, "a copy for errors only once a call failed or took too long", uses != .onError || hasCause),
                (.uses, "a copy to be refreshed only until the call failed", uses != .whileRevalidating || !hasFailed),
                (.refreshMode, "a copy only if the origin fails", load.mode != .refresh || loaded.fellBack),
                (.refreshes, "a refresh in the background", load.mode == .refresh || isRefreshed),
            ]
        }
        let expectation = Expectation(
            value: .copied, freshness: uses.contains(.fresh) ? "fresh" : "stale",
            age: .exactly((copy.age ?? .zero) + after), fellBack: asks && hasCause, isStored: true)
        return rules + [rule(.label, expectation)]
    }

    private var ofValue: [Rule] {
        let isUnchanged = act.ending == .unchanged
        let expectation = Expectation(
            value: isUnchanged ? .copied : .answer(1), freshness: "fresh",
            source: isUnchanged ? "revalidated" : "origin", age: .exactly(.zero), fellBack: false,
            isStored: keeps && isWritable)
        return [(.label, "only a value that the origin has sent", isSent), rule(.label, expectation)]
    }

    // MARK: Errors

    private func of(_ error: LoadError) -> [Rule] {
        let uses = uses(after: after)
        guard asks else {
            let isOverdue = error.code == .deadline && !isReadable
            return [
                (.delivers, "the copy, which may be shown", uses.isEmpty),
                (.ownError, "the error notCached", error.code == .notCached || isOverdue),
            ]
        }
        // The call had not ended by the deadline.
        if error.code == .deadline, let deadline = load.deadline, deadline <= after, after < act.time { return [] }
        switch act.ending {
        case .status(let status, _) where isRefusal:
            return [rule(.answers, Expectation(error: "answer", status: status))]
        case _ where isFailure:
            let hasStoreError = error.store != nil
            return [
                (.standIn, "the copy, which may be shown when the origin fails", !uses.contains(.onError)),
                (.ownError, "the origin's own error", isOwn(error)),
                (.ownError, "the store's error beside the origin's", !keeps || hasStoreError == !isReadable),
                (.ownError, "whether a copy was refused", !keeps || error.copyRefused == hasCopy),
            ]
        default:
            let isOverdue = error.code == .deadline && load.deadline != nil
            let isAwaited = isValue && load.cancelledAfter == nil
            return [(.delivers, "the answer of the origin", isOverdue || !isAwaited)]
        }
    }

    private func isOwn(_ error: LoadError) -> Bool {
        switch act.ending {
        case .throwsError: error.origin is StoryError
        case .sends: error.code == .undecodable
        default: error.code == .failed && error.status == 503
        }
    }

    // MARK: The store afterwards

    private var store: [Rule] {
        guard keeps else { return [] }
        var (kept, promise) = (copy.age == nil ? nil : JSON.copied, Promise.saves)
        switch act.ending {
        case _ where !story.clearings.isEmpty: (kept, promise) = (nil, .clearing)
        case .status(404, _) where !history.calls.isEmpty: (kept, promise) = (nil, .answers)
        case .sends: promise = .undecodable
        case .value where isWritable && !history.calls.isEmpty && !isCancelled:
            (kept, promise) = (JSON.answer(1), load.cancelledAfter == nil ? .saves : .refreshes)
        default: break
        }
        return [
            (promise, "a store that holds \(kept?.shortText ?? "nothing") at the end", history.kept(kept, for: answer)),
            (.saves, "one write at most for each call", history.writes <= history.calls.count),
        ]
    }
}

extension StoryHistory {
    /// The number of reads of stores.
    var reads: Int { stores.reduce(0) { $0 + $1.count(of: .read) } }

    /// The number of writes to stores.
    var writes: Int { stores.reduce(0) { $0 + $1.count(of: .write) } }

    /// Whether the stores keep a value for the key of an answer at the end; nil for none.
    fileprivate func kept(_ value: JSON?, for answer: Answer) -> Bool {
        stores.allSatisfy { store in
            let kept = store.entries[answer.key].map { JSON(payload: $0.payload.bytes) }
            return kept?.isSame(as: value) ?? (value == nil)
        }
    }
}

extension JSON {
    /// The payload of the copy.
    fileprivate static let copied: JSON = ["copy": true]
}
