import LarderFoundation
import Larder
import LarderSystem
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

    /// Returns the value of the task when it ends.
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
