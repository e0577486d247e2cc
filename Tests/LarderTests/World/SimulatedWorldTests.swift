import LarderSystem
import Larder
import LarderSimulation
import Testing

@Suite struct SimulatedWorldTests {
    @Test func simulatedTimeJumpsWithWallTime() throws {
        let start = Timestamp(seconds: 1_000)
        let world = SimulatedWorld(start: start)
        try world.run { world in
            #expect(world.uptime == .zero && world.now == start)
            try await world.sleep(for: .seconds(86_400 * 365))
            #expect(world.uptime == .seconds(86_400 * 365) && world.now == start + world.uptime)
            world.stepClock(by: .seconds(-500))
            #expect(world.uptime == .seconds(86_400 * 365) && world.now == start + world.uptime - .seconds(500))
            try await world.sleep(for: .seconds(-1))
            #expect(world.uptime == .seconds(86_400 * 365))
        }
    }

    @Test func sleepersWakeByTimeThenByOrder() throws {
        let log = try SimulatedWorld().run { world in
            await withTaskGroup(of: String.self) { group in
                for (name, delay) in [("c", 3), ("a1", 1), ("b", 2), ("a2", 1), ("zero", 0)] {
                    group.addTask {
                        try? await world.sleep(for: .seconds(delay))
                        return "\(name)@\(world.uptime.brief)"
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
        }
        #expect(log == ["zero@0 s", "a1@1 s", "a2@1 s", "b@2 s", "c@3 s"])
    }

    @Test func randomNumbersOfResourceDependNeitherOnOtherResourcesNorOnOrder() {
        func numbers(_ names: [String]) -> [String: [UInt64]] {
            let world = SimulatedWorld(seed: 7)
            var numbers: [String: [UInt64]] = [:]
            for _ in 0..<3 {
                for name in names { numbers[name, default: []].append(world.world(of: name).random()) }
            }
            return numbers
        }
        let alone = numbers(["feed"])
        #expect(numbers(["images", "feed", "catalog"])["feed"] == alone["feed"])
        #expect(numbers(["feed", "images"])["images"] != alone["feed"])
        #expect(SimulatedWorld(seed: 8).world(of: "feed").random() != alone["feed"]?.first)
        #expect(Set(alone["feed"] ?? []).count == 3)
    }

    private actor Log {
        private(set) var lines: [String] = []
        func add(_ line: String) { lines.append(line) }
    }

    /// Runs groups, an actor, random numbers, sleeps, cancellations and spawned work, and returns a list of the events.
    private func history(seed: UInt64, _ interleaving: SimulatedWorld.Interleaving) throws -> [String] {
        try SimulatedWorld(seed: seed, interleaving: interleaving).run { world in
            let log = Log()
            await withTaskGroup { group in
                for name in ["a", "b", "c", "d", "e"] {
                    group.addTask {
                        for step in 0..<3 {
                            await log.add("\(name)\(step)@\(world.uptime.nanoseconds)")
                            if step == 1 { try? await world.sleep(for: .milliseconds(Int(world.chance() * 50))) }
                        }
                    }
                }
                await group.next()
                let spawned = world.spawn {
                    do { try await world.sleep(for: .seconds(1)) } catch {
                        await log.add("cancelled@\(world.uptime.brief)")
                    }
                }
                try? await world.sleep(for: .milliseconds(20))
                spawned.cancel()
                await spawned.value
            }
            return await log.lines
        }
    }

    @Test(arguments: [SimulatedWorld.Interleaving.inOrder, .shuffled])
    func equalSeedsGiveEqualHistories(interleaving: SimulatedWorld.Interleaving) throws {
        for seed in 1...5 as ClosedRange<UInt64> {
            let first = try history(seed: seed, interleaving)
            #expect(first.count == 16 && first.contains { $0.hasPrefix("cancelled@") })
            for _ in 0..<5 { #expect(try history(seed: seed, interleaving) == first) }
        }
    }

    @Test func differentSeedsGiveDifferentHistoriesIfShuffled() throws {
        func order(_ seed: UInt64, _ interleaving: SimulatedWorld.Interleaving) throws -> [String] {
            try history(seed: seed, interleaving).prefix(5).map { String($0.prefix(2)) }
        }
        let shuffled = try Set((1...20).map { try order($0, .shuffled) })
        #expect(shuffled.count > 10)
        let ordered = try Set((1...20).map { try order($0, .inOrder) })
        #expect(ordered.count == 1)
    }

    @Test func equalSeedsGiveEqualRandomNumbers() {
        func numbers(_ seed: UInt64) -> [UInt64] {
            let world = SimulatedWorld(seed: seed)
            return (0..<8).map { _ in world.random() }
        }
        #expect(numbers(1) == numbers(1) && numbers(1) != numbers(2) && Set(numbers(1)).count == 8)
    }

    @Test func runThatCannotEndThrows() {
        #expect(throws: SimulatedWorld.Stuck.self) {
            try SimulatedWorld().run { world in try await world.sleep(for: .forever) }
        }
        #expect(throws: SimulatedWorld.Stuck.self) {
            try SimulatedWorld().run { _ in
                let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
                for await _ in stream {}
                continuation.finish()
            }
        }
        #expect(throws: SimulatedWorld.Stuck.self) {
            try SimulatedWorld().run { world in
                await world.spawn { try? await world.sleep(for: .forever) }.value
            }
        }
    }

    @Test func errorOfBodyIsThrown() {
        struct Failure: Error {}
        #expect(throws: Failure.self) { try SimulatedWorld().run { _ in throw Failure() } }
    }

    @Test func runningTasksAreCancelledAtEnd() throws {
        let world = SimulatedWorld()
        let log = Log()
        try world.run(leaving: .anything) { world in
            world.spawn {
                try? await world.sleep(for: .forever)
                await log.add("cancelled \(Task.isCancelled)")
            }
            #expect(world.unfinished == 2)
            try await world.sleep(for: .seconds(1))
        }
        #expect(world.unfinished == 0)
        #expect(try world.run { _ in await log.lines } == ["cancelled true"])
        #expect(world.uptime == .seconds(1))
    }

    @Test func tasksThatCancelledTasksBeginEndToo() throws {
        @Sendable func begin(_ depth: Int, in world: SimulatedWorld) {
            world.spawn {
                try? await world.sleep(for: .forever)
                if depth > 1 { begin(depth - 1, in: world) }
            }
        }
        let world = SimulatedWorld()
        try world.run(leaving: .anything) { world in begin(3, in: world) }
        #expect(world.unfinished == 0)
    }

    @Test func cancelledSleepEndsAtOnce() throws {
        try SimulatedWorld().run { world in
            let sleeper = world.spawn {
                await #expect(throws: CancellationError.self) { try await world.sleep(for: .seconds(60)) }
                // A cancelled task does not begin to sleep.
                await #expect(throws: CancellationError.self) { try await world.sleep(for: .seconds(60)) }
            }
            try await world.sleep(for: .seconds(1))
            sleeper.cancel()
            await sleeper.value
            #expect(world.uptime == .seconds(1))
        }
    }
}
