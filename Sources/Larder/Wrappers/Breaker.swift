extension Plugin {
    /// Leaves an origin alone that fails.
    static let breaker = Plugin.wrapper(
        "breaker", "Leaves the origin alone for a while after several failures in a row, then lets one call try it.",
        Setting("failures", .int(1...1_000_000), default: 5, help: "How many failures in a row open it"),
        Setting("rest", .duration(.milliseconds(1) ... .forever), default: .seconds(30), help: "How long it stays open")
    ) { context, inner, failures, rest in
        let state = context.keep { Locked(BreakerState(limit: failures, rest: rest)) }
        return Breaker(inner: inner, state: state, world: context.world)
    }
}

/// Leaves the origin alone after several failures in a row.
struct Breaker: Loader {
    let inner: any Loader
    let state: Locked<BreakerState>
    let world: any World

    func load(_ call: Call) async throws -> Loaded<Entry> {
        let now = world.uptime
        let pass = state.withLock { $0.ask(at: now) }
        if case .refused(let failures, let rest) = pass {
            throw LoadError(
                .unavailable, "breaker open after \(failures) failures in a row, next try in \(rest.brief)")
        }
        do {
            let loaded = try await inner.load(call)
            state.withLock { $0.succeeded() }
            return loaded
        } catch {
            let failure = LoadError.meaning(of: error)
            let now = world.uptime
            state.withLock { state in
                switch failure {
                case nil: state.cancelled(pass)
                case .some(let failure) where failure.isAnswer: state.succeeded()
                case .some: state.failed(at: now)
                }
            }
            throw error
        }
    }
}

/// When calls may pass: always while closed, never while open, one at a time while half open. Decides, and does nothing.
struct BreakerState: Sendable {
    enum Pass: Sendable, Equatable {
        case free
        case probe
        case refused(failures: Int, rest: Duration)
    }

    private enum Phase {
        case closed
        case open(until: Duration)
        case halfOpen(isProbing: Bool)
    }

    private let limit: Int
    private let rest: Duration
    private var phase = Phase.closed
    private var failures = 0

    init(limit: Int, rest: Duration) {
        self.limit = limit
        self.rest = rest
    }

    mutating func ask(at now: Duration) -> Pass {
        switch phase {
        case .closed: return .free
        case .open(let until) where now < until: return .refused(failures: failures, rest: until - now)
        case .halfOpen(isProbing: true): return .refused(failures: failures, rest: rest)
        case .open, .halfOpen(isProbing: false):
            phase = .halfOpen(isProbing: true)
            return .probe
        }
    }

    mutating func succeeded() {
        failures = 0
        phase = .closed
    }

    mutating func failed(at now: Duration) {
        failures += 1
        switch phase {
        case .closed where failures >= limit, .halfOpen: phase = .open(until: now + rest)
        case .closed, .open: break
        }
    }

    /// A probe that was cancelled says nothing: the next call may be the probe.
    mutating func cancelled(_ pass: Pass) {
        if pass == .probe, case .halfOpen = phase { phase = .halfOpen(isProbing: false) }
    }
}
