import LarderFoundation
import Larder
import Testing

@testable import LarderCommand
@testable import LarderStories

@Suite struct BadScenarioTests {
    private static let sound = """
        {
          "resource": "feed",
          "scenarios": [
            { "name": "it",
              "cached": { "value": 1, "age": "3h" },
              "origin": { "takes": "500ms", "value": 2 },
              "asks": { "at": "0s", "expect": { "value": 2 } } }
          ]
        }
        """

    /// A change of a valid file, and the message about it.
    static let table: [(String, String, String)] = [
        (
            #""feed""#, #""fed""#,
            """
            2:15: error: this is not one of the choices; expected one of "catalog", "feed", "images" \
            (did you mean 'feed'?) [at $.resource]
            """
        ),
        (
            #"  "resource": "feed","# + "\n", "",
            """
            1:1: error: a file of scenarios needs the setting 'resource'; expected one of "catalog", "feed", "images"
            """
        ),
        (
            #""cached""#, #""cashed""#,
            """
            5:7: error: unknown key 'cashed' of a scenario; expected one of 'name', 'cached', 'restarted', 'origin', \
            'lifetime', \
            'network', 'stores', 'chance', 'asks' (did you mean 'cached'?) [at $.scenarios[0]]
            """
        ),
        (
            #""3h""#, "3",
            """
            5:38: error: the number 3 has no unit; expected "3ms" or "3s" [at $.scenarios[0].cached.age]
            """
        ),
        (
            #""3h""#, #""3 hours""#,
            """
            5:38: error: this is not a duration; expected a duration such as "250ms" or "30s" (did you mean '3h'?) \
            [at $.scenarios[0].cached.age]
            """
        ),
        (
            #""3h""#, #""9999d""#,
            """
            5:38: error: 9999d is out of range; expected a duration from 0s to 3650d [at $.scenarios[0].cached.age]
            """
        ),
        (
            #"{ "value": 1, "age": "3h" }"#, "3",
            "5:17: error: the number 3 is not allowed here; expected a copy: { … } [at $.scenarios[0].cached]"
        ),
        (
            #"{ "value": 1, "age": "3h" }"#, #"[{ "value": 1 }, { "value": 2, "scope": "a" }, { "value": 3 }]"#,
            "5:64: error: there is a copy of this instance already [at $.scenarios[0].cached[2]]"
        ),
        (
            #""value": 2 },"#, #""fails": 404 },"#,
            """
            6:46: error: 404 is an answer, which 'answers' is for; expected a status that is a failure: 408, 425, 429 or \
            500 to 599 [at $.scenarios[0].origin.fails]
            """
        ),
        (
            #""value": 2 },"#, #""answers": 429 },"#,
            """
            6:48: error: 429 is a failure, which 'fails' is for; expected a status that is an answer: 400 to 499, but not \
            408, 425, 429 [at $.scenarios[0].origin.answers]
            """
        ),
        (
            #""value": 2 },"#, #""value": 2, "hangs": true },"#,
            """
            6:17: error: the origin does one thing at a time; expected one of 'value', 'fails', 'answers', 'offline', \
            'hangs' [at $.scenarios[0].origin]
            """
        ),
        (
            #", "value": 2 },"#, " },",
            """
            6:17: error: what the origin does is not said; expected one of 'value', 'fails', 'answers', 'offline', \
            'hangs' [at $.scenarios[0].origin]
            """
        ),
        (
            #""value": 2 },"#, #""offline": true, "etag": "a" },"#,
            "6:54: error: 'etag' has no effect here [at $.scenarios[0].origin]"
        ),
        (
            #"{ "takes": "500ms", "value": 2 }"#, #"[{ "from": "1m", "value": 1 }, { "from": "60s", "value": 2 }]"#,
            """
            6:48: error: this phase begins no later than the one before it; expected phases in the order of their \
            'from' [at $.scenarios[0].origin[1]]
            """
        ),
        (
            #"{ "at": "0s", "expect": { "value": 2 } }"#, #"[{ "at": "1s", "expect": { "calls": 1 } }, {}]"#,
            """
            7:58: error: this is asked before the request above it; expected requests in the order of their 'at' \
            [at $.scenarios[0].asks[1]]
            """
        ),
        (
            #"{ "at": "0s", "expect": { "value": 2 } }"#, "{}",
            "7:15: error: nothing is expected; expected an 'expect' [at $.scenarios[0].asks]"
        ),
        (
            #"{ "value": 2 } }"#, "{} }",
            "7:39: error: nothing is expected; expected a key of an expectation [at $.scenarios[0].asks.expect]"
        ),
        (
            #""at": "0s","#, #""parameters": { "id": 42 },"#,
            "7:39: error: the number 42 is not allowed here; expected text [at $.scenarios[0].asks.parameters.id]"
        ),
        (
            #""at": "0s","#, #""mode": "cached","#,
            """
            7:25: error: this is not one of the choices; expected one of "normal", "refresh", "cachedOnly" \
            [at $.scenarios[0].asks.mode]
            """
        ),
        (
            #"{ "value": 2 } }"#, #"{ "freshnes": "fresh" } }"#,
            """
            7:41: error: unknown key 'freshnes' of an expectation; expected one of 'value', 'freshness', 'source', \
            'age', 'fellBack', 'error', 'status', 'takes', 'within', 'calls', 'answered', 'noOlderThan', 'freshWithin', 'callsAtMost' (did you mean 'freshness'?) \
            [at $.scenarios[0].asks.expect]
            """
        ),
        (
            #"{ "value": 2 } }"#, #"{ "error": "timedout" } }"#,
            """
            7:50: error: this is not one of the choices; expected one of "answer", "failed", "timeout", \
            "unavailable", "undecodable", "refused", "notCached", "notSignedIn", "deadline", \
            "invalidRequest" (did you mean 'timeout'?) \
            [at $.scenarios[0].asks.expect.error]
            """
        ),
        (
            #"{ "value": 2 } }"#, #"{ "error": "failed", "age": "1h" } }"#,
            """
            7:60: error: where 'error' is expected, there is no 'age' [at $.scenarios[0].asks.expect.age]
            """
        ),
        (#""asks""#, "asks", "7:7: error: no name begins like this; expected a name in double quotes"),
    ]

    @Test(arguments: table)
    func mistakeIsOneMessageWithPlaceAndPath(right: String, wrong: String, message: String) async throws {
        try #require(Self.sound.contains(right))
        #expect(try await Stories().problems(Self.sound.replacing(right, with: wrong)) == [message])
    }

    @Test func unknownSourceIsReportedWithNearestName() async throws {
        let problems = try await Stories().problems(
            Self.sound.replacing(#"{ "value": 2 } }"#, with: #"{ "source": "memry" } }"#))
        #expect(problems.count == 1)
        #expect(problems.first?.hasPrefix("7:51: error: this is not one of the choices; expected one of") == true)
        #expect(problems.first?.hasSuffix("(did you mean 'memory'?) [at $.scenarios[0].asks.expect.source]") == true)
    }

    @Test func allMistakesAreReportedAtOnceAndValidScenariosPlayed() async throws {
        let stories = try Stories()
        try stories.folder.write(Self.sound, to: "Scenarios/a.json")
        try stories.folder.write(
            Self.sound.replacing(#""3h""#, with: "3").replacing(#""500ms""#, with: "2").replacing("feed", with: "food"),
            to: "Scenarios/b.json")
        try stories.folder.write("{", to: "Scenarios/c.json")
        try stories.folder.write("not read", to: "Scenarios/_notes.json")
        let output = await stories.told()
        #expect(output.code == 1)
        let lines = output.out.split(separator: "\n").map { String($0.prefix { $0 != " " }) }
        #expect(
            lines.prefix(4) == [
                "Scenarios/b.json:2:15:", "Scenarios/b.json:5:38:", "Scenarios/b.json:6:28:", "Scenarios/c.json:1:2:",
            ])
        #expect(output.out.hasSuffix("1 scenario in 3 files: 1 passed, 0 failed, 4 errors\n"))
    }

    @Test func brokenPolicyIsReportedAndNoScenarioIsPlayed() async throws {
        let stories = try Stories(shipped: true)
        try stories.folder.edit("images.json", "cache-first", "cash-first")
        try stories.folder.edit("Scenarios/feed.json", #""6d""#, "6")
        let output = await stories.told()
        #expect(output.code == 1)
        let lines = output.out.split(separator: "\n")
        #expect(lines[0].hasPrefix("images.json:10:15: error: unknown strategy 'cash-first'"))
        #expect(lines[1].hasPrefix("Scenarios/feed.json:"))
        #expect(lines.last == "0 scenarios in 3 files: 0 passed, 0 failed, 3 errors")
    }

    @Test func usageErrorIsExplained() async throws {
        let stories = try Stories()
        let empty = await stories.told()
        #expect(empty.code == 1)
        #expect(
            empty.out == """
                Scenarios: error: there are no scenarios in this folder; expected a file such as feed.json
                0 scenarios in 0 files: 0 passed, 0 failed, 1 error

                """)
        #expect(await stories.told("nowhere/a.json").out.hasPrefix("nowhere/a.json: error: cannot open the file"))
        let format = await stories.told("--format", "xml")
        #expect(format.code == 2 && format.err.hasPrefix("larder: --format takes one of text, json"))
    }

    @Test func statesOfTheNetworkOutOfOrderAreReported() async throws {
        let text = Self.sound.replacing(
            #""asks":"#, with: #""network": [{ "from": "10s", "is": "offline" }, { "is": "online" }], "asks":"#)
        #expect(
            try await Stories().problems(text) == [
                """
                7:55: error: this state begins no later than the one before it; expected states in the order of their \
                'from' [at $.scenarios[0].network[1]]
                """
            ])
    }

    private static func test(_ parameters: String, expect: String = #""value": 2"#) async throws -> Output {
        let folder = try Folder()
        try folder.write(
            #"""
            { "resource": "item", "origin": { "use": "http", "url": "https://a.example/{id}" }, "strategy": "network-only" }
            """#, to: "item.json")
        try folder.write(
            """
            { "resource": "item",
              "scenarios": [{ "name": "it", "origin": { "value": 2 },
                "asks": { \(parameters) "expect": { \(expect) } } }] }
            """, to: "scenario.json")
        return await Output(["test", folder.path + "/scenario.json", "--policies", folder.path])
    }

    @Test(arguments: ["idd", "number"]) func parameterThatTheOriginDoesNotTakeIsAnError(_ name: String) async throws {
        let output = try await Self.test(#""parameters": { "\#(name)": "1" },"#)
        #expect(output.code == 1, "\(output)")
        #expect(
            output.out.contains(
                "scenario.json:3:29: error: the request has no value for the parameter 'id', but one for '\(name)' (did you "
                    + "mean 'id'?)"), "\(output)")
    }

    @Test(arguments: ["", #""parameters": { "id": "1" },"#, #""parameters": { "other": "1" },"#])
    func usualAndOtherInstanceNeedNoParameterOfTheOrigin(_ parameters: String) async throws {
        let output = try await Self.test(parameters)
        #expect(output.code == 0, "\(output)")
    }

    @Test func mistakeInAnotherPolicyIsNotedWhileANamedFileIsPlayed() async throws {
        let folder = try Folder.withPolicies()
        let scenarios = try Folder()
        try scenarios.write(
            #"{ "resource": "feed", "scenarios": [{ "name": "it", "origin": { "value": 2 }, "asks": { "expect": { "value": 2 } } }] }"#,
            to: "feed.json")
        try folder.edit("images.json", #""strategy""#, #""stratgey""#)
        let output = await Output(["test", scenarios.path + "/feed.json", "--policies", folder.path])
        #expect(output.code == 0 && output.err.contains("images.json"), "\(output)")
        #expect(await Output(["test", scenarios.path, "--policies", folder.path]).code == 1)
    }
}
