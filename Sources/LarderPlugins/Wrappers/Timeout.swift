import LarderSystem
import LarderCore

extension Plugin {
    /// A limit on the time of calls.
    static let timeout = Plugin.wrapper(
        "timeout", "Cancels a call that takes too long.",
        Setting("after", .duration(.milliseconds(1) ... .forever), help: "How long a call may take")
            .alsoCalled("timeout", "limit", "duration", "seconds"),
        traits: { after in .with { ($0.givesUpAfter, $0.borders) = (after, [after]) } }
    ) { context, inner, after in Timeout(inner: inner, after: after, world: context.world) }
}

/// A loader that ends a call at its time limit, even if the call ignores cancellation.
struct Timeout: Loader {
    let inner: any Loader
    let after: Duration
    let world: any World

    var keepsLimit: Bool { inner.keepsLimit }

    func load(_ call: Call) async throws -> Loaded<Entry> {
        if inner.keepsLimit { return try await loadLimited(call) }
        if let loaded = try await inner.load(call, within: after, in: world) { return loaded }
        throw timedOut()
    }

    /// Lets the inner loader end the call.
    private func loadLimited(_ call: Call) async throws -> Loaded<Entry> {
        var call = call
        let end = world.uptime + after
        call.limit = min(end, call.limit ?? .forever)
        do {
            return try await inner.load(call)
        } catch let error as LoadError where error.code == .timeout && world.uptime >= end {
            throw timedOut(error.origin)
        }
    }

    private func timedOut(_ origin: (any Error)? = nil) -> LoadError {
        var error = LoadError(.timeout, .timedOut(after: after), origin: origin)
        error.cause = .timeout
        return error
    }
}

extension Trail.Event {
    fileprivate static func timedOut(after time: Duration) -> Self {
        Self("timedOut", "timed out after \(.after, time)")
    }
}
