import LarderFoundation
import LarderSystem
import Testing

@testable import LarderCore

/// The rules between parts know plugins by their traits: what they say of one holds for anybody's.
@Suite struct LintRuleTests {
    private struct Lenient: Validator {}

    private struct Forgetful: Eviction {
        mutating func inserted(_ place: Int, hash: Int, weight: Int) {}
        mutating func used(_ place: Int) {}
        mutating func removed(_ place: Int) {}
        mutating func evict() -> Int? { nil }
    }

    private static let base: [Plugin] = [
        .origin("remote", "Far away.") { _ in UnusedSide() },
        .strategy("plain", "Asks, and keeps.") { $0.live },
        .validator(
            "week", "Shows copies for a week.",
            traits: { .with { $0.showsStaleFor = .seconds(7 * 86_400) } }
        ) { _ in Lenient() },
        .store("disk", "Keeps.", traits: { .with { ($0.isForeign, $0.writesTo) = (true, "disk") } }) { _ in
            EmptyStore()
        },
        .store(
            "shelves", "Keeps, and forgets.", Setting("eviction", .part(.eviction), help: "What it forgets"),
            traits: { _ in .with { $0.isForeign = true } }
        ) { _, _ in EmptyStore() },
        .eviction("none", "Forgets nothing.") { Forgetful() },
        .store(
            "pile", "Keeps in several.", Setting("layers", .list(of: .part(.store)), help: "The stores"),
            traits: { _ in .with { $0.isForeign = true } }
        ) { _, _ in EmptyStore() },
    ]

    /// The problems of a policy whose plugins are these and the ones above.
    private static func problems(_ members: String, _ plugins: [Plugin] = []) throws -> [String] {
        let folder = try Folder()
        try folder.write(
            "{ \"resource\": \"feed\", \"origin\": \"remote\", \"strategy\": \"plain\", \(members) }", to: "feed.json")
        let reader = PolicyReader(
            registry: try Registry(base + plugins), folder: folder.path, environment: [:])
        return reader.check("feed.json").problems.compactMap { problem in
            problem.rule.map { "\($0): expected \(problem.expected ?? "nothing") [\(problem.path)]" }
        }
    }

