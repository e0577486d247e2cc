import Larder
import LarderSimulation
import LarderStories
import Testing

/// Stories that are played against policies of an app.
@Suite struct StoryPlayerTests {
    private func player() throws -> StoryPlayer {
        let folder = try TemporaryFolder()
        try folder.write(
            """
            { "resource": "feed", "origin": { "use": "sample", "payload": "feed" },
              "around": [{ "use": "timeout", "after": "4s" }], "strategy": "network-first",
              "validators": [{ "use": "age", "fresh": "5m", "onError": "7d" }], "store": "memory" }
            """, to: "feed.json")
        return try StoryPlayer(of: "feed", in: folder.url)
    }

    @Test func originThatHangsIsWaitedForUntilTheLimit() throws {
        let seen = try player().play(Story().with { $0.origin = [.init(.hangs)] })
        #expect(seen.waited == .seconds(4) && seen.ending == .error(code: "timeout", status: nil), "\(seen)")
    }

    @Test func copyStandsInWhenTheOriginFails() throws {
        let seen = try player().play(
            Story().with {
                $0.copy = Story.Copy(age: .seconds(3_600))
                $0.origin = [.init(.status(503))]
            })
        #expect(seen.age == .seconds(3_600) && seen.isStale && seen.calls == 1, "\(seen)")
    }

    @Test func loadWhoseCallerIsCancelledEndsAtOnce() throws {
        let seen = try player().play(
            Story().with {
                $0.origin = [.init(.hangs)]
                $0.load.cancelledAfter = .milliseconds(10)
            })
        #expect(seen.waited == .milliseconds(10) && seen.ending == .error(code: "cancelled", status: nil), "\(seen)")
    }

    @Test func copyThatWasClearedIsNotShown() throws {
        let story = Story().with {
            $0.copy = Story.Copy(age: .seconds(60))
            $0.load = Story.Load(at: .seconds(1))
            $0.origin = [.init(.throwsError("outage"))]
        }
        #expect(try player().play(story).age == .seconds(61))
        let seen = try player().play(story.with { $0.clearings = [.milliseconds(500)] })
        #expect(seen.ending == .error(code: "failed", status: nil), "\(seen)")
    }

    @Test func networkThatCostsIsKeptInWhicheverOrderItIsSet() {
        let story = Story().with { $0.isNetworkCostly = true }
        #expect(story.networks == [Story.Network(.online, isCostly: true)])
        #expect(story.with { $0.network = .online }.isNetworkCostly)
    }
}
