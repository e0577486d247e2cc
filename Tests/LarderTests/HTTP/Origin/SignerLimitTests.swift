import LarderFoundation
import Larder
import LarderSystem
import LarderSimulation
import Testing

@testable import LarderPlugins

/// Signers that hang, and loads that are cancelled while they wait for a signer.
@Suite struct SignerLimitTests {
    private static let settings = #""sign": "session", "limit": "10s""#
    private static let hour = Duration.seconds(3_600)

    private static func run(
        _ session: SignedInSession, _ server: ScriptedTransport, settings: String = settings,
        _ test: @escaping @Sendable (SimulatedPantry) async throws -> Void
    ) throws {
        try server.run(settings, more: "", plugins: [session.plugin]) { simulated async throws in
            session.live(in: simulated.world)
            try await test(simulated)
        }
    }

    @Test func signerThatHangsIsCancelledAtTheLimit() throws {
        let session = SignedInSession("alice") { try await $0.sleep(for: Self.hour) }
        let server = ScriptedTransport.echo()
        try Self.run(session, server) { simulated async throws in
            let error = try #require(await failure { try await simulated.resource.load() })
            #expect(error.code == .timeout && error.cause == .timeout && error.message == "the signer took too long")
            #expect(simulated.world.uptime == .seconds(10))
            try await simulated.world.settle()
            #expect(session.cancelled == 1)
        }
        #expect(server.asked.isEmpty)
    }

    @Test func timeOfSigningIsPartOfTheLimit() throws {
        let session = SignedInSession("alice") { try await $0.sleep(for: .seconds(4)) }
        let server = ScriptedTransport.echo()
        try Self.run(session, server) { simulated async throws in
            #expect(try await simulated.resource.load().text == "alice 1")
        }
        #expect(server.asked.map(\.limits.whole) == [.seconds(6)])
    }

    @Test func loadEndsAtOnceWhenCancelledEvenIfSignerIgnoresIt() throws {
        let hanging = Locked<CheckedContinuation<Void, Never>?>(nil)
        let session = SignedInSession("alice") { _ in
            await withCheckedContinuation { continuation in hanging.withLock { $0 = continuation } }
        }
        let server = ScriptedTransport.echo()
        try Self.run(session, server) { simulated async throws in
            let load = simulated.start()
            try await simulated.world.sleep(for: .seconds(1))
            load.cancel()
            try await simulated.world.settle()
            #expect(load.endedAt == .seconds(1))
            hanging.withLock { $0 }?.resume()
        }
        #expect(server.asked.isEmpty)
    }

    // MARK: Renewals

