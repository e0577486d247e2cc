import Larder

/// What a validator permits as time goes by.
struct ValidatorWindows {
    private let validator: any Validator
    private let traits: Traits
    private let now: Timestamp

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

    init(_ validator: any Validator, _ traits: Traits, now: Timestamp) {
        self.validator = validator
        self.traits = traits
        self.now = now
    }

    /// Copies that came in just now: as the validator admitted them, and as it never saw them.
    private var copies: [Metadata] {
        let raw = [
            Metadata(fetchedAt: now), Metadata(fetchedAt: now, etag: "e1", contentType: "text/plain", tags: ["a"]),
            Metadata(fetchedAt: now, contentType: "application/json", version: 99, checksum: 5, spread: 0.5),
        ]
        let admitted = raw.compactMap { metadata -> Metadata? in
            var entry = StoreConformance.entry("value", metadata)
            return (try? validator.admit(&entry, from: .origin)).map { entry.metadata }
        }
        return admitted + raw
    }

    private func permit(_ copy: Metadata, after age: Duration) -> Permissions {
        validator.permit(copy, at: (copy.validatedAt ?? copy.fetchedAt) + age)
    }

    // MARK: Answers

    private var questions: [(copy: Metadata, age: Duration)] {
        let future = [1, 1_000, 100_000].map { Duration.seconds(-$0) }
        return copies.flatMap { copy in (future + Self.ages).map { (copy, $0) } }
    }

    /// What it permits each copy at each age.
    func answers() -> [Permissions] {
        questions.map { permit($0.copy, after: $0.age) }
    }

    /// Asks everything again, last things first, and compares.
    func judge(_ before: [Permissions], _ findings: inout Findings) {
        findings.situation = "it is asked again a day later, about the same moments"
        for (question, answer) in zip(questions, before).reversed() {
            let again = permit(question.copy, after: question.age)
            findings.expect(
                again == answer, .deterministic, "the same for a copy \(question.age.brief) old: \(answer.inWords)",
                got: again.inWords)
        }
    }

    // MARK: Windows

    func judge(_ findings: inout Findings) {
        let isAboutAge =
            traits.showsFor != nil
            || copies.contains { copy in Set(Self.ages.map { permit(copy, after: $0).uses.rawValue }).count > 1 }
        for copy in copies {
            judgeOrder(copy, &findings)
            judgeValidation(copy, &findings)
            if isAboutAge { judgeFuture(copy, &findings) }
            if copy.spread == 0 { judgeEnds(copy, &findings) }
            judgeTraits(copy, &findings)
        }
    }

    private func judgeOrder(_ copy: Metadata, _ findings: inout Findings) {
        var last = Uses.all
        for age in Self.ages {
            findings.situation = "a copy \(age.brief) old"
            let permissions = permit(copy, after: age)
            findings.expect(
                last.isSuperset(of: permissions.uses), .narrows, "no use that was refused before",
                got: permissions.inWords)
            last = permissions.uses
            for (name, use) in Self.single where !permissions.allows(use) {
                let reasons = permissions.reasons(for: use)
                findings.expect(
                    !reasons.isEmpty && !reasons.contains(""), .reasons, "a reason for refusing it \(name)",
                    got: "none")
            }
        }
    }

    /// A copy that was fetched long ago and validated now is as old as one that was fetched now.
    private func judgeValidation(_ copy: Metadata, _ findings: inout Findings) {
        for longAgo in [Duration.seconds(3_600), .seconds(315_360_000)] {
            var validated = copy
            validated.fetchedAt = now - longAgo
            validated.validatedAt = now
            for age in Self.ages {
                findings.situation = "a copy fetched \((longAgo + age).brief) and validated \(age.brief) ago"
                let (expected, got) = (permit(copy, after: age), permit(validated, after: age))
                findings.expect(got.uses == expected.uses, .age, expected.inWords, got: got.inWords)
            }
        }
    }

    private func judgeFuture(_ copy: Metadata, _ findings: inout Findings) {
        for age in [Duration.nanoseconds(-1), .seconds(-1), .seconds(-86_400), .seconds(-315_360_000)] {
            findings.situation = "a copy from the future, \(age.brief) old"
            let permissions = permit(copy, after: age)
            findings.expect(
                !permissions.allows(.fresh), .age, "that it is not fresh", got: permissions.inWords)
        }
    }

    /// The first age at which a use is refused; nil when it never is, zero when it always is.
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

    private func judgeEnds(_ copy: Metadata, _ findings: inout Findings) {
        for (name, use) in Self.single {
            guard let end = end(of: use, for: copy), end > .zero else { continue }
            let last = end - .nanoseconds(1)
            findings.situation = "a copy exactly \(last.brief) old"
            findings.expect(
                last.nanoseconds % 1_000_000 != 0, .halfOpen, "that a window '\(name)' has ended at its end",
                got: "that it ends a nanosecond later")
        }
        guard let limit = permit(copy, after: .zero).freshFor, limit <= Self.longest else { return }
        findings.situation = "a copy exactly as old as it is said to be fresh for: \(limit.brief)"
        let permissions = permit(copy, after: limit)
        findings.expect(!permissions.allows(.fresh), .halfOpen, "that it is not fresh", got: permissions.inWords)
    }

    private func judgeTraits(_ copy: Metadata, _ findings: inout Findings) {
        func judge(_ end: Duration, _ what: String) {
            for age in [end, end + .nanoseconds(1), end + .seconds(1)] + Self.ages where age >= end {
                findings.situation = "a copy \(age.brief) old"
                let permissions = permit(copy, after: age)
                findings.expect(
                    !permissions.allows(.showing), .traits, "that it is not shown \(what), as declared",
                    got: permissions.inWords)
            }
        }
        if let end = traits.showsFor, end <= Self.longest { judge(end, "after \(end.brief)") }
        if let stale = traits.showsStaleFor, stale <= Self.longest, let fresh = end(of: .fresh, for: copy) {
            judge(fresh + stale, "once it was stale for \(stale.brief)")
        }
    }
}

extension Permissions {
    fileprivate var inWords: String {
        let names = [(Uses.fresh, "fresh"), (.whileRevalidating, "while revalidating"), (.onError, "on error")]
        let uses = names.filter { allows($0.0) }.map(\.1)
        return uses.isEmpty ? "that it may not be shown" : "that it may be shown " + uses.joined(separator: ", ")
    }
}
