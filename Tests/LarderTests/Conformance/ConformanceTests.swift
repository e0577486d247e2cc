import LarderFoundation
import Larder
import LarderSimulation
import LarderStories
import Testing

/// Every standard plugin keeps the promises of its kind.
@Suite struct ConformanceTests {
    /// A plugin with the settings of its test.
    struct Candidate: Sendable, CustomTestStringConvertible {
        var plugin: Plugin
        var settings: JSON

        var testDescription: String { "\(plugin.name) \(settings.text(indented: false))" }
    }

    /// The settings of each plugin. A plugin that is not listed is tested with its defaults.
    private static let settings: [String: [JSON]] = [
        "strategy network-first": [[:], ["patience": "800ms"]],
        "strategy cache-first": [[:], ["patience": "800ms"], ["refreshAhead": "10%"]],
        "strategy stale-while-revalidate": [[:], ["patience": "800ms", "refreshAhead": "10%"]],
        "wrapper timeout": [["after": "8s"], ["after": "1ms"]],
        "wrapper retry": [[:], ["retries": 1, "jitter": "50%"]],
        "wrapper breaker": [[:], ["failures": 1, "rest": "10s"]],
        "wrapper limit": [[:], ["concurrent": 2], ["perSecond": 5], ["concurrent": 1, "perSecond": 1, "queue": 0]],
        "wrapper hedge": [["after": "1s"], ["after": "1ms"]],
        "validator age": [
            [:], ["fresh": "5m"], ["fresh": "forever"], ["fresh": "1ms", "whileRevalidating": "1ms"],
            ["fresh": "5m", "whileRevalidating": "1h", "onError": "7d"], ["onError": "7d"],
            ["fresh": "1s", "whileRevalidating": "30d", "onError": "forever"],
            ["fresh": "100ms", "onError": "1h", "jitter": "10%"], ["fresh": "9ms", "jitter": "10%"],
            ["fresh": "7d", "jitter": "100%"],
        ],
        "validator http": [
            [:], ["fresh": "5m", "whileRevalidating": "1h", "onError": "7d"], ["onError": "forever"],
            ["fresh": "1s", "trust": "policy", "shared": true], ["heuristic": "10%"],
        ],
        "validator entry-version": [["version": 1], ["version": 99]],
        "validator content-type": [
            ["allowed": ["application/json"]], ["allowed": ["text/*", "image/png"], "unnamed": true],
        ],
        "validator max-size": [["capacity": "1B"], ["capacity": "10B"], ["capacity": "1GB"]],
        "origin constant": [["value": "a"], ["value": ["list": [1, 2]]]],
        "origin file": [["path": "Seeds/data.json", "contentType": "application/json"], ["path": "missing.json"]],
        "origin mirrors": [
            ["origins": [["use": "constant", "value": 1]]],
            ["origins": [["use": "file", "path": "missing.json"], ["use": "constant", "value": 1]]],
            [
                "origins": [
                    ["use": "sample", "payload": "feed", "failures": "90%"],
                    ["use": "sample", "payload": "feed", "failures": "50%"],
                ]
            ],
        ],
        "origin sample": [
            ["payload": "feed"], ["payload": "catalog", "failures": "50%", "changes": "1s"],
            ["payload": "image", "latency": "0s", "slowest": "30s"],
        ],
        "store memory": [[:], ["capacity": "4KB"], ["entries": 3], ["capacity": "500B"], ["limit": "1s"]],
        "store file": [[:], ["capacity": "4KB"], ["forgetAfter": "1h"], ["forgetAfter": "1ms"], ["limit": "1s"]],
        "store sqlite": [
            [:], ["capacity": "4KB"], ["entries": 3], ["forgetAfter": "1h"], ["forgetAfter": "1ms"], ["limit": "1s"],
            ["durability": "none"], ["durability": "power"], ["filesFrom": "1B"], ["checksum": "sha-256"],
        ],
        "store tiered": [
            ["tiers": ["memory", "sqlite"]],
            ["tiers": ["memory", "file"]], ["tiers": ["memory"]],
            ["tiers": [["use": "memory", "entries": 2], "file"]],
            ["tiers": [["use": "memory", "capacity": "2KB"], ["use": "file", "capacity": "9KB"]]],
            ["tiers": ["memory", ["use": "file", "forgetAfter": "1h", "limit": "1s"]], "limit": "2s"],
            ["tiers": ["none", "memory", ["use": "file", "directory": "a"], ["use": "file", "directory": "b"]]],
        ],
    ]

    /// The files beside the policy of an origin.
    private static let files = ["Seeds/data.json": "{}"]

    private static func candidates(_ kind: PluginKind) -> [Candidate] {
        // An HTTP server is outside simulated time: the origin `http` conforms in `HTTPOriginTests`.
        Registry.standard[kind].filter { kind != .origin || $0.name != "http" }.flatMap { plugin in
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

    @Test(arguments: candidates(.validator)) func validator(_ candidate: Candidate) {
        #expect(ValidatorConformance(candidate.plugin, candidate.settings).brokenPromises() == [])
    }

    @Test(arguments: candidates(.origin)) func origin(_ candidate: Candidate) {
        let suite = OriginConformance(candidate.plugin, candidate.settings, files: Self.files)
        #expect(suite.brokenPromises() == [])
    }

    @Test(arguments: candidates(.eviction)) func eviction(_ candidate: Candidate) {
        #expect(EvictionConformance(candidate.plugin, candidate.settings).brokenPromises() == [])
    }

    @Test func appsOwnOriginConforms() {
        let sound = Plugin.origin("own") { (call: Call) -> Loaded<Entry> in
            if call.request.parameters["id"] == "" { throw LoadError.answer(status: 404) }
            if call.known?.metadata.etag == "e1" { return try .unchanged(call) }
            return Loaded(Entry(Data("value".utf8), Metadata(etag: "e1")))
        }
        #expect(OriginConformance(sound).brokenPromises() == [])
        // The error may contain anything, because it is not printed.
        struct Outage: Error { var id: String? }
        let failing = Plugin.origin("own") { (call: Call) -> Data in throw Outage(id: call.request.parameters["id"]) }
        #expect(OriginConformance(failing).brokenPromises() == [])
    }
}
