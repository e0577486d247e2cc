extension Part {
    /// Whether this section has rules for some networks.
    var hasNetworkRules: Bool { traits.permitsBackground != nil || traits.alternative != nil }
}

extension Policy {
    /// Whether a section has rules for some networks.
    var hasNetworkRules: Bool { sections.contains(where: \.hasNetworkRules) }

    /// The origin that is called in place of the policy's own on some networks; nil if no section has one.
    var alternative: AlternativeOrigin? { sections.lazy.compactMap(\.traits.alternative).first }

    /// The rules of all sections about background work.
    func backgroundRules(in world: any World) -> BackgroundRules {
        BackgroundRules(rules: sections.compactMap(\.traits.permitsBackground), world: world)
    }

    /// The choice between the two origins; nil if there is one only.
    func originChoice(in world: any World) -> OriginChoice? {
        alternative.map { OriginChoice(world: world, isAlternative: $0.isCalled) }
    }

    /// A hash of the declaration of everything that a call of an origin passes.
    var liveFingerprint: Int {
        let alternatives = members.filter { self[$0].contains { $0.traits.alternative != nil } }
        return fingerprint(of: [.origin, .around, .validators] + alternatives)
    }
}
