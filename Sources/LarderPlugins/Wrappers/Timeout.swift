import LarderCore

extension Plugin {
    /// A limit on the time of calls.
    static let timeout = Plugin.wrapper(
        "timeout", "Cancels a call that takes too long.",
        Setting("after", .duration(.milliseconds(1) ... .forever), help: "How long a call may take"),
        traits: { after in Traits().with { $0.givesUpAfter = after } }
    ) { context, inner, after in Timeout(inner: inner, after: after, world: context.world) }
}

/// A loader that ends a call that takes too long, even if the call ignores cancellation.
struct Timeout: Loader {
    let inner: any Loader
    let after: Duration
    let world: any World

    func load(_ call: Call) async throws -> Loaded<Entry> {
        if let loaded = try await inner.load(call, within: after, in: world) { return loaded }
        throw LoadError(.timeout, .timedOut(after: after))
    }
}

extension Trail.Event {
    fileprivate static func timedOut(after time: Duration) -> Self {
        Self("timedOut", "timed out after \(.after, time)")
    }
}
