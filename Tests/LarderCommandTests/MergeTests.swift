import LarderFoundation
import Testing

import Larder
@testable import LarderSystem
@testable import LarderCore
@testable import LarderPlugins
@testable import LarderCommand

/// The settings in effect of a policy that extends another.
@Suite struct MergeTests {
    /// Returns the effective `feed.json` in a folder with the files that it extends.
    private static func effective(_ own: String, _ bases: [String: String]) async throws -> Facts {
        let folder = try folder(own, bases)
        let output = await Output(["explain", "feed", "--effective", "--policies", folder.path])
        #expect(output.code == 0, "\(output.err)")
        return try Facts(output.out)
    }

    private static func folder(_ own: String, _ bases: [String: String]) throws -> Folder {
        let folder = try Folder()
        try folder.write(own, to: "feed.json")
        for (name, text) in bases { try folder.write(text, to: name) }
        return folder
    }

    private static let base = """
        {
          "origin": { "use": "sample", "payload": "feed", "latency": "1s" },
          "around": [ { "use": "timeout", "after": "40s" }, "retry" ],
          "strategy": { "use": "network-first", "patience": "800ms" },
          "validators": [ "checksum" ],
          "store": { "use": "tiered", "tiers": [ "memory", "file" ] }
        }
        """

    /// Returns the value of one key after one line was merged over the base, as JSON in the order of names.
    @Test(arguments: [
        (
            "objects merge deep", #""strategy": { "background": "5s" }"#, "strategy",
            #"{"background":"5s","patience":"800ms","use":"network-first"}"#
        ),
        (
            "a setting over a setting", #""origin": { "payload": "image" }"#, "origin",
            #"{"latency":"1s","payload":"image","use":"sample"}"#
        ),
        (
            "the same use merges", #""strategy": { "use": "network-first", "background": "5s" }"#, "strategy",
            #"{"background":"5s","patience":"800ms","use":"network-first"}"#
        ),
        (
            "another use replaces whole", #""strategy": { "use": "cache-first", "background": "5s" }"#, "strategy",
            #"{"background":"5s","use":"cache-first"}"#
        ),
        ("another bare name replaces whole", #""strategy": "cache-first""#, "strategy", #""cache-first""#),
        (
            "the same bare name changes nothing", #""strategy": "network-first""#, "strategy",
            #"{"patience":"800ms","use":"network-first"}"#
        ),
        ("null removes a setting", #""origin": { "latency": null }"#, "origin", #"{"payload":"feed","use":"sample"}"#),
        ("null removes a part", #""store": null"#, "store", "null"),
        ("null removes a list", #""around": null"#, "around", "null"),
        ("null where nothing stands removes nothing", #""fallbacks": null"#, "fallbacks", "null"),
        (
            "a list replaces whole", #""around": [ { "use": "timeout", "after": "90s" } ]"#, "around",
            #"[{"after":"90s","use":"timeout"}]"#
        ),
        ("an empty list replaces whole", #""validators": []"#, "validators", "[]"),
        (
            "a list within an object replaces whole", #""store": { "tiers": [ "memory" ] }"#, "store",
            #"{"tiers":["memory"],"use":"tiered"}"#
        ),
        ("a new key is added", #""about": "mine""#, "about", #""mine""#),
        ("nothing is left of extends", #""about": "mine""#, "extends", "null"),
    ])
    func oneLineOverTheBase(_ rule: String, _ line: String, _ key: String, _ expected: String) async throws {
        let own = #"{ "extends": "_base.json", "resource": "feed", \#(line) }"#
        let effective = try await Self.effective(own, ["_base.json": Self.base])
        #expect(effective[key].text == expected, "\(rule)")
    }

    @Test func bareNameInBaseMergesAsObjectWithUse() async throws {
        let base = Self.base.replacing(#"{ "use": "network-first", "patience": "800ms" }"#, with: #""network-first""#)
        func strategy(_ text: String) async throws -> String {
            let own = #"{ "extends": "_base.json", "resource": "feed", "strategy": \#(text) }"#
            return try await Self.effective(own, ["_base.json": base])["strategy"].text
        }
        #expect(try await strategy(#"{ "patience": "1s" }"#) == #"{"patience":"1s","use":"network-first"}"#)
        #expect(
            try await strategy(#"{ "use": "cache-first", "patience": "1s" }"#)
                == #"{"patience":"1s","use":"cache-first"}"#)
    }

    @Test func plainValueIsNotMergedAsPluginName() async throws {
        // A payload is not treated as a plugin, even if it looks like one.
        let base = #"{ "origin": { "use": "constant", "value": "hello" }, "strategy": "network-only" }"#
        let own = #"{ "extends": "_base.json", "resource": "feed", "origin": { "value": { "a": 1 } } }"#
        #expect(
            try await Self.effective(own, ["_base.json": base])["origin"].text == #"{"use":"constant","value":{"a":1}}"#
        )
    }

    @Test func nearestFileOfChainWins() async throws {
        let effective = try await Self.effective(
            #"{ "extends": "_b.json", "resource": "feed", "strategy": { "background": "3s" } }"#,
            [
                "_b.json":
                    #"{ "extends": "_a.json", "about": "b", "strategy": { "background": "2s", "patience": "2s" } }"#,
                "_a.json": """
                { "about": "a", "origin": { "use": "constant", "value": 1 }, "store": "memory",
                  "strategy": { "use": "cache-first", "patience": "1s", "background": "1s" } }
                """,
            ])
        #expect(effective["strategy"].text == #"{"background":"3s","patience":"2s","use":"cache-first"}"#)
        #expect(effective["about"].string == "b")
        #expect(effective["store"].string == "memory")
    }

    @Test func keyRemovedInMiddleOfChainStaysRemovedUntilSetAgain() async throws {
        let bases = [
            "_b.json": #"{ "extends": "_a.json", "store": null, "strategy": { "patience": null } }"#,
            "_a.json": """
            { "origin": { "use": "constant", "value": 1 }, "store": { "use": "memory", "capacity": "1MB" },
              "strategy": { "use": "cache-first", "patience": "1s" } }
            """,
        ]
        let without = try await Self.effective(#"{ "extends": "_b.json", "resource": "feed" }"#, bases)
        #expect(without["store"].text == "null")
        #expect(without["strategy"].text == #"{"use":"cache-first"}"#)
        let own = #"{ "extends": "_b.json", "resource": "feed", "store": { "use": "memory" } }"#
        #expect(try await Self.effective(own, bases)["store"].text == #"{"use":"memory"}"#)
    }

    @Test func chainHasAtMostSixteenFiles() async throws {
        func bases(_ count: Int) -> [String: String] {
            var files = [
                "_\(count).json": #"{ "origin": { "use": "constant", "value": 1 }, "strategy": "network-only" }"#
            ]
            for number in 1..<count { files["_\(number).json"] = #"{ "extends": "_\#(number + 1).json" }"# }
            return files
        }
        let own = #"{ "extends": "_1.json", "resource": "feed" }"#
        #expect(try await Self.effective(own, bases(16))["strategy"].string == "network-only")
        let folder = try Self.folder(own, bases(17))
        let output = await Output(["check", folder.path])
        #expect(output.out.hasPrefix("\(folder.path)/_16.json:1:14: error: more than 16 files extend each other"))
    }

    @Test func explainShowsFileAndLineOfEachSetting() async throws {
        let folder = try Self.folder(
            """
            { "extends": "_b.json",
              "resource": "feed",
              "strategy": { "background": "3s" },
              "origin": {
                "latency": "2s" } }
            """,
            [
                "_b.json": """
                { "extends": "_a.json",

                  "strategy": { "patience": "2s" } }
                """, "_a.json": Self.base,
            ])
        let output = await Output(["explain", "feed", "--policies", folder.path])
        let rows = output.out.split(separator: "\n").compactMap { line -> String? in
            let words = line.split(separator: " ")
            guard words.count == 4, line.first?.isLetter == true else { return nil }
            return "\(words[0]).\(words[1]) \(words[3])".replacing(folder.path + "/", with: "")
        }
        for row in [
            "network-first.patience _b.json:3", "network-first.background feed.json:3", "sample.latency feed.json:5",
            "sample.payload _a.json:2", "sample.slowest default", "timeout.after _a.json:3", "retry.retries default",
        ] {
            #expect(rows.contains(row), "\(row)")
        }
    }
}
