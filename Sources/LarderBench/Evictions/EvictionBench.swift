import Larder

/// The hit ratios of evictions below the best of ten well-known algorithms.
struct EvictionBench {
    static let usage = """
        usage: larder-bench evictions [--traces FOLDER] [--seed N[,N…]] [--eviction NAME] [--only TEXT] [--json]

          --traces    the folder of the recorded streams \(EvictionPoints.recorded.compactMap(\.file).joined(separator: ", "))
                      (default: none of them)
          --seed      the seeds of the artificial streams and of the hashes of keys (default: 1)
          --eviction  the eviction (default: adaptive)
          --only      only streams whose name contains this text
          --json      write all points as JSON

        A loss is the number of percentage points by which the hit ratio is below the best of
        \(KnownEvictions.all.map(\.name).joined(separator: ", ")).
        A hit ratio above the best counts as 0. Alternating streams change to a loop that is larger than the store, and back.
        """

    /// The result of one stream on a store of one capacity.
    private struct Point {
        var group: EvictionPoints.Group
        var seed: Int
        var name: String
        var ratio: Double
        var best: (name: String, ratio: Double)

        var loss: Double { max(0, best.ratio - ratio) }

        var json: JSON {
            [
                "group": .string(group.rawValue), "seed": .int(seed), "point": .string(name), "ratio": .number(ratio),
                "best": .string(best.name), "best_ratio": .number(best.ratio),
            ]
        }
    }

    private let eviction: String
    private let seeds: [Int]
    private let recorded: [(points: EvictionPoints, traffic: EvictionTraffic, best: [(name: String, hits: Int)])]
    private let artificial: [EvictionPoints]

    /// Runs the command line: 0 if it went well, 2 for wrong arguments, 1 for anything else.
    static func main(_ arguments: [String]) -> Int32 {
        do {
            let arguments = try BenchArguments(
                arguments, options: ["--traces", "--seed", "--eviction", "--only"])
            let bench = try EvictionBench(arguments)
            var points: [Point] = []
            for seed in bench.seeds { points += try bench.points(seed: seed) }
            print(arguments.has("--json") ? JSON.list(points.map(\.json)).text() : text(points, seeds: bench.seeds))
            return 0
        } catch {
            return BenchArguments.exitCode(of: error, in: "evictions", usage: usage)
        }
    }

    private init(_ arguments: BenchArguments) throws {
        eviction = arguments.all("--eviction").last ?? "adaptive"
        guard HitRatioBench.names.contains(eviction) else { throw Misuse(message: "unknown eviction '\(eviction)'") }
        let seeds = arguments.all("--seed").last ?? "1"
        self.seeds = try seeds.split(separator: ",", omittingEmptySubsequences: false).map { part in
            guard let seed = Int(part), seed >= 0 else {
                throw Misuse(message: "'\(part)' is no --seed; expected a whole number")
            }
            return seed
        }
        let only = arguments.all("--only").last ?? ""
        func isWanted(_ points: EvictionPoints) -> Bool { only.isEmpty || points.name.contains(only) }
        artificial = (EvictionPoints.artificial + EvictionPoints.alternating).filter(isWanted)
        // The recorded streams and what the ten make of them are the same for each seed.
        recorded =
            try
            (arguments.all("--traces").last.map { folder in
                try EvictionPoints.recorded.filter(isWanted).map { points in
                    let traffic = try EvictionTraffic(path: "\(folder)/\(points.file ?? "")")
                    return (points, traffic, points.capacities.map { KnownEvictions.best(traffic, capacity: $0) })
                }
            }) ?? []
    }

    private func points(seed: Int) throws -> [Point] {
        note("seed \(seed) …")
        let played =
            recorded.lazy
            + artificial.lazy.map { points in
                let traffic = EvictionTraffic(seed: seed, name: points.name, points.make)
                return (points, traffic, points.capacities.map { KnownEvictions.best(traffic, capacity: $0) })
            }
        return try played.flatMap { points, traffic, best in
            try zip(points.capacities, best).map { capacity, best in
                let requests = Double(traffic.requests.count) / 100
                let hits = try hits(traffic, capacity: capacity, seed: seed)
                return Point(
                    group: points.group, seed: seed, name: "\(points.name) at \(capacity)",
                    ratio: Double(hits) / requests, best: (best.name, Double(best.hits) / requests))
            }
        }
    }

    /// Returns the number of hits of a store with the eviction.
    private func hits(_ traffic: EvictionTraffic, capacity: Int, seed: Int) throws -> Int {
        var eviction = try Self.named(eviction)
        var places = [Int32](repeating: -1, count: traffic.keys)
        var keys: [Int] = []
        var free: Int?
        var hits = 0
        for key in traffic.requests.lazy.map(Int.init) {
            if places[key] >= 0 {
                hits += 1
                eviction.used(Int(places[key]))
                continue
            }
            let place = free ?? keys.count
            if free == nil { keys.append(key) } else { keys[place] = key }
            free = nil
            places[key] = Int32(place)
            eviction.inserted(place, hash: (key ^ seed << 32) &* 0x1234_5678_9ABC_DEF1, weight: 1)
            // As in a store, one key more than fits is known while another is evicted.
            guard keys.count > capacity, let evicted = eviction.evict() else { continue }
            places[keys[evicted]] = -1
            free = evicted
        }
        return hits
    }

    private static func named(_ name: String) throws -> any Eviction {
        let node = try JSONParser.parse(SourceText(name: "evictions", bytes: Array("\"\(name)\"".utf8)))
        let reading = PartReader(registry: .standard, folder: "", file: "evictions")
        guard let part = SettingType.part(.eviction).read(node, reading) else {
            throw Misuse(message: reading.problems.map { "\($0)" }.joined(separator: "\n"))
        }
        return try part.eviction()
    }

    // MARK: Text

    /// A table of the points of the first seed, and one of the losses at each seed.
    private static func text(_ points: [Point], seeds: [Int]) -> String {
        let first = points.filter { $0.seed == seeds.first }.map { point in
            [point.name, number(point.ratio), number(point.best.ratio), point.best.name, number(point.loss)]
        }
        let losses = EvictionPoints.Group.allCases.flatMap { group in
            seeds.compactMap { seed in
                let points = points.filter { $0.group == group && $0.seed == seed }
                return points.max { $0.loss < $1.loss }.map { worst in
                    let mean = points.reduce(0) { $0 + $1.loss } / Double(points.count)
                    return [
                        group.rawValue, "\(seed)", "\(points.count)", number(mean), number(worst.loss), worst.name,
                    ]
                }
            }
        }
        return table([["point", "hits", "best", "of ten", "loss"]] + first) + "\n\n"
            + table([["points", "seed", "number", "mean loss", "worst", "at"]] + losses)
    }

    private static func number(_ value: Double) -> String {
        let hundredths = Int((value * 100).rounded())
        return "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100)"
    }
}
