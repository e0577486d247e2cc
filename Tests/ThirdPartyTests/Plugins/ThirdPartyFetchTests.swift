import LarderFoundation
import Larder
import LarderSimulation
import Synchronization
import Testing

/// Lookups of a section at the origin of its resource.
@Suite struct ThirdPartyFetchTests {
    /// A section that fetches when an app asks for it, beside a strategy.
    private final class Fetching: LarderCore.Attachment {
        let context: SectionContext

        init(_ context: SectionContext) { self.context = context }

        func fetch(
            _ parameters: Parameters = [:], scope: String? = nil, deadline: Duration? = nil
        ) async throws -> Entry {
            try await context.fetch(Request(context.resource, parameters, scope: scope, deadline: deadline))
        }
    }

    private static func policy(_ members: String = "", origin: String = "scripted") -> String {
        #"{ "resource": "days", "origin": "\#(origin)", "strategy": "cache-first", "store": "memory", "calendar": {}\#(members) }"#
    }

    private static func run(
        _ policy: String = policy(), plugins: [Plugin] = [],
        _ test: @escaping @Sendable (SimulatedPantry, Fetching) async throws -> Void
    ) throws {
        let section = Plugin.calendar(answersLoads: false) { Fetching($0) }
        try SimulatedPantry.run(["days": policy], plugins: [section] + plugins) { simulated in
            try await test(simulated, try #require(simulated.pantry.attachment(Fetching.self, of: "days")))
        }
    }

    @Test func fetchCallsTheOriginAndNothingElse() throws {
        try Self.run { simulated, section in
            simulated.origin.play(.value("one", etag: "1"), .value("two"))
            let entry = try await section.fetch(["day": "monday"])
            #expect(entry.payload.bytes == Data("one".utf8) && entry.metadata.etag == "1")
            #expect(entry.metadata.fetchedAt == simulated.world.now && entry.metadata.validatedAt == nil)
            #expect(try await !simulated.resource.contains(["day": "monday"]))
            #expect(try await simulated.resource.load(["day": "monday"]).value == Data("two".utf8))
            // A copy does not answer it.
            #expect(try await section.fetch(["day": "monday"]).payload.bytes == Data("value".utf8))
            let metrics = simulated.resource.metrics
            #expect(metrics.loads == 1 && metrics["origin_calls"] == 3 && metrics["coalesced"] == 0)
        }
    }

    @Test func equalFetchesAreNotShared() throws {
        try Self.run { simulated, section in
            simulated.origin.play(.value("one", after: .seconds(1)), .value("two", after: .seconds(1)))
            async let first = section.fetch()
            async let second = section.fetch()
            let texts = try await [first, second].map { String(decoding: $0.payload.bytes, as: UTF8.self) }
            #expect(Set(texts) == ["one", "two"])
        }
    }

    @Test func fetchPassesTheWrappers() throws {
        let around =
            #", "around": [{ "use": "retry", "retries": 1, "backoff": "1s" }, { "use": "timeout", "after": "5s" }]"#
        try Self.run(Self.policy(around)) { simulated, section in
            simulated.origin.play(.hang, .value("second"))
            let entry = try await section.fetch()
            #expect(entry.payload.bytes == Data("second".utf8))
            #expect(simulated.origin.calls.count == 2)
            #expect(simulated.resource.metrics["origin_errors"] == 1 && simulated.resource.metrics.loads == 0)
        }
    }

    @Test func fetchEndsAtItsDeadlineAndWhenItsTaskIsCancelled() throws {
        try Self.run { simulated, section in
            simulated.origin.play(then: .hang)
            let error = await #expect(throws: LoadError.self) { try await section.fetch(deadline: .seconds(3)) }
            #expect(error?.code == .deadline && simulated.world.uptime == .seconds(3))
            let isCancelled = Mutex(false)
            let work = simulated.world.spawn {
                do { _ = try await section.fetch() } catch { isCancelled.withLock { $0 = error is CancellationError } }
            }
            try await simulated.world.sleep(for: .seconds(1))
            work.cancel()
            await work.value
            #expect(isCancelled.withLock { $0 })
        }
    }

    @Test func errorsOfTheOriginAreThrownWithTheirReply() throws {
        try Self.run { simulated, section in
            let reply = Reply(fields: [:], body: Data("gone".utf8))
            simulated.origin.play(.value("copy"), .failure(.status(404, reply: reply)), .failure(.status(503)))
            _ = try await simulated.resource.load(["day": "monday"])
            let gone = await #expect(throws: LoadError.self) { try await section.fetch(["day": "monday"]) }
            #expect(gone?.isAnswer == true && gone?.status == 404 && gone?.reply?.body == reply.body)
            #expect(gone?.trail.lines == ["origin: the origin answered 404"])
            #expect(try await simulated.resource.contains(["day": "monday"]))
            let failed = await #expect(throws: LoadError.self) { try await section.fetch() }
            #expect(failed?.isAnswer == false && failed?.status == 503)
        }
    }

    @Test func fetchIsInTheScopeOfTheAccountAndChecked() throws {
        try Self.run(Self.policy(origin: "echo"), plugins: [.echo { "ada" }]) { simulated, section in
            func text(_ parameters: Parameters, scope: String? = nil) async throws -> String {
                String(decoding: try await section.fetch(parameters, scope: scope).payload.bytes, as: UTF8.self)
            }
            let texts = try await [text(["day": "monday", "cursor": "7"]), text(["day": "monday"], scope: "bob")]
            #expect(texts == ["ada cursor=7&day=monday", "bob day=monday"])
            for wrong: Parameters in [[:], ["day": "monday", "mont": "may"]] {
                let error = await #expect(throws: LoadError.self) { try await section.fetch(wrong) }
                #expect(error?.code == .invalidRequest)
            }
            let other = await #expect(throws: LoadError.self) {
                try await section.context.fetch(Request("other", ["day": "monday"]))
            }
            #expect(other?.code == .noSuchResource)
        }
    }

    @Test func fetchBeforeThePolicyIsInEffectFails() throws {
        let made = Mutex<SectionContext?>(nil)
        #expect(throws: PolicyError.self) {
            let section = Plugin.calendar(answersLoads: false) { context in
                made.withLock { $0 = context }
                throw LoadError(.failed, "no paper")
            }
            try SimulatedPantry.run(["days": Self.policy()], plugins: [section]) { _ in }
        }
        let context = try #require(made.withLock { $0 })
        try SimulatedWorld().run { _ in
            let error = await #expect(throws: LoadError.self) { try await context.fetch(Request("days")) }
            #expect(error?.message == "nothing can be fetched before the policy is in effect")
        }
    }

    @Test func fetchFollowsReloadsThatLeaveTheSectionAlone() throws {
        try Self.run(plugins: [.echo { nil }]) { simulated, section in
            #expect(try await section.fetch(["day": "monday"]).payload.bytes == Data("value".utf8))
            _ = try await simulated.pantry.replace(policies: ["days": Self.policy(origin: "echo")])
            #expect(simulated.pantry.attachment(Fetching.self, of: "days") === section)
            #expect(try await section.fetch(["day": "monday"]).payload.bytes == Data("nobody day=monday".utf8))
            _ = try await simulated.pantry.replace(policies: [
                "days": #"{ "resource": "days", "strategy": "cache-only", "store": "memory", "calendar": {} }"#
            ])
            let none = await #expect(throws: LoadError.self) { try await section.fetch() }
            #expect(none?.message == "nothing can be fetched: the policy uses no origin")
        }
    }
}
