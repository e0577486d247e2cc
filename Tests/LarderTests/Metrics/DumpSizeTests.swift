import LarderFoundation
import Larder
import LarderSimulation
import Testing

/// The sizes of dumps: thousands of phones send theirs over mobile networks.
@Suite struct DumpSizeTests {
    /// The most bytes that a dump of one busy resource takes.
    private static let most = 12_000

    /// A policy that uses most of what can be counted.
    private static func policy(fresh: String) -> String {
        #"""
        {
          "resource": "catalog",
          "origin": "modelled",
          "around": [
            { "use": "breaker", "failures": 5, "rest": "30s" },
            { "use": "retry", "retries": 2, "backoff": "200ms", "factor": 2, "jitter": 0.1 },
            { "use": "timeout", "after": "5s" }
          ],
          "strategy": { "use": "stale-while-revalidate", "patience": "800ms" },
          "validators": [
            { "use": "age", "fresh": "\#(fresh)", "whileRevalidating": "1h", "onError": "6h" },
            { "use": "content-type", "allowed": ["application/json"] }, "checksum"
          ],
          "store": { "use": "memory", "capacity": "2MB" }
        }
        """#
    }

    /// Lives through a day of fifteen hours with an outage, in which the policy is changed twice.
    private static func busyDay(_ world: SimulatedWorld, every pause: Duration) async throws -> MetricsDump {
        var model = OriginModel()
        (model.latency, model.slowest, model.failures) = (.milliseconds(150), .seconds(3), 0.02)
        model.outages = [.seconds(7 * 3_600)..<(.seconds(9 * 3_600))]
        let origin = model.origin(in: world)
        let simulated = try await SimulatedPantry(
            ["catalog": policy(fresh: "5m")], in: world,
            plugins: [.origin("modelled", "Follows a model.") { _ in origin }])
        let keys = Zipf(count: 400, skew: 0.9)
        for (part, fresh) in ["5m", "10m", "8m"].enumerated() {
            if part > 0 { try await simulated.pantry.replace(policies: ["catalog": policy(fresh: fresh)]) }
            let end = Duration.seconds((part + 1) * 5 * 3_600)
            while world.uptime < end {
                let request = simulated.resource.request(["id": "\(keys.rank(for: world.chance()))"])
                world.spawn { [resource = simulated.resource] in _ = try? await resource.load(request) }
                try await world.sleep(for: pause.scaled(by: 0.2 + 1.6 * world.chance()))
            }
        }
        return await simulated.pantry.metrics.dump()
    }

    @Test func dumpOfBusyDayWithThreeRevisionsIsSmall() throws {
        try SimulatedWorld().run(leaving: .anything) { world in
            let dump = try await Self.busyDay(world, every: .seconds(10))
            let text = dump.json.text(indented: false)
            var empty = dump
            empty.resources = []
            let size = text.utf8.count - empty.json.text(indented: false).utf8.count
            let revisions = try #require(dump.resources.first).revisions
            #expect(revisions.count == 3 && revisions.allSatisfy { $0.policy != nil && $0.periods.count >= 60 })
            #expect(dump.resources[0].total.loads > 5_000 && dump.resources[0].total.fallbacks > 100)
            #expect(size <= Self.most, "\(size) bytes: \(text)")
            let read = try MetricsDump(reading: Array(text.utf8))
            #expect(read.json.text(indented: false) == text)
            let (one, other) = (try #require(read.resources.first), dump.resources[0])
            #expect(one.revisions.map(\.policy) == revisions.map(\.policy))
            #expect(Counter.core.allSatisfy { one.total[$0] == other.total[$0] })
            #expect(one.total.originLatency.contents.map(\.count) == other.total.originLatency.contents.map(\.count))
            for (one, other) in zip(one.revisions, revisions) {
                #expect(one.periods.map(\.oldest) == other.periods.map(\.oldest))
                #expect(one.windows[.hour]?.loads ?? 0 == other.windows[.hour]?.loads)
            }
        }
    }
}
