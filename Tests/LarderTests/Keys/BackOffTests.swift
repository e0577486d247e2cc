import LarderFoundation
import LarderSimulation
import Testing

import Larder
@testable import LarderSystem
@testable import LarderCore
@testable import LarderPlugins

/// A failed origin is not called for a while if a copy may be served instead.
@Suite struct BackOffTests {
    private static let windows = #"[{ "use": "age", "fresh": "5m", "onError": "7d" }]"#

    private func simulated(
        _ world: SimulatedWorld, _ strategy: String, isStoreForeign: Bool = true, age: Duration = .seconds(600)
    ) async throws -> SimulatedPantry {
        let simulated = try await SimulatedPantry(
            world, strategy: strategy, validators: Self.windows, isStoreForeign: isStoreForeign)
        simulated.stock("old", age: age)
        return simulated
    }

    @Test(
        arguments: [#""network-first""#, #""cache-first""#, #""race""#, #""stale-while-revalidate""#], [true, false])
    func copyIsServedWithoutCallWhileOriginRests(_ strategy: String, _ isStoreForeign: Bool) throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world, strategy, isStoreForeign: isStoreForeign)
            simulated.origin.play(then: .failure(.status(503), after: .seconds(1)))
            for _ in 1...5 {
                let loaded = try await simulated.feed.load()
                #expect(loaded.text == "old" && loaded.fellBack && loaded.freshness == .stale)
            }
            #expect(simulated.origin.calls.count == 1 && world.uptime == .seconds(1))
            let metrics = simulated.feed.metrics
            #expect(metrics.fallbackRate == 1 && metrics.hitRate == 0 && metrics.loads == 5)
            try await world.sleep(for: .seconds(6))
            _ = try await simulated.feed.load()
            #expect(simulated.origin.calls.count == 2)
        }
    }

    @Test func trailNamesStartAndEndOfRest() throws {
        for isStoreForeign in [true, false] {
            try SimulatedWorld().run { world in
                let simulated = try await simulated(world, #""cache-first""#, isStoreForeign: isStoreForeign)
                simulated.origin.play(then: .failure(.status(503)))
                _ = try await simulated.feed.load()
                try await world.sleep(for: .seconds(2))
                let lines = try await simulated.feed.load().trail.lines
                #expect(lines.count == 2)
                #expect(lines[0].hasPrefix("origin: failed with 503, 2 s ago, asked again in "), "\(lines)")
                #expect(lines[1].contains("stale copy, 10 min old, allowed by age.onError 7d"), "\(lines)")
            }
        }
    }

    @Test func loadWithoutCopyAndRefreshCallRestingOrigin() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world, #""network-first""#, age: .seconds(30 * 86_400))
            simulated.origin.play(then: .failure(.status(503)))
            for _ in 1...3 { _ = try await simulated.start().failure() }
            #expect(simulated.origin.calls.count == 3, "a copy that may not stand in is as good as none")
            simulated.stock("old", age: .seconds(600))
            #expect(try await simulated.feed.load(mode: .refresh).fellBack)
            #expect(simulated.origin.calls.count == 4)
            #expect(try await simulated.feed.load().fellBack)
            #expect(simulated.origin.calls.count == 4)
        }
    }

    @Test func firstSuccessEndsRest() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world, #""network-first""#)
            simulated.origin.play(.failure(.status(503)))
            #expect(try await simulated.feed.load().fellBack)
            #expect(try await simulated.feed.load(mode: .refresh).source == .origin)
            #expect(try await simulated.feed.load().source == .origin)
        }
    }

    @Test func answerThatIsAnErrorStartsNoRest() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world, #""network-first""#)
            simulated.origin.play(then: .failure(.status(403)))
            for _ in 1...3 { #expect(try await simulated.start().failure().status == 403) }
            #expect(simulated.origin.calls.count == 3)
        }
    }

    @Test func hangingOriginCostsPatienceOncePerRest() throws {
        try SimulatedWorld().run(leaving: .anything) { world in
            let simulated = try await simulated(world, #"{ "use": "network-first", "patience": "800ms" }"#)
            simulated.origin.play(then: .hang)
            var waits: [Duration] = []
            for _ in 1...4 {
                let start = world.uptime
                #expect(try await simulated.feed.load().fellBack)
                waits.append(world.uptime - start)
                try await world.sleep(for: .seconds(1))
            }
            #expect(waits == [.milliseconds(800), .zero, .zero, .zero])
            #expect(simulated.origin.calls.count == 1)
        }
    }

    @Test func originNeverRestsIfRestIsZero() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world, #"{ "use": "network-first", "rest": "0s" }"#)
            simulated.origin.play(then: .failure(.status(503)))
            for _ in 1...5 { #expect(try await simulated.feed.load().fellBack) }
            #expect(simulated.origin.calls.count == 5)
        }
    }

    @Test func restDoublesUpToThirtySecondsAndFullOutageLengthensItAtOnce() throws {
        try SimulatedWorld().run { world in
            let keys = KeyTable()
            func rest(_ id: String) -> Double {
                keys.rest(of: .id(id), base: .seconds(5), at: world.uptime)?.left.inSeconds ?? 0
            }
            for (planned, wait) in [(5, 6), (10, 12), (20, 23), (30, 34), (30.0, 34)] {
                keys.originFailed(.id("a"), in: world)
                #expect((planned * 0.9...planned * 1.1).contains(rest("a")), "\(rest("a")), not \(planned)")
                try await world.sleep(for: .seconds(wait))
            }
            keys.originFailed(.id("b"), in: world)
            #expect((27...33).contains(rest("b")), "nothing has worked for a minute and a half")
            keys.originAnswered(.id("c"))
            keys.originFailed(.id("d"), in: world)
            #expect((4.5...5.5).contains(rest("d")))
        }
    }
}
