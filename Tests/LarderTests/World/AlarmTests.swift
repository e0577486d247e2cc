import Larder
import LarderSystem
import LarderSimulation
import Testing

@testable import LarderCore

@Suite struct AlarmTests {
    /// A world with the alarms that every world has by default.
    private struct PlainWorld: World {
        let base: SimulatedWorld
        var now: Timestamp { base.now }
        var uptime: Duration { base.uptime }
        func random() -> UInt64 { base.random() }
        func sleep(for duration: Duration) async throws { try await base.sleep(for: duration) }
        func spawn(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> { base.spawn(work) }
        func blocking<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
            try await base.blocking(work)
        }
    }

    /// Records the alarms that rang, and their times.
    private final class Bell: Sendable {
        private let rung = Locked<[String]>([])
        var rings: [String] { rung.withLock { $0 } }

        func ring(_ name: String, at uptime: Duration) {
            rung.withLock { $0.append("\(name) at \(uptime.brief)") }
        }
    }

    private static func worlds(_ base: SimulatedWorld) -> [any World] { [base, PlainWorld(base: base)] }

    @Test func alarmsRingInTheOrderOfTheirTimes() throws {
        try SimulatedWorld().run { base in
            for world in Self.worlds(base) {
                let bell = Bell()
                let start = base.uptime
                for seconds in [3, 1, 2] {
                    _ = world.alarm(after: .seconds(seconds)) { bell.ring("\(seconds)", at: base.uptime - start) }
                }
                try await base.sleep(for: .seconds(10))
                #expect(bell.rings == ["1 at 1 s", "2 at 2 s", "3 at 3 s"])
            }
        }
    }

    @Test func alarmsOfOneWorldSleepInOneTask() throws {
        try SimulatedWorld().run { world in
            let alarms = (1...100).map { world.alarm(after: .seconds($0)) {} }
            try await world.settle()
            #expect(world.unfinished == 2, "this test and one sleeper")
            for alarm in alarms { alarm.cancel() }
            try await world.settle()
            #expect(world.unfinished == 1)
        }
    }

    @Test func cancelledAlarmNeverRingsAndLeavesNothingBehind() throws {
        try SimulatedWorld().run { base in
            for world in Self.worlds(base) {
                let bell = Bell()
                let early = world.alarm(after: .seconds(1)) { bell.ring("early", at: .zero) }
                let late = world.alarm(after: .seconds(5)) { bell.ring("late", at: .zero) }
                try await base.sleep(for: .seconds(2))
                late.cancel()
                early.cancel()
                try await base.settle()
                #expect(base.unfinished == 1)
                try await base.sleep(for: .seconds(10))
                #expect(bell.rings == ["early at 0 s"])
            }
        }
    }

    @Test func alarmsThatAreSetAndCancelledInTurnShareOneSleeper() throws {
        try SimulatedWorld().run { world in
            let timer = SharedTimer(keepsSleeper: true)
            for _ in 1...100 {
                let alarms = [60, 30].map { timer.set(after: .seconds($0), in: world) {} }
                try await world.settle()
                for alarm in alarms { alarm.cancel() }
            }
            try await world.settle()
            #expect(world.unfinished == 2, "this test and one sleeper")
            let bell = Bell()
            let start = world.uptime
            _ = timer.set(after: .seconds(40), in: world) { bell.ring("late", at: world.uptime - start) }
            try await world.sleep(for: .seconds(50))
            #expect(bell.rings == ["late at 40 s"] && world.unfinished == 1)
        }
    }

    @Test func alarmSetToForeverKeepsNoSleeperBehind() throws {
        try SimulatedWorld().run { world in
            let never = world.alarm(after: .forever) {}
            let other = world.alarm(after: .seconds(5)) {}
            try await world.settle()
            #expect(world.unfinished == 2, "this test and one sleeper")
            other.cancel()
            try await world.settle()
            #expect(world.unfinished == 1)
            never.cancel()
        }
    }

    @Test func alarmSetToForeverDelaysNoOther() throws {
        try SimulatedWorld().run { world in
            let bell = Bell()
            let never = world.alarm(after: .forever) {}
            world.alarm(after: .seconds(5)) {}.cancel()
            _ = world.alarm(after: .seconds(7)) { bell.ring("next", at: world.uptime) }
            try await world.sleep(for: .seconds(10))
            #expect(bell.rings == ["next at 7 s"])
            never.cancel()
        }
    }

    @Test func alarmThatIsSetByAnActionRings() throws {
        try SimulatedWorld().run { base in
            for world in Self.worlds(base) {
                let bell = Bell()
                let start = base.uptime
                _ = world.alarm(after: .seconds(1)) {
                    _ = world.alarm(after: .seconds(2)) { bell.ring("second", at: base.uptime - start) }
                }
                try await base.sleep(for: .seconds(10))
                #expect(bell.rings == ["second at 3 s"])
            }
        }
    }

    @Test func alarmsOfARunThatIsOverAreForgotten() throws {
        let bell = Bell()
        let world = SimulatedWorld()
        try world.run(leaving: .anything) { world in
            _ = world.alarm(after: .seconds(5)) { bell.ring("old", at: world.uptime) }
            try await world.sleep(for: .seconds(1))
        }
        try world.run { world in
            _ = world.alarm(after: .seconds(7)) { bell.ring("new", at: world.uptime) }
            try await world.sleep(for: .seconds(60))
        }
        #expect(bell.rings == ["new at 8 s"])
    }

    @Test func alarmOfTheSystemRings() async {
        let world = SystemWorld()
        let far = world.alarm(after: .seconds(3_600)) {}
        await withCheckedContinuation { continuation in
            _ = world.alarm(after: .zero) { continuation.resume() }
        }
        far.cancel()
    }
}
