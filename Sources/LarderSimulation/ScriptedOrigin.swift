#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
public import Larder

/// An origin that does what a script says, call by call, and remembers how it was called.
///
/// ```swift
/// let origin = ScriptedOrigin([.value("v1", after: .milliseconds(20)), .failure(.status(503))])
/// var registry = Registry.standard
/// try registry.register(origin.plugin("scripted"))
/// ```
public final class ScriptedOrigin: Loader {
    /// What the origin does in one call.
    public struct Act: Sendable {
        enum Ending: Sendable {
            case entry(@Sendable (Call) throws -> Entry)
            case unchanged
            case failure(any Error)
            case never(heedingCancellation: Bool)
        }
        var ending: Ending
        var after: Duration

        /// Answers with bytes.
        public static func value(
            _ text: String, after: Duration = .zero, etag: String? = nil, lastModified: String? = nil,
            tags: [String] = [], contentType: String? = nil
        ) -> Act {
            answering(after: after) { _ in
                Entry(
                    Data(text.utf8),
                    Metadata(etag: etag, lastModified: lastModified, contentType: contentType, tags: tags))
            }
        }

        /// Answers with what `make` gives for the call, or throws what it throws.
        public static func answering(
            after: Duration = .zero, _ make: @escaping @Sendable (Call) throws -> Entry
        ) -> Act {
            Act(ending: .entry(make), after: after)
        }

        /// Answers that the copy named in the call is still current; fails if none is named.
        public static func unchanged(after: Duration = .zero) -> Act { Act(ending: .unchanged, after: after) }

        /// Throws a load error: ``LoadError/status(_:retryAfter:)``, ``LoadError/answer(status:_:)``.
        public static func failure(_ error: LoadError, after: Duration = .zero) -> Act {
            Act(ending: .failure(error), after: after)
        }

        /// Throws any error, as an app's closure might.
        public static func throwing(_ error: any Error, after: Duration = .zero) -> Act {
            Act(ending: .failure(error), after: after)
        }

        /// Never ends, unless cancelled.
        public static let hang = Act(ending: .never(heedingCancellation: true), after: .zero)

        /// Goes on for an hour even when cancelled.
        public static let deaf = Act(ending: .never(heedingCancellation: false), after: .zero)
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

    /// An origin that plays `acts` in the order in which calls start, and `then` for every call after them.
    public init(_ acts: [Act] = [], then: Act = .value("value"), world: any World) {
        self.world = world
        state = Locked(State(acts: acts, then: then))
    }

    /// The calls so far, in the order in which they started.
    public var calls: [Call] { state.withLock { $0.calls } }

    /// The uptimes at which they started.
    public var starts: [Duration] { state.withLock { $0.starts } }

    /// How many calls have not ended.
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

    /// This origin as a plugin without settings.
    public func plugin(_ name: String) -> Plugin {
        .origin(name, "Plays a script.") { _ in self }
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
        case .unchanged: return try .unchanged(call)
        case .failure(let error): throw error
        case .never(heedingCancellation: true):
            try await world.sleep(for: .forever)
            throw CancellationError()
        case .never(heedingCancellation: false):
            await world.spawn { [world] in try? await world.sleep(for: .seconds(3_600)) }.value
            throw LoadError(.failed, "gave up after an hour")
        }
    }
}
