import Larder

/// Two revisions of a policy: the lines that differ, and how users fared with each.
struct RevisionComparison: Sendable {
    /// A figure of both revisions.
    struct Line: Sendable {
        var figure: RevisionFigure
        var old: Double
        var new: Double
        /// The new value less the old one.
        var difference: GroupedEstimate

        /// Whether the difference is no chance, and large enough that it matters.
        var standsOut: Bool { difference.isCertain && figure.isNotable(from: old, to: new) }
        /// Whether users fare worse with the new revision.
        var isWorse: Bool { standsOut && figure.isWorseIfLarger && difference.value > 0 }
    }

    var old: Report.Revision
    var new: Report.Revision
    /// Whether the new revision is the one that followed the old one.
    private(set) var isNext = false
    /// The lines of the policy that differ; nil if the dumps do not contain both policies.
    var changes: [RevisionChange]?
    /// The number of periods of five minutes in which both revisions were in use; 0 if there are none, and the figures are
    /// of all times.
    private(set) var periods = 0
    /// The numbers of loads that are compared.
    private(set) var oldLoads: UInt64 = 0
    private(set) var newLoads: UInt64 = 0
    private(set) var lines: [Line] = []

    /// The number of loads with each revision from which they are compared.
    static let fewestLoads = 50.0

    init(from old: Report.Revision, to new: Report.Revision) {
        (self.old, self.new) = (old, new)
        changes = old.policy.flatMap { old in new.policy.map { RevisionChange.changes(from: old, to: $0) } }
        let data = ComparedSums(old.sums, new.sums)
        periods = data.isTogether ? data.periods : 0
        // A dump may contain any numbers.
        (oldLoads, newLoads) = (UInt64(min(data.loads.old, 1e18)), UInt64(min(data.loads.new, 1e18)))
        guard min(data.loads.old, data.loads.new) >= Self.fewestLoads else { return }
        lines = RevisionFigure.allCases.compactMap { figure in
            // Dumps of older versions do not tell how long callers waited.
            guard let difference = data.difference(of: figure), difference.value.isFinite,
                let (old, new) = data.values(of: figure)
            else {
                return nil
            }
            return Line(figure: figure, old: old, new: new, difference: difference)
        }
    }

    /// The number of revisions that are compared, the last ones.
    private static let mostRevisions = 4

    /// Returns the comparisons of revisions: first each with the one before it, then the others.
    static func all(of revisions: [Report.Revision]) -> [RevisionComparison] {
        let known = revisions.filter { !$0.name.isEmpty }.suffix(mostRevisions).enumerated()
        let pairs = known.flatMap { old in known.filter { $0.offset > old.offset }.map { (old, $0) } }
        return pairs.enumerated().sorted { one, other in
            let distances = [one, other].map { $0.element.1.offset - $0.element.0.offset }
            let isNext = distances.map { $0 == 1 }
            return isNext[0] == isNext[1] ? one.offset < other.offset : isNext[0]
        }.map { _, pair in
            var comparison = RevisionComparison(from: pair.0.element, to: pair.1.element)
            comparison.isNext = pair.1.offset == pair.0.offset + 1
            return comparison
        }
    }
}

/// The counts of two revisions over the times at which both were in use, or over all times if there are none.
private struct ComparedSums {
    private struct Cell {
        var old = RevisionSums.Counts()
        var new = RevisionSums.Counts()

        static func - (one: Cell, other: Cell) -> Cell { Cell(old: one.old - other.old, new: one.new - other.new) }
    }

    /// The counts of each period, for each group.
    private var groups: [[Cell]]
    /// The counts of each period.
    private let whole: [Cell]
    /// Whether both revisions were in use at the same time.
    let isTogether: Bool

    init(_ old: RevisionSums, _ new: RevisionSums) {
        func times(_ sums: RevisionSums) -> Set<Timestamp> { sums.groups.reduce(into: []) { $0.formUnion($1.keys) } }
        let common = times(old).intersection(times(new)).sorted()
        func loads(_ sums: RevisionSums) -> Double {
            sums.groups.reduce(0) { total, group in common.reduce(total) { $0 + (group[$1]?.loads ?? 0) } }
        }
        let isTogether = min(loads(old), loads(new)) >= RevisionComparison.fewestLoads
        groups = zip(old.groups, new.groups).compactMap { old, new in
            if old.isEmpty, new.isEmpty { return nil }
            guard isTogether else {
                return [Cell(old: Self.total(of: old), new: Self.total(of: new))]
            }
            return common.map { Cell(old: old[$0] ?? .init(), new: new[$0] ?? .init()) }
        }
        var whole = groups.first.map { $0.map { _ in Cell() } } ?? []
        for group in groups {
            for (place, cell) in group.enumerated() {
                whole[place].old += cell.old
                whole[place].new += cell.new
            }
        }
        // Parts of the time take the place of installations if there are few of them.
        if groups.count < GroupedEstimate.fewestGroups {
            groups = isTogether ? Self.parts(of: whole) : Self.parts(of: old, new)
        }
        (self.whole, self.isTogether) = (whole, isTogether)
    }

    /// Returns the sum over all times. Doubles are added in the order of time, so a report always comes out alike.
    private static func total(of group: [Timestamp: RevisionSums.Counts]) -> RevisionSums.Counts {
        group.sorted { $0.key < $1.key }.reduce(into: .init()) { $0 += $1.value }
    }

    /// Returns groups that are parts of the common time.
    private static func parts(of whole: [Cell]) -> [[Cell]] {
        let count = min(RevisionSums.groupCount, whole.count)
        return (0..<count).map { group in
            whole.enumerated().map { place, cell in place * count / whole.count == group ? cell : Cell() }
        }
    }

    /// Returns groups that are parts of the time of each revision.
    private static func parts(of old: RevisionSums, _ new: RevisionSums) -> [[Cell]] {
        let (before, after) = (old.overTime, new.overTime)
        let count = min(RevisionSums.groupCount, before.count, after.count)
        func part(_ group: Int, of all: [RevisionSums.Counts]) -> RevisionSums.Counts {
            all.enumerated().reduce(into: .init()) { sum, one in
                if one.offset * count / all.count == group { sum += one.element }
            }
        }
        return (0..<count).map { [Cell(old: part($0, of: before), new: part($0, of: after))] }
    }

    var periods: Int { whole.count }

    var loads: (old: Double, new: Double) {
        whole.reduce(into: (0, 0)) { loads, cell in
            loads.old += cell.old.loads
            loads.new += cell.new.loads
        }
    }

    /// The new value of a figure less the old one.
    func difference(of figure: RevisionFigure) -> GroupedEstimate? {
        GroupedEstimate(groups: groups.count) { left in
            values(of: figure, without: left).map { $0.new - $0.old }
        }
    }

    /// The values of a figure, without one of the groups. Each period is compared with itself, so a bad hour does not count
    /// against the revision that had more users in it.
    func values(of figure: RevisionFigure, without left: Int? = nil) -> (old: Double, new: Double)? {
        var (old, new, weights) = (0.0, 0.0, 0.0)
        for (place, cell) in whole.enumerated() {
            let cell = left.map { cell - groups[$0][place] } ?? cell
            guard cell.old.loads > 0, cell.new.loads > 0 else { continue }
            let weight = cell.old.loads * cell.new.loads / (cell.old.loads + cell.new.loads)
            old += weight * cell.old[figure] / cell.old.loads
            new += weight * cell.new[figure] / cell.new.loads
            weights += weight
        }
        return weights > 0 ? (old / weights, new / weights) : nil
    }
}
