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

/// Refuses prefetches where the policy does not permit them, and chooses the origin of requests that are answered at once.
/// Other requests come here with their origin chosen.
struct NetworkRules: Loader {
    let inner: any Loader
    let background: BackgroundRules
    /// The choice of the origin; nil if there is one origin only.
    let choice: OriginChoice?

    func answer(_ request: Request, codec: AnyCodec, for uses: Uses) -> Loaded<Entry>? {
        inner.answer(choice?.request(request) ?? request, codec: codec, for: uses)
    }

    var hitRule: HitRule? { choice == nil ? inner.hitRule : nil }

    func load(_ call: Call) async throws -> Loaded<Entry> {
        if call.request.purpose == .prefetch, call.request.mode != .cachedOnly, !background.permit(.prefetch) {
            throw LoadError(.unavailable, "the policy does not permit prefetches on this network")
        }
        return try await inner.load(call)
    }
}
