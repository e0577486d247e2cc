#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import Larder
import LarderBase

/// The origins of a situation: all of them behave as its acts say. It remembers when it last sent or confirmed each
/// payload.
final class SituationOrigin: Loader {
    private struct State {
        var acts: [Situation.OriginAct] = []
        /// The number of calls that the first act has had.
        var used = 0
        var calls = 0
        var payloads = 0
        var dates: [String: Timestamp] = [:]
        var answeredAt: Duration?

        mutating func next() -> Situation.OriginAct {
            calls += 1
            if let calls = acts.first?.calls, used >= calls, acts.count > 1 {
                acts.removeFirst()
                used = 0
            }
            used += 1
            return acts.first ?? Situation.OriginAct(.unreachable)
        }
    }

    private let world: SimulatedWorld
    private let contentType: String
    private let state = Locked(State())

    init(contentType: String, in world: SimulatedWorld) {
        self.contentType = contentType
        self.world = world
    }

    /// Behaves as `acts` say from now on, and counts from zero.
    func play(_ acts: [Situation.OriginAct]) {
        state.withLock { ($0.acts, $0.used, $0.calls, $0.answeredAt) = (acts, 0, 0, nil) }
    }

    /// Notes that a payload was current at a time.
    func note(_ payload: String, at time: Timestamp) { state.withLock { $0.dates[payload] = time } }

    /// Returns when a payload was last sent or confirmed; nil if it is not this origin's.
    func date(of payload: String) -> Timestamp? { state.withLock { $0.dates[Self.sound(payload)] } }

    /// Returns the text of a payload before it was damaged, which changes its first byte.
    static func sound(_ payload: String) -> String { "{" + payload.dropFirst() }

    /// The number of calls since the acts were set.
    var calls: Int { state.withLock { $0.calls } }

    /// The uptime of the first answer since the acts were set.
    var answeredAt: Duration? { state.withLock { $0.answeredAt } }

    func load(_ call: Call) async throws -> Loaded<Entry> {
        let act = state.withLock { $0.next() }
        if act.ending == .hangs {
            try await world.sleep(for: .forever)
            throw CancellationError()
        }
        if act.after > .zero { try await world.sleep(for: act.after) }
        switch act.ending {
        case .unchanged where call.known != nil:
            if let known = call.known { answer(String(decoding: known.payload.bytes, as: UTF8.self)) }
            return try .unchanged(call)
        case .value, .unchanged:
            let number = state.withLock { state in
                state.payloads += 1
                return state.payloads
            }
            let text = "{\"answer\":\(number)}"
            answer(text)
            return Loaded(Entry(Data(text.utf8), Metadata(etag: "\"\(number)\"", contentType: contentType)))
        case .status(let status, let retryAfter): throw LoadError.status(status, retryAfter: retryAfter)
        case .unreachable, .hangs: throw LoadError(.failed, "the network is not reachable")
        }
    }

    private func answer(_ payload: String) {
        let (now, uptime) = (world.now, world.uptime)
        state.withLock { state in
            state.dates[Self.sound(payload)] = now
            state.answeredAt = state.answeredAt ?? uptime
        }
    }
}

/// A fallback on this device: it answers at once.
struct LocalFallback: Loader {
    let contentType: String

    func load(_ call: Call) async throws -> Loaded<Entry> {
        Loaded(Entry(Data(#"{"fallback":true}"#.utf8), Metadata(contentType: contentType)))
    }
}
