extension Plugin {
    /// Leaves an origin alone that fails.
    static let breaker = Plugin.wrapper(
        "breaker", "Leaves the origin alone for a while after several failures in a row, then lets one call try it.",
        Setting("failures", .int(1...1_000_000), default: 5, help: "How many failures in a row open it"),
        Setting("rest", .duration(.milliseconds(1) ... .forever), default: .seconds(30), help: "How long it stays open")
    ) { context, inner, failures, rest in
        let state = context.keep { Locked(BreakerState(limit: failures, rest: rest)) }
        context.meter.breaker(is: state.withLock { $0.level })
        return Breaker(inner: inner, state: state, world: context.world, meter: context.meter)
    }
}

/// Leaves the origin alone after several failures in a row.
struct Breaker: Loader {
    let inner: any Loader
    let state: Locked<BreakerState>
    let world: any World
    let meter: Meter

    func load(_ call: Call) async throws -> Loaded<Entry> {
        let pass = change { $0.ask(at: $1) }
        if case .refused(let failures, let rest) = pass {
            meter.count(.breakerRefusals)
            let next = rest.map { "next try in \($0.brief)" } ?? "a try is under way"
            throw LoadError(.unavailable, "breaker open after \(failures) failures in a row, \(next)")
        }
        return try await withTaskCancellationHandler {
            do {
                let loaded = try await inner.load(call)
                change { state, _ in state.succeeded(pass) }
                return loaded
            } catch {
                let failure = LoadError.meaning(of: error)
                change { state, now in
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
            change { state, _ in state.cancelled(pass) }
        }
    }

    /// Asks the state or tells it something, and counts what changes by that.
    private func change<Result>(_ body: (inout BreakerState, Duration) -> Result) -> Result {
        let now = world.uptime
        let (result, before, after) = state.withLock { state in
            let before = state
            return (body(&state, now), before, state)
        }
        if before.level != after.level {
            if after.level == .open { meter.count(.breakerOpenings) }
            if let opened = before.opened, after.level != .open {
                meter.count(.breakerOpenMilliseconds, UInt64(max(0, (now - opened).nanoseconds / 1_000_000)))
            }
            meter.breaker(is: state.withLock { $0.level })
            meter.tell(.breaker, "\(before.level.rawValue) → \(after.level.rawValue)")
        }
        return result
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
    /// When it opened; nil while it is not open.
    private(set) var opened: Duration?
    private var probes = 0

    init(limit: Int, rest: Duration) {
        self.limit = limit
        self.rest = rest
    }

    /// What it is at, in a word.
    var level: BreakerLevel {
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
        guard hasSay(pass) else { return }
        failures = 0
        phase = .closed
    }

    mutating func failed(_ pass: Pass, at now: Duration) {
        guard hasSay(pass) else { return }
        failures += 1
        if case .closed = phase, failures < limit { return }
        phase = .open(until: now + rest)
        opened = now
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
