import Larder

/// The expected results of one load, for a strategy with these traits. It only compares: it runs nothing.
struct StrategyCheck {
    typealias Event = StrategySituation.Event

    let situation: StrategySituation
    let seen: StrategySituation.Seen
    let needs: StrategyNeeds

    private var event: Event { situation.event }
    private var asks: Bool { needs.contains(.origin) && situation.mode != .cachedOnly }
    private var keeps: Bool { needs.contains(.store) }
    /// Whether there is a copy that this strategy could find.
    private var hasCopy: Bool { keeps && situation.copy != .none && event.isReadable }

    func check(_ findings: inout BrokenPromises) {
        checkEnd(&findings)
        checkCalls(&findings)
        checkLimits(&findings)
        switch seen.outcome.ending?.result {
        case .success(let loaded): check(loaded, &findings)
        case .failure(let error as LoadError): check(error, &findings)
        default: break
        }
        checkStore(&findings)
    }

    /// Returns the permitted uses of the copy at a time after the load began.
    private func uses(after time: Duration) -> Uses {
        hasCopy ? situation.copy.uses(after: time) : []
    }

    // MARK: Ends and calls

    private func checkEnd(_ findings: inout BrokenPromises) {
        let got = seen.outcome.inWords
        findings.expect(
            seen.outcome.ending != nil, promise: .endsEverything, expected: "a load that ends",
            got: "a load that does not end")
        findings.expect(
            seen.leftRunning == 0, promise: .endsEverything, expected: "no task running two hours later",
            got: "\(seen.leftRunning) tasks")
        let end = event == .cancelled ? Event.interruption : event == .deaf ? Event.end : .forever
        if seen.outcome.isCancelled {
            findings.expect(
                seen.after == end, promise: .cancellation,
                expected: "cancellation only of a load that is cancelled, and then at once",
                got: "\(got) after \(seen.after.brief)")
        } else {
            findings.expect(
                seen.after < end, promise: .cancellation, expected: "a CancellationError after \(end.brief)",
                got: "\(got) after \(seen.after.brief)")
        }
    }

    private func checkCalls(_ findings: inout BrokenPromises) {
        let got = "\(seen.calls) calls"
        if !needs.contains(.origin) {
            findings.expect(seen.calls == 0, promise: .needs, expected: "no call", got: got)
        } else if situation.mode == .cachedOnly {
            findings.expect(seen.calls == 0, promise: .cachedOnly, expected: "no call", got: got)
        } else if situation.mode == .refresh {
            findings.expect(seen.calls > 0, promise: .refreshMode, expected: "a call", got: got)
        }
        findings.expect(seen.calls <= 1, promise: .oneFlight, expected: "one call for one load", got: got)
        if hasCopy, asks {
            findings.expect(
                seen.conditional == seen.calls, promise: .conditional, expected: "a call that names the copy",
                got: "one that names none")
        }
        if !keeps {
            let used = seen.reads + seen.writes
            findings.expect(used == 0, promise: .needs, expected: "an unused store", got: "\(used) reads and writes")
        }
    }

    /// Checks the end of patience or deadline, whichever is earlier, if the call takes longer.
    private func checkLimits(_ findings: inout BrokenPromises) {
        let patience = situation.mode == .normal ? seen.patience ?? .forever : .forever
        let limit = min(patience, situation.deadline ?? .forever)
        let got = "\(seen.outcome.inWords) after \(seen.after.brief)"
        if let deadline = situation.deadline {
            findings.expect(
                seen.after <= deadline, promise: .deadline, expected: "an end after \(deadline.brief) at the latest",
                got: got)
        }
        guard asks, limit < event.takes, limit < Event.end, event != .slowStore else { return }
        let promise: Promise = limit == patience ? .patience : .deadline
        if !uses(after: limit).isEmpty {
            findings.expect(
                seen.after <= limit && seen.outcome.value != nil, promise: promise,
                expected: "the copy after \(limit.brief) at the latest", got: got)
        } else if let deadline = situation.deadline {
            // A permitted copy that was shown earlier is correct, too.
            if seen.after < deadline, seen.outcome.value != nil, !uses(after: seen.after).isEmpty { return }
            let error = seen.outcome.failure as? LoadError
            findings.expect(
                seen.after == deadline && error?.code == .deadline, promise: .deadline,
                expected: "the error deadline after \(deadline.brief)", got: got)
        }
    }

    // MARK: What is given

    private func check(_ loaded: Loaded<String>, _ findings: inout BrokenPromises) {
        switch loaded.source {
        case .store: check(copy: loaded, &findings)
        case .origin, .revalidated: check(live: loaded, &findings)
        case .fallback:
            findings.expect(
                false, promise: .label, expected: "a value of the origin or of the store", got: loaded.inWords)
        }
    }

    private func check(copy loaded: Loaded<String>, _ findings: inout BrokenPromises) {
        let got = "\(loaded.inWords) after \(seen.after.brief)"
        let uses = uses(after: seen.after)
        findings.expect(keeps, promise: .needs, expected: "no copy from a strategy that needs no store", got: got)
        findings.expect(!uses.isEmpty, promise: .window, expected: "no copy that may not be shown", got: got)
        if event.isAnswer, asks {
            findings.expect(seen.after < event.takes, promise: .answers, expected: "the origin's answer", got: got)
        }
        if asks {
            findings.expect(
                uses.isEmpty || uses != .onError || hasCause, promise: .uses,
                expected: "a copy permitted on error only once a call failed or took too long", got: got)
            findings.expect(
                uses.isEmpty || uses != .whileRevalidating || !hasFailed, promise: .uses,
                expected: "no copy permitted while revalidating only once the call has failed", got: got)
            if situation.mode == .refresh {
                findings.expect(
                    loaded.fellBack, promise: .refreshMode, expected: "a copy only if the origin fails", got: got)
            } else if !hasCause, !uses.contains(.fresh) {
                findings.expect(
                    seen.calls > 0, promise: .refreshes, expected: "a refresh in the background", got: "no call")
            }
        }
        check(labelOf: loaded, uses: uses, got: got, findings: &findings)
    }

