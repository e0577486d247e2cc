import Larder
import LarderSimulation

extension ConformRow {
    /// The name of the resource of a row's policy, and of its origin.
    static let resource = "scenario"
    /// The setting of a tier's plugin that names the store for its entries.
    static let innerStore = "inner"

    /// The name of the plugin of a tier.
    static func pluginName(of tier: Int) -> String { "tier-\(tier)" }

    /// The policy for the row's strategy.
    ///
    /// - Throws: ``Unsupported`` if no policy can express it.
    func policy() throws(Unsupported) -> JSON {
        var members: [JSON.Member] = [
            .init("resource", .string(Self.resource)), .init("origin", .string(Self.resource)),
            .init("around", .list(try around())), .init("strategy", try strategyPart()),
        ]
        var validators = strategy.honoursHTTP ? try httpRules() : [try lifetimes()]
        if strategy.checksPayloads || noticesDamage { validators.append("checksum") }
        // The rules of HTTP say which statuses may be kept.
        if !strategy.honoursHTTP { validators.append("whole") }
        members.append(.init("validators", .list(validators)))
        if let store = try store() { members.append(.init("store", store)) }
        return .object(members)
    }

    /// Whether a stored payload is lost or damaged.
    private var noticesDamage: Bool {
        seeds.contains { $0.body == nil } || tiers.contains { $0.faults.contains { $0.error == "corrupt" } }
    }

    private func store() throws(Unsupported) -> JSON? {
        let scale = try PayloadScale(of: self)
        let stores = tiers.enumerated().map { place, tier -> JSON in
            var inner: [JSON.Member] = [.init("use", "memory")]
            if let most = tier.mostEntries { inner.append(.init("entries", .int(Int(most)))) }
            if let most = tier.mostBytes { inner.append(.init("capacity", .string("\(scale.capacity(Int(most)))B"))) }
            if let retention = strategy.retention {
                inner.append(.init("forgetAfter", .string(retention.spelled)))
            }
            if let name = strategy.eviction { inner.append(.init("eviction", .string(name))) }
            let keepsNothing = tier.mostEntries == 0 || tier.mostBytes == 0
            var store: [JSON.Member] = [
                .init("use", .string(Self.pluginName(of: place))),
                .init(Self.innerStore, keepsNothing ? "none" : .object(inner)),
            ]
            if let limit = strategy.tierTimeout { store.append(.init("limit", .string(limit.spelled))) }
            return .object(store)
        }
        return stores.count < 2 ? stores.first : ["use": "tiered", "tiers": .list(stores)]
    }
}

// MARK: The strategy

extension ConformRow {
    /// The plugin for the strategy. A copy that may be shown at once while it is refreshed makes "cache-first" the
    /// strategy that does so.
    private var use: Strategy.Kind {
        strategy.kind == .cacheFirst && (strategy.window.map { $0 > .zero } == true || headersAllowStale)
            ? .staleWhileRevalidate : strategy.kind
    }

    private var showsCopies: Bool { use != .networkOnly }
    private var asksOrigin: Bool { use != .cacheOnly }

    /// A wait that ends while the call goes on, and one that ends the call: `timeout_ms` is the first where the network
    /// comes first and a copy second, else the other.
    private var waits: (patience: Duration?, limit: Duration?) {
        let isPatience = use == .networkFirst
        let patience = [isPatience ? strategy.timeout : nil, strategy.softTimeout].compactMap { $0 }.min()
        let limit = [isPatience ? nil : strategy.timeout, strategy.hardTimeout].compactMap { $0 }.min()
        return (patience, limit)
    }

    /// The strategy, as in a policy.
    private func strategyPart() throws(Unsupported) -> JSON {
        var part: [JSON.Member] = [.init("use", .string(use.rawValue))]
        if asksOrigin, showsCopies {
            // A row has no timeout unless it names one, and the origin rests only as long as the row says.
            part += [.init("background", "forever"), .init("rest", "0s")]
            if let patience = waits.patience {
                if use == .race { throw Unsupported("a soft timeout of race") }
                part.append(.init("patience", .string(patience.spelled)))
            }
        }
        if let share = try refreshAhead() { part.append(.init("refreshAhead", .number(share))) }
        return .object(part)
    }

