import Larder
import LarderFoundation
import Testing

@testable import LarderSync

/// Explores the small worlds: with `LARDER_SLOW=1` at most 150,000 states of each, which is all of some. Otherwise the first
/// 500.
struct ExplorerTests {
    private static let isSlow = ProcessInfo.processInfo.environment["LARDER_SLOW"] != nil

    @Test(arguments: 0..<SmallWorlds.all.count)
    func everyHistoryOfSmallWorldKeepsThePromises(_ number: Int) {
        let rules = SmallWorlds.all[number]
        let start = ContinuousClock.now
        let report = Explorer(most: Self.isSlow ? 150_000 : 500).explore(ModelWorld(rules))
        print("explored '\(rules.name)': \(report), \(ContinuousClock.now - start)")
        #expect(report.violation == nil, "\(rules.name): \(report)")
    }
}
