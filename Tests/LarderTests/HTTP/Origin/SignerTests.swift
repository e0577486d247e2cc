import LarderFoundation
import Larder
import LarderSystem
import LarderSimulation
import Testing

@testable import LarderPlugins

@Suite struct SignerTests {
    private typealias Answer = ScriptedTransport.Answer

    private static let sign = #""sign": "session""#

    @Test func accountThatIsSignedInOwnsRequestsWithoutScope() throws {
        let (session, server) = (SignedInSession("alice"), ScriptedTransport.echo())
        try server.run(Self.sign, strategy: #""cache-first""#, plugins: [session.plugin]) { simulated async throws in
            let feed = simulated.resource
            #expect(feed.request().key.scope == "alice")
            #expect(try await feed.load().text == "alice 1")
            session.account = "bob"
            #expect(try await feed.contains() == false)
            #expect(feed.answer(Request("feed")) == nil)
            #expect(try await feed.load().text == "bob 1")
            #expect(feed.answer(Request("feed"))?.text == "bob 1" && feed.answer(feed.request())?.text == "bob 1")
            session.account = "alice"
            #expect(feed.answer(Request("feed"))?.text == "alice 1")
            #expect(try await feed.load(Request("feed")).source == .store("memory"))
            try await feed.clear([:])
            session.account = "bob"
            #expect(try await feed.contains())
            for try await update in feed.updates() {
                guard case .value(let loaded) = update else { continue }
                #expect(loaded.text == "bob 1")
                break
            }
        }
        #expect(server.asked.count == 3 || server.asked.count == 2)
    }

    @Test func copyIsFoundWithOtherCredentialsOfItsAccountOnly() throws {
        let session = SignedInSession("alice")
        let server = ScriptedTransport { request in
            let token = request.fields.first { $0.name == "authorization" }?.value ?? "nobody"
            return ScriptedTransport.Answer(200, [("Vary", "Authorization")], token)
        }
        try server.run(Self.sign, strategy: #""cache-first""#, plugins: [session.plugin]) { simulated async throws in
            let feed = simulated.resource
            #expect(try await feed.load().text == "alice 1")
            session.state.withLock { $0.version = 2 }
            #expect(try await feed.load().text == "alice 1")
            session.account = "bob"
            #expect(try await feed.load().text == "bob 2")
            session.account = "alice"
            #expect(try await feed.load().source == .store("memory"))
        }
        #expect(server.asked.count == 2)
    }

    @Test func changeIsSignedForTheAccountThatIsSignedIn() throws {
        let (session, server) = (SignedInSession("alice"), ScriptedTransport.echo())
        try server.run(Self.sign, plugins: [session.plugin]) { simulated async throws in
            #expect(try await simulated.resource.send(Request("feed"), method: "DELETE").text == "alice 1")
        }
    }

    @Test func nothingIsSentWhileNobodyIsSignedIn() throws {
        let (session, server) = (SignedInSession(nil), ScriptedTransport.echo())
        try server.run(Self.sign, plugins: [session.plugin]) { simulated async throws in
            let error = await failure { try await simulated.resource.load() }
            #expect(error?.code == .notSignedIn)
            #expect(error?.message == "nobody is signed in, and the policy allows no anonymous calls")
        }
        #expect(server.asked.isEmpty && session.state.withLock { $0.signed } == 0)
    }

    @Test func anonymousCallsCarryNoCredentials() throws {
        let (session, server) = (SignedInSession(nil), ScriptedTransport.echo())
        try server.run(#""sign": "session", "anonymous": true"#, plugins: [session.plugin]) { simulated async throws in
            let kept = simulated.resource.request()
            #expect(try await simulated.resource.load().text == "nobody")
            session.account = "alice"
            #expect(try await simulated.resource.load().text == "alice 1")
            #expect(kept.key.scope == nil)
        }
    }

    @Test func scopeThatIsNotTheAccountIsNeverSent() throws {
        let (session, server) = (SignedInSession("alice"), ScriptedTransport.echo())
        try server.run(Self.sign, plugins: [session.plugin]) { simulated async throws in
            let error = await failure { try await simulated.resource.load(scope: "bob") }
            #expect(error?.code == .notSignedIn)
            #expect(error?.message == "another account is signed in than the one of the request")
            session.account = nil
            let late = await failure { try await simulated.resource.load(scope: "bob", mode: .refresh) }
            #expect(late?.message == "the account of the request is not signed in any more")
        }
        #expect(server.asked.isEmpty && session.state.withLock { $0.signed } == 0)
    }

    @Test func accountThatChangesWhileSigningIsNeverSent() throws {
        let session = SignedInSession("alice") { $0.account = "bob" }
        let server = ScriptedTransport.echo()
        try server.run(Self.sign, plugins: [session.plugin]) { simulated async throws in
            let error = await failure { try await simulated.resource.load() }
            #expect(error?.message == "another account is signed in than the one of the request")
        }
        #expect(server.asked.isEmpty)
    }

