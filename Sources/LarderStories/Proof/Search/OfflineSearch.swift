import Larder

/// Looks for the first time, to the millisecond, at which a load without network is not answered any more.
struct OfflineSearch {
    /// The time since the last answer; nil if every load that was played is answered.
    let firstTooLate: Duration?

    /// - Throws: `PolicyError` if the policy cannot be composed.
    init(_ played: PlayedSituations, of policy: SimulatedPolicy) throws {
        let histories = played.all.filter(\.situation.isOfflineHistory)
        // Situations of one kind differ only in the time since the last answer.
        let kinds = Dictionary(grouping: histories) { $0.situation.answered(before: .zero) }
        let player = try StoryPlayer(policy)
        var first: Duration?
        for kind in kinds.values {
            let late = kind.filter { !$0.seen.isAnswered }.map(\.situation).min { $0.lead < $1.lead }
            guard let late else { continue }
            func isAnswered(after time: Duration) throws -> Bool {
                try player.play(late.answered(before: time)).isAnswered
            }
            let before = kind.filter { $0.seen.isAnswered && $0.situation.lead < late.lead }
            var (least, most) = (before.map(\.situation.lead).max() ?? .zero, late.lead)
            if let first, most >= first {
                // Most kinds end no earlier than those before.
                if try least >= first - Self.step || isAnswered(after: first - Self.step) { continue }
                most = first - Self.step
            }
            while most - least > Self.step {
                let middle = least.middle(to: most)
                if try isAnswered(after: middle) { least = middle } else { most = middle }
            }
            first = most
        }
        firstTooLate = first
    }

    private static let step = Duration.milliseconds(1)
}
