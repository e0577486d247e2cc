import LarderFoundation
import Larder
import LarderSystem
import LarderSimulation
import Testing

@testable import LarderPlugins

/// The errors of accounts and of signers, in a graph with a copy, retries, a breaker and a fallback.
@Suite struct SignerErrorTests {
    private typealias Answer = ScriptedTransport.Answer

    private struct NoToken: Error {}

    /// A graph that hides every failure and shows it in its breaker, its retries or its rest.
    private static let more = #"""
        "around": [{ "use": "breaker", "failures": 1 }, { "use": "retry", "retries": 2 }],
        "validators": [{ "use": "age", "fresh": "1m", "onError": "1d" }], "store": "memory",
        "fallbacks": [{ "use": "sample", "payload": "feed" }]
        """#

    /// Runs a test in which alice has a copy that is stale.
    private static func run(
        _ session: SignedInSession, _ server: ScriptedTransport = .echo(),
        _ test: @escaping @Sendable (SimulatedPantry) async throws -> Void
    ) throws {
        try server.run(#""sign": "session""#, more: more, plugins: [session.plugin]) { simulated async throws in
            session.live(in: simulated.world)
            #expect(try await simulated.resource.load(scope: "alice").source == .origin)
            try await simulated.world.sleep(for: .seconds(600))
            try await test(simulated)
        }
    }

    @Test(arguments: [
        (nil, "the account of the request is not signed in any more"),
        ("bob", "another account is signed in than the one of the request"),
    ])
    func otherAccountIsNeitherHiddenNorRetriedNorCounted(_ present: String?, _ message: String) throws {
        let (session, server) = (SignedInSession("alice"), ScriptedTransport.echo())
        try Self.run(session, server) { simulated async throws in
            session.account = present
            let error = try #require(await failure { try await simulated.resource.load(scope: "alice") })
            #expect(error.code == .notSignedIn && error.isAnswer && error.message == message)
            #expect(simulated.world.uptime == .seconds(600), "it is not tried again")
            session.account = "alice"
            #expect(try await simulated.resource.load(scope: "alice").source == .origin, "the origin does not rest")
        }
        #expect(server.asked.count == 2)
    }

    @Test func nobodySignedInIsNeitherHiddenNorRetriedNorCounted() throws {
        let session = SignedInSession("alice")
        try Self.run(session) { simulated async throws in
            session.account = nil
            let error = try #require(await failure { try await simulated.resource.load() })
            #expect(error.code == .notSignedIn)
            #expect(error.message == "nobody is signed in, and the policy allows no anonymous calls")
            session.account = "alice"
            #expect(try await simulated.resource.load().source == .origin)
            #expect(simulated.world.uptime == .seconds(600))
            let metrics = try #require(simulated.pantry.metrics[simulated.resource.name])
            #expect(metrics[.notSignedIn] == 1 && metrics.failures == 0)
        }
    }

    @Test func accountThatChangesBeforeTheAnswerIsNeitherHiddenNorRetriedNorCounted() throws {
        let (session, calls) = (SignedInSession("alice"), Locked(0))
        let server = ScriptedTransport { _ in
            let isSecond = calls.withLock { calls in
                calls += 1
                return calls == 2
            }
            if isSecond { session.account = "bob" }
            return Answer(200, [], "alice's")
        }
        try Self.run(session, server) { simulated async throws in
            #expect(await failure { try await simulated.resource.load(scope: "alice") }?.code == .notSignedIn)
            session.account = "alice"
            #expect(try await simulated.resource.load(scope: "alice").source == .origin)
            #expect(simulated.world.uptime == .seconds(600))
        }
        #expect(server.asked.count == 3)
    }

    @Test func changeThatWasMadeSucceedsAndExpiresTheCopyThoughTheAccountChanges() throws {
        let session = SignedInSession("alice")
        let server = ScriptedTransport { request in
            if request.method != "GET" { session.account = nil }
            return Answer(200, [], request.method)
        }
        try Self.run(session, server) { simulated async throws in
            let request = simulated.resource.request(scope: "alice")
            #expect(try await simulated.resource.send(request, method: "DELETE").text == "DELETE")
            session.account = "alice"
            #expect(try await simulated.resource.load(scope: "alice").source == .origin)
        }
    }

    @Test func callThatWasNotMadeStandsInNoMetricOfTheOrigin() throws {
        let session = SignedInSession("alice")
        try Self.run(session) { simulated async throws in
            let before = simulated.resource.metrics
            session.account = nil
            #expect(await failure { try await simulated.resource.load() }?.code == .notSignedIn)
            let after = simulated.resource.metrics
            #expect(after.originCalls == before.originCalls && after[.answers] == before[.answers])
            #expect(after[.notSignedIn] == before[.notSignedIn] + 1 && after[.failures] == before[.failures])
        }
    }

    @Test func failureAfterTheAccountChangedIsThatOfTheAccount() throws {
        // The second request fails, and the third is not signed. Each time, another account has signed in.
        let session = SignedInSession("alice") { session in
            guard session.state.withLock({ $0.signed }) == 3 else { return }
            session.account = "bob"
            throw NoToken()
        }
        let calls = Locked(0)
        let server = ScriptedTransport { _ in
            let isSecond = calls.withLock { calls in
                calls += 1
                return calls == 2
            }
            guard isSecond else { return Answer(200, [], "alice's") }
            session.account = "bob"
            throw HTTPFailure(.reset, "the connection ended")
        }
        try Self.run(session, server) { simulated async throws in
            for _ in 1...2 {
                #expect(await failure { try await simulated.resource.load(scope: "alice") }?.code == .notSignedIn)
                session.account = "alice"
            }
            #expect(try await simulated.resource.load(scope: "alice").source == .origin)
        }
    }

    @Test func answerOfSignerIsNeitherHiddenNorRetriedNorCountedAndDropsNoCopy() throws {
        let session = SignedInSession("alice") { session in
            if session.state.withLock({ $0.signed }) == 2 { throw LoadError.answer(status: 410, "sign in again") }
        }
        try Self.run(session) { simulated async throws in
            let error = try #require(await failure { try await simulated.resource.load(scope: "alice") })
            #expect(error.code == .notSignedIn && error.message == "sign in again" && error.status == 410)
            #expect(try await simulated.resource.contains(scope: "alice"))
            #expect(try await simulated.resource.load(scope: "alice").source == .origin)
            #expect(simulated.world.uptime == .seconds(600))
        }
    }

    @Test func copyIsServedWhenSignerFails() throws {
        // As without a network, where a token cannot be fetched.
        let session = SignedInSession("alice") { session in
            if session.state.withLock({ $0.signed }) > 1 { throw NoToken() }
        }
        try Self.run(session) { simulated async throws in
            let loaded = try await simulated.resource.load(scope: "alice")
            #expect(loaded.text == "alice 1" && loaded.fellBack)
        }
    }

    @Test func signerThatThrowsCancellationErrorUnaskedHasFailed() throws {
        let session = SignedInSession("alice") { _ in throw CancellationError() }
        try ScriptedTransport.echo().run(#""sign": "session""#, plugins: [session.plugin]) { simulated async throws in
            let error = await failure { try await simulated.resource.load() }
            #expect(error?.code == .failed)
            #expect(error?.message == "the signer threw CancellationError without being cancelled")
        }
    }
}
