import LarderFoundation
import Larder
import LarderSystem
import LarderSimulation
import Testing

@testable import LarderCore

/// Work on large payloads runs on threads that may block.
@Suite struct LargePayloadTests {
    /// A simulated world that notes whether work runs on one of its blocking threads.
    private struct ThreadWorld: World {
        let base: SimulatedWorld
        let isBlocking = Locked(false)
        let works = Locked(0)

        init(_ base: SimulatedWorld) { self.base = base }

        var now: Timestamp { base.now }
        var uptime: Duration { base.uptime }
        func random() -> UInt64 { base.random() }
        func sleep(for duration: Duration) async throws { try await base.sleep(for: duration) }
        func alarm(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> Alarm {
            base.alarm(after: delay, action)
        }
        func spawn(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> { base.spawn(work) }
        func blocking<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
            try await base.blocking { [isBlocking, works] in
                isBlocking.withLock { $0 = true }
                works.withLock { $0 += 1 }
                defer { isBlocking.withLock { $0 = false } }
                return try work()
            }
        }
    }

    /// Notes in the metadata whether it runs on a thread that may block, and refuses payloads that begin with a zero.
    private struct Noting: Validator {
        let isBlocking: Locked<Bool>

        func admit(
            _ entry: inout Entry, from arrival: Arrival, for request: Request
        ) throws(Refusal) -> Admission {
            if entry.payload.bytes.first == 0 { throw Refusal("it begins with a zero") }
            entry.metadata.etag = isBlocking.withLock { $0 } ? "blocking" : "pool"
            return .useOnly
        }
    }

    private static let sizes = [(1_000, "pool"), (1 << 20, "blocking"), (3 << 20, "blocking")]

    @Test(arguments: sizes) func largePayloadIsAdmittedOnThreadsThatMayBlock(_ size: Int, _ place: String) throws {
        try SimulatedWorld().run { base in
            let world = ThreadWorld(base)
            let validators = Validators([Noting(isBlocking: world.isBlocking)])
            var entry = Entry(Data(repeating: 1, count: size))
            let admission = try await validators.admit(&entry, from: .origin, for: Request("feed"), in: world)
            #expect(admission == .useOnly && entry.metadata.etag == place)
            var refused = Entry(Data(repeating: 0, count: size))
            await #expect(throws: Refusal("it begins with a zero")) {
                try await validators.admit(&refused, from: .store, for: Request("feed"), in: world)
            }
        }
    }

    @Test(arguments: sizes) func largePayloadIsComparedOnThreadsThatMayBlock(_ size: Int, _ place: String) throws {
        try SimulatedWorld().run { base in
            let world = ThreadWorld(base)
            let newest = await NewestAnswer(Entry(Data(repeating: 1, count: size)), in: world)
            #expect(await !newest.outdates(Entry(Data(repeating: 1, count: size)), in: world))
            #expect(await newest.outdates(Entry(Data(repeating: 2, count: size)), in: world))
            #expect(await newest.outdates(Entry(Data(repeating: 1, count: size + 1)), in: world))
            #expect(world.works.withLock { $0 } == (place == "pool" ? 0 : 3))
        }
    }
}
