/// Something that is wrong between the parts of a policy, each of which is sound.
package struct LintRule: Sendable {
    package let name: String
    package let severity: Problem.Severity
    /// Why it matters, in one line.
    package let why: String
    private let judge: @Sendable (Policy, LintRule, Reading) -> Void

    private init(
        _ name: String, _ severity: Problem.Severity, _ why: String,
        judge: @escaping @Sendable (Policy, LintRule, Reading) -> Void
    ) {
        self.name = name
        self.severity = severity
        self.why = why
        self.judge = judge
    }

    /// Reports what the rules find.
    static func judge(_ policy: Policy, _ reading: Reading) {
        for rule in all { rule.judge(policy, rule, reading) }
    }

    private func report(_ message: String, _ path: String, _ node: Node?, _ reading: Reading, expected: String? = nil) {
        reading.inside(path) { reading.report(message, severity, at: node?.place, expected: expected, rule: name) }
    }

    /// Every rule there is.
    package static let all: [LintRule] = [
        noEffect, retryFitsTimeout, unreachableFallback, noEntryFits, forgottenTooSoon, staleUnchecked, endlessCall,
        endlessStore, keepsNothing, sharedFolder,
    ]

    private static let noEffect = LintRule(
        "no-effect", .warning, "A setting or part that does nothing under the present strategy misleads its reader."
    ) { policy, rule, reading in
        let strategy = policy.strategy
        let unused =
            (strategy.plugin.needs.contains(.origin) ? [] : ["origin", "around"])
            + (strategy.plugin.needs.contains(.store) ? [] : ["store"])
        for key in unused {
            guard let node = policy.tree[key] else { continue }
            rule.report(
                "'\(key)' has no effect: strategy '\(strategy.plugin.name)' does not use it", ".\(key)", node, reading)
        }
        if let patience = strategy.traits.patience, let longest = longestCall(policy.around), patience >= longest {
            rule.report(
                "'patience' has no effect: a call is given up after \(spelled(longest, policy.around)) at the latest",
                ".strategy.patience", strategy.node["patience"] ?? strategy.node, reading)
        }
    }

    private static let retryFitsTimeout = LintRule(
        "retry-fits-timeout", .error, "Tries that begin after an enclosing timeout has given up are never made."
    ) { policy, rule, reading in
        for (place, part) in policy.around.enumerated() {
            guard let limit = part.traits.givesUpAfter else { continue }
            for inner in policy.around.dropFirst(place + 1) {
                guard let tries = inner.traits.tries, tries.waits >= limit else { continue }
                rule.report(
                    "'\(inner.plugin.name)' waits \(spelled(tries.waits, [inner])) between its tries, but the "
                        + "'\(part.plugin.name)' around it gives up after \(spelled(limit, [part]))",
                    ".around[\(place)]", part.node, reading,
                    expected: "a longer limit, fewer tries, or the limit inside, after the tries")
            }
        }
    }

    private static let unreachableFallback = LintRule(
        "unreachable-fallback", .error, "What stands behind something that cannot fail is never reached."
    ) { policy, rule, reading in
        var before = policy.origin.map { ("origin", $0) }
        for (place, fallback) in policy.fallbacks.enumerated() {
            if let (key, part) = before, part.traits.cannotFail {
                rule.report(
                    "this fallback can never be reached: the \(key) '\(part.plugin.name)' before it cannot fail",
                    ".fallbacks[\(place)]", fallback.node, reading)
                return
            }
            before = ("fallback", fallback)
        }
    }

    private static let noEntryFits = LintRule(
        "no-entry-fits", .error, "A store smaller than its smallest entry keeps nothing."
    ) { policy, rule, reading in
        func judge(_ store: Part) {
            let tiers = store.nested.filter { $0.plugin.kind == .store }
            if !tiers.isEmpty { return tiers.forEach(judge) }
            guard let capacity = store.traits.capacity, capacity <= Entry.overhead else { return }
            let node = store.node["capacity"]
            rule.report(
                "no entry fits: each needs \(Entry.overhead) bytes besides its payload",
                String(store.path.dropFirst()) + (node == nil ? "" : ".capacity"), node ?? store.node, reading,
                expected: "a larger capacity")
        }
        if let store = policy.store { judge(store) }
    }

    private static let forgottenTooSoon = LintRule(
        "forgotten-too-soon", .error, "A window that is longer than the store keeps its entries promises what is gone."
    ) { policy, rule, reading in
        guard let store = policy.store, !store.traits.keepsNothing, let kept = store.traits.keepsFor, kept < .forever
        else { return }
        for (place, validator) in policy.validators.enumerated() {
            guard let shown = validator.traits.showsFor, shown > kept, shown < .forever else { continue }
            rule.report(
                "copies may be shown for \(spelled(shown, [validator])), but the store keeps them for "
                    + spelled(kept, [store]),
                ".validators[\(place)]", validator.node, reading, expected: "a store that keeps them longer")
        }
    }

    private static let staleUnchecked = LintRule(
        "stale-unchecked", .warning, "What is shown days later from a disk should be known to be undamaged."
    ) { policy, rule, reading in
        guard policy.store?.traits.isForeign == true, !policy.validators.contains(where: \.traits.noticesDamage) else {
            return
        }
        for (place, validator) in policy.validators.enumerated() {
            guard let stale = validator.traits.showsStaleFor, stale > .seconds(86_400) else { continue }
            rule.report(
                "copies may be shown for \(spelled(stale, [validator])) after they stopped being fresh, "
                    + "and nothing notices damage",
                ".validators[\(place)]", validator.node, reading, expected: "a validator that does, such as 'checksum'")
        }
    }

    private static let endlessCall = LintRule(
        "endless-call", .warning, "A call that nothing gives up may be waited for for ever."
    ) { policy, rule, reading in
        guard policy.strategy.plugin.needs.contains(.origin), let origin = policy.origin, !origin.traits.isLocal,
            longestCall(policy.around) == nil
        else { return }
        rule.report(
            "nothing gives a call to '\(origin.plugin.name)' up", ".origin", origin.node, reading,
            expected: "a wrapper that does, such as 'timeout'")
    }

    private static let endlessStore = LintRule(
        "endless-store", .warning, "A disk or a server that hangs holds up every load that looks for a copy."
    ) { policy, rule, reading in
        guard policy.strategy.plugin.needs.contains(.store), let store = policy.store else { return }
        let tiers = store.nested.isEmpty || store.traits.givesUpAfter != nil ? [store] : store.nested
        for tier in tiers where tier.traits.isForeign && tier.traits.givesUpAfter == nil {
            rule.report(
                "nothing gives an operation of store '\(tier.plugin.name)' up", ".store", tier.node, reading,
                expected: "a 'limit'")
            return
        }
    }

    private static let keepsNothing = LintRule(
        "keeps-nothing", .warning, "A strategy that shows copies has none to show where nothing is kept."
    ) { policy, rule, reading in
        guard policy.strategy.plugin.needs.contains(.store), policy.store?.traits.keepsNothing != false else { return }
        rule.report(
            "strategy '\(policy.strategy.plugin.name)' shows copies, but nothing is kept", ".strategy",
            policy.strategy.node, reading, expected: "a store")
    }

    private static let sharedFolder = LintRule(
        "shared-folder", .error, "Two stores that write to one place overwrite and forget what the other keeps."
    ) { policy, rule, reading in
        var seen: Set<String> = []
        func visit(_ part: Part, _ path: String) {
            if let place = part.traits.writesTo, !seen.insert(place).inserted {
                rule.report(
                    "another store of this policy keeps its entries in the same place", path, part.node, reading,
                    expected: "a name of its own")
            }
            for (place, inner) in part.nested.enumerated() where inner.plugin.kind == .store {
                visit(inner, path + ".tiers[\(place)]")
            }
        }
        if let store = policy.store { visit(store, ".store") }
    }

    /// How long something is that follows from settings of these parts. What the environment gave is not shown.
    private static func spelled(_ duration: Duration, _ parts: [Part]) -> String {
        parts.contains(where: \.node.isFilled) ? "a time from the environment" : duration.spelled
    }

    /// How long a call may last at most with everything around it; nil if nothing limits it.
    private static func longestCall(_ around: [Part]) -> Duration? {
        var longest: Duration?
        for part in around.reversed() {
            if let limit = part.traits.givesUpAfter { longest = min(limit, longest ?? limit) }
            if let tries = part.traits.tries, let once = longest {
                longest = min(once * tries.count + tries.waits, .forever)
            }
        }
        return longest
    }
}
