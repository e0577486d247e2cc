import Larder

/// Whether loads have a copy that may be shown, when they begin and later.
struct CopiesThatMayBeShown: Sendable {
    private var played: PlayedSituations
    private var answers: [Story: Bool] = [:]

    init(of policy: SimulatedPolicy) { played = PlayedSituations(of: policy) }

    /// Asks for the copy alone, some time after each load began.
    ///
    /// - Throws: `PolicyError` if the policy cannot be composed.
    mutating func ask(_ loads: [(situation: Story, time: Duration)]) throws {
        let asked = loads.filter { $0.situation.mayHaveACopy && $0.situation.load.mode == .normal }
        let new = Set(asked.map { $0.situation.askingForTheCopy(after: $0.time) }).filter { answers[$0] == nil }
        let count = played.all.count
        try played.add(Array(new))
        for (situation, seen) in played.all.dropFirst(count) { answers[situation] = seen.isAnswered }
    }

    /// Asks for the copies as the loads begin.
    ///
    /// - Throws: `PolicyError` if the policy cannot be composed.
    mutating func ask(_ situations: [Story]) throws { try ask(situations.map { ($0, .zero) }) }

    /// Whether the copy may be shown some time after a load began, as far as that was asked.
    func isShown(_ situation: Story, after time: Duration = .zero) -> Bool? {
        guard situation.mayHaveACopy, situation.load.mode == .normal else { return false }
        return answers[situation.askingForTheCopy(after: time)]
    }
}
