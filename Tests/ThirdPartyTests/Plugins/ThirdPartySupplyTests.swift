import Larder
import LarderFoundation
import LarderSimulation
import LarderSystem
import Testing

/// A section of `_larder.json` that supplies policies, as another module would write it.
private final class Supply: PolicySupply {
    let reach: Set<String>
    let offers = Locked<[[String: String]]>([])
    let results = Locked<[String]>([])
    let context: SectionContext

    init(reach: Set<String>, _ context: SectionContext) { (self.reach, self.context) = (reach, context) }

    func supply(over own: String) -> [String: String]? { offers.withLock { $0.first } }

    func supplied(_ result: PolicySupplyResult) {
        switch result {
        case .inEffect: results.withLock { $0.append("in effect") }
        case .untried: results.withLock { $0.append("untried") }
        case .refused(let refusal):
            let first = refusal.problems.first
            results.withLock { $0.append("\(first?.rule ?? "error") \(first?.path ?? "")") }
            offers.withLock { _ = $0.removeFirst() }
        }
    }

    var facts: [String: String] { ["offers": "\(offers.withLock { $0.count })"] }

    /// Puts these policies in effect, the first that can be.
    func offer(_ texts: [String: String]...) async throws {
        offers.withLock { $0 = texts }
        try await context.ownPantry?.reload()
    }
}

@Suite struct ThirdPartySupplyTests {
    private static func feed(_ strategy: String = #""network-only""#, _ more: String = "") -> String {
        #"{ "resource": "feed", "origin": "scripted", "strategy": \#(strategy), "store": "memory"\#(more) }"#
    }

