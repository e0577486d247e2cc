import Larder

extension ConformRow {
    /// The validators of a row in which the rules of HTTP hold. The row's own windows hold where the headers are silent.
    func httpRules() throws(Unsupported) -> [JSON] {
        var part: [JSON.Member] = [.init("use", "http"), .init("shared", .bool(strategy.isShared))]
        if let fresh = try silentLifetime() { part.append(.init("fresh", .string(fresh.spelled))) }
        if let window = strategy.window { part.append(.init("whileRevalidating", .string(window.spelled))) }
        if strategy.staleFallback != nil || strategy.kind == .networkFirst {
            part.append(.init("onError", "forever"))
        }
        guard let maxAge = strategy.staleFallback?.maxAge, maxAge < .forever else { return [.object(part)] }
        return [.object(part), ["use": "ageLimit", "maxAge": .string(maxAge.spelled)]]
    }

    /// The lifetime of entries and answers whose headers name none.
    private func silentLifetime() throws(Unsupported) -> Duration? {
        var lifetimes = Set(seeds.filter { !$0.headers.nameLifetime }.compactMap(\.ttl))
        if strategy.usesAnswerLifetime {
            lifetimes.formUnion(answers.filter { !$0.headers.nameLifetime }.compactMap(\.ttl))
        }
        if let ttl = strategy.ttl { lifetimes.insert(ttl) }
        if lifetimes.count > 1 { throw Unsupported("several lifetimes beside strategy.honour_http") }
        return lifetimes.first
    }

    /// Whether a header lets a copy be shown while it is refreshed.
    var headersAllowStale: Bool {
        strategy.honoursHTTP
            && (seeds.map(\.headers) + answers.map(\.headers)).contains { $0.cacheControl.contains("stale-while") }
    }
}

extension [ConformRow.Header] {
    fileprivate var cacheControl: String {
        filter { $0.name.lowercased() == "cache-control" }.map { $0.value.lowercased() }.joined(separator: ",")
    }

    /// Whether the headers name a lifetime.
    fileprivate var nameLifetime: Bool {
        contains { $0.name.lowercased() == "expires" }
            || ["max-age", "s-maxage", "no-cache"].contains(where: cacheControl.contains)
    }
}
