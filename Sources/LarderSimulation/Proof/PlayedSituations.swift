import Larder
import LarderBase

/// Situations with what the user noticed in each.
struct PlayedSituations: Sendable {
    let all: [(situation: Situation, seen: Observation)]

    /// The number of situations that a thread plays before it takes the next ones.
    private static let rangeSize = 64

    /// Plays situations. Several threads share the work.
    ///
    /// - Throws: `PolicyError` if the policy cannot be composed.
    init(
        _ situations: [Situation], of policy: SimulatedPolicy, progress: @escaping @Sendable (Double) -> Void = { _ in }
    ) throws {
        let done = Locked(0)
        let results = ParallelMap.results(for: situations.count, inRangesOf: Self.rangeSize) { range in
            let results: [Result<Observation, any Error>]
            do {
                let player = try SituationPlayer(policy)
                results = range.map { number in Result { try player.play(situations[number]) } }
            } catch {
                results = range.map { _ in .failure(error) }
            }
            let count = done.withLock { done in
                done += range.count
                return done
            }
            progress(Double(count) / Double(situations.count))
            return results
        }
        all = try zip(situations, results).map { ($0, try $1.get()) }
    }
}

/// The situations whose load has a copy that may be shown, when it begins and for a time after it.
struct CopiesThatMayBeShown: Sendable {
    private let time: Duration
    private let isShown: [Situation: Bool]

    /// Asks for the copy alone, as each load begins and `time` later.
    ///
    /// - Throws: `PolicyError` if the policy cannot be composed.
    init(for time: Duration, in situations: [Situation], of policy: SimulatedPolicy) throws {
        self.time = time
        let asked = situations.filter { $0.copy != nil && $0.mode == .normal }.map(\.askingForTheCopy)
        let all = Array(Set(asked + asked.map { $0.older(by: time) }))
        let played = try PlayedSituations(all, of: policy)
        isShown = Dictionary(uniqueKeysWithValues: played.all.map { ($0.situation, $0.seen.isAnswered) })
    }

    func contains(_ situation: Situation) -> Bool {
        let asked = situation.askingForTheCopy
        return isShown[asked] == true && isShown[asked.older(by: time)] == true
    }
}