    @Test func renewalThatHangsIsCancelledAtTheLimitAndTriedAgain() throws {
        let session = SignedInSession(
            "alice",
            whileRenewing: { session in
                if session.renewals == 1 { try await session.sleep(for: Self.hour) }
                return true
            })
        try Self.run(session, .accepting(2)) { simulated async throws in
            let loads = simulated.crowd(3)
            for load in loads { #expect(try await load.failure().code == .timeout) }
            #expect(simulated.world.uptime == .seconds(10) && session.cancelled == 1 && session.renewals == 1)
            #expect(try await simulated.resource.load().text == "alice 2")
        }
        #expect(session.renewals == 2)
    }

    @Test func oneCancelledLoadLeavesTheRenewalToTheOthers() throws {
        let session = SignedInSession(
            "alice",
            whileRenewing: { session in
                try await session.sleep(for: .seconds(5))
                return true
            })
        try Self.run(session, .accepting(2)) { simulated async throws in
            let loads = simulated.crowd(3)
            try await simulated.world.sleep(for: .seconds(1))
            // The first began the renewal.
            loads[0].cancel()
            try await simulated.world.settle()
            #expect(loads[0].endedAt == .seconds(1))
            for load in loads.dropFirst() { #expect(try await load.value().text == "alice 2") }
            #expect(simulated.world.uptime == .seconds(5))
        }
        #expect(session.renewals == 1 && session.cancelled == 0)
    }

    @Test func renewalIsCancelledWithTheLastLoad() throws {
        let session = SignedInSession(
            "alice",
            whileRenewing: { session in
                if session.renewals == 1 { try await session.sleep(for: Self.hour) }
                return true
            })
        try Self.run(session, .accepting(2)) { simulated async throws in
            let loads = simulated.crowd(2)
            try await simulated.world.sleep(for: .seconds(1))
            for load in loads { load.cancel() }
            try await simulated.world.settle()
            #expect(loads.allSatisfy { $0.endedAt == .seconds(1) } && session.cancelled == 1)
            #expect(try await simulated.resource.load().text == "alice 2")
        }
        #expect(session.renewals == 2)
    }

    @Test func loadThatComesWhileRenewalIsBeingCancelledBeginsAnother() throws {
        for seed in 1...20 as ClosedRange<UInt64> {
            try SimulatedWorld(seed: seed, interleaving: .shuffled).run { world async throws in
                let (renewals, count) = (HTTPRenewals(in: world), Locked(0))
                let renew: @Sendable () async throws -> Bool = {
                    renewals.enter("alice", "session")
                    defer { renewals.leave("alice", "session") }
                    return try await renewals.renew("alice", signer: "session", after: 0, within: Self.hour) {
                        count.withLock { $0 += 1 }
                        try await world.sleep(for: .seconds(5))
                        return true
                    }
                }
                let first = world.start(renew)
                try await world.sleep(for: .seconds(1))
                let second = world.start {
                    first.cancel()
                    return try await renew()
                }
                #expect(try await second.value() && world.uptime == .seconds(6))
                #expect(count.withLock { $0 } == 2 || first.isOver)
                _ = await first.result()
                #expect(renewals.accounts == 0)
            }
        }
    }

    // MARK: Accounts

    @Test func accountIsForgottenWithItsLastRequest() throws {
        try SimulatedWorld().run { world async throws in
            let renewals = HTTPRenewals(in: world)
            for number in 1...100 {
                let account = "\(number)"
                renewals.enter(account, "session")
                renewals.enter(account, "session")
                #expect(try await renewals.renew(account, signer: "session", after: 0, within: Self.hour) { true })
                #expect(renewals.count(of: account, "session") == 1 && renewals.count(of: account, "other") == 0)
                renewals.leave(account, "session")
                #expect(renewals.count(of: account, "session") == 1 && renewals.accounts == 1)
                renewals.leave(account, "session")
                #expect(renewals.accounts == 0)
            }
        }
    }

    @Test func renewalThatWasMissedIsNotRepeated() throws {
        try SimulatedWorld().run { world async throws in
            let renewals = HTTPRenewals(in: world)
            renewals.enter("alice", "session")
            #expect(
                try await renewals.renew("alice", signer: "session", after: 0, within: Self.hour) { false } == false)
            #expect(try await renewals.renew("alice", signer: "session", after: 0, within: Self.hour) { true })
            #expect(try await renewals.renew("alice", signer: "session", after: 0, within: Self.hour) { false })
            renewals.leave("alice", "session")
        }
    }

    /// A world that does something whenever work is started.
    private struct CuriousWorld: World {
        let base: SimulatedWorld
        let whenStarted: @Sendable () -> Void

        var now: Timestamp { base.now }
        var uptime: Duration { base.uptime }
        func random() -> UInt64 { base.random() }
        func sleep(for duration: Duration) async throws { try await base.sleep(for: duration) }
        func spawn(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
            whenStarted()
            return base.spawn(work)
        }
        func blocking<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
            try await base.blocking(work)
        }
    }

    @Test func worldMayAskForRenewalsWhileItStartsWork() throws {
        try SimulatedWorld().run { base async throws in
            let asked = Locked<HTTPRenewals?>(nil)
            let seen = Locked(0)
            let world = CuriousWorld(base: base) {
                let renewals = asked.withLock { $0 }
                seen.withLock { $0 = renewals?.accounts ?? 0 }
            }
            let renewals = HTTPRenewals(in: world)
            asked.withLock { $0 = renewals }
            renewals.enter("alice", "session")
            #expect(try await renewals.renew("alice", signer: "session", after: 0, within: Self.hour) { true })
            renewals.leave("alice", "session")
            #expect(seen.withLock { $0 } == 1)
        }
    }
}
