import LarderFoundation
import Larder
import LarderSystem
import LarderSimulation

/// An origin that answers, fails or hangs as its seed determines. Every payload contains the key. The origin notices a
/// second call for a key and codec while the first one is running.
final class CheckedOrigin: Loader {
    private struct Identity: Hashable {
        var key: Key
        var codec: Int
    }

    private struct State {
        var dice: SeededGenerator
        var count = 0
        var underWay: [Identity: Int] = [:]
        var clearings = 0
        var broken: [String] = []
    }

    private let world: SimulatedWorld
    private let state: Locked<State>

    init(world: SimulatedWorld, seed: UInt64) {
        self.world = world
        state = Locked(State(dice: SeededGenerator(seed: seed ^ 0x5EED)))
    }

    var plugin: Plugin {
        .origin("checked", "Answers, fails or hangs.") { (_: Context) in self }
    }

    /// The broken promises.
    var broken: [String] { state.withLock { $0.broken } }

    /// The number of calls.
    var count: Int { state.withLock { $0.count } }

    /// Records the end of a clearing.
    func cleared() { state.withLock { $0.clearings += 1 } }

    func load(_ call: Call) async throws -> Loaded<Entry> {
        let identity = Identity(key: call.key, codec: call.codec.id)
        let (number, fate, wait) = state.withLock { state in
            state.count += 1
            state.underWay[identity, default: 0] += 1
            // After a clearing, a new call may start beside the running one.
            if !Task.isCancelled, state.underWay[identity, default: 0] > 1 + state.clearings {
                state.broken.append("two calls at a time for \(call.key.text)")
            }
            return (state.count, state.dice.roll(8), state.dice.roll(120))
        }
        // A cancelled call no longer counts, even before it has ended.
        let end = Once { self.state.withLock { $0.underWay[identity, default: 0] -= 1 } }
        defer { end() }
        try await withTaskCancellationHandler {
            try await world.sleep(for: fate == 7 ? .seconds(600) : .milliseconds(wait))
        } onCancel: {
            end()
        }
        switch fate {
        case 0: throw LoadError.status(503)
        case 1: throw LoadError.status(404)
        case 2 where call.known != nil: return try .unchanged(call)
        default:
            let metadata = Metadata(etag: number % 2 == 0 ? "e" : nil)
            return Loaded(Entry(Data("\"\(call.key.text) \(number)\"".utf8), metadata))
        }
    }
}

/// An action that runs only on the first call.
private final class Once: Sendable {
    private let work: Locked<(@Sendable () -> Void)?>

    init(_ work: @escaping @Sendable () -> Void) { self.work = Locked(work) }

    func callAsFunction() { work.withLock { $0.take() }?() }
}
