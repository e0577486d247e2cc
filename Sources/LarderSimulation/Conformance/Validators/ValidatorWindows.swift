import LarderSystem
import Larder

/// Checks of the uses that a validator permits as copies age.
struct ValidatorWindows {
    let validator: any Validator
    let traits: ValidatorTraits
    let now: Timestamp

    private static let ages: [Duration] = {
        let seconds: [Int64] = [
            1, 30, 60, 300, 600, 1_800, 3_600, 7_200, 43_200, 86_400, 172_800, 604_800, 691_200, 2_592_000, 31_536_000,
            315_360_000, 3_153_600_000,
        ]
        return [.zero, .nanoseconds(1), .milliseconds(1), .milliseconds(100)] + seconds.map { .seconds($0) }
    }()
    private static let longest = Duration.seconds(3_153_600_000)
    private static let single: [(name: String, use: Uses)] = [
        ("fresh", .fresh), ("while revalidating", .whileRevalidating), ("on error", .onError),
        ("for revalidation", .revalidation),
    ]

    /// New copies: as the validator admitted them, as it never saw them, and with other notes.
    private var copies: [Metadata] {
        let raw = [
            Metadata(fetchedAt: now), Metadata(fetchedAt: now, etag: "e1", contentType: "text/plain", tags: ["a"]),
            Metadata(fetchedAt: now, contentType: "application/json", notes: ["elsewhere": .number(99)], spread: 0.5),
        ]
        let admitted = raw.compactMap { metadata -> Metadata? in
            var entry = StoreConformance.entry("value", metadata)
            return (try? validator.admit(&entry, from: .origin, for: TestedPlugin.request)).map { _ in entry.metadata }
        }
        return admitted + raw + admitted.map(Self.withOtherNotes)
    }

    /// Returns the metadata with all notes changed, as if the plugin had noted other facts.
    private static func withOtherNotes(_ metadata: Metadata) -> Metadata {
        var metadata = metadata
        metadata.notes = metadata.notes.mapValues { note in
            switch note {
            case .number(let number): .number(number &+ 1)
            case .text(let text): .text(text + "x")
            case .bytes(let bytes): .bytes(bytes + [1])
            }
        }
        return metadata
    }

    private func permit(_ copy: Metadata, after age: Duration) -> Permissions {
        validator.permit(copy, for: TestedPlugin.request, at: (copy.validatedAt ?? copy.fetchedAt) + age)
    }

    // MARK: Answers

    private var questions: [(copy: Metadata, age: Duration)] {
        let future = [1, 1_000, 100_000].map { Duration.seconds(-$0) }
        return copies.flatMap { copy in (future + Self.ages).map { (copy, $0) } }
    }

    /// Returns the permissions of each copy at each age.
    func answers() -> [Permissions] {
        questions.map { permit($0.copy, after: $0.age) }
    }

    /// Asks all questions again in reverse order and compares the answers.
    func check(_ before: [Permissions], _ findings: inout BrokenPromises) {
        findings.situation = "the same questions a day later"
        for (question, answer) in zip(questions, before).reversed() {
            let again = permit(question.copy, after: question.age)
            findings.expect(
                again == answer, promise: .deterministic,
                expected: "the same for a copy \(question.age.brief) old: \(answer.inWords)",
                got: again.inWords)
        }
    }

    // MARK: Windows

    func check(_ findings: inout BrokenPromises) {
        let isAboutAge =
            traits.showsFor != nil
            || copies.contains { copy in Set(Self.ages.map { permit(copy, after: $0).uses.rawValue }).count > 1 }
        for copy in copies {
            checkOrder(copy, &findings)
            checkValidation(copy, &findings)
            checkInitialAge(copy, &findings)
            if isAboutAge { checkFuture(copy, &findings) }
            if copy.spread == 0 { checkEnds(copy, &findings) }
            checkTraits(copy, &findings)
            checkRule(copy, &findings)
        }
    }

    /// Checks that a copy which the rule permits is permitted for every use, without a reason.
    private func checkRule(_ copy: Metadata, _ findings: inout BrokenPromises) {
        guard let rule = validator.permitRule else { return }
        var expected = Permissions(.all)
        expected.freshNanoseconds = rule.freshNanoseconds
        let last = Duration.nanoseconds(rule.length - 1)
        for age in Self.ages + [last] where age >= .zero && age <= min(last, Self.longest) {
            findings.situation = "a copy \(age.brief) old"
            let got = permit(copy, after: age)
            findings.expect(got == expected, promise: .rule, expected: expected.inWords, got: got.inWords)
        }
    }

    private func checkOrder(_ copy: Metadata, _ findings: inout BrokenPromises) {
        var last = Uses.all
        for age in Self.ages {
            findings.situation = "a copy \(age.brief) old"
            let permissions = permit(copy, after: age)
            findings.expect(
                last.isSuperset(of: permissions.uses), promise: .narrows, expected: "no use that was refused before",
                got: permissions.inWords)
            last = permissions.uses
            for (name, use) in Self.single where !permissions.allows(use) {
                let reasons = permissions.reasons(for: use)
                findings.expect(
                    !reasons.isEmpty && !reasons.contains(""), promise: .reasons,
                    expected: "a reason for refusing it \(name)",
                    got: "none")
            }
        }
    }

