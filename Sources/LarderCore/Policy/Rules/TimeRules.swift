import LarderSystem

/// Rules about times: for how long calls and operations last, and copies are shown.
extension LintRule {
    static let retryFitsTimeout = LintRule(
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

    static let forgottenTooSoon = LintRule(
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

    static let staleUnchecked = LintRule(
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

    static let noWindow = LintRule(
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

    static let onlyShortens = LintRule(
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

    static let endlessCall = LintRule(
        name: "endless-call", severity: .warning, why: "Without a timeout, a load may wait for a call for ever."
    ) { policy, rule, reading in
        guard policy.usesOrigin, let origin = policy.origin, !origin.originTraits.isLocal,
            longestCall(of: policy) == nil
        else { return }
        rule.report(
            "nothing limits the time of a call to '\(origin.plugin.name)'", about: origin, reading,
            expected: "a wrapper that does" + reading.registry.examples(of: .wrapper) { $0.givesUpAfter != nil })
    }

    static let endlessStore = LintRule(
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

    /// Returns the longest time that a call of the origin may last with all its wrappers; nil if nothing limits it.
    static func longestCall(of policy: Policy) -> Duration? {
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
