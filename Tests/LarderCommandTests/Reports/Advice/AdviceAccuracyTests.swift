import Foundation
import Testing

@testable import LarderCommand
import LarderReports

/// The promises of advice come true when the same requests meet the changed policy.
@Suite struct AdviceAccuracyTests {
    /// The number of seeds: 50 with `Tests/run --slow`, few otherwise because each simulation takes a while.
    private static let seeds = ProcessInfo.processInfo.environment["LARDER_ADVICE_SEEDS"].flatMap { UInt64($0) } ?? 1

    @Test(arguments: AdviceTrial.all)
    func promiseDiffersFromSimulationByTenPercentAtMost(_ trial: AdviceTrial) throws {
        let outcomes = try (1...Self.seeds).map { seed in
            try #require(try trial.outcome(seed: seed), "there is no advice with seed \(seed)")
        }
        let errors = outcomes.map(\.error).sorted()
        let median = errors[errors.count / 2]
        if Self.seeds > 1 { print("\(trial): median error \(median), largest \(errors[errors.count - 1])") }
        #expect(median <= 0.1, "\(outcomes)")
        #expect(outcomes.allSatisfy { $0.affected >= 200 })
    }

    @Test(arguments: AdviceTrial.silent)
    func noAdviceIsGivenWhereItWouldNotHelp(_ trial: AdviceTrial) throws {
        #expect(try trial.advice(seed: 1).advice?.sentence == nil)
    }
}