    @Test func answerThatArrivesAfterItsAccountSignedOutIsNotKept() throws {
        let session = SignedInSession("alice")
        let server = ScriptedTransport { _ in
            session.account = "bob"
            return Answer(200, [], "alice's")
        }
        try server.run(Self.sign, plugins: [session.plugin]) { simulated async throws in
            let error = await failure { try await simulated.resource.load() }
            #expect(error?.message == "another account is signed in than the one of the request")
            #expect(try await simulated.resource.contains(scope: "alice") == false)
            #expect(try await simulated.resource.contains(scope: "bob") == false)
        }
    }

    @Test func errorOfTheSignerIsThatOfTheLoad() throws {
        let session = SignedInSession("alice") { _ in throw LoadError(.failed, "no token") }
        let server = ScriptedTransport.echo()
        try server.run(Self.sign, plugins: [session.plugin]) { simulated async throws in
            #expect(await failure { try await simulated.resource.load() }?.message == "no token")
        }
        #expect(server.asked.isEmpty)
    }

    // MARK: Renewal

    @Test func credentialsAreRenewedOnceForAllWhoWait() throws {
        let session = SignedInSession(
            "alice",
            whileRenewing: { session in
                try await session.sleep(for: .seconds(1))
                return true
            })
        let server = ScriptedTransport.accepting(2)
        try server.run(Self.sign, plugins: [session.plugin]) { simulated async throws in
            session.live(in: simulated.world)
            let loads = simulated.crowd(5)
            for load in loads { #expect(try await load.value().text == "alice 2") }
            #expect(try await simulated.resource.load(["id": "6"]).text == "alice 2")
        }
        #expect(session.renewals == 1 && server.asked.count == 11)
    }

    @Test(arguments: [true, false])
    func secondRejectionIsTheAnswer(_ isNew: Bool) throws {
        let session = SignedInSession("alice", whileRenewing: { _ in isNew })
        let server = ScriptedTransport.accepting(9)
        try server.run(Self.sign, plugins: [session.plugin]) { simulated async throws in
            let error = await failure { try await simulated.resource.load() }
            #expect(error?.code == .answer && error?.status == 401)
        }
        #expect(server.asked.count == (isNew ? 2 : 1) && session.renewals == 1)
    }

    @Test func rejectionWithoutRenewalIsTheAnswer() throws {
        let session = SignedInSession("alice")
        let server = ScriptedTransport.accepting(9)
        try server.run(Self.sign, plugins: [session.plugin]) { simulated async throws in
            let error = await failure { try await simulated.resource.load() }
            #expect(error?.status == 401 && error?.reply?.body == Data("expired".utf8))
        }
        #expect(server.asked.count == 1)
    }

    @Test func renewalThatBringsAnotherAccountIsNotSent() throws {
        let session = SignedInSession(
            "alice",
            whileRenewing: {
                $0.account = "bob"
                return true
            })
        let server = ScriptedTransport.accepting(2)
        try server.run(Self.sign, plugins: [session.plugin]) { simulated async throws in
            let error = await failure { try await simulated.resource.load() }
            #expect(error?.message == "another account is signed in than the one of the request")
        }
        #expect(server.asked.count == 1)
    }

    @Test func failedRenewalFailsAllWhoWaitAndIsTriedAgainLater() throws {
        let session = SignedInSession(
            "alice",
            whileRenewing: { session in
                if session.renewals == 1 { throw LoadError(.failed, "no connection") }
                return true
            })
        let server = ScriptedTransport.accepting(2)
        try server.run(Self.sign, more: "", plugins: [session.plugin]) { simulated async throws in
            #expect(await failure { try await simulated.resource.load() }?.message == "no connection")
            #expect(try await simulated.resource.load().text == "alice 2")
        }
    }

    // MARK: Redirects

    @Test func redirectIsSignedOnlyOnTheSameServer() throws {
        let server = ScriptedTransport(
            Answer(302, [("Location", "/b")]), Answer(302, [("Location", "https://other.example/")]),
            Answer(302, [("Location", "https://api.example/c")]), Answer(200, [], "there"))
        let session = SignedInSession("alice")
        try server.run(Self.sign, plugins: [session.plugin]) { simulated async throws in
            _ = try await simulated.resource.load()
        }
        #expect(server.asked.map { $0.field("authorization") } == ["alice 1", "alice 1", nil, nil])
    }

    @Test func credentialsOfSignersAreShownNowhere() throws {
        let session = SignedInSession("canary")
        try ScriptedTransport.echo().run(Self.sign, plugins: [session.plugin]) { simulated async throws in
            let loaded = try await simulated.resource.load()
            let policy = try #require(simulated.pantry.policy(of: "feed"))
            let shown =
                "\(loaded.trail) \(policy) \(policy.origin.map { "\($0.originTraits)" } ?? "") \(Plan(policy).tree)"
            #expect(!shown.contains("canary"))
        }
    }
}
