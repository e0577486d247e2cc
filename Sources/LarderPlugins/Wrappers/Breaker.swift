import LarderSystem
public import LarderCore

extension Counter {
    /// The number of times a breaker opened.
    static let breakerOpenings = Counter("breaker_openings", "Times a breaker opened")
    /// The number of calls that a breaker refused.
    static let breakerRefusals = Counter("breaker_refusals", "Calls a breaker refused")
    /// The time for which breakers were open, in milliseconds. Counted when a breaker lets a call through again.
    static let breakerOpenMilliseconds = Counter(
        "breaker_open_milliseconds", "How long breakers were open, counted when they close")
}

extension Level {
    /// The level of a breaker: `closed`, `half-open` or `open`. Of several breakers of a resource, the worst.
    public static let breaker = Level(
        "breaker", "Whether a breaker lets calls through", values: BreakerState.Level.allCases.map(\.rawValue))
}

extension Decision.Kind {
    /// The event that a breaker opened, half opened or closed.
    static let breaker = Decision.Kind(rawValue: "breaker")
}

extension Plugin {
    /// A wrapper that stops calling an origin that keeps failing.
    static let breaker = Plugin.wrapper(
        "breaker",
        "Stops calling the origin after several failures in a row. After a rest, it lets one call try. If the origin asks for a longer rest, the breaker stays open that long, up to an hour.",
        Setting("failures", .int(1...1_000_000), default: 5, help: "How many failures in a row open the breaker")
            .alsoCalled("threshold", "failureThreshold", "maxFailures", "errors"),
        Setting(
            "rest", .duration(.milliseconds(1) ... .forever), default: .seconds(30),
            help: "How long the breaker stays open before one call may try"
        ).alsoCalled("timeout", "resetTimeout", "cooldown", "openFor", "wait", "duration"),
        counters: [.breakerOpenings, .breakerRefusals, .breakerOpenMilliseconds], levels: [.breaker],
        traits: { failures, rest in .with { ($0.changesAfterFailures, $0.borders) = (failures, [rest]) } }
    ) { context, inner, failures, rest in
        let state = context.keep { Locked(BreakerState(limit: failures, rest: rest)) }
        return Breaker(inner: inner, state: state, context: context)
    }.alsoCalled("circuitBreaker", "circuit")
}

/// A loader that stops calling the origin for a while after several failures in a row.
struct Breaker: Loader {
    let inner: any Loader
    let state: Locked<BreakerState>
    let context: Context

    var keepsLimit: Bool { inner.keepsLimit }

    func load(_ call: Call) async throws -> Loaded<Entry> {
        let pass = change { $0.ask(at: $1) }
        if case .refused(let failures, let rest) = pass {
            context.count(.breakerRefusals)
            throw LoadError(.unavailable, .breakerOpen(after: failures, left: rest))
        }
        // Other calls have nothing to give back, and a handler would make everything inside it slower.
        guard case .probe = pass else { return try await load(call, pass) }
        return try await withTaskCancellationHandler {
            try await load(call, pass)
        } onCancel: {
            // The state changes at once, because the origin may ignore cancellation.
            change { state, _ in state.withdrawn(pass) }
        }
    }

    private func load(_ call: Call, _ pass: BreakerState.Pass) async throws -> Loaded<Entry> {
        do {
            let loaded = try await inner.load(call)
            change { state, _ in state.succeeded(pass) }
            return loaded
        } catch {
            let failure = LoadError.meaning(of: error)
            change { state, now in
                switch failure?.code {
                // None of them says anything about the origin.
                case nil, .notSignedIn, .invalidRequest: state.withdrawn(pass)
                case .answer: state.succeeded(pass)
                default: state.failed(pass, at: now, calmFor: failure?.retryAfter)
                }
            }
            throw error
        }
    }

    /// Changes the state, and reports and counts a change of its level.
    private func change<Result>(_ body: (inout BreakerState, Duration) -> Result) -> Result {
        let now = context.world.uptime
        let (result, before, after) = state.withLock { state in
            let before = state
            let result = body(&state, now)
            // Two threads that change the level leave the later one.
            if before.level != state.level { context.set(.breaker, to: state.level.rawValue) }
            return (result, before, state)
        }
        if before.level != after.level {
            if after.level == .open { context.count(.breakerOpenings) }
            if let opened = before.opened, after.level != .open {
                context.count(.breakerOpenMilliseconds, UInt64(max(0, (now - opened).nanoseconds / 1_000_000)))
            }
            context.tell(.breaker, "\(before.level.rawValue) → \(after.level.rawValue)")
        }
        return result
    }
}

