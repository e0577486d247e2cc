import Larder
import LarderSystem

/// Situations with what the user noticed in each.
struct PlayedSituations: Sendable {
    private(set) var all: [(situation: Story, seen: ObservedLoad)]
    private let distinct: DistinctPlays

    /// The number of plays. The other situations end as those that were played.
    var plays: Int { distinct.count }

    /// The number of situations that a thread plays before it takes the next ones.
    private static let rangeSize = 128

    init(of policy: SimulatedPolicy) {
        all = []
        distinct = DistinctPlays(of: policy)
    }

    /// Plays situations: see ``add(_:progress:)``.
    ///
    /// - Throws: `PolicyError` if the policy cannot be composed.
    init(
        _ situations: [Story], of policy: SimulatedPolicy, progress: @escaping @Sendable (Double) -> Void = { _ in }
    ) throws {
        self.init(of: policy)
        try add(situations, progress: progress)
    }

    /// Plays situations. Several threads share the work. A situation is not played again if it differs from a played
    /// one only in facts that nobody asked for.
    ///
    /// - Throws: `PolicyError` if the policy cannot be composed.
    mutating func add(_ situations: [Story], progress: @escaping @Sendable (Double) -> Void = { _ in }) throws {
        if situations.isEmpty { return }
        let done = Locked(0)
        let kinds = Dictionary(grouping: situations.indices) { situations[$0].withoutOriginAndFaults }
        // Situations of one kind are beside each other, so that one thread plays most of them.
        let order = kinds.values.sorted { $0[0] < $1[0] }.flatMap { $0 }
        let results = ParallelMap.results(for: order.count, inRangesOf: Self.rangeSize) { [distinct] range in
            let results: [Result<ObservedLoad, any Error>]
            do {
                let player = try StoryPlayer(distinct.policy)
                results = order[range].map { number in Result { try distinct.play(situations[number], by: player) } }
            } catch {
                results = range.map { _ in .failure(error) }
            }
            let share = done.withLock { done in
                done += range.count
                return Double(done) / Double(situations.count)
            }
            progress(share)
            return results
        }
        var seen = [ObservedLoad](repeating: ObservedLoad(ending: .never), count: order.count)
        for (number, result) in zip(order, results) { seen[number] = try result.get() }
        all += zip(situations, seen).map { (situation: $0, seen: $1) }
    }

    /// Plays one situation without adding it to ``all``. It is not played again when it is added.
    ///
    /// - Throws: `PolicyError` if the policy cannot be composed.
    func play(_ situation: Story, by player: StoryPlayer) throws -> ObservedLoad {
        try distinct.play(situation, by: player)
    }

    /// Returns those situations that were not played, each once.
    func unplayed(of situations: [Story]) -> [Story] {
        var known = Set(all.map(\.situation))
        return situations.filter { known.insert($0).inserted }
    }
}

/// The situations of a policy that were played, each of which may end in another way. Several threads may play them.
private final class DistinctPlays: Sendable {
    private typealias Play = (situation: Story, seen: ObservedLoad, used: UsedFacts)

    let policy: SimulatedPolicy
    /// The plays by the facts that are always asked for.
    private let played = Locked<[Story: [Play]]>([:])

    /// The number of plays.
    var count: Int { played.withLock { $0.values.reduce(0) { $0 + $1.count } } }

    init(of policy: SimulatedPolicy) { self.policy = policy }

    func play(_ situation: Story, by player: StoryPlayer) throws -> ObservedLoad {
        let kind = situation.withoutOriginAndFaults
        let known = played.withLock { $0[kind] } ?? []
        if let same = known.first(where: { $0.used.agree($0.situation, situation) }) { return same.seen }
        let (seen, used) = try player.playTellingFacts(situation)
        played.withLock { $0[kind, default: []].append((situation, seen, used)) }
        return seen
    }
}
