import LarderFoundation
import Larder
import LarderSystem
import Testing

@testable import LarderCommand

/// `larder sync probe` against a service with one fault at a time.
@Suite(.timeLimit(.minutes(5))) struct SyncProbeTests {
    private static let token = """
        "pull": { "use": "token", "items": "/collections", "token": "/token", "next": "/nextCursor", "deleted": "/deletedIds",
                  "limit": 20 },
        """

    private static func probe(_ tool: RecordsTool, writes: Bool = false) async throws -> Output {
        try tool.folder.write(#"{ "name": "sample" }"#, to: "sample")
        let writing = writes ? ["--write", "--yes", "--record", tool.folder.path + "/sample"] : []
        let output = await tool.run(["sync", "probe", "collections"] + writing)
        for text in ["id-", "secret", "sample", "127.0.0.1"] {
            #expect(!output.out.contains(text) && !output.err.contains(text), "\(output)")
        }
        return output
    }

    @Test func goodServicePasses() async throws {
        let tool = try RecordsTool(records: 45)
        let output = try await Self.probe(tool, writes: true)
        #expect(output.code == 0, "\(output)")
        let lines = output.out.split(separator: "\n")
        #expect(lines.allSatisfy { $0.hasPrefix("ok ") } && lines.count == 14, "\(output.out)")
        // The records of the probe are gone.
        #expect(tool.service.names.count == 45 && !tool.service.names.contains { $0.contains("probe") })
        // Nothing of it is on this device.
        #expect(!Disk.isThere(tool.data) && !Disk.isThere(tool.folder.path + "/cache"))
    }

    @Test func urlWithoutTheSizeOfAPagePasses() async throws {
        let tool = try RecordsTool(records: 45)
        try tool.folder.edit("collections.json", ",limit}", "}")
        let output = try await Self.probe(tool)
        #expect(output.code == 0 && output.out.contains("1 page with 45 records leads to the end"), "\(output)")
    }

    @Test func serviceWithTokensPasses() async throws {
        let tool = try RecordsTool(records: 45, section: RecordsTool.records + Self.token)
        let output = try await Self.probe(tool, writes: true)
        #expect(output.code == 0 && output.out.contains("ok       the service refuses an unknown token"), "\(output)")
    }

    @Test(arguments: [
        (CollectionsService.Fault.fails(503), "wrong", "the service answers with the status 503 [origin]"),
        (.login, "wrong", "the answer is not JSON"),
        (.listsElsewhere, "wrong", "has no list at '/collections' [records.pull.items]"),
        (.hidesIDs, "wrong", "20 of 20 records do not have an id at /id [records.id]"),
        (.leadsInCircles, "wrong", "the pages lead in a circle: a cursor came twice [records.pull.next]"),
        (.ignoresCursors, "wrong", "the cursor has no effect [records.pull.cursor]"),
        (.isAhead, "wrong", "is 2 d ahead of this device's clock, one of which is wrong [records.pull.serverTime]"),
        (.ignoresSince, "wrong", "the parameter 'since' has no effect [records.pull.since]"),
        (.hidesRecordsFromLookups, "wrong", "is not found by its id, as is needed after a conflict [origin.url]"),
    ])
    func faultOfReadingIsFound(
        _ fault: CollectionsService.Fault, _ verdict: String, _ text: String
    ) async throws {
        let tool = try RecordsTool(records: 45)
        tool.service.faults = [fault]
        let output = try await Self.probe(tool)
        #expect(output.code == (verdict == "wrong" ? 1 : 0), "\(output)")
        let line = output.out.split(separator: "\n").first { $0.contains(text) }
        #expect(line?.hasPrefix(verdict) == true, "\(output.out)")
    }

    @Test(arguments: [
        (CollectionsService.Fault.forgetsKeys, "lacks", "the same key twice makes two records"),
        (.ignoresVersions, "lacks", "a change of an old version is accepted"),
        (.hidesDeletions, "lacks", "the deletion is not told to other devices [records.pull.deleted]"),
        (.hidesRecords, "wrong", "the answer to a new record cannot be understood"),
        (.refusesChanges(403), "wrong", "a new record is refused with the status 403"),
    ])
    func faultOfWritingIsFound(
        _ fault: CollectionsService.Fault, _ verdict: String, _ text: String
    ) async throws {
        let tool = try RecordsTool(records: 5)
        tool.service.faults = [fault]
        let output = try await Self.probe(tool, writes: true)
        #expect(output.code == (verdict == "wrong" ? 1 : 0), "\(output)")
        let line = output.out.split(separator: "\n").first { $0.contains(text) }
        #expect(line?.hasPrefix(verdict) == true, "\(output.out)")
        #expect(tool.service.names.count == 5, "\(output.out)")
    }

    @Test(arguments: [CollectionsService.Fault.losesAnswers, .hidesRecords])
    func recordOfALostAnswerIsDeleted(_ fault: CollectionsService.Fault) async throws {
        let tool = try RecordsTool(records: 45)
        tool.service.faults = [fault]
        let output = try await Self.probe(tool, writes: true)
        #expect(output.code == 1 && output.out.contains("the record of the unknown answer is not"), "\(output)")
        #expect(tool.service.names.count == 45, "\(output)")
    }

    @Test func recordThatIsNotFoundIsTold() async throws {
        let tool = try RecordsTool(records: 5)
        tool.service.faults = [.losesAnswers]
        let output = await tool.run("sync", "probe", "collections", "--write", "--yes")
        #expect(output.code == 1 && output.out.contains("a record of the probe may be at the service"), "\(output)")
    }

    @Test func recordIsDeletedAfterAFailedChange() async throws {
        let tool = try RecordsTool(records: 5)
        tool.service.faults = [.failsUpdates, .hidesRecordsFromLookups]
        let output = try await Self.probe(tool, writes: true)
        #expect(output.code == 1 && tool.service.names.count == 5, "\(output)")
        #expect(!output.out.contains("still at the service") && !output.out.contains("may be"), "\(output)")
    }

    @Test(arguments: [(200, "answers an unknown token"), (400, "with the status 400, which does not mean")])
    func unknownTokenMustBeRefused(_ status: Int, _ text: String) async throws {
        let tool = try RecordsTool(section: RecordsTool.records + Self.token)
        tool.service.faults = [.forgetsTokens(status)]
        let output = try await Self.probe(tool)
        #expect(output.code == 1 && output.out.contains(text), "\(output)")
    }

    @Test func weakPolicyIsTold() async throws {
        let tool = try RecordsTool(
            records: 30,
            section:
                #""id": "/id", "updatedAt": "/updatedAt", "pull": { "use": "since", "items": "/collections", "limit": 20 },"#
        )
        let output = try await Self.probe(tool)
        #expect(output.code == 0, "\(output)")
        for text in [
            "[records.version]", "[records.pull.next]", "[records.pull.serverTime]", "deletions are never seen",
        ] {
            #expect(output.out.contains(text), "\(text)\n\(output.out)")
        }
    }

    @Test func mistypedPlacesAreTold() async throws {
        let tool = try RecordsTool(records: 20)
        try tool.folder.edit("collections.json", "/deletedIds", "/deletedIDs")
        try tool.folder.edit("collections.json", "/nextCursor", "/nextCusor")
        let output = try await Self.probe(tool)
        for text in [
            "lacks    no list is at /deletedIDs, the place of deleted ids, in these answers [records.pull.deleted]",
            "lacks    a full page of 20 records has no cursor at /nextCusor: there may be more than are fetched",
        ] { #expect(output.out.contains(text), "\(text)\n\(output.out)") }
    }

    @Test func writingWithoutARecordTellsOfFields() async throws {
        let tool = try RecordsTool()
        let asked = await tool.run("sync", "probe", "collections", "--write")
        #expect(asked.err.contains("the service may need fields, which --record FILE gives"), "\(asked)")
        tool.service.faults = [.refusesChanges(422)]
        let refused = await tool.run("sync", "probe", "collections", "--write", "--yes")
        #expect(
            refused.out.contains("status 422; the service may need fields, which --record FILE gives"), "\(refused)")
    }

    @Test func writingNeedsConsent() async throws {
        let tool = try RecordsTool()
        let asked = await tool.run("sync", "probe", "collections", "--write")
        #expect(asked.code == 1 && asked.err.contains("--yes agrees to that") && tool.service.calls == 0, "\(asked)")
        #expect(await tool.run("sync", "probe", "collections", "--yes").code == 2)
        try tool.folder.write("[1]", to: "sample")
        let list = await tool.run(
            "sync", "probe", "collections", "--write", "--yes", "--record", tool.folder.path + "/sample")
        #expect(list.code == 1 && list.err.contains("no JSON object"), "\(list)")
    }

    @Test func deadServiceIsNotWrittenTo() async throws {
        let tool = try RecordsTool()
        tool.server.stop()
        let output = try await Self.probe(tool, writes: true)
        #expect(output.code == 1 && output.out.contains("untried  writing"), "\(output)")
    }
}
