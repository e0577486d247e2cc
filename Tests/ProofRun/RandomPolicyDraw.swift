import LarderSimulation

extension SeededGenerator {
    mutating func pick<Item>(_ items: [Item]) -> Item { items[roll(items.count)] }

    /// True once in so many times.
    mutating func isOne(in count: Int) -> Bool { roll(count) == 0 }

    /// A time in milliseconds whose number of digits is drawn, up to `most`; often a round one.
    mutating func time(upTo most: Int) -> Int {
        var size = 10
        while size < most, roll(8) > 0 { size *= 10 }
        let time = roll(min(size, most)) + 1
        // 250, 300, 5000
        var unit = 1
        while unit * 100 <= time { unit *= 10 }
        return isOne(in: 2) ? time : time / unit * unit
    }
}

extension RandomPolicy {
    /// Draws a policy. The composer may refuse it.
    init(_ random: inout SeededGenerator) {
        strategy = random.pick([
            "network-first", "network-first", "cache-first", "cache-first", "stale-while-revalidate",
            "stale-while-revalidate", "race", "race", "cache-only", "network-only",
        ])
        let asks = strategy != "cache-only"
        let keeps = strategy != "network-only"
        let isPatient = asks && keeps && strategy != "race"
        patience = isPatient && !random.isOne(in: 3) ? random.time(upTo: 5_000) : nil
        background = asks && keeps && random.isOne(in: 4) ? random.time(upTo: 90_000) : nil
        rest = asks && keeps && random.isOne(in: 2) ? random.pick([0, random.time(upTo: 60_000)]) : nil
        triesOffline = asks && keeps && random.isOne(in: 4)
        refreshAhead =
            isPatient && strategy != "network-first" && random.isOne(in: 4) ? random.roll(99) + 1 : nil
        around = asks ? Self.wrappers(&random) : []
        ages = random.isOne(in: 12) ? [] : [Self.age(&random)]
        let others = [
            #""checksum""#, #"{ "use": "entry-version", "version": 3 }"#,
            #"{ "use": "content-type", "allowed": ["application/json"] }"#,
            #"{ "use": "max-size", "capacity": "1MB" }"#,
        ]
        otherValidators = others.filter { _ in random.isOne(in: 4) }
        tiers = keeps ? Self.tiers(&random) : [Tier(name: "none")]
        mirrors = asks && random.isOne(in: 6) ? 2 : 1
        fallback = random.isOne(in: 6) ? random.pick(Fallback.allCases) : .none
        sections = []
        if asks && keeps {
            if random.isOne(in: 8) { sections.append(#""refresh": { "every": "1m" }"#) }
            if random.isOne(in: 8) { sections.append(#""prefetch": { "requests": [{}], "when": "start" }"#) }
            if random.isOne(in: 5) { sections.append("\"expensive\": { \"refresh\": \(random.isOne(in: 2)) }") }
        }
    }

    private static func wrappers(_ random: inout SeededGenerator) -> [Wrapper] {
        var wrappers: [Wrapper] = []
        if !random.isOne(in: 6) { wrappers.append(.timeout(random.time(upTo: 9_000))) }
        if random.isOne(in: 2) {
            wrappers.append(
                .retry(
                    retries: random.pick([1, 1, 1, 2, 2, 3, 5]), backoff: random.time(upTo: 2_000),
                    factor: random.pick([1, 2, 2, 3]), jitter: random.pick([0, 0, random.roll(101)]),
                    limit: random.pick([nil, nil, random.time(upTo: 4_000)])))
        }
        if random.isOne(in: 4) { wrappers.append(.hedge(random.time(upTo: 3_000))) }
        if random.isOne(in: 4) {
            wrappers.append(.breaker(failures: random.pick([1, 2, 3, 5]), rest: random.time(upTo: 60_000)))
        }
        if random.isOne(in: 6) { wrappers.append(.timeout(random.time(upTo: 30_000))) }
        for last in wrappers.indices.reversed() { wrappers.swapAt(last, random.roll(last + 1)) }
        return wrappers
    }

    private static func age(_ random: inout SeededGenerator) -> Age {
        func window(_ random: inout SeededGenerator) -> Int {
            random.isOne(in: 3) ? 0 : random.time(upTo: 2_000_000_000)
        }
        return Age(
            fresh: random.isOne(in: 5) ? 0 : random.time(upTo: 500_000_000), whileRevalidating: window(&random),
            onError: window(&random), jitter: random.isOne(in: 3) ? random.roll(101) : 0)
    }

    private static func tiers(_ random: inout SeededGenerator) -> [Tier] {
        let names = random.pick([
            ["memory"], ["memory"], ["file"], ["sqlite"], ["memory", "file"], ["memory", "sqlite"], ["file", "sqlite"],
            ["memory", "file", "sqlite"],
        ])
        return names.map { name in
            Tier(
                name: name, limit: name == "memory" || random.isOne(in: 5) ? nil : random.time(upTo: 4_000),
                forgetAfter: random.isOne(in: 5) ? random.time(upTo: 3_000_000_000) : nil)
        }
    }
}
