import Larder

/// A difference between two policies that users would notice, in plain words.
public struct PolicyDifference: Hashable, Sendable {
    /// The situations: "the origin fails at once, copy 6h 5m to 7h 5m old".
    public let situation: String
    /// The outcome with the old policy: "error 503 after 400ms".
    public let old: String
    /// The outcome with the new policy: "copy after 400ms".
    public let new: String
}

extension PolicyDifference: CustomStringConvertible {
    /// The difference on one line.
    public var description: String { "\(situation): \(old) → \(new)" }
}

/// The places of a grid in which two policies differ.
struct GridDifferences {
    /// The longest loads with each policy; nil for one that never ends.
    private struct Longest: Equatable {
        var old: Duration? = .zero
        var new: Duration? = .zero

        mutating func add(_ old: ObservedLoad, _ new: ObservedLoad) {
            self.old = self.old.flatMap { longest in old.waited.map { max(longest, $0) } }
            self.new = self.new.flatMap { longest in new.waited.map { max(longest, $0) } }
        }
    }

    /// The changes of outcomes by circumstance, in the order of the grid.
    private var changes: [[OutcomeChange: Set<SituationGrid.Cell>]] = []
    private var longest: [Longest] = []
    /// The number of situations in which the policies differ.
    private(set) var count = 0
    /// The places at which they differ under no circumstance.
    private var usual: Set<SituationGrid.Cell> = []
    private let grid: SituationGrid

    init(_ grid: SituationGrid) { self.grid = grid }

    /// Adds the outcomes under the next circumstance of the grid.
    mutating func add(
        _ cells: [SituationGrid.Cell], situations: [Story], old: [ObservedLoad], new: [ObservedLoad]
    ) {
        let circumstance = grid.circumstances[changes.count]
        var found: [OutcomeChange: Set<SituationGrid.Cell>] = [:]
        var longest = Longest()
        for (number, cell) in cells.enumerated() {
            longest.add(old[number], new[number])
            let change = OutcomeChange(
                from: Outcome(old[number], in: situations[number]), to: Outcome(new[number], in: situations[number]),
                isOutage: grid.isOutage(cell), isDelay: circumstance.isDelay)
            guard let change else { continue }
            count += 1
            // A difference without the circumstance is told without it. Under another lifetime, it is at other ages.
            let isKnown =
                circumstance.kind == .lifetime
                ? changes.first?[change]?.contains(cell)
                : changes.first.map { usual.contains(cell) || $0[change] != nil }
            if isKnown == true { continue }
            found[change, default: []].insert(cell)
        }
        if changes.isEmpty { usual = Set(found.values.flatMap { $0 }) }
        changes.append(found)
        self.longest.append(longest)
    }

    /// The differences, those that matter most to users first.
    var all: [PolicyDifference] {
        let lines = placed + delays
        return lines.sorted { one, other in
            if one.isUsual != other.isUsual { return one.isUsual }
            if one.weight != other.weight { return one.weight < other.weight }
            return "\(one.difference)" < "\(other.difference)"
        }.map(\.difference)
    }

    private typealias Line = (isUsual: Bool, weight: OutcomeChange.Weight, difference: PolicyDifference)

    /// The differences at places of the grid. Circumstances with the same differences are told together.
    private var placed: [Line] {
        struct Place: Hashable {
            let change: OutcomeChange
            let cells: Set<SituationGrid.Cell>
        }
        var names: [Place: [String]] = [:]
        for (circumstance, found) in zip(grid.circumstances, changes) {
            for (change, cells) in found {
                names[Place(change: change, cells: cells), default: []].append(circumstance.name)
            }
        }
        return names.flatMap { place, names -> [Line] in
            let circumstances = names.filter { !$0.isEmpty }
            return grid.blocks(of: place.cells).map { block in
                let situation = grid.words(for: block, under: circumstances)
                let line = PolicyDifference(situation: situation, old: place.change.old, new: place.change.new)
                return (circumstances.isEmpty, place.change.weight, line)
            }
        }
    }

    /// The longest loads under circumstances that make loads longer, unless the longest load differs without them.
    private var delays: [Line] {
        func words(_ longest: Duration?) -> String { longest.map { "up to " + $0.inWords } ?? "without end" }
        guard let usual = longest.first, usual.old == usual.new else { return [] }
        return zip(grid.circumstances, longest).filter { $0.isDelay && $1.old != $1.new }.map { circumstance, longest in
            let line = PolicyDifference(
                situation: circumstance.name, old: "loads take " + words(longest.old), new: words(longest.new))
            return (false, .wait, line)
        }
    }
}
