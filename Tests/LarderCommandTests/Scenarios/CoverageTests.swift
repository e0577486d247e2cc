import LarderFoundation
import Larder
import LarderSimulation
import Testing

@testable import LarderCommand
@testable import LarderStories

/// The kinds of situations that no scenario plays.
@Suite struct CoverageTests {
    /// A folder with one policy and the scenarios for it.
    private static func folder(_ scenarios: String) throws -> Folder {
        let folder = try Folder()
        try folder.write(DiffCommandTests.small, to: "prices.json")
        try FileManager.default.createDirectory(
            at: folder.url.appending(path: "Scenarios"), withIntermediateDirectories: true)
        try folder.write(#"{ "resource": "prices", "scenarios": [ \#(scenarios) ] }"#, to: "Scenarios/prices.json")
        return folder
    }

    private static func missing(_ folder: Folder, _ options: String...) async -> [String] {
        let output = await Output(["test", "--policies", folder.path, "--coverage"] + options)
        return output.out.split(separator: "\n").filter { $0.hasPrefix("  not played: ") }
            .map { String($0.dropFirst("  not played: ".count)) }
    }

    private static let live = """
        { "name": "live", "origin": { "takes": "300ms", "value": 1 }, "asks": { "expect": { "value": 1 } } }
        """

    @Test func situationIsMissingUntilAScenarioPlaysIt() async throws {
        let fails = "the origin fails at once, no copy or copy of 6h 5m or older: error 503 after 500ms"
        let answers = "the origin answers within 2s, no copy or copy of 6h 5m or older: the origin's answer"
        let before = await Self.missing(try Self.folder(Self.live))
        #expect(before.contains(fails), "\(before)")
        #expect(!before.contains { $0.hasPrefix("the origin answers within 1s") && $0.contains("the origin's answer") })
        #expect(!before.contains(answers), "\(before)")
        let failing = #"{ "name": "down", "origin": { "fails": 503 }, "asks": { "expect": { "status": 503 } } }"#
        let after = await Self.missing(try Self.folder(Self.live + "," + failing))
        #expect(!after.contains(fails) && after.count == before.count - 1, "\(after)")
    }

    @Test func answerOfAnEarlierRequestIsTheCopyOfALaterOne() async throws {
        let twice = """
            { "name": "twice", "origin": [{ "value": 1 }, { "from": "1h", "fails": 503 }],
              "asks": [{ "at": "0s" }, { "at": "2h", "expect": { "age": "2h" } }] }
            """
        let kind = { (name: String) in name.hasPrefix("the origin fails at once, copy 5m to 6h 5m old: ") }
        #expect(await Self.missing(try Self.folder(Self.live)).contains(where: kind))
        #expect(await !Self.missing(try Self.folder(twice)).contains(where: kind))
        // The app was started anew, so that the copy in memory is gone.
        let restarted = twice.replacing(#""at": "2h","#, with: #""at": "2h", "restarted": true,"#).replacing(
            #"{ "age": "2h" }"#, with: #"{ "status": 503 }"#)
        #expect(restarted != twice)
        #expect(await Self.missing(try Self.folder(restarted)).contains(where: kind))
    }

    @Test func writtenScenariosPassAndPlayAllThatWasMissing() async throws {
        let folder = try Self.folder(Self.live)
        let out = folder.path + "/More"
        let missing = await Self.missing(folder, "--out", out)
        #expect(missing.count > 5)
        let output = await Output(
            ["test", "--policies", folder.path, "--coverage", folder.path + "/Scenarios", out])
        #expect(output.code == 0, "\(output.out)")
        #expect(
            output.out.contains("\(missing.count + 1) scenarios in 2 files: \(missing.count + 1) passed"),
            "\(output.out)")
        #expect(!output.out.contains("not played"), "\(output.out)")
        // A file that is there, such as one written by hand, is not replaced.
        let again = await Output(["test", "--policies", folder.path, "--coverage", "--out", out])
        #expect(again.code == 2 && again.err.contains("More/prices.json exists already"), "\(again.err)")
    }

    /// A request plays a kind only if its situation and its outcome are those of the kind, and its expectation is met.
    @Test(arguments: [
        (#""deadline": "10s", "expect": { "value": 1 }"#, "with a deadline of"),
        (#""expect": { "value": 2 }"#, "within 1s: the origin's answer"),
        (#""at": "0s""#, "within 1s: the origin's answer"),
        (#""clockBack": "1h", "expect": { "value": 1 }"#, "within 1s: the origin's answer"),
    ]) func requestInAnotherSituationPlaysNothing(_ ask: String, _ kind: String) async throws {
        let first =
            #"{ "parameters": { "id": "other" }, "mode": "refresh", "deadline": "5s", "expect": { "value": 1 } }"#
        let folder = try Self.folder(
            #"{ "name": "one", "origin": { "takes": "300ms", "value": 1 }, "asks": [\#(first), { \#(ask) }] }"#)
        #expect(await Self.missing(folder).contains { $0.contains(kind) })
    }

    @Test func policyWithoutScenariosIsNotPlayedAtAll() async throws {
        let folder = try Folder()
        try folder.write(DiffCommandTests.small, to: "prices.json")
        let output = await Output(["test", "--policies", folder.path, "--coverage"])
        #expect(output.code == 0, "\(output.err)")
        #expect(output.out.contains("prices: 0 of "), "\(output.out)")
    }

    @Test func shippedPoliciesAreCoveredByTheirScenariosAndTheWrittenOnes() async throws {
        let folder = try Folder()
        let policies = projectFolder.path + "/Policies"
        let first = await Output(["test", "--policies", policies, "--coverage", "--out", folder.path])
        #expect(
            first.code == 0 && first.out.contains("catalog: 10 of 22 kinds of situations are played"), "\(first.out)")
        let both = await Output(["test", "--policies", policies, "--coverage", policies + "/Scenarios", folder.path])
        #expect(both.code == 0 && !both.out.contains("not played"), "\(both.out)")
    }

    @Test func coverageIsPartOfTheJSONOnRequest() async throws {
        let folder = try Self.folder(Self.live)
        let output = await Output(["test", "--policies", folder.path, "--coverage", "--json"])
        let coverage = try #require(try Facts(output.out)["coverage"].items.first)
        #expect(coverage["resource"].text == "\"prices\"")
        #expect(!coverage["missing"].items.isEmpty)
        #expect(await Output(["test", "--policies", folder.path, "--out", folder.path + "/More"]).code == 2)
    }
}
