import LarderFoundation
import Larder
import LarderSync
import LarderSystem
import Testing

@testable import LarderCommand

/// `larder sync status`, `run` and `explain`.
@Suite(.timeLimit(.minutes(5))) struct SyncCommandTests {
    @Test func runSendsAndFetches() async throws {
        let tool = try RecordsTool(records: 45)
        try await tool.make("new")
        let output = await tool.run("sync", "run", "collections")
        #expect(output.code == 0, "\(output)")
        #expect(
            output.out == """
                collections: fetched 46 records and deletions in 3 pages
                collections: 1 change accepted, 0 refused, 0 overtaken, 0 waiting

                """)
        #expect(tool.service.names.last == "new")
        let again = try Facts(await tool.run("sync", "run", "collections", "--json").out)
        let account = again["accounts"].items[0]
        #expect(account["done"].isTrue && account["rows"].int == 0 && account["failure"].string == nil)
    }

    @Test func runThatIsRefusedFails() async throws {
        let tool = try RecordsTool()
        try await tool.make("bad")
        let output = await tool.run("sync", "run", "collections")
        #expect(output.code == 1 && output.out.contains("0 changes accepted, 1 refused"), "\(output)")
        #expect(output.out.contains("'larder outbox ls collections' lists them"))
        #expect(await tool.run("sync", "run", "collections").code == 0)
    }

    @Test(arguments: [
        (CollectionsService.Fault.fails(500), "answered 500"), (.login, "not JSON"),
        (.listsElsewhere, "no list at '/collections'"), (.leadsInCircles, "lead in a circle"),
    ])
    func runThatFailsSaysWhy(_ fault: CollectionsService.Fault, _ text: String) async throws {
        let tool = try RecordsTool(records: 45)
        try await tool.make("new")
        tool.service.faults = [fault]
        let output = await tool.run("sync", "run", "collections")
        #expect(output.code == 1 && output.out.contains("FAILED: ") && output.out.contains(text), "\(output)")
        #expect(!output.out.contains("127.0.0.1") && !output.err.contains("127.0.0.1"))
    }

    @Test func runThatSetsRecordsAsideFails() async throws {
        let tool = try RecordsTool(records: 5)
        tool.service.faults = [.hidesOneID]
        let output = await tool.run("sync", "run", "collections")
        #expect(
            output.code == 1 && output.out.contains("1 record of the service made no sense, and was set aside"),
            "\(output)")
        #expect(try !Facts(await tool.run("sync", "run", "collections", "--json").out)["accounts"].items.isEmpty)
        #expect(await tool.run("sync", "status").out.contains("; 1 record of the service set aside"))
    }

    @Test func failedRunTellsNoPagesThatItDoesNotHave() async throws {
        let tool = try RecordsTool(records: 45)
        tool.service.faults = [.fails(500)]
        let failed = await tool.run("sync", "run", "collections")
        #expect(failed.code == 1 && !failed.out.contains("fetched"), "\(failed)")
        tool.service.faults = [.failsCursors]
        #expect(await tool.run("sync", "run", "collections").out.contains("fetched 20 records and deletions in 1 page"))
        let status = await tool.run("sync", "status").out
        #expect(status.contains("; a pull is not finished; the last pull failed: "), "\(status)")
    }

    @Test func runWithoutServerFails() async throws {
        let tool = try RecordsTool()
        try await tool.make("new")
        tool.server.stop()
        let output = await tool.run("sync", "run", "collections", "--within", "20s")
        #expect(output.code == 1 && output.out.contains("0 refused, 0 overtaken, 1 waiting"), "\(output)")
    }

    @Test func runEndsAfterItsTime() async throws {
        let tool = try RecordsTool()
        tool.service.faults = [.isSilent]
        let output = await tool.run("sync", "run", "collections", "--within", "200ms")
        #expect(output.code == 1 && output.out.contains("FAILED: not done within 200ms"), "\(output)")
    }

    @Test func twoRunsAtOnceBothEnd() async throws {
        let tool = try RecordsTool(records: 45)
        try await tool.make("new")
        async let first = tool.run("sync", "run", "collections")
        async let second = tool.run("sync", "run", "collections")
        let codes = await [first.code, second.code]
        #expect(codes == [0, 0])
        #expect(tool.service.names.count { $0 == "new" } == 1)
    }

    @Test func runOfASilentPolicyIsExplained() async throws {
        let tool = try RecordsTool()
        try tool.folder.write(
            #"{ "resource": "collections", "records": { "id": "/id" } }"#, to: "collections.json")
        let output = await tool.run("sync", "run", "collections")
        #expect(output.code == 1 && output.out.contains("neither 'pull' nor 'push'"), "\(output)")
    }

    // MARK: Status

    @Test func everyChangeIsAccountedFor() async throws {
        let tool = try RecordsTool()
        for name in ["a", "bad", "b"] { try await tool.make(name) }
        _ = await tool.run("sync", "run", "collections")
        try await tool.make("c")
        let output = await tool.run("sync", "status")
        #expect(output.code == 0, "\(output)")
        #expect(
            output.out.contains(
                "collections: 4 changes made = 2 accepted + 1 refused + 1 waiting; nothing is unaccounted"),
            "\(output.out)")
        let facts = try Facts(await tool.run("sync", "status", "collections", "--json").out)["accounts"].items[0]
        #expect(facts["made"].int == 4 && facts["waiting"].int == 1 && facts["letters"].int == 1)
        #expect(facts["unaccounted"].int == 0 && facts["records"].int == 6)
    }

    @Test func changesOfAnotherSourceAreHeld() async throws {
        let tool = try RecordsTool()
        try await tool.make("new")
        try tool.folder.edit("collections.json", "/collections{/id}", "/others{/id}")
        let facts = try Facts(await tool.run("sync", "status", "--json").out)["accounts"].items[0]
        #expect(facts["held"].int == 1 && facts["waiting"].int == 1)
        #expect(await tool.run("outbox", "ls").out.contains("its own source"))
    }

    @Test func resourceWithoutPolicyIsShown() async throws {
        let tool = try RecordsTool()
        try await tool.make("new")
        try tool.folder.edit("collections.json", "\"collections\"", "\"others\"")
        try FileManager.default.moveItem(
            atPath: tool.folder.path + "/collections.json", toPath: tool.folder.path + "/others.json")
        let output = await tool.run("sync", "status")
        #expect(output.code == 0 && output.out.contains("no policy has these records now"), "\(output)")
    }

    // MARK: Explaining

    @Test func policyIsExplainedFromItsSettings() async throws {
        let tool = try RecordsTool()
        let output = await tool.run("sync", "explain", "collections")
        #expect(output.code == 0, "\(output)")
        for text in [
            "The id of a record is at /id.", "The service names new records.", "A page has at most 20 records.",
            "the service's time at /serverTime, less 1m", "the service lists the ids at /deletedIds",
            "carries the version at /revision", "in the field Idempotency-Key", "409, 412: ",
        ] { #expect(output.out.contains(text), "\(text)\n\(output.out)") }
        #expect(!output.out.contains("!"))
        let facts = try Facts(await tool.run("sync", "explain", "collections", "--json").out)
        #expect(facts["chapters"].items.count == 7)
    }

    @Test func weakPolicyIsWarnedOf() async throws {
        let tool = try RecordsTool(
            section: #""id": "/id", "updatedAt": "/updatedAt", "pull": { "use": "since", "items": "/collections" },"#,
            others: #", "outbox": { "conflict": [409], "retention": "30d", "onReject": "keep" }"#)
        try tool.folder.edit("collections.json", #""use": "rest""#, #""use": "rest", "key": """#)
        let output = await tool.run("sync", "explain", "collections")
        for text in [
            "! There is one page", "! Deletions are seen only when everything is fetched", "! There is no key",
            "! Writes are blind, because records have no 'version'", "  409: somebody else", "older than 30d",
            "the user's state", "The app names new records",
        ] { #expect(output.out.contains(text), "\(text)\n\(output.out)") }
    }

    @Test func explanationAgreesWithTheCheck() async throws {
        let tool = try RecordsTool()
        // Only changes of fields carry the version: a deletion is blind.
        try tool.folder.edit(
            "collections.json", #""use": "rest""#, #""use": "rest", "delete": { "fields": {} }"#)
        let output = await tool.run("sync", "explain", "collections")
        #expect(output.out.contains("! Writes are blind, because not every call has '{version}'"), "\(output)")
        try tool.folder.edit(
            "collections.json", #""use": "rest""#,
            #""use": "rest", "key": "", "create": { "body": { "key": "{key}", "record": "{record}" } }"#)
        let keyed = await tool.run("sync", "explain", "collections")
        #expect(keyed.out.contains("Each change has a key. It is sent again with the same one"), "\(keyed)")
    }

    @Test func statusesOfTheOutboxDoNotContradict() async throws {
        let tool = try RecordsTool(others: #", "outbox": { "retry": [404, 425], "reject": [501], "hold": [] }"#)
        let output = await tool.run("sync", "explain", "collections")
        for text in [
            "  410: a deletion is done", "  404, 425, others of 500 and more, no answer: ",
            "  501, other 4xx: the change is refused",
        ] { #expect(output.out.contains(text), "\(text)\n\(output.out)") }
        #expect(!output.out.contains("sign-in") && !output.out.contains("none"))
    }

    @Test func policyWithoutServiceIsExplained() async throws {
        let tool = try RecordsTool()
        try tool.folder.write(#"{ "resource": "collections", "records": { "id": "/id" } }"#, to: "collections.json")
        let output = await tool.run("sync", "explain", "collections")
        #expect(output.out.contains("Nothing is fetched") && output.out.contains("Nothing is sent"), "\(output)")
        #expect(await tool.run("sync", "explain", "feed").err.contains("no section 'records'"))
    }
}
