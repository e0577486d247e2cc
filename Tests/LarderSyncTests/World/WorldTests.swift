import Larder
import LarderFoundation
import Testing

@testable import LarderSync

/// Three devices and a service in simulated time, with all their troubles. `LARDER_SLOW=1` plays 1,000 seeds, and twenty with
/// every point at which a process can end. `LARDER_SEEDS` gives the number of seeds (`500`) or which (`17-19`).
@Suite struct WorldTests {
    private static var isSlow: Bool { ProcessInfo.processInfo.environment["LARDER_SLOW"] == "1" }

    private static var seeds: ClosedRange<UInt64> {
        let text = ProcessInfo.processInfo.environment["LARDER_SEEDS"] ?? (isSlow ? "1000" : "100")
        let bounds = text.split(separator: "-").compactMap { UInt64($0) }
        return bounds.count == 2 && bounds[0] <= bounds[1] ? bounds[0]...bounds[1] : 1...max(1, bounds.first ?? 1)
    }

    /// The number of seeds that are played with every point.
    private static var wholeSeeds: UInt64 { isSlow ? 20 : 1 }

    /// Plays a seed, and says what broke.
    private func broken(_ play: WorldPlay) -> String? {
        do {
            let report = try play.play()
            if report.violations.isEmpty { return nil }
            return "\(report.rules)\n" + report.history.joined(separator: "\n") + "\n"
                + report.violations.joined(separator: "\n")
        } catch { return "\(error)" }
    }

    @Test func devicesAndServiceAgreeAtTheEnd() {
        let start = ContinuousClock.now
        var failed: [String] = []
        for seed in Self.seeds {
            guard let text = broken(WorldPlay(seed: seed, crash: 1 + Int(seed * 7 % 60))) else { continue }
            failed.append("\(seed)")
            if failed.count <= 2 { Issue.record("seed \(seed):\n\(text)") }
            print("seed \(seed): \(text.split(separator: "\n").last ?? "")")
        }
        print("world: \(Self.seeds.count) seeds, \(failed.count) failed, \(ContinuousClock.now - start)")
        #expect(failed.isEmpty)
    }

    @Test func processMayEndAtEachPoint() throws {
        var points = 0
        for seed in UInt64(1)...Self.wholeSeeds {
            let count = try WorldPlay(seed: seed).play().points
            points += count
            for crash in 1...max(1, count) {
                guard let text = broken(WorldPlay(seed: seed, crash: crash)) else { continue }
                Issue.record("seed \(seed), end \(crash):\n\(text)")
                return
            }
        }
        print("world: \(points) points at which a process ended")
    }

    @Test func seedPlayedTwiceGivesTheSameHistory() throws {
        for seed in UInt64(1)...5 {
            let plays = try (0..<2).map { _ in try WorldPlay(seed: seed, crash: 20).play().history }
            #expect(plays[0] == plays[1])
        }
    }
}
