import LarderFoundation
import LarderSystem
public import Larder

/// An origin that follows a script, call by call, and records its calls.
///
/// ```swift
/// let origin = ScriptedOrigin([.value("v1", after: .milliseconds(20)), .failure(.status(503))])
/// var registry = Registry.standard
/// try registry.register(origin.plugin("scripted"))
/// ```
public final class ScriptedOrigin: Loader {
    /// The behaviour of the origin in one call.
    public struct Act: Sendable {
        enum Ending: Sendable {
            case entry(@Sendable (Call) throws -> Entry)
            case unchanged(updating: @Sendable (inout Metadata) throws -> Void)
            case failure(any Error)
            case never(endingOnCancellation: Bool)
        }
        var ending: Ending
        var after: Duration

        /// Answers with bytes.
        public static func value(
            _ text: String, after: Duration = .zero, etag: String? = nil, lastModified: String? = nil,
            tags: [String] = [], contentType: String? = nil, variesBy: [String] = []
        ) -> Act {
            answering(after: after) { _ in
                var metadata = Metadata(etag: etag, lastModified: lastModified, contentType: contentType, tags: tags)
                metadata.variesBy = variesBy
                return Entry(Data(text.utf8), metadata)
            }
        }

        /// Answers with the entry that `make` returns for the call, or throws its error.
        public static func answering(
            after: Duration = .zero, _ make: @escaping @Sendable (Call) throws -> Entry
        ) -> Act {
            Act(ending: .entry(make), after: after)
        }

        /// Answers that the copy named in the call is still current, and changes its metadata with `update`. Fails if
        /// the call names no copy or if `update` throws.
        public static func unchanged(
            after: Duration = .zero, updating update: @escaping @Sendable (inout Metadata) throws -> Void = { _ in }
        ) -> Act {
            Act(ending: .unchanged(updating: update), after: after)
        }

        /// Throws a load error, such as `LoadError.status(_:retryAfter:reply:)` or `LoadError.answer(status:_:)`.
        public static func failure(_ error: LoadError, after: Duration = .zero) -> Act {
            Act(ending: .failure(error), after: after)
        }

        /// Throws any error, as an app's closure can.
        public static func throwing(_ error: any Error, after: Duration = .zero) -> Act {
            Act(ending: .failure(error), after: after)
        }

        /// Never ends, unless the call is cancelled.
        public static let hang = Act(ending: .never(endingOnCancellation: true), after: .zero)

        /// Continues for an hour, even if the call is cancelled.
        public static let deaf = Act(ending: .never(endingOnCancellation: false), after: .zero)
    }

    private struct State {
        var acts: [Act]
        var then: Act
        var calls: [Call] = []
        var starts: [Duration] = []
        var underWay = 0
    }

    private let world: any World
    private let state: Locked<State>

    /// Creates an origin that plays `acts` in the order in which calls start, and `then` for every call after them.
    public init(_ acts: [Act] = [], then: Act = .value("value"), world: any World) {
        self.world = world
        state = Locked(State(acts: acts, then: then))
    }

    /// The calls so far, in the order in which they started, with the changes that were sent.
    public var calls: [Call] { state.withLock { $0.calls } }

    /// The changes that were sent so far: the calls of ``calls`` that change something.
    public var sends: [Call] { calls.filter(\.isSend) }

    /// The uptimes at which the calls started.
    public var starts: [Duration] { state.withLock { $0.starts } }

    /// The number of calls that have not ended.
    public var underWay: Int { state.withLock { $0.underWay } }

    /// Adds acts to the script.
    public func play(_ acts: Act...) {
        state.withLock { $0.acts += acts }
    }

    /// Drops the script and plays `then` from now on.
    public func play(then: Act) {
        state.withLock {
            $0.acts = []
            $0.then = then
        }
    }

    /// Returns this origin as a plugin without settings. It accepts changes that are sent.
    public func plugin(_ name: String) -> Plugin {
        .origin(name, "Plays a script.", traits: { .with { $0.acceptsSends = true } }) { _ in self }
    }

    /// Plays the next act.
    public func load(_ call: Call) async throws -> Loaded<Entry> {
        let uptime = world.uptime
        let act = state.withLock { state in
            state.calls.append(call)
            state.starts.append(uptime)
            state.underWay += 1
            return state.acts.isEmpty ? state.then : state.acts.removeFirst()
        }
        defer { state.withLock { $0.underWay -= 1 } }
        if act.after > .zero { try await world.sleep(for: act.after) }
        switch act.ending {
        case .entry(let make): return Loaded(try make(call))
        case .unchanged(let update): return try .unchanged(call, updating: update)
        case .failure(let error): throw error
        case .never(endingOnCancellation: true):
            try await world.sleep(for: .forever)
            throw CancellationError()
        case .never(endingOnCancellation: false):
            await world.spawn { [world] in try? await world.sleep(for: .seconds(3_600)) }.value
            throw LoadError(.failed, "gave up after an hour")
        }
    }
}
