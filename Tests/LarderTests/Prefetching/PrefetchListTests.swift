import LarderFoundation
import Larder
import LarderSystem
import LarderSimulation
import Testing

/// The section `prefetch` of a policy.
@Suite struct PrefetchListTests {
    private static func policy(_ section: String) -> String {
        """
        { "resource": "feed", "origin": "scripted", "strategy": "cache-first", "store": "memory",
          "validators": [{ "use": "age", "fresh": "10m" }], "prefetch": \(section) }
        """
    }

    private static let pages = #""requests": [{ "page": 1 }, { "page": "2", "size": "large" }]"#

    private static func simulated(_ world: SimulatedWorld, _ when: String? = nil) async throws -> SimulatedPantry {
        let section = "{ \(pages)\(when.map { #", "when": "\#($0)""# } ?? "") }"
        return try await SimulatedPantry(["feed": policy(section)], in: world)
    }

    private static let (wifi, cellular) = (
        NetworkState(.online, kind: .wifi), NetworkState(.online, kind: .cellular)
    )

    @Test func listIsFetchedSoonAfterTheStart() throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.simulated(world, "start")
            world.network = Self.cellular
            try await world.sleep(for: .milliseconds(900))
            #expect(simulated.origin.calls.isEmpty)
            try await world.sleep(for: .seconds(5))
            let parameters = simulated.origin.calls.map(\.request.parameters)
            #expect(parameters == [["page": "1"], ["page": "2", "size": "large"]])
            #expect(simulated.origin.calls.allSatisfy { $0.request.purpose == .prefetch })
            #expect(try await simulated.feed.load(["page": "1"]).source != .origin)
            // Once is once.
            try await world.sleep(for: .seconds(7_200))
            world.network = Self.wifi
            try await world.sleep(for: .seconds(60))
            #expect(simulated.origin.calls.count == 2)
            await simulated.pantry.close()
        }
    }

    @Test func listIsNotFetchedWhereBackgroundWorkIsNotAllowed() throws {
        try SimulatedWorld().run { world in
            let (origin, cache) = (ScriptedOrigin(then: .value("value"), world: world), try TemporaryFolder())
            let section = #"{ \#(Self.pages), "when": "start" }"#
            let reader = try PolicyReader(
                registry: Registry.standard.replacing(origin.plugin("scripted")),
                texts: ["feed": Self.policy(section)], files: nil, environment: [:])
            let pantry = try await Pantry(
                reader: reader, cache: cache.url, data: cache.url, world: world, allowsBackgroundWork: false)
            try await world.sleep(for: .seconds(60))
            world.network = .offline
            world.network = Self.wifi
            try await world.sleep(for: .seconds(7_200))
            #expect(origin.calls.isEmpty)
            await pantry.close()
        }
    }

    @Test func listWaitsForWiFiAndIsFetchedAgainOnReturn() throws {
        try SimulatedWorld().run { world in
            world.network = Self.cellular
            let simulated = try await Self.simulated(world)
            try await world.sleep(for: .seconds(3_000))
            #expect(simulated.origin.calls.isEmpty)
            world.network = Self.wifi
            try await world.sleep(for: .seconds(1))
            #expect(simulated.origin.calls.count == 2)
            // It never left the network.
            world.network = NetworkState(.online, kind: .wifi, isExpensive: false)
            try await world.sleep(for: .seconds(7_200))
            #expect(simulated.origin.calls.count == 2)
            world.network = .offline
            try await world.sleep(for: .seconds(10))
            world.network = Self.wifi
            try await world.sleep(for: .seconds(10))
            #expect(simulated.origin.calls.count == 4)
            // At most once an hour.
            for _ in 1...10 {
                world.network = Self.cellular
                try await world.sleep(for: .seconds(30))
                world.network = Self.wifi
                try await world.sleep(for: .seconds(30))
            }
            #expect(simulated.origin.calls.count == 4)
            try await world.sleep(for: .seconds(3_600))
            #expect(simulated.origin.calls.count == 6)
            await simulated.pantry.close()
        }
    }

    @Test func powerReplacesWiFi() throws {
        try SimulatedWorld().run { world in
            world.network = Self.cellular
            let simulated = try await Self.simulated(world, "charging-or-wifi")
            try await world.sleep(for: .seconds(600))
            #expect(simulated.origin.calls.isEmpty)
            world.isCharging = true
            try await world.sleep(for: .seconds(61))
            #expect(simulated.origin.calls.count == 2)
            await simulated.pantry.close()
        }
    }

    @Test func freshCopiesNeedNoCall() throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.simulated(world, "start")
            _ = try await simulated.feed.load(["page": "1"])
            try await world.sleep(for: .seconds(6))
            #expect(simulated.origin.calls.count == 2)
            await simulated.pantry.close()
        }
    }

    @Test func reloadFetchesAgainOnlyIfTheListChanged() throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.simulated(world, "start")
            try await world.sleep(for: .seconds(6))
            try await simulated.edit(#""10m""#, #""11m""#)
            try await world.sleep(for: .seconds(900))
            #expect(simulated.origin.calls.count == 2)
            try await simulated.edit(#""page": "2""#, #""page": "3""#)
            try await world.sleep(for: .seconds(6))
            #expect(simulated.origin.calls.map { $0.request.parameters["page"] } == ["1", "2", "1", "3"])
            await simulated.pantry.close()
        }
    }

    @Test func removedListIsCancelled() throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.simulated(world, "wifi")
            world.network = .offline
            try await world.sleep(for: .seconds(10))
            try await simulated.pantry.replace(policies: [
                "feed": #"{ "resource": "feed", "origin": "scripted", "strategy": "cache-first", "store": "memory" }"#
            ])
            world.network = Self.wifi
            try await world.sleep(for: .seconds(10))
            #expect(simulated.origin.calls.isEmpty)
            await simulated.pantry.close()
        }
    }

    @Test(arguments: [
        (#"{}"#, "needs the setting 'requests'"), (#"{ "requests": [] }"#, "the list is too short"),
        (#"{ "requests": [1] }"#, "the number 1 is not allowed here"),
        (#"{ "requests": [{ "page": 1.5 }] }"#, "the number 1.5 is not allowed here"),
        (#"{ "requests": [{ "page": true }] }"#, "true is not allowed here"),
        (#"{ "requests": [{}], "when": "wify" }"#, "this is not one of the choices"),
    ])
    func wrongListsAreErrors(_ section: String, _ message: String) throws {
        try SimulatedWorld().run { world in
            let error = await #expect(throws: PolicyError.self) {
                try await SimulatedPantry(["feed": Self.policy(section)], in: world)
            }
            #expect(error?.description.contains(message) == true, "\(error?.description ?? "")")
        }
    }
}
