import Larder

extension ConformRow {
    /// The known families of rows.
    static let families = [
        "network-first", "cache-first", "cache-only", "network-only", "stale-while-revalidate", "race", "timeout",
        "stale-fallback", "coalescing", "refresh-ahead", "tiers", "eviction", "revalidation", "validator",
        "http", "outbox",
    ]
    /// The families that are not supported yet.
    static let laterFamilies = ["ranges"]

    /// Reads a row.
    ///
    /// - Throws: ``Unsupported`` for any part of it that is not known.
    init(row: Node) throws(Unsupported) {
        var fields = try RowObject(row, "")
        fields.pass("id", "level", "title", "source")
        let family = try fields.required("family", fields.text("family"))
        guard (Self.families + Self.laterFamilies).contains(family) else {
            throw Unsupported("family \(family.quoted)")
        }
        let strategy = try fields.required("strategy", fields.node("strategy"))
        self.strategy = try Strategy(strategy)
        tiers = []
        for (place, node) in (try fields.list("stores") ?? []).enumerated() {
            tiers.append(try Tier(node, "stores[\(place)]"))
        }
        guard Set(tiers.map(\.name)).count == tiers.count else { throw Unsupported("two stores of one name") }
        seeds = []
        for (place, node) in (try fields.list("entries") ?? []).enumerated() {
            seeds.append(try Seed(node, "entries[\(place)]", in: tiers, self.strategy))
        }
        answers = []
        for (place, node) in (try fields.list("origin") ?? []).enumerated() {
            answers.append(try Answer(node, "origin[\(place)]", self.strategy))
        }
        let failures = answers.compactMap { if case .failure(let kind) = $0.ending { kind } else { nil } }
        steps = []
        for (place, node) in (try fields.list("steps") ?? []).enumerated() {
            steps.append(try Step(node, "steps[\(place)]", in: tiers, errors: Set(failures)))
        }
        end = End()
        if let node = fields.node("end") { end = try End(node, in: tiers) }
        try fields.finish()
        try check()
    }

    private func check() throws(Unsupported) {
        guard zip(steps, steps.dropFirst()).allSatisfy({ $0.at <= $1.at }) else {
            throw Unsupported("steps that are not in the order of their at_ms")
        }
        if let end = end.at, let last = steps.last, end < last.at { throw Unsupported("a step after the end") }
        guard steps.reduce(0, { $0 + $1.count }) <= Step.mostCallers else {
            throw Unsupported("more than \(Step.mostCallers) callers")
        }
        let isOutbox = strategy.kind == .outbox
        if let place = steps.firstIndex(where: { isOutbox ? !$0.isPossibleWithOutbox : $0.needsOutbox }) {
            throw Unsupported("steps[\(place)] with strategy.kind \(strategy.kind.rawValue.quoted)")
        }
        if !isOutbox, !end.queues.isEmpty {
            throw Unsupported("end.queues with strategy.kind \(strategy.kind.rawValue.quoted)")
        }
        guard !end.isEmpty || steps.contains(where: { !$0.expected.isEmpty }) else {
            throw Unsupported("the row expects nothing")
        }
    }
}

