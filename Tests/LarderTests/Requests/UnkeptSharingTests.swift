import LarderFoundation
import Larder
import LarderSystem
import LarderSimulation
import Testing

/// Answers that may not be kept, in a cache for several users. They reach requests with the same fields only.
@Suite struct UnkeptSharingTests {
    private func run(
        strategy: String = "cache-first", _ test: @escaping @Sendable (SimulatedPantry) async throws -> Void
    ) throws {
        try SimulatedWorld().run(leaving: .anything) { world in
            let simulated = try await SimulatedPantry(
                world, strategy: #"{ "use": "\#(strategy)", "rest": "0s" }"#,
                validators: #"[{ "use": "http", "shared": true }]"#)
            try await test(simulated)
        }
    }

    private func request(_ simulated: SimulatedPantry, of user: String, in language: String = "de") -> Request {
        simulated.feed.request(mode: .refresh, fields: ["x-session": user, "accept-language": language])
    }

    /// Loads of several users at a time.
    private func crowd(
        _ simulated: SimulatedPantry, _ users: [String]
    ) -> [(user: String, load: Started<Loaded<Data>>)] {
        users.map { ($0, simulated.start(request(simulated, of: $0))) }
    }

    @Test(arguments: ["cache-first", "network-first", "network-only", "race"], ["private", "no-store"])
    func answerThatBecomesPrivateReachesNoCallerWithOtherFields(_ strategy: String, _ control: String) throws {
        try run(strategy: strategy) { simulated in
            simulated.origin.play(then: .user(["cache-control": control], after: .milliseconds(50)))
            simulated.origin.play(.user(["cache-control": "public, max-age=60"]))
            _ = try await simulated.feed.load(request(simulated, of: "carol"))
            for (user, load) in crowd(simulated, ["alice", "bob", "alice", "bob"]) {
                #expect(try await load.value().text == user)
            }
            #expect(simulated.origin.calls.count == 1 + 2)
        }
    }

    @Test func answerThatVariesAndBecomesPrivateReachesNoCallerWithOtherFields() throws {
        try run { simulated in
            simulated.origin.play(then: .user(["cache-control": "private"], after: .milliseconds(50)))
            simulated.origin.play(.user(["cache-control": "public, max-age=60", "vary": "accept-language"]))
            _ = try await simulated.feed.load(request(simulated, of: "carol"))
            for (user, load) in crowd(simulated, ["alice", "bob", "dave"]) {
                #expect(try await load.value().text == user)
            }
        }
    }

    @Test(arguments: [403, 404])
    func errorThatTheOriginAnswersReachesNoCallerWithOtherFields(_ status: Int) throws {
        try run { simulated in
            simulated.origin.play(then: .user(["cache-control": "private"]))
            simulated.origin.play(.user(["cache-control": "public, max-age=60"]))
            simulated.origin.play(
                .failure(.status(status, reply: Reply(body: Data("alice".utf8))), after: .milliseconds(50)))
            _ = try await simulated.feed.load(request(simulated, of: "carol"))
            let loads = crowd(simulated, ["alice", "bob"])
            #expect(try await loads[0].load.failure().status == status)
            #expect(try await loads[1].load.value().text == "bob")
        }
    }

    @Test func sharedFailureHasNoExplanationForCallersWithOtherFields() throws {
        try run { simulated in
            simulated.origin.play(.user(["cache-control": "no-cache"]))
            simulated.origin.play(
                .failure(.status(503, reply: Reply(body: Data("alice".utf8))), after: .milliseconds(50)))
            _ = try await simulated.feed.load(request(simulated, of: "carol"))
            let loads = crowd(simulated, ["alice", "bob"])
            let failures = [try await loads[0].load.failure(), try await loads[1].load.failure()]
            #expect(failures.map(\.status) == [503, 503] && failures.map { $0.reply != nil } == [true, false])
            #expect(simulated.origin.calls.count == 2)
        }
    }

    @Test func streamGetsNoUnkeptAnswerToOtherFields() throws {
        try run { simulated in
            simulated.origin.play(then: .user(["cache-control": "private"]))
            let heard = Locked<[String]>([])
            let stream = simulated.feed.updates(request(simulated, of: "bob"))
            simulated.world.spawn {
                do {
                    for try await case .value(let loaded) in stream { heard.withLock { $0.append(loaded.text) } }
                } catch {
                    heard.withLock { $0.append("\(error)") }
                }
            }
            try await simulated.world.sleep(for: .seconds(1))
            for user in ["alice", "bob"] { _ = try await simulated.feed.load(request(simulated, of: user)) }
            try await simulated.world.sleep(for: .seconds(1))
            #expect(heard.withLock { $0 } == ["bob", "bob"])
        }
    }
}

extension ScriptedOrigin.Act {
    /// Answers over HTTP with the user of the call.
    fileprivate static func user(_ fields: Fields, after: Duration = .zero) -> Self {
        .answering(after: after) { call in
            let now = Timestamp(nanoseconds: 0)
            return Entry(
                Data((call.request.fields["x-session"] ?? "nobody").utf8),
                Metadata(httpStatus: 200, fields: fields, askedAt: now, arrivedAt: now))
        }
    }
}
