import FoundationEssentials
import Larder
import Testing

@Suite struct BadPolicyTests {
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
