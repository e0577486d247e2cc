import Larder

/// The situations for which two policies are compared: each behaviour of the origin with each age of the copy, once for
/// each circumstance.
struct SituationGrid: Sendable {
    /// A place in the grid.
    struct Cell: Hashable, Sendable {
        var origin: Int
        var age: Int
    }

    let origins: [OriginBehaviour]
    /// No copy, and the ranges of ages.
    let ages: [AgeRange?]
    let circumstances: [Circumstance]
    /// The lifetime that the origin states unless a circumstance says otherwise.
    let lifetime: Duration?
    private let first: Duration?
    /// The time after which every policy gives a call up; nil if one does not.
    private let callLimit: Duration?
    private let hanging: Story.OriginAct

    /// Makes the grid that shows the differences of policies. Its borders are those of all of them.
    init(_ policies: [SimulatedPolicy]) {
        let waits = Set(policies.flatMap(\.comparedWaits) + policies.deadlines).filter { $0 > .zero }.sorted()
        let limits = policies.map(\.originLimit)
        origins = OriginBehaviour.all(
            between: waits, until: limits.contains(nil) ? nil : limits.compactMap { $0 }.max(),
            isRetried: policies.contains { $0.mostTries > 1 })
        ages = [nil] + AgeRange.all(between: Set(policies.flatMap(\.ageBorders)).sorted())
        let lifetimes = policies.map(\.lifetimes).first { $0 != [nil] } ?? [nil]
        lifetime = lifetimes.first ?? nil
        circumstances = [.none] + Circumstance.all(for: policies) + lifetimes.dropFirst().map(Circumstance.lifetime)
        first = waits.first
        hanging = policies.hanging
        let callLimits = policies.map(\.callLimits.last)
        callLimit = callLimits.contains(nil) ? nil : callLimits.compactMap { $0 }.max()
    }

    /// Whether the origin gives no answer in time.
    func isOutage(_ cell: Cell) -> Bool { origins[cell.origin].isOutage(after: callLimit) }

    /// The situations under a circumstance, with their places.
    func situations(under circumstance: Circumstance) -> [(cell: Cell, situation: Story)] {
        origins.indices.flatMap { origin in
            ages.indices.compactMap { age in
                var situation = origins[origin].situation(first: first, hanging: hanging)
                situation.copy = ages[age].map { Story.Copy(age: $0.middle) }
                situation.lifetime = lifetime
                return circumstance.apply(situation).map { (Cell(origin: origin, age: age), $0) }
            }
        }
    }

    /// Some behaviours of the origin, each with the same ages of the copy.
    struct Block: Hashable, Sendable {
        let origins: [Int]
        let ages: [Int]

        init(origins: [Int], ages: [Int]) {
            self.origins = origins
            self.ages = ages
        }

        init(_ cell: Cell) { self.init(origins: [cell.origin], ages: [cell.age]) }

        var cells: [Cell] { origins.flatMap { origin in ages.map { Cell(origin: origin, age: $0) } } }
    }

    /// Returns places as few blocks.
    func blocks(of cells: Set<Cell>) -> [Block] {
        let byOrigin = joined(cells, one: \.origin, other: \.age).map { Block(origins: $0.ones, ages: $0.others) }
        let byAge = joined(cells, one: \.age, other: \.origin).map { Block(origins: $0.others, ages: $0.ones) }
        return byAge.count < byOrigin.count ? byAge : byOrigin
    }

    /// Returns the situations of a block in plain words: "the origin fails at once, copy 5m to 6h old".
    func words(for block: Block, under circumstances: [String] = []) -> String {
        let words = [
            block.origins.map { origins[$0] }.inWords(of: origins), block.ages.map { ages[$0] }.inWords(of: ages),
            circumstances.joined(separator: " or "),
        ]
        return words.filter { !$0.isEmpty }.joined(separator: ", ")
    }

    /// Joins the values of one axis that have the same values on the other one.
    private func joined(
        _ cells: Set<Cell>, one: KeyPath<Cell, Int>, other: KeyPath<Cell, Int>
    ) -> [(ones: [Int], others: [Int])] {
        let rows = Dictionary(grouping: cells) { $0[keyPath: one] }.mapValues { $0.map { $0[keyPath: other] }.sorted() }
        return Dictionary(grouping: rows) { $0.value }
            .map { (ones: $0.value.map(\.key).sorted(), others: $0.key) }
            .sorted { $0.ones.lexicographicallyPrecedes($1.ones) }
    }
}

extension SituationGrid {
    /// Returns the place of a situation without other facts; nil if its origin or its copy is of no kind that is compared.
    func cell(of situation: Story) -> Cell? {
        let age = ages.firstIndex { range in
            guard let copy = situation.copy else { return range == nil }
            return range.map { $0.from <= copy.age && $0.to.map { copy.age < $0 } ?? true } ?? false
        }
        let origin = origins.firstIndex { $0.isIn(situation) }
        guard let age, let origin else { return nil }
        return Cell(origin: origin, age: age)
    }
}
