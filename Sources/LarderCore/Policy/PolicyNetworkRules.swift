extension Policy {
    /// Whether a section has rules for some networks.
    var hasNetworkRules: Bool { sections.contains(where: \.sectionTraits.limitsBackgroundWork) }
}
