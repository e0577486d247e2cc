import Larder
import LarderSystem

/// A task that runs beside a scenario, with its result.
final class ObservedTask<Value: Sendable>: Sendable {
    struct Ending: Sendable {
        var result: Result<Value, any Error>
        var at: Duration
    }

    private let state = Locked<Ending?>(nil)
    private let task = Locked<Task<Void, Never>?>(nil)

    /// Starts the work in a task, which runs for another hour after the work has ended, unless it is cancelled.
    init(in world: SimulatedWorld, _ work: @escaping @Sendable () async throws -> Value) {
        let running = world.spawn { [state] in
            let result: Result<Value, any Error>
            do { result = .success(try await work()) } catch { result = .failure(error) }
            state.withLock { $0 = Ending(result: result, at: world.uptime) }
            try? await world.sleep(for: .seconds(3_600))
        }
        task.withLock { $0 = running }
    }

    /// The result of the work and the uptime at which it ended. Nil while the work is running.
    var ending: Ending? { state.withLock { $0 } }

    var value: Value? { try? ending?.result.get() }

    var failure: (any Error)? {
        if case .failure(let error) = ending?.result { error } else { nil }
    }

    var isCancelled: Bool { failure is CancellationError }

    func cancel() { task.withLock { $0 }?.cancel() }

    /// The result in words.
    var inWords: String {
        switch ending?.result {
        case nil: "no result"
        case .success(let value): "\(value)"
        case .failure(let error as LoadError): error.inWords
        case .failure(let error): "\(type(of: error))"
        }
    }
}

extension LoadError {
    /// The error and its details in words.
    var inWords: String {
        var text = "the error \(code)"
        if let status { text += " \(status)" }
        text += ": \(message)"
        if store != nil { text += ", with a store error" }
        return text
    }
}
