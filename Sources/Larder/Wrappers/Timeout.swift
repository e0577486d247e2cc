extension Plugin {
    /// A limit to waiting.
    static let timeout = Plugin.wrapper(
        "timeout", "Gives a call up when it takes too long.",
        Setting("after", .duration(.milliseconds(1) ... .forever), help: "How long a call may take"),
        traits: { after in Traits().with { $0.givesUpAfter = after } }
    ) { context, inner, after in Timeout(inner, after: after, world: context.world, meter: context.meter) }
}

/// Gives a call up when it takes too long, even one that does not heed its cancellation.
struct Timeout: Loader {
    private let inner: any Loader
    private let after: Duration
    private let world: any World
    private let meter: Meter

    init(_ inner: any Loader, after: Duration, world: any World, meter: Meter) {
        self.inner = inner
        self.after = after
        self.world = world
        self.meter = meter
    }

    func load(_ call: Call) async throws -> Loaded<Entry> {
        let overrun = Overrun(inside: call.overrun)
        var call = call
        call.overrun = overrun
        let pursuit = Pursuit(in: world) { [inner, call] in try await inner.load(call) }
        if let loaded = try await pursuit.value(within: after) { return loaded }
        let calls = overrun.giveUp()
        pursuit.cancel()
        // Only calls that are under way: one that waits for its turn, or for a retry, is not the origin's.
        if calls > 0 { meter.count(.originErrors, UInt64(calls)) }
        throw LoadError(.timeout, "timed out after \(after.brief)")
    }
}
