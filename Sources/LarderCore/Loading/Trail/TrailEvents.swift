// The events of the graph. Each one is declared once, with its kind, its facts and its description.

extension Trail.Event.Kind {
    /// The origin gave a value. Fact: `after`.
    package static let answered: Self = "answered"
    /// The origin said that the kept copy is still current. Fact: `after`.
    package static let unchanged: Self = "unchanged"
    /// The origin gave no answer while the caller waited. Fact: `after`, unless the caller's deadline ended the wait.
    package static let noAnswer: Self = "noAnswer"
    /// A part failed. Facts: `code`, and `status` if the origin gave one. A failure may also have a kind of its own
    /// with the same facts: see ``LoadError/event``.
    package static let failed: Self = "failed"
    /// A part failed and tries again. Facts: those of the failure, `attempt` and `wait`.
    package static let retrying: Self = "retrying"
    /// The origin is left alone after a failure. Facts: `since` and `left`.
    package static let resting: Self = "resting"
    /// The origin is not called because the device has no network.
    package static let offline: Self = "offline"
    /// The load joined a running call.
    package static let joined: Self = "joined"
    /// The running call was answered for other values of a field by which the answer varies, so the load asks again.
    /// Loads with the same fields share that call.
    package static let anotherVariant: Self = "anotherVariant"

    /// A copy is shown. Facts: `freshness`, `age`, and `reasons` if a validator gave some.
    package static let copyShown: Self = "copyShown"
    /// A fallback's value is shown.
    package static let fallbackShown: Self = "fallbackShown"
    /// Validators do not allow to show the copy. Fact: `reasons`, if they gave some.
    package static let copyRefused: Self = "copyRefused"
    /// The copy was removed because a validator did not admit it. Fact: `reasons`.
    package static let copyRemoved: Self = "copyRemoved"
    /// The copy was replaced by that of another tier because a validator did not admit it. Fact: `reasons`.
    package static let copyReplaced: Self = "copyReplaced"
    /// The copy was not used: the origin says that the data no longer exists, or the copy was cleared. Fact: `reasons`.
    package static let copySkipped: Self = "copySkipped"
    /// The copy could not be decoded.
    package static let copyUndecodable: Self = "copyUndecodable"
    /// The copy was removed because the origin says that the data no longer exists.
    package static let copyDropped: Self = "copyDropped"

    /// The answer was not saved: the key was cleared, the answer of a later call was saved, or the answer matches no
    /// other request.
    package static let notSaved: Self = "notSaved"
    /// The answer was used and not saved, because a validator does not let it be kept.
    public static let notKept: Self = "notKept"
    /// The answer was returned before it was saved.
    package static let savingGoesOn: Self = "savingGoesOn"
    /// A store failed. Facts: `effect`, `tier` and `reasons`.
    public static let storeFailed: Self = "storeFailed"
}

extension Trail.Fact<Duration> {
    /// The time that an operation took, or the time spent waiting for it.
    public static var after: Self { "after" }
    /// The time since the event.
    package static var since: Self { "since" }
    /// The remaining time.
    public static var left: Self { "left" }
    /// The time that a part waits before it goes on.
    public static var wait: Self { "wait" }
    /// The age of a copy. It is negative for a copy from the future.
    package static var age: Self { "age" }
}

extension Trail.Fact<Int> {
    /// The HTTP-like status that the origin gave.
    package static var status: Self { "status" }
    /// The number of the next try; the first call is number 1.
    package static var attempt: Self { "attempt" }
}

extension Trail.Fact<LoadError.Code> {
    /// The kind of a failure.
    package static var code: Self { "code" }
}

extension Trail.Fact<LoadError.Cause> {
    /// The reason why an exchange with a server failed.
    static var cause: Self { "cause" }
}

extension Trail.Fact<Freshness> {
    /// The freshness of a copy.
    package static var freshness: Self { "freshness" }
}

extension Trail.Fact<String> {
    /// The effect of a store's failure: `not saved`.
    package static var effect: Self { "effect" }
    /// The name of the store or tier.
    package static var tier: Self { "tier" }
}