    private static func run(
        _ feed: String = feed(), files: [String: String] = [:], environment: [String: String] = [:],
        _ test: @escaping @Sendable (SimulatedPantry, Supply) async throws -> Void
    ) throws {
        let plugin = Plugin.pantrySection(
            "supply", "Supplies policies.",
            Setting("reach", .list(of: .text), default: ["around", "strategy", "fallbacks"], help: "The keys")
        ) { context, reach in Supply(reach: Set(reach), context) }
        let mirror = Plugin.wrapper(
            "mirror", "Keeps a second copy.", Setting("to", .part(.store), help: "The store")
        ) { _, inner, _ in inner }
        let report = Plugin.wrapper(
            "report", "Reports each call.", Setting("to", .text, default: "nobody", help: "The address"),
            Setting("times", .int(0...9), default: 1, help: "How often")
        ) { _, inner, _, _ in inner }
        try SimulatedPantry.run(
            ["feed": feed, "_larder": #"{ "supply": {} }"#], plugins: [plugin, mirror, report], files: files,
            environment: environment
        ) { simulated in
            let supply = try #require(simulated.pantry.attachment(Supply.self))
            #expect(supply.results.withLock { $0 } == ["in effect"])
            supply.results.withLock { $0 = [] }
            try await test(simulated, supply)
        }
    }

    private static func strategy(_ simulated: SimulatedPantry) async -> String? {
        await simulated.pantry.metrics.dump().resources.first?.revisions.last { $0.isCurrent }?.strategy
    }

    @Test func suppliedPoliciesTakeEffectAndGoAgain() throws {
        try Self.run { simulated, supply in
            let own = simulated.pantry.policy(of: "feed")?.revision
            try await supply.offer(["feed": Self.feed(#""cache-first""#)])
            #expect(await Self.strategy(simulated) == "cache-first")
            #expect(await simulated.pantry.metrics.dump().json.text().contains(#""offers": "1""#))
            try await simulated.pantry.reload()
            #expect(await Self.strategy(simulated) == "cache-first")
            try await supply.offer()
            #expect(simulated.pantry.policy(of: "feed")?.revision == own)
            #expect(supply.results.withLock { $0 } == ["in effect", "in effect", "in effect"])
        }
    }

    @Test func refusedPoliciesGiveWayToTheNext() throws {
        try Self.run { simulated, supply in
            try await supply.offer(
                ["feed": Self.feed(#""no-such-strategy""#)], ["feed": Self.feed(#""cache-first""#)])
            #expect(supply.results.withLock { $0 } == ["error $.strategy", "in effect"])
            #expect(await Self.strategy(simulated) == "cache-first")
        }
    }

    @Test func copiesSurviveTheWayThereAndBack() throws {
        try Self.run(Self.feed(#""cache-first""#)) { simulated, supply in
            simulated.origin.play(.value("one"), .value("two"))
            _ = try await simulated.resource.load()
            try await supply.offer(["feed": Self.feed(#""stale-while-revalidate""#)])
            #expect(try await simulated.resource.load(mode: .cachedOnly).value == Data("one".utf8))
            try await supply.offer()
            #expect(try await simulated.resource.load(mode: .cachedOnly).value == Data("one".utf8))
        }
    }

    @Test(arguments: [
        (
            "another origin",
            #"{ "resource": "feed", "origin": { "use": "constant", "value": 1 }, "strategy": "network-only", "store": "memory" }"#,
            "reach $.origin"
        ),
        (
            "another store",
            #"{ "resource": "feed", "origin": "scripted", "strategy": "network-only", "store": { "use": "memory", "capacity": "1MB" } }"#,
            "reach $.store"
        ),
        ("no log", feed(#""network-only""#, #", "log": "off""#), "reach $.log"),
        (
            "a fallback elsewhere",
            feed(#""network-only""#, #", "fallbacks": [ { "use": "http", "url": "https://evil.example/x" } ]"#),
            "reach $.fallbacks[0]"
        ),
        (
            "a fallback from a file",
            feed(#""network-only""#, #", "fallbacks": [ { "use": "file", "path": "secret.json" } ]"#),
            "reach $.fallbacks[0]"
        ),
        ("a name from the environment", feed(#""${OTHER:-cache-first}""#), "reach $.strategy"),
        (
            "a value from the environment",
            feed(#""network-only""#, #", "fallbacks": [ { "use": "constant", "value": "${TOKEN}" } ]"#),
            "reach $.fallbacks[0]"
        ),
        (
            "a store among the settings of a wrapper",
            feed(#""network-only""#, #", "around": [ { "use": "mirror", "to": "memory" } ]"#), "reach $.around[0]"
        ),
        (
            "an address among the settings of a wrapper",
            feed(#""network-only""#, #", "around": [ { "use": "report", "to": "https://evil.example" } ]"#),
            "reach $.around[0]"
        ),
    ])
    func whatIsOutOfReachIsRefused(_ row: (name: String, policy: String, problem: String)) throws {
        try Self.run(files: ["secret.json": "1"], environment: ["TOKEN": "canary"]) { simulated, supply in
            try await supply.offer(["feed": row.policy])
            #expect(supply.results.withLock { $0 } == [row.problem, "in effect"], "\(row.name)")
            #expect(await Self.strategy(simulated) == "network-only")
        }
    }

    @Test func partKeepsItsOwnAddressAndVariable() throws {
        @Sendable func around(_ text: String) -> String {
            Self.feed(#""network-only""#, #", "around": [ { "use": "report", \#(text) } ]"#)
        }
        let own = around(#""to": "https://${HOST}/calls""#)
        try Self.run(own, environment: ["HOST": "ours.example", "OTHER": "x"]) { _, supply in
            try await supply.offer(["feed": around(#""to": "https://${HOST}/calls", "times": 3"#)])
            try await supply.offer(["feed": around(#""to": "https://${OTHER}/calls", "times": 3"#)])
            try await supply.offer(["feed": around(#""to": "https://${HOST}.evil.example", "times": 3"#)])
            #expect(
                supply.results.withLock { $0 } == [
                    "in effect", "reach $.around[0]", "in effect", "reach $.around[0]", "in effect",
                ])
        }
    }

    @Test func fallbackOfConstantDataIsWithinReach() throws {
        try Self.run { simulated, supply in
            let texts = [
                "feed": Self.feed(#""network-only""#, #", "fallbacks": [ { "use": "constant", "value": 1 } ]"#)
            ]
            try await supply.offer(texts)
            #expect(supply.results.withLock { $0 } == ["in effect"])
        }
    }

    @Test func resourceThatTheAppDoesNotHaveIsRefused() throws {
        try Self.run { simulated, supply in
            try await supply.offer([
                "other": #"{ "resource": "other", "origin": "scripted", "strategy": "network-only" }"#
            ])
            #expect(supply.results.withLock { $0 } == ["reach $", "in effect"])
            #expect(simulated.pantry.resources == ["feed"])
        }
    }

    @Test func settingsOfTheProcessAreOutOfReach() throws {
        try Self.run { _, supply in
            try await supply.offer(["_larder": "{}", "feed": Self.feed()])
            #expect(supply.results.withLock { $0 } == ["reach $", "in effect"])
        }
    }
}
