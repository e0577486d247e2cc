import FoundationEssentials
import LarderSimulation
import Testing

@testable import Larder

/// An origin that failed is left alone for a while, as long as a copy may stand in.
@Suite struct BackOffTests {
    private static let windows = #"[{ "use": "age", "fresh": "5m", "onError": "7d" }]"#

    private func kitchen(
        _ world: SimulatedWorld, _ strategy: String, foreignStore: Bool = true, age: Duration = .seconds(600)
    ) async throws -> Kitchen {
        let kitchen = try await Kitchen(
            world, strategy: strategy, validators: Self.windows, foreignStore: foreignStore)
        kitchen.stock("old", age: age)
        return kitchen
    }

    @Test(
        arguments: [#""network-first""#, #""cache-first""#, #""race""#, #""stale-while-revalidate""#], [true, false])
    func copyIsShownWithoutAskingWhileTheOriginRests(_ strategy: String, _ foreignStore: Bool) throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world, strategy, foreignStore: foreignStore)
            kitchen.origin.play(then: .failure(.status(503), after: .seconds(1)))
            for _ in 1...5 {
                let loaded = try await kitchen.feed.load()
                #expect(loaded.text == "old" && loaded.fellBack && loaded.freshness == .stale)
            }
            #expect(kitchen.origin.calls.count == 1 && world.uptime == .seconds(1))
            let metrics = kitchen.feed.metrics
            #expect(metrics.fallbackRate == 1 && metrics.hitRate == 0 && metrics.loads == 5)
            try await world.sleep(for: .seconds(6))
            _ = try await kitchen.feed.load()
            #expect(kitchen.origin.calls.count == 2)
        }
    }

    @Test func theTrailTellsSinceWhenAndUntilWhenTheOriginRests() throws {
        for foreignStore in [true, false] {
            try SimulatedWorld().run { world in
                let kitchen = try await kitchen(world, #""cache-first""#, foreignStore: foreignStore)
                kitchen.origin.play(then: .failure(.status(503)))
                _ = try await kitchen.feed.load()
                try await world.sleep(for: .seconds(2))
                let lines = try await kitchen.feed.load().trail.lines
                #expect(lines.count == 2)
                #expect(lines[0].hasPrefix("origin: failed 2 s ago, asked again in "), "\(lines)")
                #expect(lines[1].contains("stale copy, 10 min old, allowed by age.onError 7d"), "\(lines)")
            }
        }
    }

    @Test func aLoadWithoutACopyAsksAndARefreshAsks() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world, #""network-first""#, age: .seconds(30 * 86_400))
            kitchen.origin.play(then: .failure(.status(503)))
            for _ in 1...3 { _ = try await kitchen.start().failure() }
            #expect(kitchen.origin.calls.count == 3, "a copy that may not stand in is as good as none")
            kitchen.stock("old", age: .seconds(600))
            #expect(try await kitchen.feed.load(mode: .refresh).fellBack)
            #expect(kitchen.origin.calls.count == 4)
            #expect(try await kitchen.feed.load().fellBack)
            #expect(kitchen.origin.calls.count == 4)
        }
    }

    @Test func theFirstSuccessEndsTheRest() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world, #""network-first""#)
            kitchen.origin.play(.failure(.status(503)))
            #expect(try await kitchen.feed.load().fellBack)
            #expect(try await kitchen.feed.load(mode: .refresh).source == .origin)
            #expect(try await kitchen.feed.load().source == .origin)
        }
    }

    @Test func anAnswerThatIsAnErrorIsNoReasonToRest() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world, #""network-first""#)
            kitchen.origin.play(then: .failure(.status(403)))
            for _ in 1...3 { #expect(try await kitchen.start().failure().status == 403) }
            #expect(kitchen.origin.calls.count == 3)
        }
    }

    @Test func aServiceThatHangsCostsPatienceOnceInARest() throws {
        try SimulatedWorld().run(leaving: .anything) { world in
            let kitchen = try await kitchen(world, #"{ "use": "network-first", "patience": "800ms" }"#)
            kitchen.origin.play(then: .hang)
            var waits: [Duration] = []
            for _ in 1...4 {
                let start = world.uptime
                #expect(try await kitchen.feed.load().fellBack)
                waits.append(world.uptime - start)
                try await world.sleep(for: .seconds(1))
            }
            #expect(waits == [.milliseconds(800), .zero, .zero, .zero])
            #expect(kitchen.origin.calls.count == 1)
        }
    }

    @Test func nothingRestsWhereRestIsZero() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world, #"{ "use": "network-first", "rest": "0s" }"#)
            kitchen.origin.play(then: .failure(.status(503)))
            for _ in 1...5 { #expect(try await kitchen.feed.load().fellBack) }
            #expect(kitchen.origin.calls.count == 5)
        }
    }

    @Test func theRestDoublesUpToHalfAMinuteAndAnOutageOfAllLengthensItAtOnce() throws {
        try SimulatedWorld().run { world in
            let backOff = BackOff()
            func rest(_ id: String) -> Double {
                backOff.rest(of: .id(id), base: .seconds(5), at: world.uptime)?.left.inSeconds ?? 0
            }
            for (planned, wait) in [(5, 6), (10, 12), (20, 23), (30, 34), (30.0, 34)] {
                backOff.failed(.id("a"), in: world)
                #expect((planned * 0.9...planned * 1.1).contains(rest("a")), "\(rest("a")), not \(planned)")
                try await world.sleep(for: .seconds(wait))
            }
            backOff.failed(.id("b"), in: world)
            #expect((27...33).contains(rest("b")), "nothing has worked for a minute and a half")
            backOff.succeeded(.id("c"))
            backOff.failed(.id("d"), in: world)
            #expect((4.5...5.5).contains(rest("d")))
        }
    }
}
