/// Traffic and the capacities of the stores that it is played on.
struct EvictionPoints: Sendable {
    /// A set of points whose mean and worst loss are reported together.
    enum Group: String, CaseIterable, Sendable {
        case steady
        case alternating
    }

    var group = Group.steady
    var name: String
    var capacities: [Int]
    /// The file of a recorded stream; nil if the stream is artificial.
    var file: String?
    var make: @Sendable (inout EvictionScript) -> Void = { _ in }

    /// Recorded streams, as files of one folder.
    static let recorded = [
        EvictionPoints(name: "oltp", capacities: [500, 1_000, 2_000, 5_000, 10_000], file: "arc-oltp.txt.gz"),
        EvictionPoints(name: "p3", capacities: [10_000, 30_000, 100_000, 300_000], file: "arc-p3.txt.gz"),
        EvictionPoints(name: "shop", capacities: [300, 1_000, 3_000, 10_000, 30_000], file: "orm-busy.txt.gz"),
        EvictionPoints(name: "glimpse", capacities: [250, 500, 750, 1_000, 1_500], file: "lirs-gli.txt.gz"),
    ]

    static let artificial = [
        steady("popular") { $0.zipf(200_000, keys: 20_000) },
        steady("popular, changing") { $0.zipf(200_000, keys: 20_000, drift: 40) },
        steady("popular, with scans") { script in
            for _ in 0..<20 {
                script.zipf(7_000, keys: 20_000)
                for _ in 0..<3_000 { script.new() }
            }
        },
        steady("popular, and keys that never return") { $0.zipf(200_000, keys: 20_000) { $0.new() } },
        steady("popular, and a loop") { script in
            var place = 0
            script.zipf(200_000, keys: 20_000) { script in
                place = (place + 1) % 3_000
                script.step(place)
            }
        },
        steady("popular, loop and recent in turns") { script in
            for turn in 0..<4 {
                script.zipf(20_000, keys: 20_000)
                script.loop(3_000, rounds: 7, number: turn)
                script.recent(15_000, reach: 1_500)
            }
        },
        steady("recent") { $0.recent(200_000, reach: 2_500) },
    ]

    static let alternating = [
        around("twice", loop: 1_000, rounds: 60) { $0.twice(60_000, reach: 400) },
        around("twice", loop: 2_000, rounds: 5) { $0.twice(15_000, reach: 400) },
        around("recent", loop: 700, rounds: 5) { $0.recent(5_000, reach: 500) },
        around("recent", loop: 1_500, rounds: 20) { $0.recent(30_000, reach: 600) },
        around("recent", loop: 900, rounds: 10, times: 6) { $0.recent(10_000, reach: 500) },
        around("recent", loop: 900, rounds: 10, times: 6, isSameLoop: true) { $0.recent(10_000, reach: 500) },
        around("popular", loop: 1_000, rounds: 30) { $0.zipf(30_000, keys: 5_000) },
        around("popular", loop: 2_000, rounds: 5, times: 5) { $0.zipf(10_000, keys: 5_000) },
        around("changing", loop: 1_200, rounds: 25) { $0.zipf(30_000, keys: 5_000, drift: 10) },
        around("stack", loop: 800, rounds: 50) { $0.stack(40_000, depth: 150) },
        around("stack", loop: 4_000, rounds: 5) { $0.stack(20_000, depth: 150) },
        around("recent", loop: 5_000, rounds: 30, capacities: [1_024, 2_048]) { $0.recent(150_000, reach: 2_000) },
        around("twice", loop: 5_000, rounds: 5, capacities: [1_024, 2_048]) { $0.twice(60_000, reach: 1_800) },
        around("recent", loop: 300, rounds: 20, capacities: [64, 128]) { $0.recent(6_000, reach: 120) },
    ]

    private static func steady(_ name: String, _ make: @escaping @Sendable (inout EvictionScript) -> Void)
        -> EvictionPoints
    {
        EvictionPoints(name: name, capacities: [500, 2_000], make: make)
    }

    /// Traffic that changes `times` times to a loop and back.
    private static func around(
        _ name: String, loop: Int, rounds: Int, times: Int = 1, isSameLoop: Bool = false,
        capacities: [Int] = [256, 512], _ make: @escaping @Sendable (inout EvictionScript) -> Void
    ) -> EvictionPoints {
        let often = times == 1 ? "" : isSameLoop ? ", \(times) times the same" : ", \(times) times"
        return EvictionPoints(
            group: .alternating, name: "\(name), \(rounds) × \(loop) in a loop\(often)", capacities: capacities
        ) { script in
            for turn in 0..<times {
                make(&script)
                script.loop(loop, rounds: rounds, number: isSameLoop ? 0 : turn)
            }
            make(&script)
        }
    }
}