    /// The share of its fresh time after which a copy that is shown is refreshed too; zero if always.
    private func refreshAhead() throws(Unsupported) -> Double? {
        // These ask the origin in any case.
        if [.networkFirst, .networkOnly, .race].contains(use) { return nil }
        if use == .cacheOnly {
            if strategy.revalidatesAlways || strategy.refreshAfter != nil {
                throw Unsupported("a refresh of cache-only, which never asks the origin")
            }
            return nil
        }
        if strategy.revalidatesAlways { return 0 }
        guard let refreshAfter = strategy.refreshAfter else { return nil }
        if haveOwnLifetimes { return 1 }
        let whole = strategy.ttl ?? .forever
        return refreshAfter < whole ? refreshAfter.inSeconds / whole.inSeconds : nil
    }

    /// The wrappers around the origin.
    private func around() throws(Unsupported) -> [JSON] {
        var around: [JSON] = []
        if let rest = strategy.staleFallback?.throttle, rest > .zero, asksOrigin {
            // A breaker leaves the whole origin alone. The row leaves it alone for one key.
            around.append(
                Set(steps.map(\.key)).count > 1
                    ? ["use": "key-rest", "rest": .string(rest.spelled)]
                    : ["use": "breaker", "failures": 1, "rest": .string(rest.spelled)])
        }
        if let limit = waits.limit, asksOrigin {
            around.append(["use": "timeout", "after": .string(limit.spelled)])
        }
        return around
    }
}

// MARK: Lifetimes

extension ConformRow {
    /// Whether copies have lifetimes that the validator `age` does not know.
    var haveOwnLifetimes: Bool {
        let isOwn = { (ttl: Duration?) in ttl != nil && ttl != strategy.ttl }
        let isJittered = strategy.jitter.map { $0 > .zero } ?? false
        return seeds.contains { isOwn($0.ttl) }
            || strategy.usesAnswerLifetime && answers.contains { $0.ttl != nil }
            || isJittered && (strategy.staleFallback?.maxAge != nil || strategy.refreshAfter != nil)
    }

    /// The validator that says how long a copy is fresh and may be shown after that. A jitter lengthens a lifetime in a
    /// row and shortens it in a policy. Where the network comes first, a copy stands in however old it is, unless the
    /// row says how old it may be.
    private func lifetimes() throws(Unsupported) -> JSON {
        let fresh = strategy.ttl ?? .forever
        let jitter = min(strategy.jitter ?? .zero, .forever)
        let window = strategy.window ?? .zero
        var maxAge: Duration = strategy.kind == .networkFirst ? .forever : .zero
        if let staleFallback = strategy.staleFallback { maxAge = staleFallback.maxAge ?? .forever }
        maxAge = min(maxAge, .forever)
        if haveOwnLifetimes {
            var part: [JSON.Member] = [
                .init("use", "lifetime"), .init("fresh", .string(fresh.spelled)),
                .init("jitter", .string(jitter.spelled)), .init("whileRevalidating", .string(window.spelled)),
                .init("maxAge", .string(maxAge.spelled)),
            ]
            if let refreshAfter = strategy.refreshAfter {
                part.append(.init("refreshAge", .string(refreshAfter.spelled)))
            }
            return .object(part)
        }
        let longest = min(fresh + jitter, .forever)
        let onError = maxAge == .forever ? maxAge : max(.zero, maxAge - longest)
        var part: [JSON.Member] = [
            .init("use", "age"), .init("fresh", .string(longest.spelled)),
            .init("whileRevalidating", .string(window.spelled)), .init("onError", .string(onError.spelled)),
        ]
        if jitter > .zero { part.append(.init("jitter", .number(jitter.inSeconds / longest.inSeconds))) }
        return .object(part)
    }
}
