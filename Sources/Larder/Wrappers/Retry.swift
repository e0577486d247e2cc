extension Plugin {
    /// Another try.
    static let retry = Plugin.wrapper(
        "retry", "Tries again after a failure, waiting longer each time; an answer is never tried again.",
        Setting("retries", .int(1...100), default: 3, help: "How many tries may follow the first"),
        Setting("backoff", .duration, default: .seconds(1), help: "How long to wait before the first of them"),
        Setting("factor", .number(1...100), default: 2, help: "How many times as long each further wait is"),
        Setting("jitter", .share, default: 0, help: "By how much of itself each wait varies at random, either way"),
        Setting(
            "cap", .duration, default: .seconds(60),
            help: "The longest wait; if the origin asks for a longer one, no more tries are made"),
        traits: { retries, backoff, factor, _, cap in
            let waits = Retry.waits(retries: retries, backoff: backoff, factor: factor, cap: cap)
            return Traits().with { $0.tries = (retries + 1, waits) }
        }
    ) { context, inner, retries, backoff, factor, jitter, cap in
        Retry(
            inner, retries: retries, backoff: backoff, factor: factor, jitter: jitter, cap: cap, context: context)
    }
}

/// Tries again after a failure.
struct Retry: Loader {
    private let inner: any Loader
    private let retries: Int
    private let backoff: Duration
    private let factor: Double
    private let jitter: Double
    private let cap: Duration
    private let context: Context

    init(
        _ inner: any Loader, retries: Int, backoff: Duration, factor: Double, jitter: Double, cap: Duration,
        context: Context
    ) {
        self.inner = inner
        self.retries = retries
        self.backoff = backoff
        self.factor = factor
        self.jitter = jitter
        self.cap = cap
        self.context = context
    }

    func load(_ call: Call) async throws -> Loaded<Entry> {
        var planned = backoff
        for attempt in 1...retries {
            do {
                return try await inner.load(call)
            } catch {
                guard let failure = LoadError.meaning(of: error), !failure.isAnswer, let wait = wait(planned, failure)
                else { throw error }
                call.trail.note("retry", "\(failure.message); try \(attempt + 1) after \(wait.brief)")
                try await context.world.sleep(for: wait)
                context.count(.retries)
                planned = planned.scaled(by: factor)
            }
        }
        return try await inner.load(call)
    }

    /// How long to wait, heeding what the origin asks for; nil when that is longer than anybody should wait here.
    private func wait(_ planned: Duration, _ failure: LoadError) -> Duration? {
        let asked = failure.retryAfter ?? .zero
        guard asked <= cap else { return nil }
        let varied = jitter == 0 ? planned : planned.scaled(by: 1 + jitter * (2 * context.world.chance() - 1))
        return max(asked, min(varied, cap))
    }

    /// How long all waits are together.
    static func waits(retries: Int, backoff: Duration, factor: Double, cap: Duration) -> Duration {
        var planned = backoff
        var sum = Duration.zero
        for _ in 0..<retries {
            sum += min(planned, cap)
            planned = planned.scaled(by: factor)
        }
        return min(sum, .forever)
    }
}
