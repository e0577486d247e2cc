import FoundationEssentials
import Larder
import LarderSimulation
import Testing

/// Work that goes on in a simulated world while the test does something else.
final class Started<Value: Sendable>: Sendable {
    private let ending = Locked<(result: Result<Value, any Error>, at: Duration)?>(nil)
    private let task = Locked<Task<Void, Never>?>(nil)

    init(_ world: SimulatedWorld, _ work: @escaping @Sendable () async throws -> Value) {
        let running = world.spawn { [ending] in
            let result: Result<Value, any Error>
            do { result = .success(try await work()) } catch { result = .failure(error) }
            ending.withLock { $0 = (result, world.uptime) }
        }
        task.withLock { $0 = running }
    }

    func cancel() { task.withLock { $0 }?.cancel() }

    /// Whether it has ended.
    var isOver: Bool { ending.withLock { $0 != nil } }

    /// Virtual time at which it ended; nil while it goes on.
    var endedAt: Duration? { ending.withLock { $0?.at } }

    /// What it gives, once it ends.
    func value() async throws -> Value {
        try await result().get()
    }

    /// How it ends, once it does.
    func result() async -> Result<Value, any Error> {
        await task.withLock { $0 }?.value
        return ending.withLock { $0?.result } ?? .failure(CancellationError())
    }

    /// The load error it ends with; anything else is an issue.
    func failure() async throws -> LoadError {
        switch await result() {
        case .failure(let error as LoadError): return error
        case let other: throw Unexpected(description: "\(other)")
        }
    }
}

struct Unexpected: Error, CustomStringConvertible {
    let description: String
}

extension SimulatedWorld {
    /// Starts `work` beside the test.
    func start<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) -> Started<Value> {
        Started(self, work)
    }

    /// Lets everything run that can run now; no time passes.
    func settle() async throws { try await sleep(for: .zero) }
}

extension Kitchen {
    /// A load of `feed` that goes on beside the test.
    func start(
        _ parameters: [String: String] = [:], scope: String? = nil, mode: Request.Mode = .normal,
        deadline: Duration? = nil, priority: Request.Priority = .normal
    ) -> Started<Loaded<Data>> {
        let request = feed.request(parameters, scope: scope, mode: mode, deadline: deadline, priority: priority)
        return world.start { [feed] in try await feed.load(request) }
    }

    /// So many loads at a time, each of an instance of its own: `id` 1 and up.
    func crowd(_ count: Int, priority: Request.Priority = .normal) -> [Started<Loaded<Data>>] {
        (1...count).map { start(["id": "\($0)"], priority: priority) }
    }

    /// What the store holds for `key`, as text.
    func held(_ key: Key? = nil) -> String? {
        store.entries[key ?? self.key()].map { String(decoding: $0.payload.bytes, as: UTF8.self) }
    }
}
