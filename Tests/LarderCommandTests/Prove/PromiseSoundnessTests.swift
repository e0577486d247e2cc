import FoundationEssentials
import Larder
import LarderSimulation
import Testing

@testable import LarderCommand

/// Random policies with random promises, judged from outside in random histories.
@Suite struct PromiseSoundnessTests {
    private static let isSlow = ProcessInfo.processInfo.environment["LARDER_SLOW"] != nil

    /// A random policy, as far as the tests change it.
    private struct Draw {
        var random: SeededGenerator

        init(_ seed: UInt64) { random = SeededGenerator(seed: seed) }

        mutating func pick<Item>(_ items: [Item]) -> Item { items[random.roll(items.count)] }

        mutating func policy(_ promises: String = "{ \"callsPerLoad\": 9 }") -> String {
            let strategies = [
                #""cache-first""#, #"{ "use": "cache-first", "patience": "700ms" }"#, #""network-first""#,
                #"{ "use": "network-first", "patience": "300ms", "rest": "0s" }"#,
                #"{ "use": "stale-while-revalidate", "patience": "1s" }"#, #""race""#,
            ]
            let wrappers = [
                #""around": [{ "use": "timeout", "after": "2s" }],"#,
                #""around": [{ "use": "retry", "retries": 1, "backoff": "250ms" }, { "use": "timeout", "after": "1s" }],"#,
                #""around": [{ "use": "timeout", "after": "3s" }, { "use": "retry", "retries": 1, "backoff": "1s" }],"#,
                #""around": [{ "use": "hedge", "after": "400ms" }, { "use": "timeout", "after": "2s" }],"#,
            ]
            let windows = [
                #""fresh": "1m""#, #""fresh": "1m", "onError": "1h""#, #""fresh": "0s", "onError": "10m""#,
                #""fresh": "10m", "whileRevalidating": "5m", "onError": "20m", "jitter": "20%""#,
            ]
            let stores = [#""memory""#, #"{ "use": "file", "limit": "500ms" }"#]
            return """
                { "resource": "prices", "origin": { "use": "sample", "payload": "catalog" },
                  \(pick(wrappers)) "strategy": \(pick(strategies)),
                  "validators": [{ "use": "age", \(pick(windows)) }], "store": \(pick(stores)),
                  "promises": \(promises) }
                """
        }

        mutating func promises() -> String {
            let ages = ["0s", "1m", "11m", "30m", "61m", "2h"]
            let waits = ["300ms", "1s", "2s", "2500ms", "3s", "5s"]
            return """
                { "neverOlderThan": "\(pick(ages))", "waits": "\(pick(waits))", "waitsAtMost": "\(pick(waits))",
                  "callsPerLoad": \(pick([1, 2, 3])) }
                """
        }

        /// A random situation whose times are not chosen for any border.
        mutating func situation() -> Situation {
            var situation = Situation()
            func time(_ most: Int) -> Duration { .milliseconds(random.roll(most)) }
            if random.roll(4) > 0 {
                situation.copy = Situation.Copy(age: time(pick([120_000, 1_000_000, 5_000_000])))
                situation.copy?.spread = random.chance()
            }
            let endings: [Situation.OriginAct.Ending] = [
                .value, .value, .unchanged, .status(503), .unreachable, .status(404), .hangs,
                .status(503, retryAfter: time(5_000)),
            ]
            situation.origin = (0...random.roll(3)).map { _ in
                Situation.OriginAct(pick(endings), after: pick([.zero, time(400), time(4_000)]), calls: 1)
            }
            situation.chance = random.chance()
            if random.roll(4) == 0 { situation.mode = pick([.refresh, .cachedOnly]) }
            if random.roll(4) == 0 { situation.network = pick([.online, .offline]) }
            if random.roll(4) == 0 { situation.deadline = time(4_000) + .milliseconds(1) }
            if random.roll(3) == 0 {
                let fault = pick([FaultyStore.Fault.fails, .takes(time(490)), .hangs])
                situation.stores = [Situation.StoreFault(pick([.reads, .changes]), fault)]
            }
            return situation
        }
    }

