import LarderFoundation
import Larder
import Testing

@Suite struct BadPolicyTests {
    @Test(arguments: ["/etc/passwd", "..", "../secret", "a/../../b", "a/..", "a\\u0000b"])
    func pathOutOfPolicyFolderIsRefused(path: String) throws {
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
        (#""cache-first""#, #""cache-first", "around": LIST"#, #"{ "use": "timeout", "after": "5s" }"#, "around"),
        (
            #"{ "use": "constant", "value": 1 }"#, #"{ "use": "mirrors", "origins": LIST }"#,
            #"{ "use": "constant", "value": 1 }"#, "origin.origins"
        ),
    ])
    func listOfMoreThanHundredPluginsIsRefused(_ old: String, _ new: String, _ item: String, _ path: String) throws {
        func policy(_ count: Int) -> String {
            let list = "[" + Array(repeating: item, count: count).joined(separator: ",") + "]"
            return Policies.sound.with(old, new.replacing("LIST", with: list))
        }
        _ = try Policies.warnings(feed: policy(100))
        let found = try Policies.problems(feed: policy(3_000))
        #expect(found.count == 1)
        #expect(found.first?.contains("error: the list is too long; expected at most 100 items [at $.\(path)]") == true)
    }

    @Test func allProblemsOfAllFilesAreReportedInOrder() throws {
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

    @Test func longNameIsShortenedInMessage() throws {
        let long = String(repeating: "x", count: 5_000)
        for policy in [Policies.sound.with("\"store\"", "\"\(long)\""), Policies.sound.with("cache-first", long)] {
            let messages = try Policies.problems(feed: policy)
            #expect(messages.count == 1 && messages.allSatisfy { $0.utf8.count < 400 })
        }
    }

    @Test func wrongValueIsNotRepeatedInMessage() throws {
        let policy = Policies.sound.with(#""cache-first""#, #"{ "use": "cache-first", "patience": "hunter2" }"#)
        #expect(try Policies.problems(feed: policy).allSatisfy { !$0.contains("hunter2") })
    }

    @Test func linkOutOfPolicyFolderIsRefused() throws {
        let outside = try Folder()
        try outside.write("secret", to: "secret")
        let folder = try Folder()
        try FileManager.default.createSymbolicLink(
            at: folder.url.appending(path: "link"), withDestinationURL: outside.url.appending(path: "secret"))
        try folder.write(
            #"{ "resource": "feed", "origin": { "use": "file", "path": "link" }, "strategy": "network-only" }"#,
            to: "feed.json")
        let reader = PolicyReader(registry: .standard, folder: folder.url.path, environment: [:])
        #expect(reader.check("feed.json").problems.map(\.message) == ["the path leaves the policy's folder"])
        // The path of the folder itself may contain a link.
        let link = outside.url.appending(path: "policies")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: folder.url)
        try FileManager.default.removeItem(at: folder.url.appending(path: "link"))
        try folder.write("1", to: "link")
        #expect(PolicyReader(registry: .standard, folder: link.path, environment: [:]).check("feed.json").policy != nil)
    }
}
