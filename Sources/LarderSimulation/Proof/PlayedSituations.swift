import Larder
import LarderBase

/// Situations with what the user noticed in each.
struct PlayedSituations: Sendable {
    private(set) var all: [(situation: Situation, seen: Observation)]
    /// The number of plays. The other situations end as those that were played.
    private(set) var plays: Int

    /// The number of situations that a thread plays before it takes the next ones.
    private static let rangeSize = 128

    /// Plays situations. Several threads share the work. A situation that differs from one that was played only in facts
    /// that nobody asked for is not played again.
    ///
    /// - Throws: `PolicyError` if the policy cannot be composed.
    init(
        _ situations: [Situation], of policy: SimulatedPolicy, progress: @escaping @Sendable (Double) -> Void = { _ in }
    ) throws {
        let done = Locked((situations: 0, plays: 0))
        let kinds = Dictionary(grouping: situations.indices) { situations[$0].withoutOriginAndFaults }
        // Situations of one kind are beside each other, so that one thread plays most of them.
        let order = kinds.values.sorted { $0[0] < $1[0] }.flatMap { $0 }
        let results = ParallelMap.results(for: order.count, inRangesOf: Self.rangeSize) { range in
            let results: [Result<Observation, any Error>]
            var count = 0
            do {
                let plays = DistinctPlays(by: try SituationPlayer(policy))
                results = order[range].map { number in Result { try plays.play(situations[number]) } }
                count = plays.count
            } catch {
                results = range.map { _ in .failure(error) }
            }
            let share = done.withLock { [count] done in
                done = (done.situations + range.count, done.plays + count)
                return Double(done.situations) / Double(situations.count)
            }
            progress(share)
            return results
        }
        var seen = [Observation](repeating: Observation(ending: .never), count: order.count)
        for (number, result) in zip(order, results) { seen[number] = try result.get() }
        plays = done.withLock { $0.plays }
        all = Array(zip(situations, seen))
    }

    /// Returns those situations that were not played, each once.
    func unplayed(of situations: [Situation]) -> [Situation] {
        var known = Set(all.map(\.situation))
        return situations.filter { known.insert($0).inserted }
    }

    /// Plays further situations.
    ///
    /// - Throws: `PolicyError` if the policy cannot be composed.
    mutating func add(
        _ situations: [Situation], of policy: SimulatedPolicy, progress: @escaping @Sendable (Double) -> Void
    ) throws {
        let further = try PlayedSituations(situations, of: policy, progress: progress)
        all += further.all
        plays += further.plays
    }
}

/// Plays situations one after the other, each that may end in another way.
private final class DistinctPlays {
    private typealias Play = (situation: Situation, seen: Observation, used: UsedFacts)

    private let player: SituationPlayer
    /// The plays by the facts that are always asked for.
    private var played: [Situation: [Play]] = [:]

    /// The number of plays.
    var count: Int { played.values.reduce(0) { $0 + $1.count } }

    init(by player: SituationPlayer) { self.player = player }

    func play(_ situation: Situation) throws -> Observation {
        let kind = situation.withoutOriginAndFaults
        if let same = played[kind]?.first(where: { $0.used.agree($0.situation, situation) }) { return same.seen }
        let (seen, used) = try player.playTellingFacts(situation)
        played[kind, default: []].append((situation, seen, used))
        return seen
    }
}

/// The situations whose load has a copy that may be shown, when it begins and for a time after it.
struct CopiesThatMayBeShown: Sendable {
    private let time: Duration
    private var isShown: [Situation: Bool] = [:]

    /// Asks for the copy alone, as each load begins and `time` later.
    ///
    /// - Throws: `PolicyError` if the policy cannot be composed.
    init(for time: Duration, in situations: [Situation], of policy: SimulatedPolicy) throws {
        self.time = time
        try ask(situations, of: policy)
    }

    /// Asks for the copies of further situations.
    ///
    /// - Throws: `PolicyError` if the policy cannot be composed.
    mutating func ask(_ situations: [Situation], of policy: SimulatedPolicy) throws {
        let asked = situations.filter { $0.mayHaveACopy && $0.mode == .normal }.map(\.askingForTheCopy)
        try play(asked, of: policy)
        try play(asked.filter { isShown[$0] == true }.map { $0.older(by: time) }, of: policy)
    }

    private mutating func play(_ asked: [Situation], of policy: SimulatedPolicy) throws {
        let new = Set(asked).filter { isShown[$0] == nil }
        for (situation, seen) in try PlayedSituations(Array(new), of: policy).all {
            isShown[situation] = seen.isAnswered
        }
    }

    func contains(_ situation: Situation) -> Bool {
        let asked = situation.askingForTheCopy
        return isShown[asked] == true && isShown[asked.older(by: time)] == true
    }
}
