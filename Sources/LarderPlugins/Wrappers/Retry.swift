import LarderSystem
public import LarderCore

extension Counter {
    /// Tries after a failed one
    public static let retries = Counter("retries", "Tries after a failed one")
}

extension Plugin {
    /// A wrapper that tries failed calls again.
    static let retry = Plugin.wrapper(
        "retry",
        "Repeats failed calls, and waits longer each time. A call that was answered is never repeated, even if the answer is an error.",
        Setting("retries", .int(1...100), default: 3, help: "How many tries may follow the first one"),
        Setting("backoff", .duration, default: .seconds(1), help: "The wait before the first retry"),
        Setting("factor", .number(1...100), default: 2, help: "The factor by which each further wait is longer"),
        Setting(
            "jitter", .share, default: 0, help: "The share by which each wait varies at random, in both directions"),
        Setting(
            "limit", .duration, default: .seconds(60),
            help: "The longest wait; if the origin asks for a longer one, there are no more retries"
        ),
        Setting(
            "sends", .flag, default: false,
            help: "Whether failed changes are sent again, too; only for an origin that ignores a change it already has"),
        counters: [.retries],
        traits: { retries, backoff, factor, _, limit, sends in
            let waits = Retry.waits(retries: retries, backoff: backoff, factor: factor, limit: limit)
            return Traits().with {
                $0.tries = (retries + 1, waits)
                $0.borders = [backoff, limit, waits]
                $0.repeatsSends = sends
            }
        }
    ) { context, inner, retries, backoff, factor, jitter, limit, sends in
        Retry(
            inner, retries: retries, backoff: backoff, factor: factor, jitter: jitter, limit: limit,
            repeatsSends: sends, context: context)
    }
}

/// A loader that repeats failed calls.
struct Retry: Loader {
    private let inner: any Loader
    private let retries: Int
    private let backoff: Duration
    private let factor: Double
    private let jitter: Double
    private let limit: Duration
    private let repeatsSends: Bool
    private let context: Context

    init(
        _ inner: any Loader, retries: Int, backoff: Duration, factor: Double, jitter: Double, limit: Duration,
        repeatsSends: Bool, context: Context
    ) {
        self.inner = inner
        self.retries = retries
        self.backoff = backoff
        self.factor = factor
        self.jitter = jitter
        self.limit = limit
        self.repeatsSends = repeatsSends
        self.context = context
    }

    var keepsLimit: Bool { inner.keepsLimit }

    func load(_ call: Call) async throws -> Loaded<Entry> {
        if call.isSend, !repeatsSends { return try await inner.load(call) }
        var planned = backoff
        for attempt in 1...retries {
            do {
                return try await inner.load(call)
            } catch {
                guard let failure = LoadError.meaning(of: error), !failure.isAnswer,
                    !(call.isSend && failure.followsAcceptedChange), let wait = wait(planned, failure)
                else { throw error }
                call.trail.note("retry", .retrying(after: failure, attempt: attempt + 1, wait: wait))
                let left = call.limit.map { $0 - context.world.uptime } ?? .forever
                try await context.world.sleep(for: min(wait, left))
                guard wait < left else { throw LoadError(.timeout, "the tries took too long", cause: .timeout) }
                context.count(.retries)
                planned = planned.scaled(by: factor)
            }
        }
        return try await inner.load(call)
    }

    /// Returns the time to wait before the next try, at least as long as the origin asks for. Returns nil if the origin
    /// asks for more than the limit.
    private func wait(_ planned: Duration, _ failure: LoadError) -> Duration? {
        let asked = failure.retryAfter ?? .zero
        guard asked <= limit else { return nil }
        let varied = jitter == 0 ? planned : planned.scaled(by: 1 + jitter * (2 * context.world.chance() - 1))
        return max(asked, min(varied, limit))
    }

    /// Returns the sum of all waits.
    static func waits(retries: Int, backoff: Duration, factor: Double, limit: Duration) -> Duration {
        var planned = backoff
        var sum = Duration.zero
        for _ in 0..<retries {
            sum += min(planned, limit)
            planned = planned.scaled(by: factor)
        }
        return min(sum, .forever)
    }
}

extension LoadError {
    /// Whether the origin did not refuse the change, so that it must not be sent again.
    fileprivate var followsAcceptedChange: Bool { status.map { 200...399 ~= $0 } ?? false }
}
