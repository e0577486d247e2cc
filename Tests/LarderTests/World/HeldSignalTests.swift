import LarderSimulation
import Testing

import Larder
@testable import LarderSystem
@testable import LarderCore
@testable import LarderPlugins

import LarderFoundation

/// The pipe to which the handler below writes when it is called.
nonisolated(unsafe) private var handlerPipe: (reading: Int32, writing: Int32) = (-1, -1)

/// Signals of this process. A lost signal would make a test hang until its time limit.
@Suite(.timeLimit(.minutes(20))) struct HeldSignalTests {
    @Test func releasedSignalAndSecondSignalHaveTheirEffect() async throws {
        var ends: [Int32] = [-1, -1]
        #expect(pipe(&ends) == 0)
        handlerPipe = (ends[0], ends[1])
        // No other test uses this signal.
        let before = signal(SIGQUIT) { _ in
            var byte: UInt8 = 1
            _ = write(handlerPipe.writing, &byte, 1)
        }
        defer { signal(SIGQUIT, before) }
        /// Waits until the handler was called.
        func called() async throws {
            try await SystemWorld().blocking {
                var byte: UInt8 = 0
                while read(handlerPipe.reading, &byte, 1) < 0, errno == EINTR {}
            }
        }
        func isCalled() -> Bool {
            var waiting = pollfd(fd: handlerPipe.reading, events: Int16(POLLIN), revents: 0)
            return poll(&waiting, 1, 0) > 0
        }

        var signals = SystemWorld().heldSignals(["QUIT"]).makeAsyncIterator()
        kill(getpid(), SIGQUIT)
        let held = await signals.next()
        #expect(held?.name == "QUIT" && !isCalled())
        held?.release()
        try await called()

        signals = SystemWorld().heldSignals(["QUIT"]).makeAsyncIterator()
        kill(getpid(), SIGQUIT)
        let other = await signals.next()
        #expect(!isCalled())
        kill(getpid(), SIGQUIT)
        try await called()
        // The first signal has its effect, too. Without this wait, it could come when the handler above is gone.
        other?.release()
        try await called()
    }

    @Test func deallocatedSignalHasItsEffect() {
        let effects = Locked(0)
        do {
            let held = HeldSignal("TERM") { effects.withLock { $0 += 1 } }
            #expect(held.name == "TERM" && effects.withLock { $0 } == 0)
        }
        #expect(effects.withLock { $0 } == 1)
    }
}

/// A pantry that closes when the process is asked to end.
@Suite struct PantryClosingTests {
    /// A simulated world that receives signals.
    private struct SignalledWorld: World {
        let world: SimulatedWorld
        let signals: AsyncStream<HeldSignal>
        var now: Timestamp { world.now }
        var uptime: Duration { world.uptime }
        func random() -> UInt64 { world.random() }
        func sleep(for duration: Duration) async throws { try await world.sleep(for: duration) }
        func spawn(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> { world.spawn(work) }
        func blocking<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
            try await world.blocking(work)
        }
        func heldSignals(_ names: [String]) -> AsyncStream<HeldSignal> {
            names == ["TERM", "INT"] ? signals : AsyncStream { $0.finish() }
        }
    }

    /// A store whose statistics take one hour.
    private struct HungStore: Store {
        let world: any World
        func read(_ reading: Reading) async throws -> Found? { nil }
        func write(_ entry: Entry, for key: Key) async throws -> Bool { true }
        func remove(_ selection: Selection) async throws {}
        func statistics() async -> StoreStatistics {
            try? await world.sleep(for: .seconds(3_600))
            return StoreStatistics(entries: 0, bytes: 0, hits: 0, misses: 0, evictions: 0)
        }
    }

    /// Returns the seconds until a signal had its effect, and whether the last dump was written by then.
    private static func close(_ store: String, for limit: Duration, _ work: Duration = .zero) throws -> (
        at: Double?, isDumped: Bool?
    ) {
        try SimulatedWorld().run(leaving: .anything) { simulated in
            let (signals, source) = AsyncStream<HeldSignal>.makeStream()
            let world = SignalledWorld(world: simulated, signals: signals)
            let folder = try Folder()
            try folder.write(
                """
                { "resource": "feed", "origin": { "use": "constant", "value": 1 }, "strategy": "cache-first",
                  "store": "\(store)" }
                """, to: "feed.json")
            try folder.write(#"{ "metrics": { "every": "1h" } }"#, to: "_larder.json")
            var registry = Registry.standard
            try registry.register(.store("hung", "Hangs.") { _ in HungStore(world: simulated) })
            let pantry = try await Pantry(policies: folder.url, registry: registry, cache: folder.url, world: world)
            let closing = pantry.closeOnSignals(within: limit) { try? await simulated.sleep(for: work) }
            try await simulated.sleep(for: .seconds(10))
            let effect = Locked<(Double?, Bool?)>((nil, nil))
            let path = folder.path + "/metrics.json"
            source.yield(
                HeldSignal("TERM") {
                    let seconds = (simulated.uptime - .seconds(10)) / .seconds(1)
                    effect.withLock { $0 = (seconds, Disk.item(path) != nil) }
                })
            try await simulated.sleep(for: .seconds(1_000))
            withExtendedLifetime((closing, pantry)) {}
            return effect.withLock { $0 }
        }
    }

    @Test func lastDumpIsWrittenBeforeSignalHasItsEffect() throws {
        let end = try Self.close("memory", for: .seconds(5), .seconds(2))
        #expect(end.at == 2 && end.isDumped == true)
    }

    @Test func hangingStoreDelaysSignalAtMostByLimit() throws {
        let end = try Self.close("hung", for: .seconds(3))
        #expect(end.isDumped == false)
        #expect(try #require(end.at) <= 3)
    }

    @Test func stoppedCloseOnSignalsReleasesSignals() throws {
        try SimulatedWorld().run { world in
            let folder = try Folder()
            try folder.write(Policies.sound.with("\"file\"", "\"memory\""), to: "feed.json")
            let (signals, source) = AsyncStream<HeldSignal>.makeStream()
            let pantry = try await Pantry(
                policies: folder.url, cache: folder.url, world: SignalledWorld(world: world, signals: signals))
            pantry.closeOnSignals().stop()
            let isOver = Locked(false)
            source.yield(HeldSignal("INT") { isOver.withLock { $0 = true } })
            try await world.settle()
            #expect(isOver.withLock { $0 })
        }
    }
}
