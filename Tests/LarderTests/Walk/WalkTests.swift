import LarderFoundation
import Testing

/// Random histories of random policies. `LARDER_SEEDS` gives their number (`1000`) or their seeds (`4711-4720`).
@Suite struct WalkTests {
    private static let seeds: [UInt64] = {
        let text = ProcessInfo.processInfo.environment["LARDER_SEEDS"] ?? "100"
        let ends = text.split(separator: "-").compactMap { UInt64($0) }
        let range = ends.count == 2 && ends[0] <= ends[1] ? ends[0]...ends[1] : 1...max(ends.first ?? 100, 1)
        return Array(range)
    }()

    @Test(arguments: stride(from: 0, to: seeds.count, by: 25).map { $0..<min($0 + 25, seeds.count) })
    func randomWalkBreaksNoPromise(_ range: Range<Int>) throws {
        for seed in Self.seeds[range] {
            let report = try Walk(seed: seed).run()
            guard !report.problems.isEmpty else { continue }
            let history = ([report.policy] + report.transcript).joined(separator: "\n")
            let problems = report.problems.joined(separator: "\n")
            Issue.record("seed \(seed) (again: LARDER_SEEDS=\(seed)-\(seed)):\n\(problems)\n\n\(history)")
        }
    }

    @Test func equalSeedsGiveEqualWalks() throws {
        for seed in Self.seeds.prefix(10) { #expect(try Walk(seed: seed).run() == Walk(seed: seed).run()) }
    }
}