extension Trail.Fact<[String]> {
    /// The reasons that validators or stores gave.
    package static var reasons: Self { "reasons" }
}

// MARK: The origin

extension Trail.Event {
    static func answered(after time: Duration) -> Self { Self(.answered, "answered after \(.after, time)") }
    static func unchanged(after time: Duration) -> Self { Self(.unchanged, "unchanged, after \(.after, time)") }
    static var joined: Self { Self(.joined, "joined the call under way") }
    static var anotherVariant: Self { Self(.anotherVariant, "the answer is for other fields, so another call") }

    /// The origin gave no answer while the caller waited: for `time`, or until the caller's deadline.
    public static func noAnswer(after time: Duration?) -> Self {
        guard let time else { return Self(.noAnswer, "no answer by the caller's deadline") }
        return Self(.noAnswer, "no answer after \(.after, time)")
    }

    /// A call failed, and is made again after `wait`.
    ///
    /// - Parameter attempt: the number of the next try; the first call is number 1.
    public static func retrying(after failure: LoadError, attempt: Int, wait: Duration) -> Self {
        Self(.retrying, "\(failure.event); try \(.attempt, attempt) after \(.wait, wait)")
    }

    static var offline: Self { Self(.offline, "not called, because the device is offline") }

    /// - Parameter failure: what the origin did, such as `failed`.
    static func resting(_ failure: Trail.Words, since time: Duration, left: Duration) -> Self {
        let failure = Self(.resting, failure)
        return Self(.resting, "\(failure) \(.since, time) ago, asked again in \(.left, left)")
    }
}

// MARK: Copies

extension Trail.Event {
    static func copyShown(_ freshness: Freshness, age: Duration, reasons: [String]) -> Self {
        switch (age < .zero, reasons.isEmpty) {
        case (false, true): Self(.copyShown, "\(.freshness, freshness) copy, \(.age, age) old")
        case (false, false):
            Self(
                .copyShown,
                "\(.freshness, freshness) copy, \(.age, age) old, allowed by \(.reasons, reasons, separator: " and ")")
        case (true, true): Self(.copyShown, "\(.freshness, freshness) copy, from the future")
        case (true, false):
            Self(
                .copyShown,
                "\(.freshness, freshness) copy, from the future, allowed by \(.reasons, reasons, separator: " and ")")
        }
    }

    static var fallbackShown: Self { Self(.fallbackShown, "stands in, age unknown") }

    static func copyRefused(_ reasons: [String]) -> Self {
        Self(.copyRefused, reasons.isEmpty ? "copy refused" : "copy refused: \(.reasons, reasons)")
    }

    static func copyRemoved(_ refusal: Refusal) -> Self {
        Self(.copyRemoved, "copy removed: \(.reasons, [refusal.reason])")
    }

    static func copyReplaced(_ refusal: Refusal) -> Self {
        Self(.copyReplaced, "copy replaced by that of another tier: \(.reasons, [refusal.reason])")
    }

    static func copySkipped(_ reason: String) -> Self {
        Self(.copySkipped, "copy not used: \(.reasons, [reason])")
    }

    static var copyUndecodable: Self { Self(.copyUndecodable, "copy does not decode") }
    static var copyDropped: Self { Self(.copyDropped, "no copy is kept: the origin says that there is none") }
}

// MARK: Saving

extension Trail.Event {
    static var notSaved: Self { Self(.notSaved, "not saved: cleared or overtaken by a later call") }
    static var notKept: Self { Self(.notKept, "the answer may be used but not kept") }
    static var matchesNoOther: Self { Self(.notSaved, "not saved: the answer matches no other request") }
    static var notInvalidated: Self { Self(.storeFailed, "copies are hidden: neither expired nor removed") }
    static var savingGoesOn: Self { Self(.savingGoesOn, "saving goes on") }

    static func storeFailed(_ fault: StoreFault, effect: String) -> Self {
        Self(.storeFailed, "\(.effect, effect): \(.tier, fault.tier): \(.reasons, [fault.reason])")
    }
}
