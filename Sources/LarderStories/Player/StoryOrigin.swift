import LarderFoundation
import Larder
import LarderSimulation
import LarderSystem

/// The origins of a story: all of them behave as its acts say. It records each call, and when it last sent or confirmed
/// each payload that it made.
final class StoryOrigin: Loader {
    private struct State {
        var acts: [Story.OriginAct] = []
        /// The present act, and the number of calls that it has had.
        var act = (number: -1, calls: 0)
        /// Whether the acts are those before zero.
        var isEarlier = true
        var zero = Duration.zero
        var calls: [StoryHistory.Call] = []
        var payloads = 0
        var dates: [String: Timestamp] = [:]
        /// The payloads that were sent.
        var sent: Set<String> = []
        var answeredAt: Duration?

        /// Returns the behaviour in the next call: the last one whose time has come, or the one after it if it has had
        /// all its calls. Without any, the origin cannot be reached.
        mutating func next(at now: Duration) -> Story.OriginAct {
            while act.number + 1 < acts.count {
                let isOver = act.number >= 0 && acts[act.number].calls.map { act.calls >= $0 } == true
                // Of those that begin together, each waits until the calls of the one before are over.
                let next = acts[act.number + 1].from
                let isLater = act.number < 0 || next > acts[act.number].from
                guard isOver || isLater && (isEarlier && act.number < 0 || next <= now) else { break }
                act = (act.number + 1, 0)
            }
            act.calls += 1
            return act.number < 0 ? Story.OriginAct(.unreachable) : acts[act.number]
        }
    }

    private let world: SimulatedWorld
    private let contentType: String
    private let lifetime: Duration?
    private let state: Locked<State>

    /// Begins with the acts before zero.
    init(_ story: Story, contentType: String, in world: SimulatedWorld) {
        self.contentType = contentType
        self.world = world
        lifetime = story.lifetime
        state = Locked(State(acts: story.earlierOrigin, zero: world.uptime + story.lead))
    }

    /// Behaves as `acts` say from now on.
    func play(_ acts: [Story.OriginAct]) {
        state.withLock { ($0.acts, $0.act, $0.isEarlier, $0.answeredAt) = (acts, (-1, 0), false, nil) }
    }

    /// Records that a payload was current at a time.
    func record(_ payload: String, at time: Timestamp) { state.withLock { $0.dates[payload] = time } }

    /// Returns when a payload was last sent or confirmed; nil if this origin did not send it.
    func date(of payload: String) -> Timestamp? {
        state.withLock { $0.dates[payload] ?? $0.dates[Self.sound(payload)] }
    }

    /// Returns the text of a payload before it was damaged, which changes its first byte.
    private static func sound(_ payload: String) -> String { "{" + payload.dropFirst() }

    /// Whether this origin sent a payload, and has answered since zero.
    func isLive(_ payload: String) -> Bool {
        state.withLock { state in
            state.answeredAt != nil && (state.sent.contains(payload) || state.sent.contains(Self.sound(payload)))
        }
    }

    /// The calls so far, in the order of their beginning.
    var calls: [StoryHistory.Call] { state.withLock { $0.calls } }

    /// The time since zero.
    var now: Duration { world.uptime - state.withLock { $0.zero } }

    /// When it first sent or confirmed a payload since zero.
    var answeredAt: Duration? { state.withLock { $0.answeredAt } }

    func load(_ call: Call) async throws -> Loaded<Entry> {
        let (number, act) = state.withLock { [uptime = world.uptime] state in
            let now = uptime - state.zero
            state.calls.append(
                StoryHistory.Call(
                    key: call.key, start: now, isEarlier: state.isEarlier, isConditional: call.known != nil))
            return (state.calls.count - 1, state.next(at: now))
        }
        do {
            if act.ignoresCancellation {
                await world.spawn { [world] in try? await world.sleep(for: .seconds(3_600)) }.value
            } else if act.time > .zero {
                try await world.sleep(for: act.time)
            }
            let loaded = try answer(call, act.ending)
            end(number, loaded.source == .revalidated ? .unchanged : .value)
            return loaded
        } catch {
            end(number, LoadError.meaning(of: error).map { .failed($0) } ?? .givenUp)
            throw error
        }
    }

    private func answer(_ call: Call, _ ending: Story.OriginAct.Ending) throws -> Loaded<Entry> {
        switch ending {
        case .unchanged where call.known != nil: return try confirmed(call)
        case .sends(_, let etag?, _) where call.known?.metadata.etag == etag: return try confirmed(call)
        case .value, .unchanged:
            let number = state.withLock { state in
                state.payloads += 1
                return state.payloads
            }
            return sent("{\"answer\":\(number)}", Metadata(etag: "\"\(number)\"", contentType: contentType))
        case .sends(let value, let etag, let contentType):
            return sent(value.text(indented: false), Metadata(etag: etag, contentType: contentType))
        case .status(let status, let retryAfter): throw LoadError.status(status, retryAfter: retryAfter)
        case .hangs: throw CancellationError()
        case .throwsError(let message): throw StoryError(message: message)
        case .unreachable: throw LoadError(.failed, "the network is not reachable")
        }
    }

    private func confirmed(_ call: Call) throws -> Loaded<Entry> {
        let payload = call.known.map { String(decoding: $0.payload.bytes, as: UTF8.self) } ?? ""
        state.withLock { [now = world.now] state in
            for text in [payload, Self.sound(payload)] where state.dates[text] != nil { state.dates[text] = now }
        }
        return try .unchanged(call)
    }

    private func sent(_ payload: String, _ metadata: Metadata) -> Loaded<Entry> {
        state.withLock { [now = world.now] state in
            state.dates[payload] = now
            state.sent.insert(payload)
        }
        return Loaded(Entry(Data(payload.utf8), metadata.stating(lifetime)))
    }

    private func end(_ number: Int, _ ending: StoryHistory.Call.Ending) {
        state.withLock { [uptime = world.uptime] state in
            let now = uptime - state.zero
            (state.calls[number].end, state.calls[number].ending) = (now, ending)
            if state.calls[number].isAnswered { state.answeredAt = state.answeredAt ?? now }
        }
    }
}

/// The error of an origin that throws errors of its own.
struct StoryError: Error {
    let message: String
}

/// A fallback on this device: it answers at once.
struct LocalFallback: Loader {
    let contentType: String

    func load(_ call: Call) async throws -> Loaded<Entry> {
        Loaded(Entry(Data(#"{"fallback":true}"#.utf8), Metadata(contentType: contentType)))
    }
}
