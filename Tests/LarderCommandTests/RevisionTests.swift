import LarderFoundation
import Testing

import Larder
@testable import LarderSystem
@testable import LarderCore
@testable import LarderPlugins

/// A policy's revision depends only on the settings in effect.
@Suite struct RevisionTests {
    private static func policy(_ text: String, _ base: String = "{}", _ environment: [String: String] = [:]) throws
        -> Policy
    {
        let reader = try PolicyReader(
            registry: .standard, texts: ["feed": text, "_base": base], files: nil, environment: environment)
        let verdict = reader.check("feed.json")
        return try #require(verdict.policy, "\(verdict.problems)")
    }

    private static let plain = """
        { "resource": "feed", "about": "x", "origin": { "use": "sample", "payload": "feed" },
          "around": [ { "use": "timeout", "after": "40s" }, "retry" ], "strategy": "cache-first",
          "store": { "use": "tiered", "tiers": [ "memory", { "use": "file", "eviction": "lru" } ] } }
        """

    @Test(arguments: [
        ("laid out differently", plain.replacing(" ", with: "\n\t"), "{}"),
        (
            "members in another order",
            #"{ "strategy": "cache-first", "#
                + plain.dropFirst(2).replacing(#" "strategy": "cache-first","#, with: ""), "{}"
        ),
        ("with a schema for the editor", #"{ "$schema": "x", "# + plain.dropFirst(2), "{}"),
        ("an object for a bare name", plain.replacing(#""cache-first""#, with: #"{ "use": "cache-first" }"#), "{}"),
        ("an object for a bare name in a list", plain.replacing(#""retry""#, with: #"{ "use": "retry" }"#), "{}"),
        ("an object for a bare name of a tier", plain.replacing(#""memory""#, with: #"{ "use": "memory" }"#), "{}"),
        ("an object for a bare name in a tier", plain.replacing(#""lru""#, with: #"{ "use": "lru" }"#), "{}"),
        ("with escapes", plain.replacing("cache-first", with: #"\u0063ache-first"#), "{}"),
        (
            "from a base", #"{ "extends": "_base.json", "resource": "feed" }"#,
            plain.replacing(#""resource": "feed","#, with: "")
        ),
        (
            "partly from a base", #"{ "extends": "_base.json", "# + plain.dropFirst(2),
            #"{ "strategy": "network-first" }"#
        ),
    ])
    func revisionIgnoresSpelling(_ way: String, _ text: String, _ base: String) throws {
        let policy = try Self.policy(text, base)
        let plain = try Self.policy(Self.plain)
        #expect(policy.revision == plain.revision, "\(way)")
        #expect(policy.isSame(as: plain), "\(way)")
        #expect(policy.fingerprint(of: [.store]) == plain.fingerprint(of: [.store]), "\(way)")
    }

    @Test(arguments: [
        ("another strategy", plain.replacing("cache-first", with: "network-first")),
        ("another setting", plain.replacing("40s", with: "50s")),
        ("a setting more", plain.replacing(#""lru""#, with: #""lru", "capacity": "1MB""#)),
        (
            "another order of wrappers",
            plain.replacing(
                #"{ "use": "timeout", "after": "40s" }, "retry""#,
                with: #""retry", { "use": "timeout", "after": "40s" }"#)
        ),
        ("another tier", plain.replacing(#""memory", "#, with: "")),
        ("another word about it", plain.replacing(#""x""#, with: #""y""#)),
    ])
    func revisionChangesWithEffect(_ change: String, _ text: String) throws {
        let policy = try Self.policy(text)
        let plain = try Self.policy(Self.plain)
        #expect(policy.revision != plain.revision, "\(change)")
        #expect(!policy.isSame(as: plain), "\(change)")
    }

    @Test func revisionHidesEnvironmentButChangesWithIt() throws {
        let text = Self.plain.replacing("40s", with: "${AFTER}")
        let one = try Self.policy(text, "{}", ["AFTER": "40s"])
        let other = try Self.policy(text, "{}", ["AFTER": "50s"])
        #expect(one.revision == other.revision)
        #expect(!one.isSame(as: other))
        #expect(one.isSame(as: try Self.policy(text, "{}", ["AFTER": "40s"])))
    }

    @Test func revisionIsTwelveHexadecimalDigits() throws {
        let revision = try Self.policy(Self.plain).revision
        #expect(revision.count == 12 && revision.allSatisfy { $0.isHexDigit && !$0.isUppercase })
    }
}
