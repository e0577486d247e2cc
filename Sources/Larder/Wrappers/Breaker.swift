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
            let next = rest.map { "next try in \($0.brief)" } ?? "a try is under way"
            throw LoadError(.unavailable, "breaker open after \(failures) failures in a row, \(next)")
        }
        return try await withTaskCancellationHandler {
            do {
                let loaded = try await inner.load(call)
                state.withLock { $0.succeeded(pass) }
                return loaded
            } catch {
                let failure = LoadError.meaning(of: error)
                let now = world.uptime
                state.withLock { state in
                    switch failure {
                    case nil: state.cancelled(pass)
                    case .some(let failure) where failure.isAnswer: state.succeeded(pass)
                    case .some: state.failed(pass, at: now)
                    }
                }
                throw error
            }
        } onCancel: {
            // Now, for the origin may not heed it.
            state.withLock { $0.cancelled(pass) }
        }
    }
}

/// When calls may pass: always while closed, never while open, one at a time while half open. Decides, and does nothing.
///
/// Only calls that were let through in the present phase have a say in what comes next: those that began before it
/// opened and end late say nothing about the origin as it is now.
struct BreakerState: Sendable {
    enum Pass: Sendable, Equatable {
        case free
        /// The one call that may try, by number.
        case probe(Int)
        /// Until when, if that is known.
        case refused(failures: Int, rest: Duration?)
    }

    private enum Phase {
        case closed
        case open(until: Duration)
        case halfOpen(probe: Int?)
    }

    private let limit: Int
    private let rest: Duration
    private var phase = Phase.closed
    private var failures = 0
    private var probes = 0

    init(limit: Int, rest: Duration) {
        self.limit = limit
        self.rest = rest
    }

    mutating func ask(at now: Duration) -> Pass {
        switch phase {
        case .closed: return .free
        case .open(let until) where now < until: return .refused(failures: failures, rest: until - now)
        case .halfOpen(probe: .some): return .refused(failures: failures, rest: nil)
        case .open, .halfOpen(probe: nil):
            probes += 1
            phase = .halfOpen(probe: probes)
            return .probe(probes)
        }
    }

    mutating func succeeded(_ pass: Pass) {
        guard hasSay(pass) else { return }
        failures = 0
        phase = .closed
    }

    mutating func failed(_ pass: Pass, at now: Duration) {
        guard hasSay(pass) else { return }
        failures += 1
        if case .closed = phase, failures < limit { return }
        phase = .open(until: now + rest)
    }

    /// A probe that was cancelled says nothing: the next call may be the probe.
    mutating func cancelled(_ pass: Pass) {
        if case .probe = pass, hasSay(pass) { phase = .halfOpen(probe: nil) }
    }

    private func hasSay(_ pass: Pass) -> Bool {
        switch (phase, pass) {
        case (.closed, .free): true
        case (.halfOpen(let current?), .probe(let number)): current == number
        default: false
        }
    }
}
