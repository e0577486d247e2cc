import LarderFoundation
import Larder
import LarderSystem
import LarderSimulation

/// A wrapper outside all others around the origin, which records the answer of every flight.
final class FlightRecorder: Sendable {
    /// The end of a flight.
    struct Event: Sendable {
        /// The uptime at which the call began.
        var began: Duration
        /// The payload; nil if the answer is an error.
        var text: String?
        var saysGone: Bool
        /// The wall time at which the flight ended.
        var wall: Timestamp
    }

    private struct Identity: Hashable {
        var key: Key
        var codec: Int
    }

    private struct State {
        var calls = 0
        var events: [Key: [Event]] = [:]
        /// The running calls that must be the only ones for their key and codec.
        var running: [Identity: Set<Int>] = [:]
        /// The uptime from which there must be one flight at a time again. Until then, loads that began before a
        /// clearing have flights of their own.
        var singleFrom: Duration = .seconds(-1)
        var problems: [String] = []
    }

    fileprivate let world: SimulatedWorld
    private let state = Locked(State())

    init(_ world: SimulatedWorld) { self.world = world }

    var plugin: Plugin {
        .wrapper("recorder", "Records the answer of every flight.") { _, inner in Around(inner: inner, recorder: self) }
    }

    var problems: [String] { state.withLock { $0.problems } }

    func events(of key: Key) -> [Event] { state.withLock { $0.events[key] ?? [] } }

    /// Clears. No load joins the calls that are running when a clearing begins or ends, so new calls may start beside
    /// them.
    func clearing(_ clear: () async throws -> Void) async rethrows {
        func allowSeveral() {
            state.withLock { state in
                state.running = [:]
                // Every load that begins now has begun its call after one second.
                state.singleFrom = world.uptime + .seconds(1)
            }
        }
        allowSeveral()
        defer { allowSeveral() }
        try await clear()
    }

    private func begin(_ call: Call) -> Int {
        let now = world.uptime
        return state.withLock { state in
            state.calls += 1
            let identity = Identity(key: call.key, codec: call.codec.id)
            if !Task.isCancelled, now > state.singleFrom { state.running[identity, default: []].insert(state.calls) }
            if (state.running[identity]?.count ?? 0) > 1 {
                state.problems.append("several flights at a time for \(call.key.text)")
            }
            return state.calls
        }
    }

    private func end(_ call: Call, _ number: Int) {
        state.withLock { state in
            let identity = Identity(key: call.key, codec: call.codec.id)
            _ = state.running[identity]?.remove(number)
        }
    }

    private func record(_ call: Call, _ began: Duration, _ text: String?, saysGone: Bool = false) {
        let event = Event(began: began, text: text, saysGone: saysGone, wall: world.now)
        state.withLock { $0.events[call.key, default: []].append(event) }
    }

    private struct Around: Loader {
        let inner: any Loader
        let recorder: FlightRecorder

        func load(_ call: Call) async throws -> Loaded<Entry> {
            let (number, began) = (recorder.begin(call), recorder.world.uptime)
            defer { recorder.end(call, number) }
            return try await withTaskCancellationHandler {
                do {
                    let loaded = try await inner.load(call)
                    recorder.record(call, began, LoadChecker.text(loaded.value.payload.bytes))
                    return loaded
                } catch let error as LoadError where error.isAnswer {
                    recorder.record(call, began, nil, saysGone: error.saysGone)
                    throw error
                }
            } onCancel: {
                // A cancelled call no longer counts, even before it has ended.
                recorder.end(call, number)
            }
        }
    }
}