    @Test(arguments: 1...(isSlow ? 500 : 2)) func provedPromiseIsNotBrokenByAnyHistory(_ seed: UInt64) throws {
        var draw = Draw(seed)
        let promises = draw.promises()
        let folder = try ProveCommandTests.folder("", policy: draw.policy(promises))
        let proof = try PromiseProof(of: "prices", in: folder.url)
        #expect(proof.gaps.isEmpty)
        let proved = Dictionary(uniqueKeysWithValues: proof.verdicts.filter(\.isProved).map { ($0.promise, $0.limit) })
        let player = try SituationPlayer(of: "prices", in: folder.url)
        for _ in 0..<(Self.isSlow ? 10_000 : 150) {
            let situation = draw.situation()
            let seen = try player.play(situation)
            if case .time(let limit)? = proved["neverOlderThan"], seen.isAnswered {
                let age = try #require(seen.age)
                #expect(age <= limit, "\(seed): \(situation.inWords): \(age)")
            }
            if case .time(let limit)? = proved["waitsAtMost"] {
                #expect(seen.waited.map { $0 <= limit } == true, "\(seed): \(situation.inWords): \(seen)")
            }
            if case .calls(let limit)? = proved["callsPerLoad"] {
                #expect(seen.calls <= limit, "\(seed): \(situation.inWords): \(seen.calls)")
            }
        }
    }

    @Test(arguments: 1...(isSlow ? 500 : 2)) func refutationsReplayAndHoldWhenLoosened(_ seed: UInt64) async throws {
        var draw = Draw(seed + 10_000)
        let promises = draw.promises()
        let folder = try ProveCommandTests.folder("", policy: draw.policy(promises))
        let proof = try PromiseProof(of: "prices", in: folder.url)
        let refuted = proof.verdicts.filter { !$0.isProved }
        for (name, isLoosened) in [("Broken", false), ("Loosened", true)] {
            let scenarios = refuted.compactMap { verdict in
                (isLoosened ? verdict.refutation?.needed : verdict.limit).flatMap {
                    proof.scenario(of: verdict, promising: $0)
                }
            }
            if scenarios.isEmpty { continue }
            let file: JSON = ["resource": "prices", "scenarios": .list(scenarios)]
            try FileManager.default.createDirectory(
                at: folder.url.appending(path: name), withIntermediateDirectories: true)
            try folder.write(file.text(), to: "\(name)/prices.json")
            let output = await Output(["test", "--policies", folder.path, folder.path + "/" + name])
            let sum = isLoosened ? "\(scenarios.count) passed, 0 failed" : "0 passed, \(scenarios.count) failed"
            #expect(output.out.hasSuffix(": \(sum)\n"), "\(seed): \(output.out)")
        }
    }

    /// Changes that make a policy show older copies, wait longer or call more often.
    private static let changes: [(promise: String, least: String, old: String, new: String)] = [
        ("neverOlderThan", #""0s""#, #""onError": "6h""#, #""onError": "7h""#),
        ("neverOlderThan", #""0s""#, #""fresh": "5m""#, #""fresh": "6m""#),
        ("neverOlderThan", #""0s""#, #""onError": "6h""#, #""onError": "6h", "whileRevalidating": "361m""#),
        ("waits", #""900ms""#, #""patience": "1s""#, #""patience": "1001ms""#),
        ("waitsAtMost", #""0s""#, #""after": "2s""#, #""after": "2001ms""#),
        ("waitsAtMost", #""0s""#, #""retries": 1"#, #""retries": 2"#),
        ("callsPerLoad", "0", #""retries": 1"#, #""retries": 2"#),
    ]

    @Test(arguments: changes.indices) func promiseThatAChangedSettingBreaksIsRefuted(_ number: Int) throws {
        let change = Self.changes[number]
        func proof(_ limit: String, _ policy: String) throws -> PromiseProof {
            let folder = try ProveCommandTests.folder("{ \"\(change.promise)\": \(limit) }", policy: policy)
            return try PromiseProof(of: "prices", in: folder.url)
        }
        let policy = ProveCommandTests.small
        // The limit that a refutation names. That of 'waits' also counts copies that expire while a load waits.
        let needed =
            try change.promise == "waits"
            ? .time(.seconds(1)) : #require(proof(change.least, policy).verdicts.first?.refutation?.needed)
        let limit =
            switch needed {
            case .time(let time): "\"\(time.spelled)\""
            case .calls(let calls): "\(calls)"
            }
        let kept = try proof(limit, policy)
        #expect(kept.isProved, "\(kept)")
        let changed = policy.replacing(change.old, with: change.new)
        #expect(changed != policy)
        let broken = try proof(limit, changed)
        #expect(!broken.isProved, "\(broken)")
    }
}
