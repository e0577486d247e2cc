import LarderFoundation
import Larder
import LarderSimulation

/// A pantry whose only resource is refreshed on a schedule.
struct ScheduledFeed {
    static let quarter = #""refresh": { "every": "15m" }"#

    /// Returns the policy of `feed` with a section.
    static func policy(
        _ section: String = quarter, strategy: String = "cache-first", around: String = "[]"
    ) -> [String: String] {
        let policy = """
            { "resource": "feed", "origin": "scripted", "around": \(around), "strategy": "\(strategy)",
              "validators": [{ "use": "age", "fresh": "1h" }], "store": "faulty", \(section) }
            """
        return ["feed": policy]
    }
}

extension ResourceMetrics {
    /// The scheduled refreshes: due, run, missed and failed.
    var scheduled: [UInt64] {
        [self[.scheduledDue], self[.scheduledRun], self[.scheduledMissed], self[.scheduledFailed]]
    }
}

extension SimulatedWorld {
    /// Waits in virtual time.
    func pass(minutes: Double) async throws { try await sleep(for: .seconds(minutes * 60)) }
}