    @Test func advisedPluginsAreThoseOfTheRegistryThatHaveTheTrait() throws {
        let plugins: [Plugin] = [
            .wrapper(
                "fuse", "Ends calls.", Setting("seconds", .int(1...60), help: "When"),
                traits: { seconds in .with { $0.givesUpAfter = .seconds(seconds) } }
            ) { _, inner, _ in inner },
            .wrapper("polite", "Says please.") { $1 },
            .validator("seal", "Seals.", traits: { .with { $0.noticesDamage = true } }) { _ in Lenient() },
        ]
        let members = #""validators": ["week"], "store": { "use": "disk", "limit": "2s" }"#
        #expect(
            try Self.problems(members, plugins) == [
                "endless-call: expected a wrapper that does, such as 'fuse' [$.origin]",
                "stale-unchecked: expected a validator that does, such as 'seal' [$.validators[0]]",
            ])
        #expect(
            try Self.problems(members) == [
                "endless-call: expected a wrapper that does [$.origin]",
                "stale-unchecked: expected a validator that does [$.validators[0]]",
            ])
    }

    @Test func storeWithoutLimitIsToldOfAlsoIfItNamesItsEviction() throws {
        let store = #"{ "use": "shelves", "eviction": "none" }"#
        let warning = "endless-store: expected a 'limit'"
        let plain = try Self.problems(#""store": \#(store)"#).filter { $0.hasPrefix("endless-store") }
        #expect(plain == ["\(warning) [$.store]"])
        let deep = #"{ "use": "pile", "layers": [{ "use": "pile", "limit": "1s", "layers": ["disk"] }, \#(store)] }"#
        let nested = try Self.problems(#""store": \#(deep)"#).filter { $0.hasPrefix("endless-store") }
        #expect(nested == ["\(warning) [$.store.layers[1]]"])
    }

    @Test func problemsOfNestedStoresStandWhereTheStoresDo() throws {
        let problems = try Self.problems(
            #""store": { "use": "pile", "layers": ["disk", { "use": "pile", "layers": ["disk"] }] }"#)
        #expect(
            problems.dropFirst() == [
                "endless-store: expected a 'limit' [$.store.layers[0]]",
                "shared-folder: expected a name of its own [$.store.layers[1].layers[0]]",
            ])
    }

    @Test func storesWhosePlacesDifferOnlyInCaseAreToldOf() throws {
        let other = Plugin.store("Disk", "Keeps.", traits: { .with { ($0.isForeign, $0.writesTo) = (true, "Disk") } }) {
            _ in EmptyStore()
        }
        let problems = try Self.problems(#""store": { "use": "pile", "layers": ["disk", "Disk"] }"#, [other])
        #expect(problems.contains("similar-folder: expected a name of its own [$.store.layers[1]]"))
    }

    @Test func windowsBesideThoseOfTheServerAreToldOf() throws {
        let plugins: [Plugin] = [
            .validator("server", "Asks the server.", traits: { .with { $0.followsOrigin = true } }) { _ in
                Lenient()
            },
            .validator("day", "Shows for a day.", traits: { .with { $0.showsFor = .seconds(86_400) } }) { _ in
                Lenient()
            },
            .validator("plain", "Checks nothing.") { _ in Lenient() },
        ]
        func found(_ validators: String) throws -> [String] {
            try Self.problems("\"validators\": \(validators)", plugins).filter { $0.hasPrefix("only-shortens") }
        }
        let warning = "only-shortens: expected its windows as settings of 'server'"
        #expect(try found(#"["server", "day", "plain"]"#) == ["\(warning) [$.validators[1]]"])
        #expect(try found(#"["day", "server"]"#) == ["\(warning) [$.validators[0]]"])
        #expect(try found(#"["server", "plain"]"#) == [] && found(#"["day"]"#) == [])
    }

    // MARK: Sections that load by themselves

    private static let loading: [Plugin] = [
        .origin("items", "Needs an id.", traits: { .with { $0.requiredParameters = ["id"] } }) { _ in
            UnusedSide()
        },
        .section(
            "dawn", "Loads at dawn.", Setting("requests", .list(of: .text), help: "The ids"),
            traits: { ids in .with { $0.requests = ids.map { $0 == "-" ? [:] : ["id": $0] } } }
        ) { _, _ in Dawn() },
    ]

    private struct Dawn: LarderCore.Attachment {}

    /// The problems of a policy with this section that these rules find.
    private static func found(_ members: String) throws -> [Problem] {
        let folder = try Folder()
        try folder.write(
            #"{ "resource": "feed", "origin": "items", "strategy": "plain", \#(members) }"#, to: "feed.json")
        let reader = PolicyReader(registry: try Registry(base + loading), folder: folder.path, environment: [:])
        return reader.check("feed.json").problems.filter { ["missing-parameter", "loads-in-vain"].contains($0.rule) }
    }

    private static let store = #""store": { "use": "disk", "limit": "2s" }, "#

    @Test func sectionThatLoadsWithoutANeededParameterIsAnError() throws {
        #expect(try Self.found(Self.store + #""dawn": { "requests": ["1", "2"] }"#).isEmpty)
        let found = try Self.found(Self.store + #""dawn": { "requests": ["1", "-", "-"] }"#)
        #expect(
            found.map { "\($0.severity): \($0.message) [\($0.path)]" } == [
                "error: section 'dawn' loads a request without the parameter 'id', which origin 'items' needs "
                    + "[$.dawn.requests]"
            ])
    }

    @Test func sectionThatLoadsInVainIsAWarning() throws {
        let found = try Self.found(#""dawn": { "requests": ["1"] }"#)
        #expect(
            found.map { "\($0.severity): \($0.message) [\($0.path)]" } == [
                "warning: section 'dawn' loads answers that are not kept [$.dawn]"
            ])
    }
}
