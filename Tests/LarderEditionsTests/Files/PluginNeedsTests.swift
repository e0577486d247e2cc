import Larder
import LarderSystem
import Testing

@testable import LarderEditions

@Suite struct PluginNeedsTests {
    private static let policies: [String: JSON] = [
        "feed.json": [
            "resource": "feed", "extends": "_base.json",
            "origin": ["use": "mirrors", "origins": [["use": "http", "url": "https://a.example"], "sample"]],
            "around": [["use": "timeout", "after": "8s"], "breaker"],
            "validators": [["use": "age", "fresh": "5m"], "checksum"],
            "fallbacks": [["use": "constant", "value": ["use": "race"]]],
            "refresh": ["every": "15m"],
        ],
        "_base.json": [
            "strategy": ["use": "network-first"],
            "store": [
                "use": "tiered",
                "tiers": [["use": "memory", "eviction": "lru"], ["capacity": "1MB", "eviction": "adaptive"]],
            ],
        ],
    ]

    @Test func needsAreThePluginsThatPoliciesName() {
        let needs = EditionFile.needs(of: Self.policies, in: .standard)
        #expect(
            needs.keys.sorted() == [
                "eviction adaptive", "eviction lru", "origin constant", "origin http", "origin mirrors",
                "origin sample", "section refresh", "store memory", "store tiered", "strategy network-first",
                "validator age", "validator checksum", "wrapper breaker", "wrapper timeout",
            ])
        #expect(needs.values.allSatisfy(Digest.isValid))
        #expect(Set(needs.values).count == needs.count)
    }

    @Test func unknownPluginsAndThoseOfTheEnvironmentAreLeftOut() {
        let policies: [String: JSON] = ["a.json": ["strategy": "none-such", "store": ["use": "${STORE:-memory}"]]]
        #expect(EditionFile.needs(of: policies, in: .standard).isEmpty)
    }

    private static func edition(_ plugins: [String: String]) -> EditionFile {
        EditionFile(channel: "shop", number: 1, plugins: plugins, policies: [:])
    }

    @Test func appWithTheSamePluginsMeetsNeeds() {
        let needs = EditionFile.needs(of: Self.policies, in: .standard)
        #expect(Self.edition(needs).unmetNeed(in: .standard) == nil)
    }

    private static func registry(_ settings: Setting<Int>) throws -> Registry {
        var registry = Registry()
        try registry.register(.wrapper("patient", "Waits.", settings) { _, loader, _ in loader })
        return registry
    }

    private static let policy: [String: JSON] = ["a.json": ["around": [["use": "patient", "count": 1]]]]

    @Test func missingPluginIsNamed() throws {
        let needs = try EditionFile.needs(of: Self.policy, in: Self.registry(Setting("count", .int(0...5), help: "A")))
        #expect(needs.keys.sorted() == ["wrapper patient"])
        #expect(Self.edition(needs).unmetNeed(in: .standard) == "this app has no wrapper 'patient'")
    }

    @Test func otherDeclarationIsNamed() throws {
        let needs = try EditionFile.needs(of: Self.policy, in: Self.registry(Setting("count", .int(0...5), help: "A")))
        let others = [
            Setting("counts", .int(0...5), help: "A"), Setting("count", .int(0...6), help: "A"),
            Setting("count", .int(0...5), default: 1, help: "A"),
        ]
        for other in others {
            #expect(
                Self.edition(needs).unmetNeed(in: try Self.registry(other))
                    == "wrapper 'patient' has other settings in this app")
        }
    }

    @Test func otherHelpChangesNoNeed() throws {
        let needs = try EditionFile.needs(of: Self.policy, in: Self.registry(Setting("count", .int(0...5), help: "A")))
        #expect(Self.edition(needs).unmetNeed(in: try Self.registry(Setting("count", .int(0...5), help: "B"))) == nil)
    }

    @Test func pluginsOfOtherModulesChangeNoNeed() throws {
        let needs = EditionFile.needs(of: Self.policies, in: .standard)
        var registry = Registry.standard
        try registry.register(
            .wrapper("patient", "Waits.", Setting("count", .int(0...5), help: "A")) { _, loader, _ in loader })
        #expect(Self.edition(needs).unmetNeed(in: registry) == nil)
    }

    @Test func undeclaredPluginMustOnlyBeThere() throws {
        let registry = try Self.registry(Setting("count", .int(0...5), help: "A"))
        let needs = EditionFile.needs(of: Self.policy, in: registry, undeclared: ["wrapper patient"])
        #expect(needs == ["wrapper patient": "any"])
        let other = try Self.registry(Setting("other", .int(0...9), help: "A"))
        #expect(Self.edition(needs).unmetNeed(in: other) == nil)
        #expect(Self.edition(needs).unmetNeed(in: .standard) != nil)
    }
}
