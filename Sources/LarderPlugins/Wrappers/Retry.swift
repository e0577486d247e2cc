import LarderSystem
public import LarderCore

extension Counter {
    /// Tries after a failed one
    public static let retries = Counter("retries", "Tries after a failed one")
}

/// The settings of the wrapper `retry`.
struct RetrySettings {
    let retries = Setting("retries", .int(1...100), default: 3, help: "How many tries may follow the first one")
        .alsoCalled("attempts", "count", "times", "maxRetries", "maxAttempts")
    let backoff = Setting("backoff", .duration, default: .seconds(1), help: "The wait before the first retry")
        .alsoCalled("delay", "wait", "pause", "interval")
    let factor = Setting(
        "factor", .number(1...100), default: 2, help: "The factor by which each further wait is longer")
    let jitter = Setting(
        "jitter", .share, default: 0, help: "The share by which each wait varies at random, in both directions")
    let limit = Setting(
        "limit", .duration, default: .seconds(60),
        help: "The longest wait; if the origin asks for a longer one, there are no more retries"
    )
    let sends = Setting(
        "sends", .flag, default: false,
        help: "Whether failed changes are sent again, too; only for an origin that ignores a change it already has")
}

extension Plugin {
    /// A wrapper that tries failed calls again.
    static let retry = Plugin.wrapper(
        "retry",
        "Repeats failed calls, and waits longer each time. A call that was answered is never repeated, even if the answer is an error.",
        .group(RetrySettings()),
        counters: [.retries],
        traits: { settings in
            let waits = Retry.waits(settings)
            return .with {
                $0.tries = (settings.retries + 1, waits)
                $0.borders = [settings.backoff, settings.limit, waits]
                $0.repeatsSends = settings.sends
                if settings.backoff > settings.limit {
                    $0.contradictions = [
                        Contradiction(
                            "backoff", "'backoff' is longer than 'limit', so no wait is as long as it says",
                            expected: "a longer limit, or a shorter backoff")
                    ]
                }
            }
        }
    ) { context, inner, settings in Retry(inner: inner, settings: settings, context: context) }
}

/// A loader that repeats failed calls.
struct Retry: Loader {
    let inner: any Loader
    let settings: SettingValues<RetrySettings>
    let context: Context

    var keepsLimit: Bool { inner.keepsLimit }

    func load(_ call: Call) async throws -> Loaded<Entry> {
        var (attempt, planned) = (1, settings.backoff)
        while true {
            do {
                return try await inner.load(call)
            } catch {
                attempt += 1
                try await waitForTry(attempt, of: call, after: error, planned)
                planned = planned.scaled(by: settings.factor)
            }
        }
    }

    /// Waits until the next try. This is apart from ``load(_:)``, because the variables of a function that waits take memory in
    /// each of thousands of waiting loads.
    ///
    /// - Throws: the error if there is no next try; ``LoadError`` with the code `timeout` if the time of the call is over.
    @inline(never)
    private func waitForTry(
        _ attempt: Int, of call: Call, after error: any Error, _ planned: Duration
    ) async throws {
        guard attempt <= settings.retries + 1, settings.sends || !call.isSend,
            let failure = LoadError.meaning(of: error), !failure.isAnswer,
            !(call.isSend && failure.followsAcceptedChange), let wait = wait(planned, failure)
        else { throw error }
        call.trail.note("retry", .retrying(after: failure, attempt: attempt, wait: wait))
        let left = call.limit.map { $0 - context.world.uptime } ?? .forever
        try await context.world.sleep(for: min(wait, left))
        guard wait < left else { throw LoadError(.timeout, "the tries took too long", cause: .timeout) }
        context.count(.retries)
    }

    /// Returns the time to wait before the next try, at least as long as the origin asks for. Returns nil if the origin
    /// asks for more than the limit.
    private func wait(_ planned: Duration, _ failure: LoadError) -> Duration? {
        let asked = failure.retryAfter ?? .zero
        guard asked <= settings.limit else { return nil }
        let jitter = settings.jitter
        let varied = jitter == 0 ? planned : planned.scaled(by: 1 + jitter * (2 * context.world.chance() - 1))
        return max(asked, min(varied, settings.limit))
    }

    /// Returns the sum of all waits.
    fileprivate static func waits(_ settings: SettingValues<RetrySettings>) -> Duration {
        var planned = settings.backoff
        var sum = Duration.zero
        for _ in 0..<settings.retries {
            sum += min(planned, settings.limit)
            planned = planned.scaled(by: settings.factor)
        }
        return min(sum, .forever)
    }
}

extension LoadError {
    /// Whether the origin did not refuse the change, so that it must not be sent again.
    fileprivate var followsAcceptedChange: Bool { status.map { 200...399 ~= $0 } ?? false }
}
