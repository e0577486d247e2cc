import LarderSystem

extension Part {
    /// Whether this section has rules for some networks.
    var hasNetworkRules: Bool { traits.permitsBackground != nil }
}

extension Policy {
    /// Whether a section has rules for some networks.
    var hasNetworkRules: Bool { sections.contains(where: \.hasNetworkRules) }

    /// The rules of all sections about background work.
    func backgroundRules(in world: any World) -> BackgroundRules {
        BackgroundRules(rules: sections.compactMap(\.traits.permitsBackground), world: world)
    }
}
