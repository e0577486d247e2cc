import Larder

extension SimulatedPolicy {
    /// The parts that do not tell their borders, and those that follow the origin's rules.
    package var gaps: [String] {
        if let unplayed { return [unplayed] }
        var gaps = parts.filter { $0.borders == nil && $0.plugin.kind != .section }.map {
            "\($0.plugin.kind) '\($0.plugin.name)' tells no borders"
        }
        // A section that does not go around loads stands beside the graph.
        let besides = Set(Plan(policy).node.children.filter { $0.role == PluginKind.section.name }.map(\.name))
        gaps += policy.sections.filter { !besides.contains($0.plugin.name) && $0.borders == nil }.map {
            "section '\($0.plugin.name)' goes around loads and tells no borders"
        }
        gaps += parts.filter(\.validatorTraits.followsOrigin).map {
            "validator '\($0.plugin.name)' follows the origin; it is played with answers that state \(lifetimes.inWords), "
                + "and with no other rules"
        }
        gaps += parts.filter { $0.wrapperTraits.changesAfterFailures ?? 0 > Self.mostFailures }.map {
            "\($0.plugin.kind) '\($0.plugin.name)' changes after \($0.wrapperTraits.changesAfterFailures ?? 0) failures, which are not played"
        }
        if makesMoreCalls { gaps.append("a load can make more than \(Self.mostCalls) calls, which are not all played") }
        gaps += longTimeGaps + repeatedFailureGaps + networkGaps + lifetimeGaps + endlessStoreGaps
        if !isAdmitted { gaps.append("no answer that is played is admitted by the validators") }
        return gaps
    }

    /// Whether a section has rules for some networks.
    var hasNetworkRules: Bool { policy.sections.contains { $0.sectionTraits.limitsBackgroundWork } }

    /// Times that are longer than anything that is played. A time without end is none.
    var longTimeGaps: [String] {
        let told = (parts + tiers).flatMap { part in
            (part.borders ?? []) + [part.validatorTraits.showsFor, part.storeTraits.keepsFor].compactMap { $0 }
        }
        let promised = [promises?.neverOlderThan, promises?.offlineFor, promises?.freshWithin].compactMap { $0 }
        let most = Self.longest - Self.spare
        let isLonger = (told + promised).contains { $0 >= most && $0 < .forever }
        return isLonger ? ["times of \(most.inWords) or more are not played"] : []
    }

    /// The wrappers that count the failures of calls which two others repeat. The times of these calls decide which of them
    /// it lets through.
    var repeatedFailureGaps: [String] {
        policy.around.indices.compactMap { place in
            let counting = policy.around[place]
            let repeating = policy.around[..<place].filter { $0.wrapperTraits.tries?.count ?? 1 > 1 }.map(\.plugin.name)
            guard counting.wrapperTraits.changesAfterFailures != nil, repeating.count > 1 else { return nil }
            return "wrapper '\(counting.plugin.name)' counts failures of calls that "
                + repeating.map { "'\($0)'" }.joined(separator: " and ") + " repeat, whose times are not all played"
        }
    }

    /// The rules for networks that are not played, or not whole.
    var networkGaps: [String] {
        unplayedRules.map { "section '\($0)' has rules for networks that are not played" }
    }

    /// The stores whose age limit decides how old copies may be. A pinned copy is kept longer.
    var lifetimeGaps: [String] {
        let stated = lifetimes.compactMap { $0 }.max() ?? .zero
        let shown =
            parts.filter { $0.plugin.kind == .validator }.compactMap { part in
                part.validatorTraits.showsFor.map { part.validatorTraits.followsOrigin ? $0 + stated : $0 }
            }.min() ?? .forever
        return tiers.compactMap { tier in
            guard let kept = tier.storeTraits.keepsFor, kept < shown else { return nil }
            return "store '\(tier.plugin.name)' forgets copies after \(kept.inWords), but not those that an app keeps, "
                + "which are not played"
        }
    }

    /// The time that an operation takes in a store without a limit.
    static let longestOperation = Duration.seconds(3_600)

    /// The stores without a limit. While one hangs, later loads are given the answer that it saves, however old it is.
    var endlessStoreGaps: [String] {
        tiers.filter { $0.storeTraits.isForeign && $0.givesUpAfter == nil }.map { tier in
            "store '\(tier.plugin.name)' has no 'limit', and operations of more than \(Self.longestOperation.inWords) are "
                + "not played"
        }
    }

    /// Whether refreshes are treated on a network otherwise than on every network that is played.
    static func hasOtherRules(_ section: any Attachment) -> Bool {
        func permits(on network: NetworkState) -> Bool { section.permits(.refresh, on: network) }
        let costly = Story.Network(.online, isCostly: true).state
        let played = Set([.unknown, .online, costly].map(permits))
        let known: [Bool?] = [nil, true, false]
        let kinds: [NetworkState.Kind?] = [nil] + NetworkState.Kind.allCases
        return kinds.contains { kind in
            known.contains { isExpensive in
                known.contains { isConstrained in
                    let state = NetworkState(
                        .online, kind: kind, isExpensive: isExpensive, isConstrained: isConstrained)
                    return !played.contains(permits(on: state))
                }
            }
        }
    }
}
