import LarderSystem

/// A rule about the parts of a policy: each part is correct, but together they contradict each other.
package struct LintRule: Sendable {
    package let name: String
    package let severity: Problem.Severity
    /// The reason for the rule, in one line.
    package let why: String
    private let check: @Sendable (Policy, LintRule, PolicyDiagnostics) -> Void

    /// Checks all rules and reports what they find.
    static func check(_ policy: Policy, _ reading: PolicyDiagnostics) {
        for rule in all { rule.check(policy, rule, reading) }
    }

    /// Reports a finding about a part, or about one of its settings if the policy has it.
    private func report(
        _ message: String, about part: Part, setting: String? = nil, _ reading: PolicyDiagnostics,
        expected: String? = nil
    ) {
        let place = setting?.split(separator: ".").reduce(Optional(part.node)) { $0?[String($1)] }
        if let setting, let node = place.flatMap({ $0 }) {
            report(message, at: "\(part.path).\(setting)", node: node, reading: reading, expected: expected)
        } else {
            report(message, at: part.path, node: part.node, reading: reading, expected: expected)
        }
    }

    /// Reports a finding about the node at `path`, which begins with `$`.
    private func report(
        _ message: String, at path: String, node: Node, reading: PolicyDiagnostics, expected: String? = nil
    ) {
        reading.inside(String(path.dropFirst())) {
            reading.report(message, severity, at: node.position, expected: expected, rule: name)
        }
    }

    /// All rules.
    package static let all: [LintRule] = [
        contradiction, noEffect, retryFitsTimeout, unreachableFallback, noEntryFits, forgottenTooSoon, staleUnchecked,
        endlessCall,
        endlessStore, manyTries, slowerFirst, keepsNothing, sharedFolder, similarFolder,
        noWindow, onlyShortens, missingParameter, loadsInVain, refusedCall, repeatedTwice, risk,
    ]

    private static let contradiction = LintRule(
        name: "contradiction", severity: .error, why: "Of two settings that exclude each other, one would be ignored."
    ) { policy, rule, reading in
        func check(_ part: Part) {
            for found in part.traits?.contradictions ?? [] {
                rule.report(found.message, about: part, setting: found.setting, reading, expected: found.expected)
            }
            if let needed = part.customTraits.neededOrigin {
                if policy.origin == nil {
                    rule.report(
                        "'\(part.plugin.name)' calls an origin, and the policy has none", about: part, reading,
                        expected: "\"origin\"")
                } else if needed == .acceptingSends, policy.origin?.originTraits.acceptsSends != true {
                    rule.report(
                        "'\(part.plugin.name)' sends changes, and the origin accepts none", about: part, reading,
                        expected: "an origin that accepts changes")
                }
            }
            part.nested.forEach(check)
        }
        let parts =
            [policy.origin, policy.strategy, policy.store].compactMap { $0 } + policy.around + policy.validators
            + policy.fallbacks + policy.sections
        parts.forEach(check)
        let names = Set(policy.sections.map(\.plugin.name))
        for section in policy.sections {
            let traits = section.sectionTraits
            for (setting, needed) in traits.settingsNeedingSection.sorted(by: { $0.key < $1.key })
            where section.node[setting] != nil && !names.contains(needed) {
                rule.report(
                    "'\(setting)' has no effect without the section '\(needed)'", about: section, setting: setting,
                    reading,
                    expected: "the section '\(needed)', or no '\(setting)'")
            }
            for (setting, other) in traits.settingsExcludedBySection.sorted(by: { $0.key < $1.key })
            where section.node[setting] != nil && names.contains(other) {
                rule.report(
                    "'\(setting)' has no effect beside the section '\(other)'", about: section, setting: setting,
                    reading,
                    expected: "no '\(setting)'")
            }
        }
    }

    private static let noEffect = LintRule(
        name: "no-effect", severity: .warning,
        why: "A setting or part without any effect misleads the reader of the policy."
    ) { policy, rule, reading in
        func reportUnused(_ members: [PolicyMember], because reason: String) {
            for member in members {
                guard let node = policy.tree[member.name] else { continue }
                rule.report(
                    "'\(member.name)' has no effect: \(reason)", at: "$.\(member.name)", node: node, reading: reading)
            }
        }
        if let strategy = policy.strategy {
            reportUnused(
                (policy.usesOrigin ? [] : [.origin, .around]) + (policy.usesStore ? [] : [.store]),
                because: "strategy '\(strategy.plugin.name)' does not use it")
        } else if policy.origin == nil {
            reportUnused([.around], because: "there is no origin")
        }
        func checkFormerValues(_ part: Part) {
            for (list, other) in part.presentAmongFormer {
                rule.report(
                    "a value of '\(list)' has no effect: it is the present '\(other)'", about: part, setting: list,
                    reading)
            }
            part.nested.forEach(checkFormerValues)
        }
        policy.origin.map(checkFormerValues)
        if let strategy = policy.strategy, let patience = strategy.strategyTraits.patience,
            let longest = longestCall(of: policy), patience >= longest
        {
            rule.report(
                "'patience' has no effect: it is not shorter than \(spelled(longest, policy.around + [policy.origin].compactMap { $0 })), after which a call is given up",
                about: strategy, setting: "patience", reading)
        }
    }

    private static let retryFitsTimeout = LintRule(
        name: "retry-fits-timeout", severity: .error, why: "Tries after the end of an enclosing timeout are never made."
    ) { policy, rule, reading in
        for (place, part) in policy.around.enumerated() {
            guard let limit = part.givesUpAfter else { continue }
            for inner in policy.around.dropFirst(place + 1) {
                guard let tries = inner.wrapperTraits.tries, tries.waits >= limit else { continue }
                rule.report(
                    "'\(inner.plugin.name)' waits \(spelled(tries.waits, [inner])) between its tries, but the "
                        + "'\(part.plugin.name)' around it gives up after \(spelled(limit, [part]))",
                    about: part, reading,
                    expected: "a longer limit, fewer tries, or the limit inside, after the tries")
            }
        }
    }

    private static let unreachableFallback = LintRule(
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

    private static let noEntryFits = LintRule(
        name: "no-entry-fits", severity: .error, why: "A store smaller than its smallest entry keeps nothing."
    ) { policy, rule, reading in
        func check(_ store: Part) {
            let tiers = store.nested.filter { $0.plugin.kind == .store }
            if !tiers.isEmpty { return tiers.forEach(check) }
            guard let capacity = store.storeTraits.capacity, capacity <= Entry.overhead else { return }
            // The setting of a limit on size has this name in every store.
            rule.report(
                "no entry fits: each needs \(Entry.overhead) bytes besides its payload", about: store,
                setting: "capacity",
                reading,
                expected: "a larger capacity")
        }
        if let store = policy.store { check(store) }
    }

    private static let forgottenTooSoon = LintRule(
        name: "forgotten-too-soon", severity: .error,
        why: "A window longer than the store keeps its entries promises copies that no longer exist."
    ) { policy, rule, reading in
        guard let store = policy.store, !store.storeTraits.keepsNothing, let kept = store.storeTraits.keepsFor,
            kept < .forever
        else { return }
        for validator in policy.validators {
            guard let shown = validator.validatorTraits.showsFor, shown > kept, shown < .forever else { continue }
            rule.report(
                "copies may be shown for \(spelled(shown, [validator])), but the store keeps them for "
                    + spelled(kept, [store]),
                about: validator, reading, expected: "a store that keeps them longer")
        }
    }

    private static let staleUnchecked = LintRule(
        name: "stale-unchecked", severity: .warning,
        why: "A copy that is shown days later should be checked for damage."
    ) { policy, rule, reading in
        guard policy.store?.storeTraits.isForeign == true,
            !policy.validators.contains(where: \.validatorTraits.noticesDamage)
        else {
            return
        }
        for validator in policy.validators {
            guard let stale = validator.validatorTraits.showsStaleFor, stale > .seconds(86_400) else { continue }
            rule.report(
                "copies may be shown for \(spelled(stale, [validator])) after they stopped being fresh, "
                    + "and nothing notices damage",
                about: validator, reading,
                expected: "a validator that does"
                    + reading.registry.examples(of: .validator, where: \.validatorTraits.noticesDamage))
        }
    }

    private static let noWindow = LintRule(
        name: "no-window", severity: .warning,
        why: "Without a window, copies that are no longer fresh are not shown, also when the service fails."
    ) { policy, rule, reading in
        guard let strategy = policy.strategy, strategy.plugin.needs == [.origin, .store],
            policy.store?.storeTraits.keepsNothing == false
        else { return }
        // Windows of another validator are missing here, and the rule `only-shortens` says so.
        let hasOthers = policy.validators.contains {
            !$0.validatorTraits.followsOrigin && $0.validatorTraits.showsFor != nil
        }
        for validator in policy.validators where !(validator.validatorTraits.followsOrigin && hasOthers) {
            if validator.validatorTraits.followsOrigin, validator.validatorTraits.showsFor == .zero {
                rule.report(
                    "'\(validator.plugin.name)' has no windows, so a copy is shown only as long as its server says: often a "
                        + "few seconds, also when the service fails",
                    about: validator, reading, expected: "windows such as \"onError\": \"1d\"")
            } else if strategy.strategyTraits.showsStaleAtOnce,
                validator.validatorTraits.showsStaleAtOnceFor ?? validator.validatorTraits.showsStaleFor == .zero
            {
                rule.report(
                    "'\(validator.plugin.name)' has no window for stale copies, so '\(strategy.plugin.name)' shows none "
                        + "at once",
                    about: validator, reading, expected: "a window such as \"whileRevalidating\": \"1h\"")
            }
        }
    }

    private static let onlyShortens = LintRule(
        name: "only-shortens", severity: .warning,
        why: "A copy is shown only while all validators permit it, so a window beside the server's can only shorten it."
    ) { policy, rule, reading in
        guard let follower = policy.validators.first(where: \.validatorTraits.followsOrigin) else { return }
        for validator in policy.validators
        where !validator.validatorTraits.followsOrigin && validator.validatorTraits.showsFor != nil {
            rule.report(
                "'\(validator.plugin.name)' beside '\(follower.plugin.name)' can only shorten the time for which copies "
                    + "are shown",
                about: validator, reading, expected: "its windows as settings of '\(follower.plugin.name)'")
        }
    }

    private static let endlessCall = LintRule(
        name: "endless-call", severity: .warning, why: "Without a timeout, a load may wait for a call for ever."
    ) { policy, rule, reading in
        guard policy.usesOrigin, let origin = policy.origin, !origin.originTraits.isLocal,
            longestCall(of: policy) == nil
        else { return }
        rule.report(
            "nothing limits the time of a call to '\(origin.plugin.name)'", about: origin, reading,
            expected: "a wrapper that does" + reading.registry.examples(of: .wrapper) { $0.givesUpAfter != nil })
    }

    private static let endlessStore = LintRule(
        name: "endless-store", severity: .warning,
        why: "A disk or server that hangs delays every load that looks for a copy."
    ) { policy, rule, reading in
        guard policy.usesStore, let store = policy.store else { return }
        /// Returns the first store that can hang and has no limit, and no store around it has one.
        func endless(_ store: Part) -> Part? {
            if store.givesUpAfter != nil { return nil }
            let tiers = store.nested.filter { $0.plugin.kind == .store }
            if tiers.isEmpty { return store.storeTraits.isForeign ? store : nil }
            return tiers.lazy.compactMap(endless).first
        }
        guard let tier = endless(store) else { return }
        rule.report(
            "nothing limits the time of an operation of store '\(tier.plugin.name)'", about: tier, reading,
            expected: "a 'limit'")
    }

    private static let manyTries = LintRule(
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

    private static let slowerFirst = LintRule(
        name: "slower-first", severity: .warning, why: "A faster tier behind a slower one is hardly ever read."
    ) { policy, rule, reading in
        func check(_ store: Part) {
            let isOrdered = store.plugin.names.contains("tiers")
            let tiers = store.nested.filter { $0.plugin.kind == .store }
            for (slow, fast) in zip(tiers, tiers.dropFirst()) where isOrdered && slow.isPersistent && !fast.isPersistent
            {
                rule.report(
                    "store '\(fast.plugin.name)' is faster than '\(slow.plugin.name)' before it, and is hardly ever read",
                    about: fast, reading, expected: "the fastest tier first")
            }
            tiers.forEach(check)
        }
        if let store = policy.store { check(store) }
    }

    private static let keepsNothing = LintRule(
        name: "keeps-nothing", severity: .warning, why: "A strategy that shows copies needs a store that keeps them."
    ) { policy, rule, reading in
        guard let strategy = policy.strategy, policy.usesStore, policy.store?.storeTraits.keepsNothing != false else {
            return
        }
        rule.report(
            "strategy '\(strategy.plugin.name)' shows copies, but nothing is kept", about: strategy, reading,
            expected: "a store")
    }

    private static let sharedFolder = LintRule(
        name: "shared-folder", severity: .error,
        why: "Two stores that write to the same place overwrite and remove each other's entries."
    ) { policy, rule, reading in
        var seen: Set<String> = []
        for (part, place) in policy.writtenPlaces where !seen.insert(place).inserted {
            rule.report(
                "another store of this policy keeps its entries in the same place", about: part, reading,
                expected: "a name of its own")
        }
    }

    private static let similarFolder = LintRule(
        name: "similar-folder", severity: .warning,
        why: "Not every file system tells names apart by the case of their letters."
    ) { policy, rule, reading in
        var seen: [String: String] = [:]
        for (part, place) in policy.writtenPlaces {
            if let other = seen[place.lowercased()], other != place {
                rule.report(
                    "another store of this policy has a place whose name differs in the case of letters only",
                    about: part, reading, expected: "a name of its own")
            }
            seen[place.lowercased()] = place
        }
    }

    private static let missingParameter = LintRule(
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

    private static let loadsInVain = LintRule(
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

    private static let refusedCall = LintRule(
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

    private static let repeatedTwice = LintRule(
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

    private static let risk = LintRule(
        name: "risk", severity: .warning, why: "By some settings, changes can be lost, done twice or never be seen."
    ) { policy, rule, reading in
        for section in policy.sections {
            for found in section.sectionTraits.risks {
                rule.report(found.message, about: section, setting: found.setting, reading, expected: found.expected)
            }
        }
    }

    /// Returns the text of a duration that follows from settings of these parts. Values from the environment are not
    /// shown.
    private static func spelled(_ duration: Duration, _ parts: [Part]) -> String {
        parts.contains(where: \.node.isFilled) ? "a time from the environment" : duration.spelled
    }

    /// Returns the longest time that a call of the origin may last with all its wrappers; nil if nothing limits it.
    private static func longestCall(of policy: Policy) -> Duration? {
        var longest = policy.origin?.givesUpAfter
        for part in policy.around.reversed() {
            if let limit = part.givesUpAfter { longest = min(limit, longest ?? limit) }
            if let tries = part.wrapperTraits.tries, let once = longest {
                longest = min(once * tries.count + tries.waits, .forever)
            }
        }
        return longest
    }
}

extension Policy {
    /// The places that its stores write to, each with the store.
    fileprivate var writtenPlaces: [(part: Part, place: String)] {
        func places(_ part: Part) -> [(Part, String)] {
            (part.storeTraits.writesTo.map { [(part, $0)] } ?? [])
                + part.nested.filter { $0.plugin.kind == .store }.flatMap(places)
        }
        return store.map(places) ?? []
    }
}
