import LarderFoundation
import LarderSimulation
import Testing

import Larder
@testable import LarderCore

/// Clearings while a store gives its place to one with another capacity.
@Suite struct CapacityReloadClearingTests {
    private static func file(_ capacity: String) -> String { #"{ "use": "file", "capacity": "\#(capacity)" }"# }

    private static func sqlite(_ capacity: String) -> String {
        #"{ "use": "sqlite", "file": "feed.sqlite", "capacity": "\#(capacity)" }"#
    }

    /// Loads a copy, changes the capacity of its store during the call, and clears it as soon as the answer is there.
    private static func clearAfterReload(
        _ world: SimulatedWorld, _ store: (String) -> String, waitsForLoad: Bool
    ) async throws -> (pantry: Pantry, fixture: CacheFixture) {
        let fixture = try CacheFixture(world)
        try fixture.write("feed", store: store("10MB"))
        fixture.origin.play(then: .value(CacheFixture.secret, after: .seconds(3)))
        let pantry = try await fixture.open()
        let load = world.start { try await pantry.resource("feed").load(scope: "alice") }
        try await world.sleep(for: .seconds(1))
        try fixture.write("feed", store: store("20MB"))
        try await pantry.reload()
        if waitsForLoad { _ = try await load.value() } else { try await world.sleep(for: .seconds(2)) }
        try await pantry.clear(.scope("alice"))
        return (pantry, fixture)
    }

    @Test(arguments: [true, false], 1...30)
    func lateAnswerIsGoneWhenClearingReturns(_ waitsForLoad: Bool, seed: UInt64) throws {
        try SimulatedWorld(seed: seed, interleaving: .shuffled).run { world in
            let (pantry, fixture) = try await Self.clearAfterReload(world, Self.file, waitsForLoad: waitsForLoad)
            #expect(fixture.traces == [])
            try await world.sleep(for: .seconds(100))
            #expect(fixture.traces == [] && fixture.clearings == [])
            #expect(try await !fixture.isServed("alice", by: pantry))
        }
    }

    @Test(arguments: [true, false], 1...4)
    func lateAnswerInDatabaseIsGoneWhenClearingReturns(_ waitsForLoad: Bool, seed: UInt64) throws {
        try SimulatedWorld(seed: seed, interleaving: .shuffled).run { world in
            let (pantry, fixture) = try await Self.clearAfterReload(world, Self.sqlite, waitsForLoad: waitsForLoad)
            // Another pantry sees the database as it is.
            let other = try await fixture.open()
            #expect(try await other.resource("feed").statistics().entries == 0)
            #expect(try await !fixture.isServed("alice", by: pantry))
        }
    }
}
