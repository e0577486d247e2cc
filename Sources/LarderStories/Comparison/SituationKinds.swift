/// The kinds of situations that a policy treats differently: all situations of a kind have the same outcome for users.
package struct SituationKinds: Sendable {
    /// A kind of situations.
    package struct Kind: Sendable {
        /// The situations in plain words: "the origin fails at once, copy 5m to 6h old".
        package let name: String
        /// Their outcome in plain words: "stale copy after 400ms".
        package let outcome: String
        /// One of them, with what its user notices.
        package let example: (situation: Story, seen: ObservedLoad)
        fileprivate let shown: Outcome.Shown
        fileprivate let cells: Set<SituationGrid.Cell>
        fileprivate let circumstance: Circumstance.Kind
    }

    /// The kinds, those without further circumstances first.
    package let all: [Kind]
    private let grid: SituationGrid

    /// Plays the situations of a policy. Blocks the thread; several threads share the work.
    ///
    /// - Throws: `PolicyError` if the policy cannot be composed.
    package init(of policy: SimulatedPolicy) throws {
        let grid = SituationGrid([policy])
        self.grid = grid
        if policy.unplayed != nil {
            all = []
            return
        }
        let usual = try Self.played(.none, grid: grid, policy: policy)
        var places: [Outcome: Set<SituationGrid.Cell>] = [:]
        for (cell, situation, seen) in usual {
            places[Outcome(seen, in: situation).withoutCalls, default: []].insert(cell)
        }
        let known = Dictionary(uniqueKeysWithValues: usual.map { ($0.cell, ($0.situation, $0.seen)) })
        var kinds: [Kind] = places.flatMap { outcome, cells in
            grid.blocks(of: cells).compactMap { block in
                block.cells.first.flatMap { known[$0] }.map { example in
                    Kind(
                        name: grid.words(for: block), outcome: outcome.words(), example: example, shown: outcome.shown,
                        cells: Set(block.cells), circumstance: .none)
                }
            }
        }.sorted { $0.name < $1.name }
        var seen: Set<Circumstance.Kind> = [.none]
        for circumstance in grid.circumstances where !seen.contains(circumstance.kind) {
            // A circumstance that changes no outcome is no kind of its own.
            let different = try Self.played(circumstance, grid: grid, policy: policy).first { cell, situation, seen in
                guard let (usual, observation) = known[cell] else { return false }
                let outcomes = (Outcome(seen, in: situation), Outcome(observation, in: usual))
                return outcomes.0.shown != outcomes.1.shown || outcomes.0.wait != outcomes.1.wait
            }
            guard let different else { continue }
            seen.insert(circumstance.kind)
            let outcome = Outcome(different.seen, in: different.situation)
            kinds.append(
                Kind(
                    name: grid.words(for: .init(different.cell), under: [circumstance.name]),
                    outcome: outcome.words(isDelay: circumstance.isDelay),
                    example: (different.situation, different.seen), shown: outcome.shown, cells: [],
                    circumstance: circumstance.kind))
        }
        all = kinds
    }

    private static func played(
        _ circumstance: Circumstance, grid: SituationGrid, policy: SimulatedPolicy
    ) throws -> [(cell: SituationGrid.Cell, situation: Story, seen: ObservedLoad)] {
        let places = grid.situations(under: circumstance)
        let played = try PlayedSituations(places.map(\.situation), of: policy).all
        return zip(places, played).map { ($0.cell, $0.situation, $1.seen) }
    }

    /// Returns the kinds that no play shows: a play shows a kind if it has its situation and its outcome.
    package func missing(in plays: [(situation: Story, seen: ObservedLoad)]) -> [Kind] {
        all.filter { kind in
            !plays.contains { situation, seen in
                guard Outcome(seen, in: situation).shown.isSameEnding(as: kind.shown) else { return false }
                let circumstances = situation.circumstances(besides: grid.lifetime)
                if kind.circumstance != .none { return circumstances == [kind.circumstance] }
                return circumstances.isEmpty && grid.cell(of: situation).map(kind.cells.contains) == true
            }
        }
    }
}

extension Outcome.Shown {
    /// Whether both end alike. The names of errors may differ.
    fileprivate func isSameEnding(as other: Outcome.Shown) -> Bool {
        if case .error = self, case .error = other { return true }
        return self == other
    }
}
