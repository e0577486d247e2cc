import LarderSystem
import Larder
import LarderSimulation
import Synchronization
import Testing

/// Sections of a third party with work that nobody waits for.
@Suite struct ThirdPartyAgendaTests {
    /// Loads its resource now and then, and counts the runs.
    private final class Visits: Larder.Attachment {
        private let starts = Mutex<[Duration]>([])
        private let ends = Mutex(0)
        private let context: SectionContext
        private let settings: SettingValues<VisitSettings>

        init(_ settings: SettingValues<VisitSettings>, _ context: SectionContext) {
            (self.settings, self.context) = (settings, context)
            let conditions = AgendaConditions(
                network: NetworkCondition(rawValue: settings.when) ?? .online, permitted: [.prefetch],
                needsAccount: true)
            context.addWork(when: conditions, after: settings.after) { [weak self] in await self?.visit() }
        }

        var count: Int { starts.withLock { $0.count } }
        var begun: [Duration] { starts.withLock { $0 } }
        var ended: Int { ends.withLock { $0 } }

        private func visit() async -> Duration? {
            starts.withLock { $0.append(context.world.uptime) }
            _ = try? await context.ownResource?.load(purpose: .prefetch)
            try? await context.world.sleep(for: settings.takes)
            ends.withLock { $0 += 1 }
            return settings.every == .zero ? nil : settings.every
        }
    }

    private struct VisitSettings {
        let when = Setting("when", .choice(["any", "online", "wifi"]), default: "online", help: "The network")
        let after = Setting("after", .duration, default: .zero, help: "The time until the first visit")
        let every = Setting("every", .duration, default: .zero, help: "The time between two visits")
        let takes = Setting("takes", .duration, default: .zero, help: "How long a visit takes")
    }

    private static let visits = Plugin.section("visits", "Visits the origin.", .group(VisitSettings())) {
        Visits($1, $0)
    }

    private static func policy(_ settings: String, _ name: String = "feed", more: String = "") -> String {
        ThirdPartySectionTests.policy(#", "visits": \#(settings)\#(more)"#, name)
    }

    /// Runs a test with a resource for each of these sections.
    private static func run(
        _ sections: [String: String], more: String = "",
        _ test: @escaping @Sendable (SimulatedPantry) async throws -> Void
    ) throws {
        let policies = Dictionary(uniqueKeysWithValues: sections.map { ($0, policy($1, $0, more: more)) })
        try SimulatedPantry.run(policies, plugins: [visits], test)
    }

    private static func visits(_ simulated: SimulatedPantry, _ name: String = "feed") throws -> Visits {
        try #require(simulated.pantry.attachment(Visits.self, of: name))
    }

    @Test func workRunsOnceThePolicyIsInEffect() throws {
        try Self.run(["feed": "{}"]) { simulated in
            try await simulated.world.sleep(for: .seconds(1))
            let visits = try Self.visits(simulated)
            #expect(visits.begun == [.zero] && visits.ended == 1)
            #expect(simulated.origin.calls.map(\.request.purpose) == [.prefetch])
            try await simulated.world.sleep(for: .seconds(3_600))
            #expect(visits.count == 1)
        }
    }

    @Test func workRunsAgainAfterItsTime() throws {
        try Self.run(["feed": #"{ "after": "10s", "every": "1m" }"#]) { simulated in
            try await simulated.world.sleep(for: .seconds(131))
            #expect(try Self.visits(simulated).begun == [.seconds(10), .seconds(70), .seconds(130)])
        }
    }

    @Test func workWaitsWhileTheNetworkIsGone() throws {
        try Self.run(["feed": #"{ "after": "10s" }"#]) { simulated in
            simulated.world.network = .offline
            try await simulated.world.sleep(for: .seconds(3_600))
            let visits = try Self.visits(simulated)
            #expect(visits.count == 0)
            simulated.world.network = .online
            try await simulated.world.sleep(for: .seconds(1))
            #expect(visits.begun == [.seconds(3_600)])
        }
    }

    @Test func workWaitsForTheNetworkThatItWants() throws {
        try Self.run(["a": #"{ "when": "wifi" }"#, "b": #"{ "when": "any", "after": "1s" }"#]) { simulated in
            simulated.world.network = .offline
            try await simulated.world.sleep(for: .seconds(5))
            #expect(try Self.visits(simulated, "a").count == 0 && Self.visits(simulated, "b").count == 1)
            simulated.world.network = NetworkState(.online, kind: .cellular)
            try await simulated.world.sleep(for: .seconds(5))
            #expect(try Self.visits(simulated, "a").count == 0)
            simulated.world.network = NetworkState(.online, kind: .wifi)
            try await simulated.world.sleep(for: .seconds(5))
            #expect(try Self.visits(simulated, "a").begun == [.seconds(10)])
        }
    }

    @Test func workWaitsWhereThePolicyForbidsIt() throws {
        try Self.run(["feed": #"{ "after": "10s" }"#], more: #", "expensive": { "prefetch": false }"#) { simulated in
            simulated.world.network = NetworkState(.online, kind: .cellular)
            try await simulated.world.sleep(for: .seconds(60))
            #expect(try Self.visits(simulated).count == 0)
            simulated.world.network = NetworkState(.online, kind: .wifi)
            try await simulated.world.sleep(for: .seconds(1))
            #expect(try Self.visits(simulated).count == 1)
        }
    }

    @Test func workEndsWithItsResource() throws {
        try Self.run(["feed": #"{ "every": "1m", "takes": "30s" }"#]) { simulated in
            try await simulated.world.sleep(for: .seconds(100))
            let visits = try Self.visits(simulated)
            #expect(visits.count == 2 && visits.ended == 1)
            try await simulated.pantry.replace(policies: ["other": ThirdPartySectionTests.policy("", "other")])
            try await simulated.world.sleep(for: .milliseconds(1))
            // The visit under way is cancelled, and there is no other.
            #expect(visits.ended == 2)
            try await simulated.world.sleep(for: .seconds(3_600))
            #expect(visits.count == 2)
        }
    }

    @Test func workEndsWhenThePantryIsClosed() throws {
        try Self.run(["feed": #"{ "every": "1m" }"#]) { simulated in
            try await simulated.world.sleep(for: .seconds(61))
            let visits = try Self.visits(simulated)
            await simulated.pantry.close()
            try await simulated.world.sleep(for: .seconds(3_600))
            #expect(visits.count == 2)
        }
    }

    @Test func clearingDoesNotEndTheWork() throws {
        try Self.run(["feed": #"{ "every": "1m" }"#]) { simulated in
            try await simulated.world.sleep(for: .seconds(1))
            try await simulated.pantry.clear()
            try await simulated.world.sleep(for: .seconds(61))
            #expect(try Self.visits(simulated).count == 2)
        }
    }

    @Test func twoSectionsWorkAtATime() throws {
        let slow = #"{ "takes": "10s" }"#
        try Self.run(["a": slow, "b": slow, "c": slow]) { simulated in
            try await simulated.world.sleep(for: .seconds(60))
            let starts = try ["a", "b", "c"].flatMap { try Self.visits(simulated, $0).begun }.sorted()
            #expect(starts == [.zero, .zero, .seconds(10)])
        }
    }
}
