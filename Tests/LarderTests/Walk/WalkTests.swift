import FoundationEssentials
import Testing

/// Random policies lived through at random. `LARDER_SEEDS` says how many (`1000`) or which (`4711-4720`).
@Suite struct WalkTests {
    private static let seeds: [UInt64] = {
        let text = ProcessInfo.processInfo.environment["LARDER_SEEDS"] ?? "100"
        let ends = text.split(separator: "-").compactMap { UInt64($0) }
        let range = ends.count == 2 && ends[0] <= ends[1] ? ends[0]...ends[1] : 1...max(ends.first ?? 100, 1)
        return Array(range)
    }()

    @Test(arguments: stride(from: 0, to: seeds.count, by: 25).map { $0..<min($0 + 25, seeds.count) })
    func noWalkBreaksAPromise(_ places: Range<Int>) throws {
        for seed in Self.seeds[places] {
            let account = try Walk(seed: seed).run()
            guard !account.broken.isEmpty else { continue }
            let history = ([account.policy] + account.transcript).joined(separator: "\n")
            let broken = account.broken.joined(separator: "\n")
            Issue.record("seed \(seed) (again: LARDER_SEEDS=\(seed)-\(seed)):\n\(broken)\n\n\(history)")
        }
    }

    @Test func aSeedGivesTheSameWalk() throws {
        for seed in Self.seeds.prefix(10) { #expect(try Walk(seed: seed).run() == Walk(seed: seed).run()) }
    }
}
