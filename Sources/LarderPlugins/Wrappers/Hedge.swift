import LarderSystem
import LarderCore

extension Counter {
    /// The number of second calls made because the first was slow.
    static let hedges = Counter("hedges", "Second calls made because the first was slow")
    /// The number of second calls that answered before the first.
    static let hedgesWon = Counter("hedges_won", "Second calls that answered first")
}

extension Plugin {
    /// A wrapper that makes a second call when the first is slow.
    static let hedge = Plugin.wrapper(
        "hedge",
        "Makes a second call when the first is slow. The first answer is used and the other call is cancelled.",
        Setting(
            "after", .duration(.milliseconds(1) ... .forever),
            help: "How long to wait for the first call before the second is made"
        ).alsoCalled("delay", "wait", "threshold", "timeout"),
        counters: [.hedges, .hedgesWon],
        traits: { after in .with { ($0.tries, $0.borders) = ((2, after), [after]) } }
    ) { context, inner, after in Hedge(inner: inner, after: after, context: context) }
}

/// A loader that makes a second call when the first is slow. It does not repeat a call that fails earlier: that is the
/// task of `retry`. It never repeats a call that changes something at the origin.
struct Hedge: Loader {
    let inner: any Loader
    let after: Duration
    let context: Context

    func load(_ call: Call) async throws -> Loaded<Entry> {
        if call.isSend { return try await inner.load(call) }
        let attempts = FirstSuccess<(loaded: Loaded<Entry>, isSecond: Bool)>(in: context.world)
        attempts.enter { [inner] in (try await inner.load(call), false) }
        attempts.enter(after: after) { [inner, after, context] in
            call.trail.note("hedge", .secondCall(after: after))
            context.count(.hedges)
            return (try await inner.load(call), true)
        }
        let winner = try await attempts.result()
        if winner.isSecond { context.count(.hedgesWon) }
        return winner.loaded
    }
}

extension Trail.Event {
    fileprivate static func secondCall(after time: Duration) -> Self {
        Self("secondCall", "second call after \(.after, time)")
    }
}
