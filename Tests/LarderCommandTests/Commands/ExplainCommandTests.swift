import LarderFoundation
import Testing

import Larder
@testable import LarderSystem
@testable import LarderCore
@testable import LarderPlugins
@testable import LarderCommand

@Suite struct ExplainCommandTests {
    private static func explain(_ folder: Folder, _ arguments: String..., environment: [String: String] = [:]) async
        -> Output
    {
        await Output(["explain"] + arguments + ["--policies", folder.path], environment: environment)
    }

    @Test func treeShowsGraphAndSettingsFollow() async throws {
        let folder = try Folder()
        try folder.write(
            """
            { "resource": "feed",
              "origin": { "use": "sample", "payload": "feed" },
              "around": [ { "use": "timeout", "after": "4s" } ],
              "strategy": { "use": "network-first", "patience": "800ms" },
              "validators": [ { "use": "age", "fresh": "0s" }, "checksum" ],
              "store": { "use": "memory", "limit": "2s", "capacity": "5MB", "eviction": "lru" },
              "fallbacks": [ { "use": "file", "path": "Seeds/feed.json" } ] }
            """, to: "feed.json")
        try FileManager.default.createDirectory(
            at: folder.url.appending(path: "Seeds"), withIntermediateDirectories: true)
        try folder.write("{}", to: "Seeds/feed.json")
        let output = await Self.explain(folder, "feed")
        #expect(output.code == 0)
        #expect(output.err.isEmpty)
        let lines = output.out.replacing(folder.path + "/", with: "").split(
            separator: "\n", omittingEmptySubsequences: false)
        #expect(lines[0].hasPrefix("feed  (revision "))
        #expect(
            lines.dropFirst().joined(separator: "\n") == """
                └─ measured
                   └─ fallback  (in order)
                      ├─ network-first  (patience 800ms)
                      │  ├─ live: shared  (one flight for each key)
                      │  │  └─ saving  (to memory)
                      │  │     └─ decoding  (admitted by age ∧ checksum)
                      │  │        └─ timeout  (after 4s)
                      │  │           └─ measured  (each call)
                      │  │              └─ sample  (payload feed)
                      │  └─ cached: lookup  (permitted by age ∧ checksum)
                      │     └─ memory  (limit 2s, capacity 5MB, eviction lru)
                      │        └─ lru
                      └─ fallback: decoding  (admitted by age ∧ checksum)
                         └─ file  (path Seeds/feed.json)

                network-first  rest               "5s"               default
                network-first  offline            "cache"            default
                network-first  patience           "800ms"            feed.json:4
                network-first  background         "1m"               default
                age            fresh              "0s"               feed.json:5
                age            whileRevalidating  "0s"               default
                age            onError            "0s"               default
                age            jitter             0                  default
                timeout        after              "4s"               feed.json:3
                sample         payload            "feed"             feed.json:2
                sample         seed               1                  default
                sample         changes            "10m"              default
                sample         latency            "80ms"             default
                sample         slowest            "400ms"            default
                sample         failures           0                  default
                sample         outages            []                 default
                memory         limit              "2s"               feed.json:6
                memory         capacity           "5MB"              feed.json:6
                memory         entries            none               default
                memory         forgetAfter        "forever"          default
                memory         eviction           "lru"              feed.json:6
                file           path               "Seeds/feed.json"  feed.json:7
                file           contentType        none               default

                source sample: payload "feed", seed 1
                hits awaited, because 'network-first' states no rule for hits

                """)
    }

    @Test(arguments: [
        (#""strategy": "cache-first", "store": "memory""#, "a fresh copy in memory is shown at once, past all loaders"),
        (
            #""strategy": "stale-while-revalidate", "store": { "use": "tiered", "tiers": ["memory", "file"] }"#,
            "a fresh copy in memory is shown at once, past all loaders"
        ),
        (
            #""strategy": "cache-first", "store": { "use": "tiered", "tiers": ["file", "memory"] }"#,
            "awaited, because the first tier is not in memory"
        ),
        (
            #""strategy": "race", "store": "memory""#,
            "a fresh copy in memory is shown at once, past all loaders, and each is refreshed in the background"
        ),
        (#""strategy": "cache-first", "store": "file""#, "awaited, because no store keeps copies in memory"),
        (#""strategy": "network-only""#, "awaited, because 'network-only' uses no copies"),
        (
            #""strategy": "network-first", "store": "file""#,
            "awaited, because 'network-first' states no rule for hits, and no store keeps copies in memory"
        ),
        (
            #""strategy": "own-order", "store": "memory""#,
            "not known: strategy 'own-order' is only assumed: its code is not in this program"
        ),
    ])
    func hitsAreShownAtOnceOrTheReasonIsTold(_ members: String, _ told: String) async throws {
        let folder = try Folder()
        try folder.write(
            #"{ "resource": "feed", "origin": { "use": "constant", "value": 1 }, \#(members) }"#, to: "feed.json")
        let output = await Self.explain(folder, "feed", "--assume", "strategy:own-order")
        let line = output.out.split(separator: "\n").first { $0.hasPrefix("hits ") }
        #expect(line.map { $0.dropFirst("hits ".count) } == told[...], "\(output)")
    }

    @Test func absentOptionalSettingsAreShownAsNone() async throws {
        let folder = try Folder()
        try folder.write(
            """
            { "resource": "feed", "origin": { "use": "mirrors", "origins": ["slow", { "use": "constant", "value": 1 }] },
              "strategy": "cache-first", "store": { "use": "tiered", "tiers": ["memory", "file"] } }
            """, to: "feed.json")
        let output = await Self.explain(folder, "feed", "--assume", "origin:slow")
        let rows = output.out.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
        for store in ["tiered", "memory", "file"] { #expect(rows.contains("\(store) limit none default")) }
        #expect(rows.contains("cache-first patience none default") && rows.contains("cache-first rest \"5s\" default"))
        // The parts of an origin are explained, too.
        #expect(rows.contains("constant value 1 \(folder.path)/feed.json:1"))
    }

    @Test func partThatIsLeftOutIsShownAsTheDefault() async throws {
        let folder = try Folder()
        let stores = #"{ "use": "tiered", "tiers": ["memory", { "use": "file", "eviction": "lru" }] }"#
        try folder.write(
            #"{ "resource": "feed", "strategy": "cache-only", "store": \#(stores) }"#, to: "feed.json")
        let output = await Self.explain(folder, "feed").out
        #expect(
            output.contains(
                """
                ─ tiered
                            ├─ memory
                            │  └─ adaptive  (default)
                            └─ file  (eviction lru)
                               └─ lru

                """))
        let rows = output.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
        #expect(rows.contains(#"memory eviction "adaptive" default"#))
        let json = await Self.explain(folder, "feed", "--json").out
        #expect(try Facts(json).text.contains(#"{"name":"adaptive","note":"default""#))
    }

    @Test func jsonHoldsTheRevisionAndTheValuesAsTheyAreWritten() async throws {
        let folder = try Folder()
        let tags = #"{ "use": "constant", "value": { "a": ["1", 2] } }"#
        try folder.write(
            """
            { "resource": "feed", "origin": \(tags), "around": [{ "use": "retry", "retries": 3 }],
              "strategy": "network-first", "store": { "use": "memory", "capacity": "5MB" } }
            """, to: "feed.json")
        let facts = try Facts(await Self.explain(folder, "feed", "--json").out)
        #expect(facts["name"].string == "feed")
        let policy = PolicyReader(registry: .standard, folder: folder.path, environment: [:]).check("feed.json").policy
        #expect(facts["revision"].string == policy?.revision && policy != nil)
        func settings(_ facts: Facts) -> [String] {
            let own = facts["settings"].items.map { setting in
                "\(facts["name"].string ?? "") \(setting["name"].string ?? "") \(setting["value"].text)"
            }
            return own + facts["children"].items.flatMap(settings)
        }
        let all = settings(facts)
        for expected in [
            #"constant value {"a":["1",2]}"#, "retry retries 3", #"network-first rest "5s""#,
            "network-first patience null", #"memory capacity "5MB""#, "memory entries null",
            #"memory eviction "adaptive""#,
        ] {
            #expect(all.contains(expected), "\(expected)")
        }
    }

    @Test(arguments: ["feed", "images", "catalog"]) func jsonAndMermaidContainNamesOfTree(_ name: String)
        async throws
    {
        let folder = try Folder.withPolicies()
        let tree = await Self.explain(folder, name)
        let names = tree.out.split(separator: "\n\n")[0].split(separator: "\n").map { line in
            String(line.drop { " │├└─".contains($0) }.split(separator: "  ")[0])
        }
        func titles(_ facts: Facts) -> [String] {
            let title = (facts["role"].string.map { "\($0): " } ?? "") + (facts["name"].string ?? "")
            return [title] + facts["children"].items.flatMap(titles)
        }
        #expect(titles(try Facts(await Self.explain(folder, name, "--format", "json").out)) == names)
        let mermaid = await Self.explain(folder, name, "--format=mermaid").out.split(separator: "\n")
        #expect(mermaid.first == "graph TD")
        let boxes = mermaid.filter { $0.contains("[\"") }
        #expect(boxes.map { $0.split(separator: "\"").dropFirst().first.map(String.init) } == names)
        #expect(mermaid.filter { $0.contains(" --> ") }.count == names.count - 1)
    }

    @Test func effectivePolicyEqualsPolicy() async throws {
        let folder = try Folder.withPolicies()
        let output = await Self.explain(folder, "catalog", "--effective")
        #expect(
            try Facts(output.out).members.keys.sorted() == Facts(folder.text(of: "catalog.json")).members.keys.sorted())
        let before = await Self.explain(folder, "catalog").out.split(separator: "\n")[0]
        try folder.write(output.out, to: "catalog.json")
        #expect(await Self.explain(folder, "catalog").out.split(separator: "\n")[0] == before)
    }

    @Test func warningsAccompanyGraphAndErrorsReplaceIt() async throws {
        let folder = try Folder.withPolicies()
        try folder.edit("feed.json", "network-first", "network-only")
        let warned = await Self.explain(folder, "feed")
        #expect(warned.code == 0)
        #expect(warned.err.split(separator: "\n").count == 2)
        #expect(!warned.out.contains("cached: ") && !warned.out.contains("saving"))
        // The pantry opens nevertheless.
        #expect(
            warned.out.contains("\n├─ store: tiered  (not used by the strategy; clearings reach it)\n│  ├─ memory  ("))
        try folder.edit("feed.json", "network-only", "network-onli")
        let broken = await Self.explain(folder, "feed")
        #expect(broken.code == 1)
        #expect(broken.out.isEmpty)
        #expect(broken.err.hasPrefix("\(folder.path)/feed.json:10:24: error: unknown strategy 'network-onli'"))
        #expect(await Self.explain(folder, "images").code == 0)
    }

    @Test func unknownResourceIsFailureThatListsKnownResources() async throws {
        for name in ["fee", "feed.json", "_base", "../feed", ""] {
            let output = await Self.explain(try Folder.withPolicies(), name)
            #expect(output.code == 1)
            #expect(output.err == "larder: no such resource; there are: catalog, feed, images\n")
        }
        let output = await Output(["explain", "feed", "--policies", "/nowhere"])
        #expect(output.code == 1)
        #expect(output.err.hasPrefix("/nowhere: error: the folder of policies cannot be read"))
    }

    @Test func pathOfPolicySelectsResourceAndFolder() async throws {
        let folder = try Folder.withPolicies()
        let output = await Output(["explain", folder.path + "/feed.json"])
        let named = await Self.explain(folder, "feed")
        #expect(output.code == 0 && output.out == named.out)
        let both = await Self.explain(folder, folder.path + "/feed.json")
        #expect(both.code == 2)
        #expect(both.err.hasPrefix("larder: the path of a policy and --policies exclude each other\n"))
    }

    @Test(arguments: [
        (["explain"], "explain takes one RESOURCE"), (["explain", "a", "b"], "explain takes one RESOURCE"),
        (["explain", "a", "--format", "dot"], "--format takes one of tree, mermaid, json"),
    ])
    func usageErrorExitsWithTwo(_ arguments: [String], _ message: String) async {
        let output = await Output(arguments)
        #expect(output.code == 2)
        #expect(output.err.hasPrefix("larder: \(message)\n"))
    }

    @Test(arguments: [[], ["--effective"], ["--json"], ["--format", "mermaid"]])
    func secretsInAPolicyAreNotPrinted(_ format: [String]) async throws {
        let folder = try Folder()
        try folder.write(
            """
            { "resource": "feed", "strategy": "network-only",
              "origin": { "use": "http", "url": "https://a.example/x?sig=s3cret",
                          "fields": { "Authorization": "Bearer s3cret", "Accept-Language": "en" } } }
            """, to: "feed.json")
        let output = await Output(["explain", "feed", "--policies", folder.path] + format)
        #expect(output.code == 0 && !"\(output)".contains("s3cret"), "\(output)")
        #expect(output.err.contains("the value of the field 'authorization' is a secret"), "\(output.err)")
        #expect(format.contains("mermaid") || output.out.contains(#""•••""#), "\(output.out)")
    }
}