    /// Checks that a copy fetched long ago and validated now is as old as one fetched now.
    private func checkValidation(_ copy: Metadata, _ findings: inout BrokenPromises) {
        for longAgo in [Duration.seconds(3_600), .seconds(315_360_000)] {
            var validated = copy
            validated.fetchedAt = now - longAgo
            validated.validatedAt = now
            for age in Self.ages {
                findings.situation = "a copy fetched \((longAgo + age).brief) and validated \(age.brief) ago"
                let (expected, got) = (permit(copy, after: age), permit(validated, after: age))
                findings.expect(got.uses == expected.uses, promise: .age, expected: expected.inWords, got: got.inWords)
            }
        }
    }

    /// Checks that a copy already old on arrival is as old as one that has become so.
    private func checkInitialAge(_ copy: Metadata, _ findings: inout BrokenPromises) {
        for initial in [Duration.seconds(3_600), .seconds(315_360_000)] {
            var old = copy
            old.initialAge = initial
            for age in Self.ages {
                findings.situation = "a copy \(initial.brief) old on arrival, \(age.brief) ago"
                let (expected, got) = (permit(copy, after: initial + age), permit(old, after: age))
                findings.expect(got.uses == expected.uses, promise: .age, expected: expected.inWords, got: got.inWords)
            }
        }
    }

    private func checkFuture(_ copy: Metadata, _ findings: inout BrokenPromises) {
        for age in [Duration.nanoseconds(-1), .seconds(-1), .seconds(-86_400), .seconds(-315_360_000)] {
            findings.situation = "a copy from the future, \(age.brief) old"
            let permissions = permit(copy, after: age)
            findings.expect(
                !permissions.allows(.fresh), promise: .age, expected: "a copy that is not fresh",
                got: permissions.inWords)
        }
    }

    /// Returns the first age at which a use is refused. Returns nil if it never is, and zero if it always is.
    private func end(of use: Uses, for copy: Metadata) -> Duration? {
        func isAllowed(_ age: Int64) -> Bool { permit(copy, after: .nanoseconds(age)).allows(use) }
        let ages = Self.ages.map(\.nanoseconds)
        guard let place = ages.firstIndex(where: { !isAllowed($0) }) else { return nil }
        guard place > 0 else { return .zero }
        var (allowed, refused) = (ages[place - 1], ages[place])
        while refused - allowed > 1 {
            let middle = allowed + (refused - allowed) / 2
            if isAllowed(middle) { allowed = middle } else { refused = middle }
        }
        return .nanoseconds(refused)
    }

    private func checkEnds(_ copy: Metadata, _ findings: inout BrokenPromises) {
        for (name, use) in Self.single {
            guard let end = end(of: use, for: copy), end > .zero else { continue }
            let last = end - .nanoseconds(1)
            findings.situation = "a copy exactly \(last.brief) old"
            findings.expect(
                last.nanoseconds % 1_000_000 != 0, promise: .halfOpen,
                expected: "that a window '\(name)' has ended at its end",
                got: "that it ends a nanosecond later")
        }
        guard let limit = permit(copy, after: .zero).freshFor, limit <= Self.longest else { return }
        findings.situation = "a copy at exactly the end of its freshness: \(limit.brief)"
        let permissions = permit(copy, after: limit)
        findings.expect(
            !permissions.allows(.fresh), promise: .halfOpen, expected: "a copy that is not fresh",
            got: permissions.inWords)
    }

    private func checkTraits(_ copy: Metadata, _ findings: inout BrokenPromises) {
        func check(_ end: Duration, _ what: String) {
            for age in [end, end + .nanoseconds(1), end + .seconds(1)] + Self.ages where age >= end {
                findings.situation = "a copy \(age.brief) old"
                let permissions = permit(copy, after: age)
                findings.expect(
                    !permissions.allows(.showing), promise: .traits,
                    expected: "a copy that is not shown \(what), as declared",
                    got: permissions.inWords)
            }
        }
        if let end = traits.showsFor, end <= Self.longest { check(end, "after \(end.brief)") }
        if let stale = traits.showsStaleFor, stale <= Self.longest, let fresh = end(of: .fresh, for: copy) {
            check(fresh + stale, "once it was stale for \(stale.brief)")
        }
    }
}

extension Permissions {
    fileprivate var inWords: String {
        let names = [(Uses.fresh, "fresh"), (.whileRevalidating, "while revalidating"), (.onError, "on error")]
        let uses = names.filter { allows($0.0) }.map(\.1)
        return uses.isEmpty
            ? "a copy that may not be shown" : "a copy that may be shown " + uses.joined(separator: ", ")
    }
}
