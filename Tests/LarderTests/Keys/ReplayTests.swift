import LarderFoundation
import Larder
import LarderSystem
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
            let (first, pantry) = try history.run()
            #expect(first.broken.isEmpty, "seed \(seed)")
            #expect(try history.run().account == first, "seed \(seed)")
            withExtendedLifetime(pantry) {}
        }
    }

    @Test func differentSeedsGiveDifferentHistories() throws {
        #expect(try History(seed: 1).run().account.transcript != History(seed: 2).run().account.transcript)
    }

    private enum Ending: CaseIterable {
        case clearing, closing
    }

    /// The pantries are kept, so that the dictionaries of each run are at other addresses and have another order.
    @Test(arguments: Ending.allCases) private func waitForSeveralWritesTakesTheSameStepsInEachRun(
        _ ending: Ending
    ) throws {
        let runs = try (0..<10).map { _ in
            try SimulatedWorld(interleaving: .shuffled).run { world in
                let simulated = try await SimulatedPantry(world, strategy: #""network-first""#)
                for time in [50, 30, 10, 60, 40, 20] { simulated.store.play(.takes(.milliseconds(time)), for: .write) }
                let loads = simulated.crowd(6)
                try await world.sleep(for: .milliseconds(5))
                switch ending {
                case .clearing: try await simulated.pantry.clear()
                case .closing: await simulated.pantry.close()
                }
                for load in loads { _ = try await load.value() }
                // Each step so far has drawn a random number, and the next ones decide the order of these tasks.
                let order = Locked<[Int]>([])
                for number in 1...20 { world.spawn { order.withLock { $0.append(number) } } }
                try await world.settle()
                return (order: order.withLock { $0 }, pantry: simulated)
            }
        }
        #expect(Set(runs.map(\.order)).count == 1)
    }
}
