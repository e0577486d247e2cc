import LarderFoundation
import Larder
import LarderSimulation
import LarderSystem

/// The origins of a situation: all of them behave as its acts say. It remembers when it last sent or confirmed each
/// payload.
final class SituationOrigin: Loader {
    private struct State {
        var acts: [Situation.OriginAct] = []
        /// The calls before the acts were set.
        var earlier: [CallUse] = []
        /// The calls since then.
        var own: [CallUse] = []
        /// Whether the acts are those of the load that is judged.
        var isOwn = false
        var payloads = 0
        var dates: [String: Timestamp] = [:]
        var answeredAt: Duration?

        mutating func next(at uptime: Duration) -> (call: CallNumber, act: Situation.OriginAct) {
            let number = isOwn ? own.count : earlier.count
            if isOwn { own.append(CallUse(began: uptime)) } else { earlier.append(CallUse(began: uptime)) }
            return (CallNumber(isOwn: isOwn, number: number), acts.act(ofCall: number))
        }

        mutating func end(_ call: CallNumber, _ end: CallUse.End) {
            if call.isOwn { own[call.number].end = end } else { earlier[call.number].end = end }
        }
    }

    private struct CallNumber {
        let isOwn: Bool
        let number: Int
    }

    private struct CallUse {
        enum End {
            case underWay
            case reached
            case cancelled(at: Duration)
        }

        let began: Duration
        var end = End.underWay

        /// How long the call waited in vain for its end; nil if it got there.
        func waited(until uptime: Duration) -> Duration? {
            switch end {
            case .underWay: uptime - began
            case .reached: nil
            case .cancelled(let time): time - began
            }
        }
    }

    private let world: SimulatedWorld
    private let contentType: String
    private let state = Locked(State())

    init(contentType: String, in world: SimulatedWorld) {
        self.contentType = contentType
        self.world = world
    }

    /// Behaves as `acts` say from now on.
    ///
    /// - Parameter isOwn: whether the acts are those of the load that is judged, and no longer those before it.
    func play(_ acts: [Situation.OriginAct], isOwn: Bool) {
        state.withLock { ($0.acts, $0.isOwn, $0.answeredAt) = (acts, isOwn, nil) }
    }

    /// Notes that a payload was current at a time.
    func note(_ payload: String, at time: Timestamp) { state.withLock { $0.dates[payload] = time } }

    /// Returns when a payload was last sent or confirmed; nil if it is not this origin's.
    func date(of payload: String) -> Timestamp? { state.withLock { $0.dates[Self.sound(payload)] } }

    /// Returns the text of a payload before it was damaged, which changes its first byte.
    static func sound(_ payload: String) -> String { "{" + payload.dropFirst() }

    /// The number of calls since the acts of the load were set.
    var calls: Int { state.withLock { $0.own.count } }

    /// How long each call waited in vain for its end, before the acts of the load were set and since then; nil for a call
    /// that got to its end.
    var waits: (earlier: [Duration?], own: [Duration?]) {
        let uptime = world.uptime
        return state.withLock { state in
            (state.earlier.map { $0.waited(until: uptime) }, state.own.map { $0.waited(until: uptime) })
        }
    }

    /// The uptime of the first answer since the acts were set.
    var answeredAt: Duration? { state.withLock { $0.answeredAt } }

    func load(_ call: Call) async throws -> Loaded<Entry> {
        let (number, act) = state.withLock { [uptime = world.uptime] in $0.next(at: uptime) }
        do {
            if act.time > .zero { try await world.sleep(for: act.time) }
        } catch {
            state.withLock { [uptime = world.uptime] in $0.end(number, .cancelled(at: uptime)) }
            throw error
        }
        state.withLock { $0.end(number, .reached) }
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
        case .hangs: throw CancellationError()
        case .unreachable: throw LoadError(.failed, "the network is not reachable")
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
