extension Registry {
    /// The sections that answer loads in place of a strategy. One with a required setting that has no example is missing.
    var answeringSections: [Plugin] {
        self[.section].filter { example(of: $0)?.sectionTraits.answersLoads == true }
    }
}

extension PolicyMember {
    /// The keys that only a policy with a strategy can have.
    static let withStrategy = [validators, store, fallbacks]
}

extension PolicyDiagnostics {
    /// Reports the keys of a policy that have no place beside a section that answers loads.
    func checkAnswers(of sections: [Part], in root: Node) {
        let sections = sections.filter(\.sectionTraits.answersLoads)
        guard let first = sections.first else { return }
        let others = [.strategy] + PolicyMember.withStrategy
        for name in others.map(\.name) + sections.dropFirst().map(\.plugin.name) {
            guard let node = root[name] else { continue }
            inside("." + name) {
                report(
                    "'\(first.plugin.name)' answers loads, so '\(name)' has no place beside it", at: node.position,
                    expected: "either of the two")
            }
        }
    }
}
