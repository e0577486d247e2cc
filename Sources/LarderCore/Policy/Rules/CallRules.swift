/// Rules about the calls of origins.
extension LintRule {
    static let unreachableFallback = LintRule(
        name: "unreachable-fallback", severity: .error,
        why: "A fallback after something that cannot fail is never reached."
    ) { policy, rule, reading in
        var before = policy.origin.map { ("origin", $0) }
        for fallback in policy.fallbacks {
            if let (key, part) = before, part.originTraits.cannotFail {
                rule.report(
                    "this fallback can never be reached: the \(key) '\(part.plugin.name)' before it cannot fail",
                    about: fallback, reading)
                return
            }
            before = ("fallback", fallback)
        }
    }

    static let manyTries = LintRule(
        name: "many-tries", severity: .warning,
        why: "While an origin is down, many tries delay every load and keep the origin busy."
    ) { policy, rule, reading in
        guard policy.usesOrigin else { return }
        // Each try of a wrapper makes all tries of those inside it, and asks every origin of which the origin consists.
        var factors = policy.around.compactMap { part in part.wrapperTraits.tries.map { (part: part, tries: $0) } }
        if let origin = policy.origin { factors.append((origin, (origin.originCount, .zero))) }
        factors.removeAll { $0.tries.count <= 1 }
        let product = factors.reduce(1) { min($0 * min($1.tries.count, 1_000_000), 1_000_000) }
        guard product > 10, let (part, tries) = factors.first else { return }
        rule.report(
            factors.count == 1 && part.plugin.kind == .origin
                ? "a load asks up to \(product) origins of '\(part.plugin.name)'"
                : factors.count > 1
                    ? "a load calls up to \(product) times, because these multiply: "
                        + factors.map { part, tries in
                            "\(tries.count) \(part.plugin.kind == .origin ? "origins" : "tries") of '\(part.plugin.name)'"
                        }.joined(separator: ", ")
                    : "'\(part.plugin.name)' calls up to \(tries.count) times, and waits \(spelled(tries.waits, [part])) "
                        + "between the calls, while the load waits",
            about: part, reading, expected: "at most 10 calls")
    }

    static let missingParameter = LintRule(
        name: "missing-parameter", severity: .error,
        why: "The origin refuses a request that lacks one of its parameters."
    ) { policy, rule, reading in
        // The parameters of loads that a section answers are its own.
        guard let origin = policy.origin, policy.answeringSection == nil else { return }
        for section in policy.sections {
            for request in section.sectionTraits.requests {
                guard let name = origin.originTraits.requiredParameters.first(where: { request[$0]?.isEmpty != false })
                else {
                    continue
                }
                rule.report(
                    "section '\(section.plugin.name)' loads a request without the parameter '\(name)', which origin "
                        + "'\(origin.plugin.name)' needs",
                    about: section, setting: "requests", reading,
                    expected: "\"requests\": [{ \"\(name)\": \"…\" }]")
                break
            }
        }
    }

    static let loadsInVain = LintRule(
        name: "loads-in-vain", severity: .warning,
        why: "Answers that nobody waits for are loaded in vain if they are not kept."
    ) { policy, rule, reading in
        // A section that answers loads keeps what it needs.
        guard let strategy = policy.strategy else { return }
        let isKept =
            strategy.plugin.needs.isSuperset(of: [.origin, .store]) && policy.store?.storeTraits.keepsNothing == false
        if isKept { return }
        for section in policy.sections where !section.sectionTraits.requests.isEmpty {
            rule.report(
                "section '\(section.plugin.name)' loads answers that are not kept", about: section, reading,
                expected: "a store, and a strategy that uses it and the origin")
        }
    }

    static let refusedCall = LintRule(
        name: "refused-call", severity: .error, why: "The origin refuses every call with these parameters."
    ) { policy, rule, reading in
        guard let origin = policy.origin else { return }
        func check(_ part: Part) {
            let mistakes = part.customTraits.calls.lazy.compactMap { names in
                origin.mistake(in: Parameters(Dictionary(names.map { ($0, "1") }) { first, _ in first }))
            }
            if let mistake = mistakes.first {
                rule.report(
                    "'\(part.plugin.name)' cannot call the origin '\(origin.plugin.name)': \(mistake)", about: part,
                    reading)
            }
            part.nested.forEach(check)
        }
        policy.sections.forEach(check)
    }

    static let repeatedTwice = LintRule(
        name: "repeated-twice", severity: .error,
        why: "A change that two parts repeat is sent more often than either says."
    ) { policy, rule, reading in
        func sends(_ part: Part) -> Part? {
            part.customTraits.neededOrigin == .acceptingSends ? part : part.nested.lazy.compactMap(sends).first
        }
        guard let sender = policy.sections.lazy.compactMap(sends).first else { return }
        for wrapper in policy.around where wrapper.wrapperTraits.repeatsSends {
            rule.report(
                "'\(wrapper.plugin.name)' repeats changes, and '\(sender.plugin.name)' does so, too", about: wrapper,
                setting: "sends", reading, expected: "one of the two")
        }
    }
}
