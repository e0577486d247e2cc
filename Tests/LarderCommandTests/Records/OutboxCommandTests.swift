import LarderFoundation
import Larder
import LarderSync
import LarderSystem
import Testing

@testable import LarderCommand

/// `larder outbox`, with changes that wait and some that were given up.
@Suite(.timeLimit(.minutes(5))) struct OutboxCommandTests {
    /// A tool beside an app with a refused change and one that waits, and their numbers.
    private static func tool() async throws -> (tool: RecordsTool, refused: String, waiting: String) {
        let tool = try RecordsTool()
        try await tool.make("bad")
        _ = await tool.run("sync", "run", "collections")
        try await tool.make("new")
        let changes = try Facts(await tool.run("outbox", "ls", "--json").out)["changes"].items
        #expect(changes.map { $0["letter"].isTrue } == [true, false])
        return (tool, "\(changes[0]["number"].int ?? 0)", "\(changes[1]["number"].int ?? 0)")
    }

    @Test func changesAreListedWithTheirReasons() async throws {
        let (tool, refused, waiting) = try await Self.tool()
        let lines = await tool.run("outbox", "ls").out.split(separator: "\n")
        #expect(lines.count == 3, "\(lines)")
        #expect(lines[1].hasPrefix(refused + " ") && lines[1].hasSuffix("create  refused (422)"), "\(lines)")
        #expect(
            lines[2].hasPrefix(waiting + " ") && lines[2].hasSuffix("waiting        the next run, which sends it"),
            "\(lines)")
        #expect(await tool.run("outbox", "ls", "--values").out.contains("tmp-"))
    }

    @Test func changeIsShownAndExplained() async throws {
        let (tool, refused, waiting) = try await Self.tool()
        let hidden = await tool.run("outbox", "show", refused)
        #expect(hidden.code == 0 && !hidden.out.contains("bad") && !hidden.out.contains("tmp-"), "\(hidden)")
        #expect(await tool.run("outbox", "show", refused, "--values").out.contains(#""name":"bad""#))
        let letter = await tool.run("outbox", "explain", refused).out
        #expect(letter.contains("It was sent once.") && letter.contains("refused it with the status 422"), "\(letter)")
        #expect(letter.contains("'larder outbox restore \(refused)' makes it again"))
        let change = await tool.run("outbox", "explain", waiting).out
        #expect(change.contains("It was never sent.") && change.contains("waits for the next run"), "\(change)")
    }

    @Test func waitForASignInIsExplainedByItsTime() async throws {
        let tool = try RecordsTool()
        try await tool.make("new")
        tool.service.faults = [.refusesChanges(401)]
        _ = await tool.run("sync", "run", "collections")
        let number = try Facts(await tool.run("outbox", "ls", "--json").out)["changes"].items[0]["number"].int ?? 0
        let asked = await tool.run("outbox", "explain", "\(number)")
        #expect(asked.out.contains("It was sent once, and the service asked for a sign-in."), "\(asked)")
        #expect(asked.out.contains("asked again at the time of the next try"), "\(asked)")
        #expect(
            WaitReason.account(nextTry: nil).nextStep == "It is sent when the account signs in, and not before.")
    }

    @Test func pageForPeopleIsExplained() async throws {
        let (tool, _, waiting) = try await Self.tool()
        tool.service.faults = [.login]
        _ = await tool.run("sync", "run", "collections")
        let explained = await tool.run("outbox", "explain", waiting).out
        #expect(
            explained.contains("answered with the status 200, but not as the policy expects it."), "\(explained)")
    }

    @Test func retrySendsWhatWaits() async throws {
        let (tool, _, waiting) = try await Self.tool()
        tool.service.faults = [.fails(503)]
        let failed = await tool.run("outbox", "retry")
        #expect(failed.code == 1 && failed.out.hasPrefix("1 change waited, 1 still waits"), "\(failed)")
        let explained = await tool.run("outbox", "explain", waiting).out
        #expect(
            explained.contains("answered with the status 503") && explained.contains("the next try"), "\(explained)")
        tool.service.faults = []
        let sent = await tool.run("outbox", "retry", "collections")
        #expect(sent.code == 0 && sent.out == "1 change waited, 0 still wait\n", "\(sent)")
        #expect(tool.service.names.last == "new")
        #expect(await tool.run("outbox", "retry").out == "nothing waits\n")
    }

    @Test func retryCountsOnlyChangesThatItSends() async throws {
        let tool = try RecordsTool()
        try await tool.make("new")
        try tool.folder.write(
            """
            { "resource": "others", "origin": { "use": "http", "url": "\(tool.server.url)/others{/id}" },
              "records": { "id": "/id", "push": { "use": "rest" } } }
            """, to: "others.json")
        try await tool.app { pantry in
            try await pantry.records("others").create(JSONText(["name": "new"]))
        }
        try FileManager.default.removeItem(atPath: tool.folder.path + "/others.json")
        let output = await tool.run("outbox", "retry")
        #expect(output.code == 0 && output.out == "1 change waited, 0 still wait\n", "\(output)")
    }

    @Test func droppedChangeIsNeverSentAndCounted() async throws {
        let (tool, refused, waiting) = try await Self.tool()
        let asked = await tool.run("outbox", "drop", waiting)
        #expect(asked.code == 1 && asked.err.contains("--yes agrees to that"), "\(asked)")
        for number in [waiting, refused] {
            let output = await tool.run("outbox", "drop", number, "--yes")
            #expect(output.code == 0, "\(output)")
        }
        #expect(await tool.run("sync", "run", "collections").code == 0)
        #expect(!tool.service.names.contains("new"))
        let balance = await tool.run("sync", "status").out
        #expect(balance.contains("2 changes made = 1 refused + 1 discarded; nothing is unaccounted"), "\(balance)")
        let gone = await tool.run("outbox", "drop", waiting, "--yes")
        #expect(gone.code == 1 && gone.err.contains("there is no change \(waiting)"), "\(gone)")
    }

    @Test func restoredLetterIsSentAgain() async throws {
        let (tool, refused, waiting) = try await Self.tool()
        let output = await tool.run("outbox", "restore", refused, "--json")
        let new = try Facts(output.out)["madeAgainAs"].int ?? 0
        #expect(output.code == 0 && new > (Int(waiting) ?? 0), "\(output)")
        let changes = try Facts(await tool.run("outbox", "ls", "--json").out)["changes"].items
        #expect(changes.map { $0["letter"].isTrue } == [false, false])
        let other = await tool.run("outbox", "restore", waiting)
        #expect(other.code == 1 && other.err.contains("is no letter"), "\(other)")
        #expect(await tool.run("records", "verify").code == 0)
    }

    @Test func exportHasALineForEachChange() async throws {
        let (tool, refused, _) = try await Self.tool()
        let lines = await tool.run("outbox", "export").out.split(separator: "\n")
        let facts = try lines.map { try Facts(String($0)) }
        #expect(facts.count == 2 && facts[0]["number"].int == Int(refused) && facts[0]["status"].int == 422)
        #expect(facts[1]["waitsFor"].string?.isEmpty == false && facts[1].members["value"] == nil)
        let shown = await tool.run("outbox", "export", "collections", "--values").out
        #expect(try Facts(String(shown.split(separator: "\n")[1]))["value"]["name"].string == "new")
    }

    @Test func requestsWithoutRecordsAreChanges() async throws {
        let tool = try RecordsTool()
        try tool.folder.write(
            """
            { "resource": "likes", "origin": { "use": "http", "url": "\(tool.server.url)/likes{/id}" },
              "strategy": "network-only", "outbox": {} }
            """, to: "likes.json")
        tool.service.faults = [.fails(503)]
        try await tool.app { pantry in
            let likes = pantry.resource("likes")
            _ = try await likes.send(likes.request(["id": "secret"], body: Data("{}".utf8)), method: "PUT")
        }
        let list = await tool.run("outbox", "ls", "likes")
        #expect(list.code == 0 && list.out.contains("likes") && !list.out.contains("secret"), "\(list)")
        #expect(await tool.run("outbox", "ls", "feed").err.contains("has no section 'outbox'"))
        let number = try Facts(await tool.run("outbox", "ls", "--json").out)["changes"].items[0]["number"].int ?? 0
        #expect(await tool.run("outbox", "drop", "\(number)", "--yes").code == 0)
        #expect(await tool.run("outbox", "ls").err.contains("nothing waits"))
    }
}
