import LarderFoundation
import Larder
import Testing

@testable import LarderCommand

/// `larder new NAME --records`.
@Suite struct NewRecordsTests {
    private static let url = "https://api.example.com/notes"

    @Test(arguments: ["client", "server"])
    func newPolicyOfRecordsPassesStrictCheckAndItsScenarios(_ ids: String) async throws {
        let folder = try Folder()
        let output = await Output([
            "new", "notes", "--policies", folder.path, "--url", Self.url, "--records", "--ids", ids,
        ])
        #expect(
            output.out == """
                wrote \(folder.path)/notes.json and \(folder.path)/Scenarios/notes.json; the next commands are
                  larder check \(folder.path)/notes.json
                  larder sync probe notes --policies \(folder.path)
                  larder test --policies \(folder.path)

                """, "\(output.err)")
        let check = await Output(["check", "--strict", folder.path])
        #expect(check.code == 0 && check.err.hasPrefix("1 policy, no problems found"), "\(check)")
        let policy = try Facts(folder.text(of: "notes.json"))
        #expect(policy["records"]["ids"].string == ids && policy["strategy"].string == nil)
        for promise in ["losesNothing", "appliesOnce", "noLostUpdate"] { #expect(policy["promises"][promise].isTrue) }
        #expect(policy["promises"]["sentWithin"].string == "2m")
        let test = await Output(["test", "--policies", folder.path])
        #expect(test.code == 0 && test.out.hasSuffix("4 scenarios in 1 file: 4 passed, 0 failed\n"), "\(test)")
    }

    @Test func clientNamesNewRecordsUnlessTheServerIsTold() async throws {
        let folder = try Folder()
        #expect(await Output(["new", folder.path + "/notes.json", "--url", Self.url, "--records"]).code == 0)
        #expect(try Facts(folder.text(of: "notes.json"))["records"]["ids"].string == "client")
    }

    @Test(arguments: [
        (url, url + "{/id}{?since,cursor,limit}"), (url + "/", url + "{/id}{?since,cursor,limit}"),
        (url + "?team=1", url + "{/id}?team=1{&since,cursor,limit}"),
        ("https://${HOST:-a.example}/notes", "https://${HOST:-a.example}/notes{/id}{?since,cursor,limit}"),
        (url + "{/id}{?since,cursor,limit,team}", url + "{/id}{?since,cursor,limit,team}"),
    ]) func urlGetsItsVariablesUnlessItHasSome(_ given: String, _ written: String) async throws {
        let folder = try Folder()
        let output = await Output(["new", "notes", "--policies", folder.path, "--url", given, "--records"])
        #expect(output.code == 0, "\(output)")
        #expect(try Facts(folder.text(of: "notes.json"))["origin"]["url"].string == written)
    }

    @Test func urlWithThePlaceOfTheIdOnlyGetsThoseOfThePages() async throws {
        let folder = try Folder()
        let output = await Output([
            "new", "notes", "--policies", folder.path + "/p", "--url", Self.url + "{/id}", "--records",
        ])
        #expect(output.code == 0, "\(output)")
        let text = try String(contentsOfFile: folder.path + "/p/notes.json", encoding: .utf8)
        #expect(text.contains(Self.url + "{/id}{?since,cursor,limit}"))
    }

    @Test func urlWithoutThePlaceOfThePullerWritesNothing() async throws {
        let folder = try Folder()
        let output = await Output([
            "new", "notes", "--policies", folder.path + "/p", "--url", Self.url + "{/id}{?cursor}", "--records",
        ])
        #expect(
            output.code == 1 && output.out.isEmpty && output.err.contains("notes.json is not written: "), "\(output)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    @Test func scenariosThatAreThereStay() async throws {
        let folder = try Folder()
        try FileManager.default.createDirectory(
            at: folder.url.appending(path: "Scenarios"), withIntermediateDirectories: false)
        try folder.write("mine", to: "Scenarios/notes.json")
        let output = await Output([
            "new", "notes", "--policies", folder.path, "--url", Self.url, "--records", "--json",
        ])
        #expect(try Facts(output.out)["scenarios"].string == nil)
        #expect(try folder.text(of: "Scenarios/notes.json") == "mine")
    }

    @Test(arguments: [
        (["--records"], "--records needs --url URL"),
        (["--records", "--url", url, "--strategy", "network-first"], "--strategy has no effect with --records"),
        (["--records", "--url", url, "--assume", "origin:api"], "--assume has no effect with --records"),
        (["--records", "--url", url, "--ids", "me"], "--ids takes client or server"),
        (["--url", url, "--ids", "server"], "--ids goes with --records"),
    ])
    func optionWithoutEffectIsRefused(_ options: [String], _ message: String) async throws {
        let folder = try Folder()
        let output = await Output(["new", "notes", "--policies", folder.path + "/p"] + options)
        #expect(output.code == 2 && output.err.hasPrefix("larder: " + message), "\(output)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    @Test func programWithoutRecordsSaysSo() async throws {
        let output = await Output(
            ["new", "notes", "--policies", try Folder().path, "--url", Self.url, "--records"], registry: .standard)
        #expect(output.code == 2 && output.err.contains("Registry.standard.adding(.sync)"), "\(output)")
    }
}
