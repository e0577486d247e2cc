import Larder
import LarderSystem

/// An operation that is timed. `run` does it many times, in a loop of its own.
struct Case {
    var name: String
    /// The largest cost of one operation that meets the goal, in nanoseconds.
    var goal: Double?
    /// The time that the case runs in a round; nil for that of the harness.
    var slice: Duration?
    var run: (Int) async throws -> Void

    init(
        _ name: String, goal: Double? = nil, slice: Duration? = nil, _ run: @escaping (Int) async throws -> Void
    ) {
        self.name = name
        self.goal = goal
        self.slice = slice
        self.run = run
    }
}

/// The measurement of a case: nanoseconds for one operation, unless the unit is another.
struct Figure {
    /// The unit of a figure.
    enum Unit: String {
        case nanoseconds = "ns"
        case bytes
        case times
        case percent
    }

    var group: String
    var name: String
    var median: Double
    /// The least of all rounds, if there were several.
    var least: Double?
    /// The ratio to the first case of the group.
    var ratio: Double?
    var unit = Unit.nanoseconds
    /// The largest value that meets the goal, or the least with `isGoalLeast`.
    var goal: Double?
    var isGoalLeast = false

    /// Whether the goal is met; nil if there is no goal.
    var isMet: Bool? { goal.map { isGoalLeast ? median >= $0 : median <= $0 } }

    var json: JSON {
        func number(_ value: Double?) -> JSON { value.map { .number($0) } ?? .null }
        return [
            "group": .string(group), "case": .string(name), "median_\(unit.rawValue)": number(median),
            "least_\(unit.rawValue)": number(least), "ratio": number(ratio), "goal_\(unit.rawValue)": number(goal),
            "goal_is": isGoalLeast ? "least" : "most", "met": isMet.map { .bool($0) } ?? .null,
        ]
    }
}

extension Figure {
    /// Measures the time of work that is done once in each round.
    init<Result>(
        group: String, name: String, rounds: Int, goal: Double?, work: (_ round: Int) async throws -> Result
    ) async throws {
        let world = SystemWorld()
        var times: [Double] = []
        for round in 0..<max(rounds, 1) {
            let start = world.uptime
            let result = try await work(round)
            times.append(Double((world.uptime - start).nanoseconds))
            // The result is released after the measurement.
            keep(result)
        }
        times.sort()
        self.init(group: group, name: name, median: times[times.count / 2], least: times.first, goal: goal)
    }
}

/// Times cases against each other, round by round, so that a slow machine slows all of them.
struct Harness {
    /// The time that a case runs in a round.
    var slice = Duration.milliseconds(30)
    var rounds = 15
    /// A text. Only cases whose `group: name` contains it are measured.
    var only = ""

    private let world = SystemWorld()
    /// The names of all cases so far, measured or not.
    let names = Locked<[String]>([])

    /// Returns whether a case is measured.
    func includes(_ name: String) -> Bool {
        names.withLock { if !$0.contains(name) { $0.append(name) } }
        return only.isEmpty || name.contains(only)
    }

    func compare(_ group: String, _ cases: [Case]) async throws -> [Figure] {
        let cases = cases.filter { includes("\(group): \($0.name)") }
        if cases.isEmpty { return [] }
        var counts: [Int] = []
        for one in cases { counts.append(try await calibrate(one)) }
        var times = [[Double]](repeating: [], count: cases.count)
        for round in 0..<rounds {
            // The order changes, so that no case is always the first after a pause.
            for offset in cases.indices {
                let place = (offset + round) % cases.count
                let start = world.uptime
                try await cases[place].run(counts[place])
                times[place].append(Double((world.uptime - start).nanoseconds) / Double(counts[place]))
            }
        }
        let medians = times.map { $0.sorted()[$0.count / 2] }
        return cases.indices.map { place in
            Figure(
                group: group, name: cases[place].name, median: medians[place], least: times[place].min() ?? 0,
                ratio: medians[place] / medians[0], goal: cases[place].goal)
        }
    }

    /// The number of operations that fill a slice.
    private func calibrate(_ one: Case) async throws -> Int {
        // The first call prepares the case, which is not measured.
        try await one.run(0)
        var count = 1
        let slice = one.slice ?? slice
        while true {
            let start = world.uptime
            try await one.run(count)
            let took = world.uptime - start
            if took >= slice / 4 { return max(1, Int(Double(count) * slice.inSeconds / took.inSeconds)) }
            count *= took < slice / 100 ? 10 : 2
        }
    }
}
