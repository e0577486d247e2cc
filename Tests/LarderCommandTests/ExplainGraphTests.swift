import FoundationEssentials
import Testing

@testable import Larder
@testable import LarderCommand

/// What `explain` shows is what the composer makes.
@Suite struct ExplainGraphTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var resource: String
        var testDescription: String
        var text: String

        init(_ resource: String, _ text: String, as description: String? = nil) {
            self.resource = resource
            self.text = text
            testDescription = description ?? resource
        }
    }

    static let shipped = ["feed", "images", "catalog"].map { name in
        let file = projectFolder.appending(path: "Policies/\(name).json")
        return Case(name, (try? String(contentsOf: file, encoding: .utf8)) ?? "")
    }

    static let bare = Registry.standard[.strategy].map { strategy in
        Case(
            "bare",
            #"{ "resource": "bare", "origin": { "use": "file", "path": "x" }, "strategy": "\#(strategy.name)" }"#,
            as: strategy.name)
    }

    static let others = [
        Case(
            "network",
            """
            { "resource": "network", "origin": { "use": "constant", "value": 1 },
              "around": [ { "use": "timeout", "after": "9s" }, "retry", { "use": "timeout", "after": "1s" } ],
              "strategy": "network-only", "validators": [ "checksum" ] }
            """),
        Case(
            "fallen",
            """
            { "resource": "fallen", "origin": { "use": "sample", "payload": "feed" }, "strategy": "cache-first",
              "store": { "use": "memory", "limit": "1s", "eviction": "lru" },
              "fallbacks": [ { "use": "file", "path": "x" }, { "use": "constant", "value": 1 } ] }
            """),
        Case(
            "nested",
            """
            { "resource": "nested", "origin": { "use": "constant", "value": 1 }, "strategy": "cache-only",
              "store": { "use": "tiered", "limit": "1s", "tiers": [ "memory",
                { "use": "tiered", "tiers": [ { "use": "memory", "limit": "2s" }, "none" ] } ] } }
            """),
    ]

    @Test(arguments: shipped + bare + others)
    func theOutlineNamesTheLoadersAndStoresOfTheComposedGraph(_ item: Case) throws {
        let folder = try Folder()
        try folder.write(item.text, to: item.resource + ".json")
        let reader = PolicyReader(registry: .standard, folder: folder.path, environment: [:])
        let policy = try #require(reader.judge(item.resource + ".json").policy)
        let graph = try ComposedGraph(policy, cache: folder.path + "/cache")
        let shown = Shown(Outline(policy))
        #expect(shown.loaders == graph.loaders.map(ComposedGraph.name))
        #expect(shown.stores == graph.stores.map(ComposedGraph.name))
    }

    @Test func theGraphsDiffer() throws {
        // The comparison above would be worth little if it compared nothing.
        let folder = try Folder.withPolicies()
        let reader = PolicyReader(registry: .standard, folder: folder.path, environment: [:])
        let graph = try ComposedGraph(try #require(reader.judge("feed.json").policy), cache: folder.path + "/cache")
        #expect(
            graph.loaders == [
                "Measured", "Asked", "NetworkFirst", "Shared", "Saving", "Decoding", "Retry", "Timeout",
                "MeasuredOrigin", "Sample", "Lookup",
            ])
        #expect(graph.stores == ["TieredStore", "MemoryStore", "FileStore"])
    }

    /// The names in an outline, those of stores apart.
    private struct Shown {
        var loaders: [String] = []
        var stores: [String] = []

        init(_ outline: Outline) {
            for child in outline.children { add(child) }
        }

        private mutating func add(_ outline: Outline) {
            loaders.append(outline.name)
            for child in outline.children {
                if outline.name == "lookup" { addStore(child) } else { add(child) }
            }
        }

        private mutating func addStore(_ outline: Outline) {
            // What a store forgets is no store.
            if Registry.standard[.eviction, outline.name] == nil { stores.append(outline.name) }
            for child in outline.children { addStore(child) }
        }
    }
}
