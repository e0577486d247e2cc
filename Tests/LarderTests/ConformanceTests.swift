import Larder
import LarderSimulation
import Testing

/// Every standard plugin keeps the promises of its kind.
@Suite struct ConformanceTests {
    /// A plugin as it is put to the test.
    struct Candidate: Sendable, CustomTestStringConvertible {
        var plugin: Plugin
        var settings: JSON

        var testDescription: String { "\(plugin.name) \(settings.text(indented: false))" }
    }

    /// The settings each plugin is tried with; one that is not listed, with its defaults.
    private static let settings: [String: [JSON]] = [
        "strategy network-first": [[:], ["patience": "800ms"]],
        "strategy cache-first": [[:], ["patience": "800ms"], ["refreshAhead": "10%"]],
        "strategy stale-while-revalidate": [[:], ["patience": "800ms", "refreshAhead": "10%"]],
        "wrapper timeout": [["after": "8s"], ["after": "1ms"]],
        "wrapper retry": [[:], ["retries": 1, "jitter": "50%"]],
        "wrapper breaker": [[:], ["failures": 1, "rest": "10s"]],
        "wrapper limit": [[:], ["concurrent": 2], ["perSecond": 5], ["concurrent": 1, "perSecond": 1, "queue": 0]],
        "wrapper hedge": [["after": "1s"], ["after": "1ms"]],
        "store memory": [[:], ["capacity": "4KB"], ["entries": 3], ["capacity": "200B"], ["limit": "1s"]],
        "store file": [[:], ["capacity": "4KB"], ["maxAge": "1h"], ["maxAge": "1ms"], ["limit": "1s"]],
        "store tiered": [
            ["tiers": ["memory", "file"]], ["tiers": ["memory"]],
            ["tiers": [["use": "memory", "entries": 2], "file"]],
            ["tiers": [["use": "memory", "capacity": "2KB"], ["use": "file", "capacity": "9KB"]]],
            ["tiers": ["memory", ["use": "file", "maxAge": "1h", "limit": "1s"]], "limit": "2s"],
            ["tiers": ["none", "memory", ["use": "file", "directory": "a"], ["use": "file", "directory": "b"]]],
        ],
    ]

    private static func candidates(_ kind: PluginKind) -> [Candidate] {
        Registry.standard[kind].flatMap { plugin in
            (settings["\(kind) \(plugin.name)"] ?? [[:]]).map { Candidate(plugin: plugin, settings: $0) }
        }
    }

    @Test(arguments: candidates(.strategy)) func strategy(_ candidate: Candidate) {
        #expect(StrategyConformance(candidate.plugin, candidate.settings).brokenPromises() == [])
    }

    @Test(arguments: candidates(.wrapper)) func wrapper(_ candidate: Candidate) {
        #expect(WrapperConformance(candidate.plugin, candidate.settings).brokenPromises() == [])
    }

    @Test(arguments: candidates(.store)) func store(_ candidate: Candidate) {
        #expect(StoreConformance(candidate.plugin, candidate.settings).brokenPromises() == [])
    }
}
