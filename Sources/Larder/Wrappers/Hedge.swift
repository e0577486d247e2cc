extension Plugin {
    /// A second call when the first is slow.
    static let hedge = Plugin.wrapper(
        "hedge", "Makes a second call when the first is slow; the first answer wins and the other call is cancelled.",
        Setting("after", .duration(.milliseconds(1) ... .forever), help: "How long to wait for the first call"),
        traits: { after in Traits().with { $0.tries = (2, after) } }
    ) { context, inner, after in Hedge(inner: inner, after: after, context: context) }
}

/// Makes a second call when the first is slow. One that fails before that is not helped: that is for a retry.
struct Hedge: Loader {
    let inner: any Loader
    let after: Duration
    let context: Context

    func load(_ call: Call) async throws -> Loaded<Entry> {
        let contest = Contest<(loaded: Loaded<Entry>, isSecond: Bool)>(in: context.world)
        contest.enter { [inner] in (try await inner.load(call), false) }
        contest.enter(after: after) { [inner, after, context] in
            call.trail.note("hedge", "second call after \(after.brief)")
            context.count(.hedges)
            return (try await inner.load(call), true)
        }
        let winner = try await contest.result()
        if winner.isSecond { context.count(.hedgesWon) }
        return winner.loaded
    }
}