/// The decisions of a breaker, without I/O. Calls pass while it is closed, and are refused while it is open. While it
/// is half open, they pass one at a time.
///
/// Only calls that began in the present phase affect the next one. A call that began before the breaker opened and ends
/// later says nothing about the present state of the origin. Only its `Retry-After` makes the rest longer.
struct BreakerState: Sendable {
    enum Level: String, Sendable, CaseIterable {
        case closed
        /// One call may try the origin.
        case halfOpen = "half-open"
        case open
    }

    enum Pass: Sendable, Equatable {
        case free
        /// The call may try the origin. The number identifies it.
        case probe(Int)
        /// The call is refused. `rest` is the time until the next try, nil while a try is running.
        case refused(failures: Int, rest: Duration?)
    }

    private enum Phase {
        case closed
        case open(until: Duration)
        case halfOpen(probe: Int?)
    }

    /// The longest time for which an origin can ask for no calls.
    private static let longestCalm = Duration.seconds(3_600)

    private let limit: Int
    private let rest: Duration
    private var phase = Phase.closed
    private var failures = 0
    /// The uptime until which the origin has asked for no calls.
    private var calmUntil = Duration.zero
    /// The uptime at which the breaker opened. Nil while it is not open.
    private(set) var opened: Duration?
    private var probes = 0

    init(limit: Int, rest: Duration) {
        self.limit = limit
        self.rest = rest
    }

    /// The level of the present phase.
    var level: Level {
        switch phase {
        case .closed: .closed
        case .open: .open
        case .halfOpen: .halfOpen
        }
    }

    mutating func ask(at now: Duration) -> Pass {
        switch phase {
        case .closed: return .free
        case .open(let until) where now < until: return .refused(failures: failures, rest: until - now)
        case .halfOpen(probe: .some): return .refused(failures: failures, rest: nil)
        case .open, .halfOpen(probe: nil):
            probes += 1
            phase = .halfOpen(probe: probes)
            opened = nil
            return .probe(probes)
        }
    }

    mutating func succeeded(_ pass: Pass) {
        guard isCurrent(pass) else { return }
        (failures, calmUntil) = (0, .zero)
        phase = .closed
    }

    /// Records a failure. The origin asked for no calls during the time `calm`; nil if it did not ask.
    mutating func failed(_ pass: Pass, at now: Duration, calmFor calm: Duration?) {
        if let calm {
            calmUntil = max(calmUntil, now + min(calm, Self.longestCalm))
            // A late failure is not counted, but the origin may ask for a longer rest with it.
            switch phase {
            case .open(let until): phase = .open(until: max(until, calmUntil))
            case .halfOpen(probe: nil): (phase, opened) = (.open(until: calmUntil), now)
            case .closed, .halfOpen: break
            }
        }
        guard isCurrent(pass) else { return }
        failures += 1
        if case .closed = phase, failures < limit { return }
        phase = .open(until: max(now + rest, calmUntil))
        opened = now
    }

    /// Records that a call ended without a result of the origin. If it was the try, the next call may try.
    mutating func withdrawn(_ pass: Pass) {
        if case .probe = pass, isCurrent(pass) { phase = .halfOpen(probe: nil) }
    }

    private func isCurrent(_ pass: Pass) -> Bool {
        switch (phase, pass) {
        case (.closed, .free): true
        case (.halfOpen(let current?), .probe(let number)): current == number
        default: false
        }
    }
}

extension Trail.Event {
    /// The event that a call was refused. `left` is the time until the next try, nil while a try is running.
    fileprivate static func breakerOpen(after failures: Int, left: Duration?) -> Self {
        guard let left else {
            return Self(
                "breakerOpen", "breaker open after \("failures", failures) failures in a row, a try is under way")
        }
        return Self(
            "breakerOpen", "breaker open after \("failures", failures) failures in a row, next try in \(.left, left)")
    }
}
