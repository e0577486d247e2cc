import LarderFoundation
import Larder
import LarderSystem
import LarderSimulation
import Testing

@testable import LarderPlugins

/// Kept instances of a resource whose origin signs its calls for an account.
@Suite struct KeepingAccountTests {
    private static let sign = #""sign": "session""#
    private static let store = #""store": "memory""#

    private static func run(
        _ session: SignedInSession, _ server: ScriptedTransport, _ settings: String = sign,
        _ test: @escaping @Sendable (SimulatedPantry) async throws -> Void
    ) throws {
        try server.run(
            settings, strategy: #""cache-first""#, more: store, plugins: [session.plugin]
        ) { simulated in
            try await test(simulated)
            await simulated.pantry.close()
        }
    }

    @Test func nothingIsKeptWhileNobodyIsSignedIn() throws {
        let (session, server) = (SignedInSession(nil), ScriptedTransport.echo())
        try Self.run(session, server) { simulated in
            simulated.world.network = .offline
            let error = await failure { try await simulated.resource.keep([["id": "1"]]) }
            #expect(error?.code == .notSignedIn)
            session.account = "bob"
            simulated.world.network = .online
            try await simulated.world.sleep(for: .seconds(120))
            #expect(try await simulated.resource.kept().isEmpty)
            // An account that is named can be meant before it signs in.
            try await simulated.resource.keep([["id": "1"]], scope: "alice")
            #expect(try await simulated.resource.kept().count == 1)
        }
        #expect(server.asked.isEmpty)
    }

    @Test func instanceThatIsKeptAnonymouslyStaysAnonymous() throws {
        let (session, server) = (SignedInSession(nil), ScriptedTransport.echo())
        try Self.run(session, server, Self.sign + #", "anonymous": true"#) { simulated in
            simulated.world.network = .offline
            let download = try await simulated.resource.keep([["id": "1"]])
            session.account = "bob"
            simulated.world.network = .online
            #expect(await download.finished().done == 1)
            #expect(try await simulated.resource.list().entries.map { $0.key?.scope } == [nil])
        }
        #expect(server.asked.map { $0.field("authorization") } == [nil])
    }

    @Test func keptInstancesWaitForTheirAccount() throws {
        let (session, server) = (SignedInSession("alice"), ScriptedTransport.echo())
        try Self.run(session, server) { simulated in
            simulated.world.network = .offline
            let download = try await simulated.resource.keep([["id": "1"], ["id": "2"]])
            for account in [nil, "bob"] {
                session.account = account
                simulated.world.network = .online
                try await simulated.world.sleep(for: .seconds(600))
                #expect(download.present.left == 2 && server.asked.isEmpty)
            }
            session.account = "alice"
            try await simulated.world.sleep(for: .seconds(61))
            #expect(download.present.done == 2)
        }
        #expect(server.asked.map { $0.field("authorization") } == ["alice 1", "alice 1"])
    }

    @Test func signerThatAsksToSignInAgainIsAskedAFewTimes() throws {
        let session = SignedInSession("alice") { _ in throw LoadError.answer(status: 401, "sign in again") }
        let server = ScriptedTransport.echo()
        try Self.run(session, server) { simulated in
            let download = try await simulated.resource.keep([["id": "1"]])
            try await simulated.world.sleep(for: .seconds(3_600))
            #expect(download.present.failed == 1 && download.failures.map(\.error.code) == [.notSignedIn])
        }
        #expect(session.state.withLock { $0.signed } == 3 && server.asked.isEmpty)
    }

    @Test func prefetchDoesNotWaitForAnAccount() throws {
        let (session, server) = (SignedInSession("alice"), ScriptedTransport.echo())
        try Self.run(session, server) { simulated in
            simulated.world.network = .offline
            let prefetch = simulated.resource.prefetch([["id": "1"]])
            let download = try await simulated.resource.keep([["id": "1"]])
            session.account = nil
            simulated.world.network = .online
            try await simulated.world.sleep(for: .seconds(600))
            #expect(prefetch.present.failed == 1 && download.present.left == 1)
            session.account = "alice"
            #expect(await download.finished().done == 1)
        }
    }

    @Test func accountThatIsSignedOutHoldsUpNoOther() throws {
        let (session, server) = (SignedInSession("bob"), ScriptedTransport.echo())
        try Self.run(session, server) { simulated in
            let feed = simulated.resource
            let alice = (1...600).map { feed.request(["id": "\($0)"], scope: "alice") }
            let download = try await feed.keep(alice + [feed.request(["id": "1"], scope: "bob")])
            try await simulated.world.sleep(for: .seconds(30))
            #expect(download.present.done == 1 && download.present.left == 600)
        }
    }
}
