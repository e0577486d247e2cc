import FoundationEssentials
import LarderSimulation
import Testing

/// A thousand random histories, each run twice.
@Suite struct ReplayTests {
    /// The seeds: a thousand, or ten thousand with `Tests/run --slow`.
    private static let seeds: [Range<UInt64>] = {
        let isSlow = ProcessInfo.processInfo.environment["LARDER_SLOW"] != nil
        return (0..<(isSlow ? 100 : 10)).map { (1 + $0 * 100)..<(101 + $0 * 100) }
    }()

    @Test(arguments: seeds) func equalSeedsGiveEqualHistoriesThatBreakNoPromise(_ seeds: Range<UInt64>) throws {
        for seed in seeds {
            let history = History(seed: seed)
            let first = try history.run()
            #expect(first.broken.isEmpty, "seed \(seed)")
            #expect(try history.run() == first, "seed \(seed)")
        }
    }

    @Test func differentSeedsGiveDifferentHistories() throws {
        #expect(try History(seed: 1).run().transcript != History(seed: 2).run().transcript)
    }
}
