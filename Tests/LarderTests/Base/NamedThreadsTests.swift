import LarderFoundation
import Dispatch
import LarderSimulation
import Testing

import Larder
@testable import LarderSystem
@testable import LarderCore
@testable import LarderPlugins

@Suite struct NamedThreadsTests {
    private static var deadline: DispatchTime { .now() + .seconds(600) }
    private let world = SystemWorld(blockingThreads: 1)

    @Test func hangingWorkHoldsUpNoOtherNameNorSharedThreads() async throws {
        let gate = DispatchSemaphore(value: 0)
        let order = Locked<[String]>([])
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<2 {
                group.addTask { [world] in
                    try await world.blocking(on: "slow", atMost: 2) {
                        _ = gate.wait(timeout: Self.deadline)
                        order.withLock { $0.append("slow") }
                    }
                }
            }
            try await world.blocking(on: "quick") { order.withLock { $0.append("quick") } }
            try await world.blocking { order.withLock { $0.append("shared") } }
            for _ in 0..<2 { gate.signal() }
            try await group.waitForAll()
        }
        #expect(order.withLock { $0 } == ["quick", "shared", "slow", "slow"])
    }

    @Test func storeOnHungDiskHoldsUpNoOtherStore() async throws {
        let gate = DispatchSemaphore(value: 0)
        let folders = [try Folder(), try Folder()]
        let stores = folders.map { folder in
            FileStore(folder: folder.path, capacity: 10_000, eviction: LRU(), world: world)
        }
        let key = Key(resource: "feed", scope: nil)
        // The clock of the first store hangs while it holds the lock under which the store lists its folder.
        let hung = FileStore(
            folder: folders[0].path, capacity: 10_000, maxAge: .seconds(1), eviction: LRU(),
            world: HungClock(world: world, gate: gate))
        let ended = Locked(0)
        _ = try await stores[0].write(Entry(text: "one"), for: key)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    _ = try await hung.read(key)
                    ended.withLock { $0 += 1 }
                }
            }
            #expect(try await stores[1].write(Entry(text: "two"), for: key))
            #expect(try await stores[1].read(key) != nil)
            try await world.blocking {}
            #expect(ended.withLock { $0 } == 0)
            for _ in 0..<100 { gate.signal() }
            try await group.waitForAll()
        }
    }

    @Test func workUnderOneNameRunsInOrderOneAtATime() async throws {
        let order = Locked<[Int]>([])
        let gate = DispatchSemaphore(value: 0)
        let threads = NamedThreads()
        for number in 0..<1_000 {
            threads.run(on: "one", atMost: 1) {
                order.withLock { $0.append(number) }
                if number == 999 { gate.signal() }
            }
        }
        try await world.blocking { _ = gate.wait(timeout: Self.deadline) }
        #expect(order.withLock { $0 } == Array(0..<1_000))
    }

    @Test func nameHasAsManyThreadsAsItsLimit() async throws {
        // Each job waits for the other two. With fewer threads none would end.
        let arrived = DispatchGroup()
        for _ in 0..<3 { arrived.enter() }
        let outcomes = try await withThrowingTaskGroup(of: DispatchTimeoutResult.self) { group in
            for _ in 0..<3 {
                group.addTask { [world] in
                    try await world.blocking(on: "three", atMost: 3) {
                        arrived.leave()
                        return arrived.wait(timeout: Self.deadline)
                    }
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes == [.success, .success, .success])
    }

    @Test func idleThreadEndsAndItsNameIsForgotten() async throws {
        let end = ThreadEnd()
        let threads = NamedThreads(idleTime: 1)
        threads.run(on: "one", atMost: 1) { end.watch() }
        #expect(try await world.blocking { end.wait(until: Self.deadline) } == .success)
        threads.run(on: "two", atMost: 1) {}
        #expect(threads.count == 1)
        // A name can be used again.
        let gate = DispatchSemaphore(value: 0)
        threads.run(on: "one", atMost: 1) { gate.signal() }
        #expect(try await world.blocking { gate.wait(timeout: Self.deadline) } == .success)
    }

    @Test func threadsEndWithWorldAfterTheirWork() async throws {
        let end = ThreadEnd()
        let done = Locked(0)
        func use() {
            let threads = NamedThreads(idleTime: 3_600_000)
            threads.run(on: "one", atMost: 1) { end.watch() }
            for _ in 0..<10 { threads.run(on: "one", atMost: 1) { done.withLock { $0 += 1 } } }
        }
        use()
        #expect(try await world.blocking { end.wait(until: Self.deadline) } == .success)
        #expect(done.withLock { $0 } == 10)
    }

    @Test func errorOfWorkUnderNameIsThrown() async {
        struct Failure: Error {}
        await #expect(throws: Failure.self) { try await world.blocking(on: "one") { throw Failure() } }
    }

    @Test func worldWithoutNamedThreadsRunsWorkOnSharedOnes() async throws {
        #expect(try await PlainWorld(world: world).blocking(on: "one") { 7 } == 7)
    }
}

/// Notices the end of a thread.
private final class ThreadEnd: Sendable {
    private let ended = DispatchSemaphore(value: 0)
    private let key: pthread_key_t

    init() {
        var key = pthread_key_t()
        pthread_key_create(&key) { semaphore in
            #if canImport(Darwin)
                Unmanaged<DispatchSemaphore>.fromOpaque(semaphore).takeUnretainedValue().signal()
            #else
                if let semaphore { Unmanaged<DispatchSemaphore>.fromOpaque(semaphore).takeUnretainedValue().signal() }
            #endif
        }
        self.key = key
    }

    deinit { pthread_key_delete(key) }

    /// Called on the thread.
    func watch() { pthread_setspecific(key, Unmanaged.passUnretained(ended).toOpaque()) }

    func wait(until deadline: DispatchTime) -> DispatchTimeoutResult { ended.wait(timeout: deadline) }
}

/// A world whose clock hangs on the threads that ask it.
private struct HungClock: World {
    let world: SystemWorld
    let gate: DispatchSemaphore

    var now: Timestamp {
        _ = gate.wait(timeout: .now() + .seconds(600))
        return world.now
    }
    var uptime: Duration { world.uptime }
    func random() -> UInt64 { world.random() }
    func sleep(for duration: Duration) async throws { try await world.sleep(for: duration) }
    func spawn(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> { world.spawn(work) }
    func blocking<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await world.blocking(work)
    }
    func blocking<Value: Sendable>(
        on name: String, atMost limit: Int, _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await world.blocking(on: name, atMost: limit, work)
    }
}

/// A world that has what a world must have, and nothing else.
private struct PlainWorld: World {
    let world: SystemWorld

    var now: Timestamp { world.now }
    var uptime: Duration { world.uptime }
    func random() -> UInt64 { world.random() }
    func sleep(for duration: Duration) async throws { try await world.sleep(for: duration) }
    func spawn(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> { world.spawn(work) }
    func blocking<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await world.blocking(work)
    }
}
