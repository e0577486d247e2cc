import FoundationEssentials
import Larder
import Testing

@Suite struct BadPolicyTests {
    /// What is changed in a sound policy, and what is said about it.
    private static let table: [(String, String, [String])] = [
        (
            #"  "resource": "feed","# + "\n", "",
            [#"1:1: error: the policy does not name its resource; expected "resource": "feed""#]
        ),
        (
            #""feed""#, #""feeds""#,
            [#"2:15: error: the resource is not called like its file; expected "feed" [at $.resource]"#]
        ),
        (
            #""feed""#, "1",
            [#"2:15: error: the resource is not called like its file; expected "feed" [at $.resource]"#]
        ),
        (
            #""strategy":"#, #""stratergy":"#,
            [
                """
                1:1: error: the policy has no strategy; expected "strategy": one of \(names(.strategy))
                """,
                """
                4:3: error: unknown key 'stratergy'; expected one of '$schema', 'extends', 'resource', 'about', \
                'origin', 'around', 'strategy', 'validators', 'store', 'fallbacks' (did you mean 'strategy'?)
                """,
            ]
        ),
        (
            #"  "origin": { "use": "constant", "value": 1 },"# + "\n", "",
            ["1:1: error: the policy has no origin; expected \"origin\": one of \(names(.origin))"]
        ),
        (
            #""cache-first""#, #""cachefirst""#,
            [
                """
                4:15: error: unknown strategy 'cachefirst'; expected one of \(names(.strategy)) \
                (did you mean 'cache-first'?) [at $.strategy]
                """
            ]
        ),
        (
            #""cache-first""#, #"{ "patience": "1s" }"#,
            ["4:15: error: this object does not say which strategy to use; expected \"use\" [at $.strategy]"]
        ),
        (
            #""cache-first""#, #"{ "use": 1 }"#,
            ["4:24: error: the number 1 cannot stand here; expected the name of a strategy [at $.strategy]"]
        ),
        (
            #""cache-first""#, #"["cache-first"]"#,
            [
                """
                4:15: error: a list cannot stand here; expected a strategy: "name" or { "use": "name", … } [at $.strategy]
                """
            ]
        ),
        (
            #""cache-first""#, #"{ "use": "cache-first", "patienc": "1s" }"#,
            [
                """
                4:39: error: unknown setting 'patienc' for strategy 'cache-first'; expected one of 'patience', \
                'background', 'refreshAhead' (did you mean 'patience'?) [at $.strategy]
                """
            ]
        ),
        (
            #""cache-first""#, #"{ "use": "cache-first", "patience": 800 }"#,
            [#"4:51: error: the number 800 has no unit; expected "800ms" or "800s" [at $.strategy.patience]"#]
        ),
        (
            #""cache-first""#, #"{ "use": "cache-first", "patience": 1.5 }"#,
            [
                """
                4:51: error: the number 1.5 has no unit; expected a duration such as "250ms" or "30s" \
                [at $.strategy.patience]
                """
            ]
        ),
        (
            #""cache-first""#, #"{ "use": "cache-first", "patience": "1.5s" }"#,
            [
                #"4:51: error: this is no duration; expected a duration such as "250ms" or "30s" [at $.strategy.patience]"#
            ]
        ),
        (
            #""cache-first""#, #"{ "use": "cache-first", "background": "0s" }"#,
            ["4:53: error: 0s is out of range; expected a duration from 1ms to forever [at $.strategy.background]"]
        ),
        (
            #""cache-first""#, #"{ "use": "cache-first", "patience": null }"#,
            [
                #"4:51: error: null cannot stand here; expected a duration such as "250ms" or "30s" [at $.strategy.patience]"#
            ]
        ),
        (
            #""file""#, #"{ "use": "file", "capacity": 20 }"#,
            [#"5:41: error: the number 20 has no unit; expected "20KB" or "20MB" [at $.store.capacity]"#]
        ),
        (
            #""file""#, #"{ "use": "file", "capacity": "20mb" }"#,
            [#"5:41: error: this is no size; expected a size such as "64KB" or "20MB" [at $.store.capacity]"#]
        ),
        (
            #""file""#, #"{ "use": "file", "capacity": "99999999999GB" }"#,
            [#"5:41: error: this is no size; expected a size such as "64KB" or "20MB" [at $.store.capacity]"#]
        ),
        (
            #""file""#, #"{ "use": "file", "eviction": "lfu" }"#,
            ["5:41: error: unknown eviction 'lfu'; expected one of 'lru' (did you mean 'lru'?) [at $.store.eviction]"]
        ),
        (
            #""file""#, #"{ "use": "tiered", "tiers": ["memory", { "use": "file", "limit": 5 }] }"#,
            [#"5:77: error: the number 5 has no unit; expected "5ms" or "5s" [at $.store.tiers[1].limit]"#]
        ),
        (
            #""file""#, #"{ "use": "tiered" }"#,
            [
                "5:12: error: store 'tiered' needs the setting 'tiers'; expected a list, each item a store: \"name\" or "
                    + "{ \"use\": \"name\", … } [at $.store]"
            ]
        ),
        (
            #"{ "use": "constant", "value": 1 }"#, #""constant""#,
            ["3:13: error: origin 'constant' needs the setting 'value'; expected any JSON value [at $.origin]"]
        ),
    ]

    @Test(arguments: table)
    func aMistakeIsOneMessageWithItsPlaceAndPath(right: String, wrong: String, messages: [String]) throws {
        #expect(try Policies.problems(feed: Policies.sound.with(right, wrong)) == messages.map { "feed.json:" + $0 })
    }

    @Test(arguments: ["/etc/passwd", "..", "../secret", "a/../../b", "a/..", "a\\u0000b"])
    func aPathThatLeavesThePolicysFolderIsRefused(path: String) throws {
        let policy = Policies.sound.with(
            #"{ "use": "constant", "value": 1 }"#, #"{ "use": "file", "path": "\#(path)" }"#)
        #expect(
            try Policies.problems(feed: policy) == [
                """
                feed.json:3:38: error: the path leaves the policy's folder; expected a path below the policy's folder \
                [at $.origin.path]
                """
            ])
    }

    @Test(arguments: [
        "", ".", "..", ".hidden", "a/b", "../a", "a b", "ä", "a\\u0000", String(repeating: "a", count: 101),
    ])
    func aNameOfAFolderWrittenToIsPlain(name: String) throws {
        let policy = Policies.sound.with(#""file""#, #"{ "use": "file", "directory": "\#(name)" }"#)
        #expect(
            try Policies.problems(feed: policy) == [
                """
                feed.json:5:42: error: a string cannot stand here; expected a name of letters, digits, '.', '_' and '-' \
                [at $.store.directory]
                """
            ])
    }

    @Test func everyProblemOfEveryFileIsReportedAtOnceInTheOrderInWhichTheyStand() throws {
        let feed = """
            { "store": { "use": "file", "capacity": 1 },
              "strategy": { "use": "cache-first", "patience": "soon" },
              "resource": "food",
              "colour": "red",
              "origin": "nowhere" }
            """
        let files = ["feed.json": feed, "images.json": "[", "sound.json": Policies.sound.with("feed", "sound")]
        let messages = try Policies.problems(files.mapValues { Data($0.utf8) })
        let places = messages.map { $0.prefix { $0 != " " } }
        #expect(
            places == [
                "feed.json:1:41:", "feed.json:2:51:", "feed.json:3:15:", "feed.json:4:3:", "feed.json:5:13:",
                "images.json:1:2:",
            ])
    }

    @Test func theNameInAMessageIsCutShort() throws {
        let long = String(repeating: "x", count: 5_000)
        for policy in [Policies.sound.with("\"store\"", "\"\(long)\""), Policies.sound.with("cache-first", long)] {
            let messages = try Policies.problems(feed: policy)
            #expect(messages.count == 1 && messages.allSatisfy { $0.utf8.count < 400 })
        }
    }

    @Test func aWrongValueIsNotRepeatedInItsMessage() throws {
        let policy = Policies.sound.with(#""cache-first""#, #"{ "use": "cache-first", "patience": "hunter2" }"#)
        #expect(try Policies.problems(feed: policy).allSatisfy { !$0.contains("hunter2") })
    }
}

/// The standard plugins of a kind, as messages list them.
private func names(_ kind: PluginKind) -> String {
    Registry.standard[kind].map { "'\($0.name)'" }.joined(separator: ", ")
}
