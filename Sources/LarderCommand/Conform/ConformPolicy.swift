import Larder
import LarderSimulation

extension ConformRow {
    /// The name of the resource that a row's policy is about, and of its origin.
    static let resource = "scenario"
    /// The setting under which a tier's plugin names the store that keeps its entries.
    static let innerStore = "inner"

    /// The name of the plugin of a tier.
    static func pluginName(of tier: Int) -> String { "tier-\(tier)" }

    /// The policy that says what the row's strategy says.
    ///
    /// - Throws: ``Unsupported`` where no policy says that.
    func policy(_ registry: Registry) throws(Unsupported) -> JSON {
        var members: [JSON.Member] = [
            .init("resource", .string(Self.resource)), .init("origin", .string(Self.resource)),
            .init("around", .list(try strategy.around())), .init("strategy", try strategy.part()),
        ]
        var validators = [try strategy.age()]
        if noticesDamage { validators.append("checksum") }
        members.append(.init("validators", .list(validators)))
        if let store = try store(registry) { members.append(.init("store", store)) }
        return .object(members)
    }

    /// Whether some payload is lost or damaged where it is kept.
    private var noticesDamage: Bool {
        seeds.contains { $0.value == nil } || tiers.contains { $0.faults[.read] == .corrupts }
    }

    private func store(_ registry: Registry) throws(Unsupported) -> JSON? {
        if let name = strategy.eviction, registry[.eviction, name] == nil {
            throw Unsupported("eviction \(name.quoted)")
        }
        let stores = tiers.enumerated().map { place, tier -> JSON in
            var inner: [JSON.Member] = [.init("use", "memory")]
            if let most = tier.mostEntries { inner.append(.init("entries", .int(Int(most)))) }
            if let name = strategy.eviction { inner.append(.init("eviction", .string(name))) }
            var store: [JSON.Member] = [
                .init("use", .string(Self.pluginName(of: place))), .init(Self.innerStore, .object(inner)),
            ]
            if let limit = strategy.tierTimeout { store.append(.init("limit", .string(limit.spelled))) }
            return .object(store)
        }
        return stores.count < 2 ? stores.first : ["use": "tiered", "tiers": .list(stores)]
    }
}

extension ConformRow.Strategy {
    private var showsCopies: Bool { kind != .networkOnly }
    private var asksOrigin: Bool { kind != .cacheOnly }

    /// A wait that ends while the call goes on, and one that ends the call: `timeout_ms` is the first where the network
    /// comes first and a copy second, else the other.
    private func waits() throws(Unsupported) -> (patience: Duration?, limit: Duration?) {
        let isPatience = kind == .networkFirst
        let patience = (isPatience ? timeout : nil) ?? softTimeout
        let limit = (isPatience ? nil : timeout) ?? hardTimeout
        if timeout != nil, (isPatience ? softTimeout : hardTimeout) != nil {
            throw Unsupported("strategy.timeout_ms beside another of its kind")
        }
        if !asksOrigin, patience != nil || limit != nil { throw Unsupported("a timeout of \(kind.rawValue)") }
        if patience != nil, !showsCopies || kind == .race { throw Unsupported("a soft timeout of \(kind.rawValue)") }
        return (patience, limit)
    }

    /// The strategy, as a policy says it.
    func part() throws(Unsupported) -> JSON {
        var part: [JSON.Member] = [.init("use", .string(kind.rawValue))]
        // A row knows no time after which a call is given up unless it says one.
        if asksOrigin, showsCopies { part.append(.init("background", "forever")) }
        // And it is left alone only for as long as the row says.
        if asksOrigin, showsCopies { part.append(.init("rest", "0s")) }
        if let patience = try waits().patience { part.append(.init("patience", .string(patience.spelled))) }
        if let share = try refreshAhead() { part.append(.init("refreshAhead", .number(share))) }
        return .object(part)
    }

    /// After which share of its fresh time a copy that is shown is also refreshed: after none, if always.
    private func refreshAhead() throws(Unsupported) -> Double? {
        if revalidatesAlways {
            guard kind == .staleWhileRevalidate else { throw Unsupported("revalidate \"always\" of \(kind.rawValue)") }
            return 0
        }
        guard let refreshAfter else { return nil }
        guard kind == .staleWhileRevalidate || kind == .cacheFirst else {
            throw Unsupported("strategy.refresh_after_age_ms of \(kind.rawValue)")
        }
        guard jitter == nil else { throw Unsupported("strategy.refresh_after_age_ms beside ttl_jitter_ms") }
        let whole = ttl ?? .forever
        return refreshAfter < whole ? refreshAfter.inSeconds / whole.inSeconds : nil
    }

    /// What is put around the origin.
    func around() throws(Unsupported) -> [JSON] {
        var around: [JSON] = []
        if let rest = staleFallback?.throttle, rest > .zero {
            guard asksOrigin else { throw Unsupported("strategy.stale_fallback.throttle_ms of \(kind.rawValue)") }
            around.append(["use": "breaker", "failures": 1, "rest": .string(rest.spelled)])
        }
        if let limit = try waits().limit { around.append(["use": "timeout", "after": .string(limit.spelled)]) }
        return around
    }

    /// How long a copy is fresh and may be shown after that. A jitter lengthens a lifetime in a row and shortens it in a
    /// policy. Where the network comes first, a copy stands in however old it is, unless the row says how old it may be.
    func age() throws(Unsupported) -> JSON {
        if window != nil, kind != .staleWhileRevalidate { throw Unsupported("strategy.swr_ms of \(kind.rawValue)") }
        if staleFallback != nil, kind == .networkOnly { throw Unsupported("strategy.stale_fallback of network-only") }
        let fresh = ttl.map { min($0 + (jitter ?? .zero), .forever) } ?? .forever
        var onError: Duration = kind == .networkFirst ? .forever : .zero
        if let staleFallback {
            if staleFallback.maxAge != nil, jitter != nil {
                throw Unsupported("strategy.stale_fallback.max_age_ms beside ttl_jitter_ms")
            }
            onError = staleFallback.maxAge.map { $0 >= .forever ? .forever : max(.zero, $0 - fresh) } ?? .forever
        }
        var age: [JSON.Member] = [.init("use", "age"), .init("fresh", .string(fresh.spelled))]
        age.append(.init("whileRevalidating", .string((window ?? .zero).spelled)))
        age.append(.init("onError", .string(onError.spelled)))
        if let jitter, jitter > .zero { age.append(.init("jitter", .number(jitter.inSeconds / fresh.inSeconds))) }
        return .object(age)
    }
}
