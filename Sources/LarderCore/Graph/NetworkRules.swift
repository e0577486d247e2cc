import LarderSystem

/// The rules of a policy's sections about background work on a network.
struct BackgroundRules: Sendable {
    /// Returns whether some work may call the origin on a network.
    typealias Rule = @Sendable (BackgroundWork, NetworkState) -> Bool

    let rules: [Rule]
    let world: any World

    /// Returns whether some work may call the origin now.
    func permit(_ work: BackgroundWork) -> Bool {
        if rules.isEmpty { return true }
        let network = world.network
        return rules.allSatisfy { $0(work, network) }
    }
}

/// Refuses prefetches where the policy does not permit them.
struct NetworkRules: Loader {
    let inner: any Loader
    let background: BackgroundRules

    var hitRule: HitRule? { inner.hitRule }

    func load(_ call: Call) async throws -> Loaded<Entry> {
        if call.request.purpose == .prefetch, call.request.mode != .cachedOnly, !background.permit(.prefetch) {
            throw LoadError(.unavailable, "the policy does not permit prefetches on this network")
        }
        return try await inner.load(call)
    }
}
