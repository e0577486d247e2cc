import LarderSystem
import Larder
import LarderSimulation
import Synchronization
import Testing

/// Sections of a third party with work that becomes due from time to time.
@Suite struct ThirdPartyDueWorkTests {
    /// Sends a letter when it is due.
    private final class Post: DueWork {
        private struct State {
            var next: Timestamp?
            var sent = 0
        }

        private let state: Mutex<State>
        private let settings: SettingValues<PostSettings>
        private let world: any World

        init(_ settings: SettingValues<PostSettings>, in world: any World) {
            state = Mutex(State(next: world.now + settings.after))
            (self.settings, self.world) = (settings, world)
        }

        var sent: Int { state.withLock { $0.sent } }

        var nextDue: Timestamp? { state.withLock { $0.next } }

        func runDue() async -> DueResult {
            if settings.isDeaf {
                await world.spawn { [world] in try? await world.sleep(for: .seconds(3_600)) }.value
            } else if (try? await world.sleep(for: settings.takes)) == nil {
                return .unfinished
            }
            state.withLock { ($0.next, $0.sent) = (nil, $0.sent + 1) }
            return settings.fails ? .failed("the post is closed") : .ran
        }
    }

    private struct PostSettings {
        let after = Setting("after", .duration, default: .zero, help: "When the letter is due")
        let takes = Setting("takes", .duration, default: .zero, help: "How long the way is")
        let fails = Setting("fails", .flag, default: false, help: "Whether the post is closed")
        let isDeaf = Setting("isDeaf", .flag, default: false, help: "Whether it hears nobody")
    }

    private static let post = Plugin.section("post", "Sends letters.", .group(PostSettings())) { context, settings in
        Post(settings, in: context.world)
    }

    /// Runs a test with a resource for each of these sections, in the order of their names.
    private static func run(
        _ sections: [String: String], _ test: @escaping @Sendable (SimulatedPantry) async throws -> Void
    ) throws {
        let policies = Dictionary(
            uniqueKeysWithValues: sections.map { name, settings in
                (name, ThirdPartySectionTests.policy(#", "post": \#(settings)"#, name))
            })
        try SimulatedPantry.run(policies, plugins: [post], test)
    }

    @Test func onlyDueWorkIsDone() throws {
        try Self.run(["a": "{}", "b": #"{ "after": "1h" }"#, "c": #"{ "fails": true }"#]) { simulated in
            let start = simulated.world.now
            let report = await simulated.pantry.runDue(within: .seconds(25))
            #expect(
                report.items.map(\.resource) == ["a", "b", "c"] && report.items.allSatisfy { $0.section == "post" })
            #expect(report.items.map(\.result) == [.ran, .notDue, .failed("the post is closed")])
            #expect(report.items.map(\.next) == [nil, start + .seconds(3_600), nil])
            #expect(report.next == start + .seconds(3_600))
            #expect(report.ran.map(\.resource) == ["a", "c"] && report.failed.map(\.resource) == ["c"])
            #expect(report.left.isEmpty && simulated.world.now == start)
            #expect(simulated.pantry.attachment(Post.self, of: "b")?.sent == 0)
        }
    }

    @Test func budgetIsKeptAndTheRestIsLeft() throws {
        let slow = #"{ "takes": "20s" }"#
        try Self.run(["a": slow, "b": slow, "c": slow, "d": slow]) { simulated in
            let report = await simulated.pantry.runDue(within: .seconds(30))
            #expect(simulated.world.uptime == .seconds(30))
            #expect(report.items.map(\.result) == [.ran, .ran, .unfinished, .unfinished])
            #expect(report.left.map(\.resource) == ["c", "d"])
            // Work that is left is still due.
            #expect(report.next == simulated.world.now - .seconds(30))
            let rest = await simulated.pantry.runDue(within: .seconds(30))
            #expect(rest.items.map(\.result) == [.notDue, .notDue, .ran, .ran])
            #expect(simulated.world.uptime == .seconds(50))
        }
    }

    @Test func workThatHearsNobodyDoesNotHoldUpTheReturn() throws {
        try Self.run(["a": #"{ "isDeaf": true }"#, "b": #"{ "takes": "5s" }"#, "c": "{}"]) { simulated in
            let report = await simulated.pantry.runDue(within: .seconds(25))
            #expect(simulated.world.uptime == .seconds(25))
            #expect(report.items.map(\.result) == [.unfinished, .ran, .ran])
            try await simulated.world.sleep(for: .seconds(3_600))
        }
    }

    @Test func workThatIsDueLongestComesFirst() throws {
        let slow = #", "takes": "20s" }"#
        try Self.run([
            "a": #"{ "after": "3s""# + slow, "b": #"{ "after": "2s""# + slow, "c": #"{ "after": "1s""# + slow,
        ]) {
            simulated in
            try await simulated.world.sleep(for: .seconds(60))
            let report = await simulated.pantry.runDue(within: .seconds(25))
            #expect(report.items.map(\.result) == [.unfinished, .ran, .ran])
        }
    }

    @Test func cancelledCallerReturnsAtOnce() throws {
        try Self.run(["a": #"{ "takes": "20s" }"#]) { simulated in
            let task = simulated.world.spawn {
                let report = await simulated.pantry.runDue(within: .seconds(25))
                #expect(report.items.map(\.result) == [.unfinished])
            }
            try await simulated.world.sleep(for: .seconds(1))
            task.cancel()
            await task.value
            #expect(simulated.world.uptime == .seconds(1))
        }
    }
}
