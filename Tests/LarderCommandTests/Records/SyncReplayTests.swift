import LarderFoundation
import Larder
import LarderSync
import LarderSystem
import Testing

@testable import LarderCommand

/// `larder sync replay`: stuck changes, as a corrected policy would send them.
@Suite(.timeLimit(.minutes(5))) struct SyncReplayTests {
    /// A tool beside an app with a refused change and one that waits.
    private static func tool() async throws -> RecordsTool {
        let tool = try RecordsTool()
        try await tool.make("bad")
        _ = await tool.run("sync", "run", "collections")
        try await tool.make("new")
        return tool
    }

    /// Writes a policy of another name, which sends changes in another way.
    private func write(_ push: String, about resource: String = "collections", in tool: RecordsTool) throws -> String {
        try tool.folder.write(
            """
            { "resource": "\(resource)",
              "origin": { "use": "http", "url": "\(tool.server.url)/collections{/id}{?since,token,cursor,limit}" },
              "records": { \(RecordsTool.records) \(RecordsTool.pull.trimmingEnd.dropLast()), "push": \(push) } }
            """, to: "corrected")
        return tool.folder.path + "/corrected"
    }

    @Test func callsOfBothPoliciesAreShown() async throws {
        let tool = try await Self.tool()
        let calls = tool.service.calls
        let file = try write(
            #"{ "use": "rest", "create": { "method": "PUT", "body": { "item": "{record}" } } }"#, in: tool)
        let shown = await tool.run("sync", "replay", "collections", "--policy", file)
        let lines = shown.out.split(separator: "\n").map(String.init)
        #expect(shown.code == 0 && lines.count == 7, "\(shown)")
        #expect(lines[0].contains("refused (422), and sent only after 'larder outbox restore"), "\(lines)")
        #expect(lines[1].hasPrefix("  now: POST; fields content-type, idempotency-key; a body of "), "\(lines)")
        #expect(lines[2].hasPrefix("  new: PUT; fields content-type, idempotency-key; a body of "), "\(lines)")
        #expect(lines[3].contains("create of") && lines[3].contains("waits for the next run"), "\(lines)")
        let values = await tool.run("sync", "replay", "collections", "--policy", file, "--values")
        #expect(values.out.contains(#"body {"item":{"name":"bad","updatedAt""#), "\(values)")
        #expect(tool.service.calls == calls)
        // Nothing has changed: it is sent as before.
        #expect(await tool.run("outbox", "retry").out == "1 change waited, 0 still wait\n")
        #expect(tool.service.names.last == "new")
    }

    @Test func samePolicyShowsTheSameCalls() async throws {
        let tool = try await Self.tool()
        let shown = await tool.run(
            "sync", "replay", "collections", "--policy", tool.folder.path + "/collections.json")
        #expect(shown.out.split(separator: "\n").count { $0.hasPrefix("  now and new: POST; ") } == 2, "\(shown)")
        let facts = try Facts(
            await tool.run(
                "sync", "replay", "collections", "--json", "--policy", tool.folder.path + "/collections.json"
            ).out)
        #expect(facts["changes"].items.map { $0["differs"].isTrue } == [false, false])
    }

    @Test func changesOfAnotherSourceAreNotSent() async throws {
        let tool = try await Self.tool()
        let file = try write(#"{ "use": "rest" }"#, in: tool)
        try tool.folder.edit("corrected", "/collections{/id}", "/others{/id}")
        let shown = await tool.run("sync", "replay", "collections", "--policy", file)
        let lines = shown.out.split(separator: "\n")
        // A letter that is restored is made for the new source.
        #expect(lines[1].hasPrefix("  now and new: POST"), "\(lines)")
        #expect(lines[4].hasPrefix("  new: not sent: it waits for another source"), "\(lines)")
    }

    @Test func policyOfTheOwnSourceSendsWhatIsHeldNow() async throws {
        let tool = try await Self.tool()
        let file = try write(#"{ "use": "rest" }"#, in: tool)
        try tool.folder.edit("collections.json", "/collections{/id}", "/others{/id}")
        let lines = await tool.run("sync", "replay", "collections", "--policy", file).out.split(separator: "\n")
        #expect(lines[3].hasPrefix("  now: not sent: it waits for another source"), "\(lines)")
        #expect(lines[4].hasPrefix("  new: POST; "), "\(lines)")
        #expect(lines[5] == "the origin differs, too, such as in its address or its fields", "\(lines)")
    }

    @Test func secretsOfThePolicyAreNotShown() async throws {
        let tool = try await Self.tool()
        let file = try write(
            #"{ "use": "rest", "create": { "fields": { "X-Key": "very-secret", "If-Match": "\"{version}\"" } } }"#,
            in: tool)
        let shown = await tool.run("sync", "replay", "collections", "--policy", file, "--values")
        #expect(shown.code == 0 && shown.out.contains("x-key"), "\(shown)")
        #expect(!shown.out.contains("very-secret") && !shown.err.contains("very-secret"), "\(shown)")
        #expect(shown.out.contains("idempotency-key="), "\(shown)")
    }

    @Test func differenceInValuesIsTold() async throws {
        let tool = try await Self.tool()
        let file = try write(
            #"{ "use": "rest", "create": { "parameters": { "since": "x" } } }"#, in: tool)
        try tool.folder.edit(
            "collections.json", #""use": "rest""#, #""use": "rest", "create": { "parameters": { "since": "y" } }"#)
        let lines = await tool.run("sync", "replay", "collections", "--policy", file).out.split(separator: "\n")
        #expect(lines[2].hasSuffix("; with other values, which --values shows"), "\(lines)")
    }

    @Test func policyThatSendsNothingIsTold() async throws {
        let tool = try await Self.tool()
        let file = try write(#"{ "use": "rest" }"#, in: tool)
        try tool.folder.edit("corrected", #", "push": { "use": "rest" }"#, "")
        let lines = await tool.run("sync", "replay", "collections", "--policy", file).out.split(separator: "\n")
        #expect(lines[2] == "  new: not sent: the policy has no 'push'", "\(lines)")
    }

    @Test func mistakesAreTold() async throws {
        let tool = try await Self.tool()
        #expect(await tool.run("sync", "replay", "collections").code == 2)
        let missing = await tool.run("sync", "replay", "collections", "--policy", tool.folder.path + "/none")
        #expect(missing.code == 1 && missing.err.contains("none"), "\(missing)")
        let other = try write(#"{ "use": "rest" }"#, about: "others", in: tool)
        let about = await tool.run("sync", "replay", "collections", "--policy", other)
        #expect(about.code == 1 && about.err.contains("is about 'others', not about 'collections'"), "\(about)")
        let wrong = try write(#"{ "use": "rest", "create": { "body": "{recrod}" } }"#, in: tool)
        let unknown = await tool.run("sync", "replay", "collections", "--policy", wrong)
        #expect(unknown.code == 1 && unknown.err.contains("'{recrod}' is no placeholder"), "\(unknown)")
    }
}
