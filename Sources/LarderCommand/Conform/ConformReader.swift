import Larder
import LarderSimulation

extension ConformRow {
    /// The families of rows that are known.
    static let families = [
        "network-first", "cache-first", "cache-only", "network-only", "stale-while-revalidate", "race", "timeout",
        "stale-fallback", "coalescing", "refresh-ahead", "tiers", "eviction",
    ]
    /// Those of which nothing, or not all, is there yet.
    static let laterFamilies = ["http", "revalidation", "outbox", "ranges"]

    /// What a row says.
    ///
    /// - Throws: ``Unsupported`` for anything in it that is not understood.
    init(row: Node) throws(Unsupported) {
        var fields = try Fields(row, "")
        fields.pass("id", "level", "title", "source", "note")
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
            seeds.append(try Seed(node, "entries[\(place)]", in: tiers, &self.strategy))
        }
        answers = []
        for (place, node) in (try fields.list("origin") ?? []).enumerated() {
            answers.append(try Answer(node, "origin[\(place)]"))
        }
        let failures = answers.compactMap { if case .failure(let kind) = $0.ending { kind } else { nil } }
        steps = []
        for (place, node) in (try fields.list("steps") ?? []).enumerated() {
            steps.append(try Step(node, "steps[\(place)]", errors: Set(failures)))
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
        guard !end.isEmpty || steps.contains(where: { !$0.expected.isEmpty }) else {
            throw Unsupported("the row expects nothing")
        }
        if strategy.staleFallback?.throttle != nil, Set(steps.map(\.key)).count > 1 {
            throw Unsupported("strategy.stale_fallback.throttle_ms with several keys: an origin is left alone whole")
        }
    }
}

extension ConformRow.Strategy {
    init(_ node: Node) throws(Unsupported) {
        var fields = try Fields(node, "strategy")
        let name = try fields.required("kind", fields.text("kind", among: Kind.allCases.map(\.rawValue)))
        kind = try fields.required("kind", Kind(rawValue: name))
        try fields.mustBeOff("honour_http", "shared", "origin_ttl", "local_first")
        ttl = try fields.lifetime()
        jitter = try fields.duration("ttl_jitter_ms")
        window = try fields.duration("swr_ms")
        revalidatesAlways = try fields.text("revalidate", among: ["always", "when-stale"]) == "always"
        refreshAfter = try fields.duration("refresh_after_age_ms")
        timeout = try fields.duration("timeout_ms")
        softTimeout = try fields.duration("soft_timeout_ms")
        hardTimeout = try fields.duration("hard_timeout_ms")
        tierTimeout = try fields.duration("tier_timeout_ms")
        conditions = try fields.texts("validators") ?? []
        if let unknown = conditions.first(where: { !["etag", "last-modified"].contains($0) }) {
            throw Unsupported("validator \(unknown.quoted)")
        }
        eviction = try fields.text("eviction")
        if let node = fields.node("stale_fallback") {
            var fallback = try Fields(node, "strategy.stale_fallback")
            staleFallback = ConformRow.StaleFallback(
                maxAge: try fallback.duration("max_age_ms"), throttle: try fallback.duration("throttle_ms"))
            softTimeout = try fallback.duration("soft_timeout_ms") ?? softTimeout
            hardTimeout = try fallback.duration("hard_timeout_ms") ?? hardTimeout
            try fallback.finish()
        }
        try fields.finish()
    }
}

extension ConformRow.Tier {
    init(_ node: Node, _ place: String) throws(Unsupported) {
        var fields = try Fields(node, place)
        name = try fields.required("name", fields.text("name"))
        mostEntries = try fields.number("max_entries", in: 1...1_000_000_000)
        faults = [:]
        for (number, node) in (try fields.list("faults") ?? []).enumerated() {
            var fault = try Fields(node, "\(place).faults[\(number)]")
            let words = ["read", "write", "remove"]
            let word = try fault.required("op", fault.text("op", among: words))
            let operation: FaultyStore.Operation = word == "read" ? .read : word == "write" ? .write : .remove
            let delay = try fault.moment("delay_ms")
            let error = try fault.text("error")
            try fault.finish()
            guard faults[operation] == nil else { throw Unsupported("two faults of one operation in \(place)") }
            faults[operation] =
                switch (delay, error) {
                case (nil, nil): throw Unsupported("a fault in \(place) that says not what goes wrong")
                case (let delay?, nil): .takes(delay)
                case (nil, "corrupt") where operation == .read: .corrupts
                case (nil, _?): .fails
                case (let delay?, _?): .failsAfter(delay)
                }
        }
        try fields.finish()
    }
}

extension ConformRow.Seed {
    /// An entry's own lifetime must be the strategy's, where that says one: no entry has one of its own here.
    init(
        _ node: Node, _ place: String, in tiers: [ConformRow.Tier], _ strategy: inout ConformRow.Strategy
    ) throws(Unsupported) {
        var fields = try Fields(node, place)
        let store = try fields.required("store", fields.text("store"))
        guard let tier = tiers.firstIndex(where: { $0.name == store }) else {
            throw Unsupported("\(place) is in the store \(store.quoted), which is not there")
        }
        self.tier = tier
        key = try fields.required("key", fields.text("key"))
        let isLost = fields.node("body_missing").map { if case .bool(true) = $0.content { true } else { false } }
        let body = try fields.text("value")
        value = isLost == true ? nil : try fields.required("value", body)
        age = try fields.required("age_ms", fields.duration("age_ms", from: .min))
        let ttl = try fields.lifetime()
        strategy.ttl = strategy.ttl ?? ttl
        if ttl != nil, ttl != strategy.ttl { throw Unsupported("\(place).ttl_ms that is not the strategy's") }
        let etag = try fields.text("etag")
        let lastModified = try fields.text("last_modified")
        self.etag = strategy.conditions.contains("etag") ? etag : nil
        self.lastModified = strategy.conditions.contains("last-modified") ? lastModified : nil
        try fields.finish()
    }
}