extension ConformRow.Strategy {
    init(_ node: Node) throws(Unsupported) {
        var fields = try RowObject(node, "strategy")
        let name = try fields.required("kind", fields.text("kind"))
        guard let kind = Kind(rawValue: name) else { throw Unsupported("strategy.kind \(name.quoted)") }
        self.kind = kind
        honoursHTTP = try fields.bool("honour_http") ?? false
        try fields.mustBeOff("breaker", "no store has a breaker of its own")
        // It has an effect only together with the rules of HTTP.
        isShared = try fields.bool("shared") ?? false
        collapsesKeys = try fields.bool("collapse_same_key") ?? false
        if collapsesKeys, kind != .outbox { throw Unsupported("strategy.collapse_same_key of \(kind.rawValue)") }
        // Where a copy is looked for first, the local copy comes first in any case.
        looksFirst = try fields.bool("local_first") ?? false
        if looksFirst, kind == .networkFirst || kind == .networkOnly {
            throw Unsupported("strategy.local_first of \(kind.rawValue)")
        }
        usesAnswerLifetime = try fields.bool("origin_ttl") ?? false
        ttl = try fields.lifetime()
        jitter = try fields.duration("ttl_jitter_ms")
        window = try fields.duration("swr_ms")
        revalidatesAlways = try fields.text("revalidate", among: ["always", "when-stale"]) == "always"
        refreshAfter = try fields.duration("refresh_after_age_ms")
        timeout = try fields.duration("timeout_ms")
        softTimeout = try fields.duration("soft_timeout_ms")
        hardTimeout = try fields.duration("hard_timeout_ms")
        tierTimeout = try fields.duration("tier_timeout_ms")
        retention = try fields.duration("retention_ms")
        let validators = try fields.texts("validators") ?? []
        if let unknown = validators.first(where: { !["etag", "last-modified", "checksum"].contains($0) }) {
            throw Unsupported("validator \(unknown.quoted)")
        }
        conditions = validators.filter { $0 != "checksum" }
        checksPayloads = validators.contains("checksum")
        failureStatuses = try fields.numbers("failure_statuses", in: 100...599)?.map { Int($0) }
        eviction = try fields.text("eviction", among: ["lru", "oldest"])
        if var fallback = try fields.object("stale_fallback") {
            staleFallback = ConformRow.StaleFallback(
                maxAge: try fallback.duration("max_age_ms"), throttle: try fallback.duration("throttle_ms"))
            softTimeout = try fallback.duration("soft_timeout_ms") ?? softTimeout
            hardTimeout = try fallback.duration("hard_timeout_ms") ?? hardTimeout
            try fallback.finish()
        }
        try fields.finish()
    }

    /// Returns the validators of an answer or an entry that the strategy sends to the origin. Its headers can name them.
    func conditions(_ fields: inout RowObject, _ headers: [ConformRow.Header]) throws(Unsupported)
        -> ConformRow.AnswerValidators
    {
        let etag = try fields.text("etag") ?? headers.value(of: "etag")
        let lastModified = try fields.text("last_modified") ?? headers.value(of: "last-modified")
        return ConformRow.AnswerValidators(
            etag: honoursHTTP || conditions.contains("etag") ? etag : nil,
            lastModified: honoursHTTP || conditions.contains("last-modified") ? lastModified : nil)
    }
}

extension [ConformRow.Header] {
    /// Returns the value of a name in lower case.
    fileprivate func value(of name: String) -> String? { first { $0.name.lowercased() == name }?.value }
}

extension ConformRow.Tier {
    init(_ node: Node, _ place: String) throws(Unsupported) {
        var fields = try RowObject(node, place)
        name = try fields.required("name", fields.text("name"))
        mostEntries = try fields.number("max_entries", in: 0...1_000_000_000)
        mostBytes = try fields.number("max_bytes", in: 0...1_000_000_000_000)
        faults = []
        for (number, node) in (try fields.list("faults") ?? []).enumerated() {
            faults.append(try ConformRow.Fault(node, "\(place).faults[\(number)]"))
        }
        try fields.finish()
    }
}

extension ConformRow.Fault {
    init(_ node: Node, _ place: String) throws(Unsupported) {
        var fields = try RowObject(node, place)
        operation = try fields.required("op", fields.text("op", among: ["read", "write", "remove", "any"]))
        error = try fields.text("error", among: ["io", "enospc", "eio", "corrupt"])
        delay = try fields.moment("delay_ms")
        number = try fields.number("nth", in: 1...1_000)
        try fields.finish()
        if error == nil, delay == nil { throw Unsupported("\(place) names neither error nor delay_ms") }
        if error == "corrupt", operation != "read" || delay != nil {
            throw Unsupported("\(place) damages what is not just read")
        }
    }
}

extension ConformRow.Seed {
    init(
        _ node: Node, _ place: String, in tiers: [ConformRow.Tier], _ strategy: ConformRow.Strategy
    ) throws(Unsupported) {
        var fields = try RowObject(node, place)
        let store = try fields.required("store", fields.text("store"))
        guard let tier = tiers.firstIndex(where: { $0.name == store }) else {
            throw Unsupported("\(place) is in the store \(store.quoted), which is not there")
        }
        self.tier = tier
        key = try fields.required("key", fields.text("key"))
        let isLost = try fields.bool("body_missing") ?? false
        let body = try fields.body()
        self.body = isLost ? nil : try fields.required("value", body)
        age = try fields.required("age_ms", fields.duration("age_ms", from: .min))
        ttl = try fields.lifetime()
        headers = try fields.headers("headers")
        validators = try strategy.conditions(&fields, headers)
        hasOtherChecksum = try fields.bool("checksum_ok") == false
        try fields.finish()
    }
}
