import FoundationEssentials
import Larder
import LarderSimulation

/// Stands around everything that is around the origin, and sees what every flight brings.
final class Witness: Sendable {
    /// What a flight ended with.
    struct Event: Sendable {
        /// The uptime at which its call began.
        var began: Duration
        /// The payload; nil for an answer that is an error.
        var text: String?
        var saysGone: Bool
        /// Wall time of its end.
        var wall: Timestamp
    }

    private struct Identity: Hashable {
        var key: Key
        var codec: Int
    }

    private struct State {
        var calls = 0
        var events: [Key: [Event]] = [:]
        /// Calls under way that may not have company.
        var underWay: [Identity: Set<Int>] = [:]
        /// From when on flights have no company again: loads that a clearing has overtaken have flights of their own.
        var settled: Duration = .seconds(-1)
        var broken: [String] = []
    }

    fileprivate let world: SimulatedWorld
    private let state = Locked(State())

    init(_ world: SimulatedWorld) { self.world = world }

    var plugin: Plugin {
        .wrapper("witness", "Sees what every flight brings.") { _, inner in Around(inner: inner, witness: self) }
    }

    var broken: [String] { state.withLock { $0.broken } }

    func events(of key: Key) -> [Event] { state.withLock { $0.events[key] ?? [] } }

    /// Calls under way when a clearing ends are joined by nobody any more, and others may start beside them.
    func clearing(_ clear: () async throws -> Void) async rethrows {
        func unsettle() {
            state.withLock { state in
                state.underWay = [:]
                // No load takes longer to get from its beginning to its call.
                state.settled = world.uptime + .seconds(1)
            }
        }
        unsettle()
        defer { unsettle() }
        try await clear()
    }

    private func begin(_ call: Call) -> Int {
        let now = world.uptime
        return state.withLock { state in
            state.calls += 1
            let identity = Identity(key: call.key, codec: call.codec.id)
            if !Task.isCancelled, now > state.settled { state.underWay[identity, default: []].insert(state.calls) }
            if (state.underWay[identity]?.count ?? 0) > 1 {
                state.broken.append("several flights at a time for \(call.key.text)")
            }
            return state.calls
        }
    }

    private func end(_ call: Call, _ number: Int) {
        state.withLock { state in
            let identity = Identity(key: call.key, codec: call.codec.id)
            _ = state.underWay[identity]?.remove(number)
        }
    }

    private func saw(_ call: Call, _ began: Duration, _ text: String?, saysGone: Bool = false) {
        let event = Event(began: began, text: text, saysGone: saysGone, wall: world.now)
        state.withLock { $0.events[call.key, default: []].append(event) }
    }

    private struct Around: Loader {
        let inner: any Loader
        let witness: Witness

        func load(_ call: Call) async throws -> Loaded<Entry> {
            let (number, began) = (witness.begin(call), witness.world.uptime)
            defer { witness.end(call, number) }
            return try await withTaskCancellationHandler {
                do {
                    let loaded = try await inner.load(call)
                    witness.saw(call, began, Judge.text(loaded.value.payload.bytes))
                    return loaded
                } catch let error as LoadError where error.isAnswer {
                    witness.saw(call, began, nil, saysGone: error.saysGone)
                    throw error
                }
            } onCancel: {
                // A call that was given up is nobody's any more, even before it has noticed.
                witness.end(call, number)
            }
        }
    }
}
