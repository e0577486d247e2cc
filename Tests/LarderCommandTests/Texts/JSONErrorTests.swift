import LarderSystem
import Larder
import Testing

@testable import LarderCommand

@Suite struct JSONErrorTests {
    @Test(arguments: [
        ["load", "feed", "--policies", "nowhere", "--json"], ["load", "--json"], ["explain", "nowhere", "--json"],
        ["check", "--json", "--wrong"], ["report", "nowhere", "--json"], ["plugins", "store", "fil", "--json"],
        ["nonsense", "--json"], ["demo", "--policies", "nowhere", "--json"], ["test", "--format", "json", "--wrong"],
    ])
    func errorIsWrittenAsJSONToTheOutput(_ arguments: [String]) async throws {
        let output = await Output(arguments)
        #expect(output.code > 0)
        let root = try #require(try? JSONParser.parse(SourceText(name: "output", bytes: Array(output.out.utf8))))
        #expect(root["error"]?.string != nil && root["message"]?.string?.isEmpty == false)
    }

    @Test func errorWithoutJSONLeavesTheOutputEmpty() async throws {
        let output = await Output(["load", "feed", "--policies", "nowhere"])
        #expect(output.code == 1 && output.out.isEmpty && !output.err.isEmpty)
    }

    @Test func problemsOfPoliciesArePartOfTheError() async throws {
        let folder = try Folder()
        try folder.write("{ \"resource\": \"feed\" }", to: "feed.json")
        let output = await Output(["load", "feed", "--policies", folder.path, "--json"])
        let root = try JSONParser.parse(SourceText(name: "output", bytes: Array(output.out.utf8)))
        #expect(root["problems"] != nil)
    }

    @Test func valueThatLooksLikeAnOptionIsMissing() async throws {
        let output = await Output(["load", "feed", "--cache", "--json"])
        #expect(output.code == 2 && output.err.contains("--cache needs a value"))
    }

    @Test func fileThatIsNoRecordingIsLeftAlone() async throws {
        let folder = try Folder.withPolicies()
        let day = try Folder()
        try day.write("{ \"format\": \"larder-metrics/2\" }\n", to: "metrics.json")
        let file = day.path + "/metrics.json"
        let output = await Output(["load", "feed", "--policies", folder.path, "--record", file])
        #expect(output.code == 1 && output.err.contains("not a recording"))
        #expect(try day.text(of: "metrics.json") == "{ \"format\": \"larder-metrics/2\" }\n")
    }

    @Test func settingsOfTheProcessAreCheckedByTheirPath() async throws {
        let folder = try Folder()
        try folder.write("{ \"metrics\": { \"every\": 5 } }", to: "_larder.json")
        let output = await Output(["check", folder.path + "/_larder.json"])
        #expect(output.code == 1 && output.out.contains("_larder.json:1:"))
    }

    @Test func helpOfUnknownCommandFailsAndNamesTheNearest() async throws {
        let output = await Output(["help", "loa"])
        #expect(output.code == 2 && output.err.contains("did you mean 'load'?"))
    }
}
