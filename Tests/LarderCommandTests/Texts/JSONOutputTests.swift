import LarderFoundation
import Larder
import Testing

@testable import LarderCommand

/// Every command can write its result, and only its result, as JSON.
@Suite struct JSONOutputTests {
    private static let motto = """
        { "resource": "motto", "origin": { "use": "constant", "value": { "text": "less" } }, "strategy": "network-only" }
        """
    private static let scenarios = """
        { "resource": "motto",
          "scenarios": [{ "name": "It is loaded", "origin": { "value": 1 }, "asks": { "expect": { "value": 1 } } }] }
        """

    private static func folder() throws -> Folder {
        let folder = try Folder()
        try folder.write(motto, to: "motto.json")
        try FileManager.default.createDirectory(
            at: folder.url.appending(path: "Scenarios"), withIntermediateDirectories: true)
        try folder.write(scenarios, to: "Scenarios/motto.json")
        return folder
    }

    private static func run(_ folder: Folder, _ arguments: [String]) async -> Output {
        await Output(arguments.map { $0.replacing("FOLDER", with: folder.path) } + ["--json"])
    }

    @Test func everyCommandAcceptsJSONOption() {
        for command in LarderCommand.commands {
            #expect(command.options.contains { $0.name == "json" }, "\(command.name)")
        }
    }

    @Test(arguments: [
        ["check", "FOLDER"], ["check", "--rules"], ["explain", "FOLDER/motto.json"],
        ["explain", "FOLDER/motto.json", "--effective"], ["plugins"], ["plugins", "store", "memory"], ["schema"],
        ["dashboard"], ["dashboard", "--alerts"],
        ["load", "FOLDER/motto.json", "--trail"], ["new", "FOLDER/prices.json"],
        ["test", "--policies", "FOLDER"], ["test", "--keys"],
        ["simulate", "FOLDER/motto.json", "--traffic", "rate=1,for=1m"],
    ])
    func outputIsExactlyOneDocument(_ arguments: [String]) async throws {
        let output = await Self.run(try Self.folder(), arguments)
        #expect(output.code == 0, "\(output.out) \(output.err)")
        #expect(!(try Facts(output.out).items.isEmpty && Facts(output.out).members.isEmpty))
        #expect(output.out.hasSuffix("\n"))
    }

    @Test func demoAndReportWriteOneDocumentEach() async throws {
        let folder = try Folder.withPolicies()
        let demo = await Output(["demo", folder.path, "--json", "--out", folder.path + "/out"])
        #expect(demo.code == 0)
        #expect(try Facts(demo.out)["rows"].items.count == 18)
        #expect(try Facts(demo.out).text == Facts(folder.text(of: "out/demo.json")).text)
        let report = await Output(["report", folder.path + "/out/metrics.json", "--json"])
        #expect(report.code == 0)
        #expect(try Facts(report.out).members.isEmpty == false)
        #expect(report.out == (await Output(["report", folder.path + "/out/metrics.json", "--format", "json"])).out)
    }

    @Test func warningsGoToErrorOutput() async throws {
        let folder = try Self.folder()
        try folder.edit("motto.json", #""network-only""#, #"{ "use": "network-only", "patience": "1s" }"#)
        for command in [["explain", "FOLDER/motto.json"], ["load", "FOLDER/motto.json"]] {
            let output = await Self.run(folder, command)
            #expect(output.code == 0 && output.err.contains(": warning: "))
            #expect(try Facts(output.out).members.isEmpty == false)
        }
    }

    @Test func checkDocumentContainsProblems() async throws {
        let folder = try Self.folder()
        try folder.edit("motto.json", "network-only", "network-onyl")
        let output = await Self.run(folder, ["check", "FOLDER"])
        #expect(output.code == 1 && output.err.isEmpty)
        #expect(try Facts(output.out)["errors"].int == 1)
    }

    @Test func loadDocumentContainsValueSourceCacheStatusAndTrail() async throws {
        let output = await Self.run(try Self.folder(), ["load", "FOLDER/motto.json"])
        let facts = try Facts(output.out)
        #expect(output.err.isEmpty)
        #expect(facts["value"]["text"].string == "less")
        #expect(facts["freshness"].string == "fresh" && facts["source"].string == "origin")
        #expect(facts["stored"].isTrue == false && facts["trail"].items.isEmpty == false)
        #expect(facts["cacheStatus"].string == "Larder; fwd=miss")
    }

    @Test func severalLoadsAreWrittenAsJSONLines() async throws {
        let output = await Self.run(try Self.folder(), ["load", "FOLDER/motto.json", "--repeat", "3"])
        let lines = output.out.split(separator: "\n")
        #expect(lines.count == 3)
        for line in lines { #expect(try Facts(String(line))["value"]["text"].string == "less") }
    }

    @Test func binaryPayloadIsWrittenInBase64() async throws {
        var registry = Registry.standard
        try registry.register(.origin("picture") { _ in Data([0x89, 0xFF, 0x00]) })
        let folder = try Folder()
        try folder.write(
            #"{ "resource": "picture", "origin": "picture", "strategy": "network-only" }"#, to: "picture.json")
        let output = await Output(["load", folder.path + "/picture.json", "--json"], registry: registry)
        #expect(try Facts(output.out)["base64"].string == "if8A")
        #expect(try Facts(output.out).members["value"] == nil)
    }

    @Test func failedLoadDocumentContainsError() async throws {
        let output = await Self.run(try Self.folder(), ["load", "FOLDER/motto.json", "--cached-only"])
        #expect(output.code == 1 && output.err.isEmpty)
        let facts = try Facts(output.out)
        #expect(facts["error"].string == "notCached" && facts["message"].string == "not cached")
    }

    @Test func jsonWithAnotherFormatIsUsageError() async throws {
        for arguments in [["check", "FOLDER", "--format", "text"], ["plugins", "--format", "markdown"]] {
            let output = await Self.run(try Self.folder(), arguments)
            #expect(output.code == 2 && output.out.contains("exclude each other"))
            #expect(output.err.hasPrefix("larder: --json and --format \(arguments.last ?? "") exclude each other\n"))
        }
        #expect(await Self.run(try Self.folder(), ["check", "FOLDER", "--format", "json"]).code == 0)
    }
}
