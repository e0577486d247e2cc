import Larder

/// Something that is timed: an operation, done many times in a loop of its own.
struct Case {
    var name: String
    /// The most that one operation should cost, in nanoseconds.
    var goal: Double?
    var run: (Int) async throws -> Void

    init(_ name: String, goal: Double? = nil, _ run: @escaping (Int) async throws -> Void) {
        self.name = name
        self.goal = goal
        self.run = run
    }
}

/// What was measured of one case, in nanoseconds for one operation.
struct Figure {
    var group: String
    var name: String
    var median: Double
    var least: Double
    /// The first case of the group is one.
    var ratio: Double
    var goal: Double?

    var json: JSON {
        [
            "group": .string(group), "case": .string(name), "median_ns": .number(median), "least_ns": .number(least),
            "ratio": .number(ratio), "goal_ns": goal.map { .number($0) } ?? .null,
        ]
    }
}

/// Times cases against each other: round by round, so that what slows the machine down slows all of them.
struct Harness {
    /// How long a case runs in one round.
    var slice = Duration.milliseconds(30)
    var rounds = 15
    /// Only cases with this in their names are measured.
    var only = ""

    private let world = SystemWorld()

    func compare(_ group: String, _ cases: [Case]) async throws -> [Figure] {
        let cases = only.isEmpty ? cases : cases.filter { $0.name.contains(only) }
        if cases.isEmpty { return [] }
        var counts: [Int] = []
        for one in cases { counts.append(try await calibrate(one)) }
        var times = [[Double]](repeating: [], count: cases.count)
        for round in 0..<rounds {
            // Another order each time: nobody is always the first after a pause.
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

    /// How many operations fill a slice.
    private func calibrate(_ one: Case) async throws -> Int {
        var count = 1
        while true {
            let start = world.uptime
            try await one.run(count)
            let took = world.uptime - start
            if took >= slice / 4 { return max(1, Int(Double(count) * slice.inSeconds / took.inSeconds)) }
            count *= took < slice / 100 ? 10 : 2
        }
    }
}
