import Larder
import LarderFoundation
import LarderSimulation
import Testing

@testable import LarderEditions

/// Random histories of an installation whose files two processes use, such as an app and its extension: kills between any
/// two changes, wrong clocks, old, forged and swapped files, backups that come back, lost, damaged and unreadable files,
/// disks that take nothing, and other versions of the app.
@Suite struct EditionSeedsTests {
    private static let count = Int(ProcessInfo.processInfo.environment["LARDER_EDITION_SEEDS"] ?? "") ?? 200

    @Test func noHistoryLeavesAnInstallationStuckOrTakesARevisionBack() throws {
        var unchangedPolls = 0
        for seed in 0..<Self.count {
            let history = try EditionHistory(seed: UInt64(seed))
            try history.live(steps: 60)
            try history.recover()
            #expect(history.faults == [], "seed \(seed)")
            unchangedPolls += history.unchangedPolls
        }
        #expect(unchangedPolls > Self.count)
    }
}
