import LarderFoundation
import Larder
import LarderSimulation
import Testing

@testable import LarderPlugins

/// Schedules of a resource whose origin signs its calls for an account.
@Suite struct RefreshAccountTests {
    @Test func runWaitsForAnAccount() throws {
        let (session, server) = (SignedInSession(nil), ScriptedTransport.echo())
        try server.run(
            #""sign": "session""#, more: #""store": "memory", "refresh": { "every": "4h" }"#, plugins: [session.plugin]
        ) { simulated async throws in
            try await simulated.world.pass(minutes: 6 * 60)
            #expect(server.asked.isEmpty && simulated.resource.metrics.scheduled == [0, 0, 0, 0])
            let waiting = await simulated.pantry.runDue(within: .seconds(25))
            #expect(waiting.items.map(\.result) == [.waiting("for an account")])
            #expect(simulated.resource.metrics.scheduled == [0, 0, 0, 0])
            session.account = "alice"
            try await simulated.world.pass(minutes: 20)
            #expect(server.asked.map { $0.field("authorization") } == ["alice 1"])
            #expect(simulated.resource.metrics.scheduled[1] == 1)
            await simulated.pantry.close()
        }
    }

    @Test func anonymousRunNeedsNoAccount() throws {
        let (session, server) = (SignedInSession(nil), ScriptedTransport.echo())
        try server.run(
            #""sign": "session", "anonymous": true"#, more: #""store": "memory", "refresh": { "every": "15m" }"#,
            plugins: [session.plugin]
        ) { simulated async throws in
            try await simulated.world.pass(minutes: 16)
            #expect(server.asked.count == 1)
            await simulated.pantry.close()
        }
    }

    @Test func runWhoseSignerAsksToSignInAgainWaits() throws {
        let session = SignedInSession("alice") { _ in throw LoadError.answer(status: 401, "sign in again") }
        let server = ScriptedTransport.echo()
        try server.run(
            #""sign": "session""#, more: #""store": "memory", "refresh": { "every": "15m" }"#, plugins: [session.plugin]
        ) { simulated async throws in
            simulated.world.network = .offline
            try await simulated.world.pass(minutes: 20)
            simulated.world.network = .online
            let report = await simulated.pantry.runDue(within: .seconds(25))
            #expect(report.items.map(\.result) == [.waiting("for an account")])
            #expect(simulated.resource.metrics.scheduled == [1, 0, 1, 0])
            await simulated.pantry.close()
        }
    }
}