    /// Whether the call had failed or exceeded patience or deadline when the load ended.
    private var hasCause: Bool {
        if hasFailed { return true }
        return [seen.patience, situation.deadline].compactMap { $0 }.contains { $0 <= seen.after }
    }

    private var hasFailed: Bool { event.isFailure && seen.after >= event.takes }

    private func check(labelOf loaded: Loaded<String>, uses: Uses, got: String, findings: inout BrokenPromises) {
        let freshness: Freshness = uses.contains(.fresh) ? .fresh : .stale
        let standsIn = asks && hasCause
        let age = (situation.copy.age ?? .zero) + seen.after
        findings.expect(
            loaded.freshness == freshness, promise: .label, expected: "a copy marked \(freshness)", got: got)
        findings.expect(
            loaded.fellBack == standsIn, promise: .label,
            expected: standsIn ? "a copy marked as in place of the call" : "a copy not marked as in place of a call",
            got: got)
        findings.expect(
            loaded.value == "old" && loaded.isStored && loaded.age == age, promise: .label,
            expected: "'old', stored and \(age.brief) old", got: got)
    }

    private func check(live loaded: Loaded<String>, _ findings: inout BrokenPromises) {
        let got = "\(loaded.inWords) after \(seen.after.brief)"
        let isStored = keeps && event != .unwritable && event != .cleared
        let isUnchanged = event == .unchanged
        findings.expect(
            event.delivers && seen.after >= event.takes, promise: .label,
            expected: "only a value that the origin has sent", got: got)
        findings.expect(
            loaded.value == (isUnchanged ? "old" : "new")
                && loaded.source == (isUnchanged ? .revalidated : .origin) && loaded.freshness == .fresh
                && loaded.age == .zero && !loaded.fellBack && loaded.isStored == isStored,
            promise: .label, expected: "the origin's value, fresh, 0 s old, \(isStored ? "stored" : "not stored")",
            got: got)
    }

    // MARK: Errors

    private func check(_ error: LoadError, _ findings: inout BrokenPromises) {
        let got = error.inWords
        let uses = uses(after: seen.after)
        guard asks else {
            findings.expect(uses.isEmpty, promise: .delivers, expected: "the copy, which may be shown", got: got)
            let isOverdue = error.code == .deadline && event == .slowStore
            findings.expect(
                error.code == .notCached || isOverdue, promise: .ownError, expected: "the error notCached", got: got)
            return
        }
        // The call had not ended by the deadline.
        if error.code == .deadline, let deadline = situation.deadline, deadline <= seen.after, seen.after < event.takes
        {
            return
        }
        if event.isAnswer {
            let status = event == .gone ? 404 : 403
            findings.expect(
                error.isAnswer && error.status == status, promise: .answers, expected: "the origin's answer \(status)",
                got: got)
        } else if event.isFailure {
            findings.expect(
                !uses.contains(.onError), promise: .standIn,
                expected: "the copy, which may be shown when the origin fails", got: got)
            findings.expect(isOwn(error), promise: .ownError, expected: "the origin's own error", got: got)
            if keeps {
                findings.expect(
                    (error.store != nil) == !event.isReadable, promise: .ownError,
                    expected: "the store's error beside the origin's",
                    got: got)
                findings.expect(
                    error.copyRefused == hasCopy, promise: .ownError,
                    expected: "an error that says whether a copy was refused", got: got)
            }
        } else if error.code != .deadline || situation.deadline == nil {
            findings.expect(!event.delivers, promise: .delivers, expected: "what the origin sent", got: got)
        }
    }

    private func isOwn(_ error: LoadError) -> Bool {
        switch event {
        case .throwsForeign: error.origin is StrategySituation.Outage
        case .unreadablePayload: error.code == .undecodable
        default: error.code == .failed && error.status == 503
        }
    }

    // MARK: The store afterwards

    private func checkStore(_ findings: inout BrokenPromises) {
        let before = situation.copy == .none ? nil : "old"
        var (held, promise) = (before, Promise.saves)
        let hasCalled = keeps && seen.calls > 0
        switch event {
        case .cleared: (held, promise) = (nil, .clearing)
        case .gone where hasCalled: (held, promise) = (nil, .answers)
        case .works, .slow, .unreadable, .slowStore: if hasCalled { held = "new" }
        case .cancelled:
            if hasCalled, !seen.outcome.isCancelled { (held, promise) = ("new", .refreshes) }
        case .unreadablePayload: promise = .undecodable
        default: break
        }
        findings.expect(
            seen.held == held, promise: promise,
            expected: "a store that holds \(held.map { "'\($0)'" } ?? "nothing") at the end",
            got: seen.held.map { "'\($0)'" } ?? "nothing")
        findings.expect(
            seen.writes <= seen.calls, promise: .saves, expected: "one write at most for each call",
            got: "\(seen.writes) writes for \(seen.calls) calls")
    }
}
