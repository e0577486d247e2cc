/// Rules about settings that say nothing, or say too much.
extension LintRule {
    static let contradiction = LintRule(
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

    static let noEffect = LintRule(
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

    static let risk = LintRule(
        name: "risk", severity: .warning, why: "By some settings, changes can be lost, done twice or never be seen."
    ) { policy, rule, reading in
        for section in policy.sections {
            for found in section.sectionTraits.risks {
                rule.report(found.message, about: section, setting: found.setting, reading, expected: found.expected)
            }
        }
    }
}
