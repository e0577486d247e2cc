import LarderFoundation
import Larder
import LarderSystem
import LarderSimulation
import Testing

@testable import LarderCore

/// The early ends of prefetches, and their progress.
@Suite struct PrefetchCancellingTests {
    private func simulated(_ world: SimulatedWorld) async throws -> SimulatedPantry {
        try await PrefetchTests.simulated(world)
    }

    @Test func cancellingEndsQueuedAndRunningRequests() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world)
            let prefetch = simulated.feed.prefetch(PrefetchTests.ids(1...10))
            let other = simulated.feed.prefetch(PrefetchTests.ids(10...12))
            try await world.sleep(for: .milliseconds(150))
            prefetch.cancel()
            let progress = await prefetch.finished()
            #expect(progress.done == 4 && progress.cancelled == 6)
            #expect(await other.finished().done == 3)
            // The calls of four requests were under way, and nobody else waited for them.
            #expect(simulated.origin.calls.count == 11)
            #expect(simulated.feed.metrics.cancelled == 4)
            prefetch.cancel()
            await simulated.pantry.close()
        }
    }

    @Test func cancellingManyRequestsAsksAboutEachOnce() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world)
            world.network = .offline
            let prefetches = (0..<100).map { number in
                simulated.feed.prefetch(PrefetchTests.ids(number * 100 + 1...number * 100 + 100))
            }
            var asked = 0
            simulated.pantry.agenda.cancel { _ in
                asked += 1
                return true
            }
            #expect(asked == 10_000 && prefetches.allSatisfy { $0.present.cancelled == 100 })
            await simulated.pantry.close()
        }
    }

    @Test func callThatOthersWaitForGoesOn() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world)
            let prefetch = simulated.feed.prefetch(PrefetchTests.ids(1...1))
            try await world.sleep(for: .milliseconds(10))
            let user = simulated.start(["id": "1"])
            try await world.settle()
            prefetch.cancel()
            #expect(try await user.value().text == "value" && simulated.origin.calls.count == 1)
            await simulated.pantry.close()
        }
    }

    @Test func pauseIsCancelled() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world)
            simulated.origin.play(then: .failure(.status(503)))
            let prefetch = simulated.feed.prefetch(PrefetchTests.ids(1...1))
            try await world.sleep(for: .seconds(1))
            prefetch.cancel()
            #expect(prefetch.present.cancelled == 1)
            try await world.sleep(for: .seconds(100))
            #expect(simulated.origin.calls.count == 1)
            await simulated.pantry.close()
        }
    }

    @Test func logoutCancelsTheRequestsOfTheAccount() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world)
            let mine = simulated.feed.prefetch(PrefetchTests.ids(1...10), scope: "me")
            let others = simulated.feed.prefetch(PrefetchTests.ids(1...10), scope: "other")
            try await world.sleep(for: .milliseconds(10))
            try await simulated.pantry.clear(.scope("me"))
            #expect(await mine.finished().cancelled == 10)
            #expect(await others.finished().done == 10)
            for parameters in PrefetchTests.ids(1...10) {
                #expect(try await !simulated.feed.contains(parameters, scope: "me"))
            }
            let again = simulated.feed.prefetch(PrefetchTests.ids(1...1), scope: "me")
            #expect(await again.finished().done == 1)
            await simulated.pantry.close()
        }
    }

    @Test func closingThePantryEndsAll() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world)
            let prefetch = simulated.feed.prefetch(PrefetchTests.ids(1...10))
            try await world.sleep(for: .milliseconds(10))
            await simulated.pantry.close()
            #expect(await prefetch.finished().cancelled == 10)
            #expect(await simulated.feed.prefetch(PrefetchTests.ids(1...2)).finished().cancelled == 2)
        }
    }

    @Test func releasingThePantryEndsAll() throws {
        try SimulatedWorld().run { world in
            var simulated: SimulatedPantry? = try await simulated(world)
            simulated?.origin.play(then: .failure(.status(503)))
            let prefetch = try #require(simulated?.feed.prefetch(PrefetchTests.ids(1...10)))
            try await world.sleep(for: .seconds(1))
            simulated = nil
            #expect(await prefetch.finished().cancelled == 10)
        }
    }

    // MARK: Progress

    @Test func progressIsToldToEveryReader() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world)
            let prefetch = simulated.feed.prefetch(PrefetchTests.ids(1...10))
            let reader = world.start { await prefetch.progress.reduce(into: []) { $0.append($1) } }
            let last = world.start { await prefetch.finished() }
            let seen = try await reader.value()
            #expect(seen.first?.left == 10 && seen.last?.left == 0)
            #expect(zip(seen, seen.dropFirst()).allSatisfy { $0.done <= $1.done && $0.bytes <= $1.bytes })
            #expect(try await last.value() == prefetch.present)
            #expect(await simulated.feed.prefetch([Request]()).finished().share == 1)
            await simulated.pantry.close()
        }
    }

    @Test func waitingEndsWhenItsTaskIsCancelled() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world)
            let prefetch = simulated.feed.prefetch(PrefetchTests.ids(1...10))
            let waiting = world.start { await prefetch.finished() }
            try await world.settle()
            waiting.cancel()
            #expect(try await waiting.value().left == 10)
            #expect(await prefetch.finished().done == 10)
            await simulated.pantry.close()
        }
    }

    @Test func cancelledPrefetchLeavesNoRequestOfAnotherBehind() throws {
        for seed in 1...20 as ClosedRange<UInt64> {
            try SimulatedWorld(seed: seed, interleaving: .shuffled).run { world in
                let simulated = try await simulated(world)
                let prefetches = (0..<10).map { simulated.feed.prefetch(PrefetchTests.ids(10 * $0...10 * $0 + 12)) }
                for index in [3, 0, 7, 5] {
                    try await world.sleep(for: .milliseconds(100))
                    prefetches[index].cancel()
                }
                for prefetch in prefetches { #expect(await prefetch.finished().left == 0) }
                for index in [1, 2, 4, 6, 8, 9] { #expect(prefetches[index].present.done == 13) }
                await simulated.pantry.close()
            }
        }
    }
}
