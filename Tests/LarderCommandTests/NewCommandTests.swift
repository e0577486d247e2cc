import FoundationEssentials
import Larder
import Testing

@testable import LarderCommand

@Suite struct NewCommandTests {
    private static let strategies = Registry.standard[.strategy].map(\.name)
    private static let origins = Registry.standard[.origin].map(\.name)

    @Test(arguments: strategies, origins)
    func whatItWritesPassesTheStrictCheck(_ strategy: String, _ origin: String) async throws {
        let folder = try Folder()
        let output = await Output(
            ["new", "prices", "--policies", folder.path, "--strategy", strategy, "--origin", origin])
        #expect(output.code == 0)
        #expect(output.out.hasPrefix("\(folder.path)/prices.json is there"))
        let check = await Output(["check", "--strict", folder.path])
        #expect(check.code == 0, "\(check.out)")
        let policy = try Facts(folder.text(of: "prices.json"))
        #expect(policy["resource"].string == "prices")
        #expect(policy["strategy"]["use"].string == strategy)
        #expect(policy["origin"]["use"].string == (strategy == "cache-only" ? nil : origin))
    }

    @Test func withoutOptionsItTakesTheFirstStrategyAndTheStandIn() async throws {
        let folder = try Folder()
        #expect(await Output(["new", "prices", "--policies", folder.path + "/made/for/it"]).code == 0)
        let policy = try Facts(folder.text(of: "made/for/it/prices.json"))
        #expect(policy["strategy"]["use"].string == Self.strategies.first)
        #expect(policy["origin"]["use"].string == "sample")
        #expect(policy["$schema"].string == nil)
    }

    @Test func itNamesTheSchemaWhereThereIsOne() async throws {
        let folder = try Folder()
        try folder.write("{}", to: "policy.schema.json")
        #expect(await Output(["new", "prices", "--policies", folder.path]).code == 0)
        #expect(try Facts(folder.text(of: "prices.json"))["$schema"].string == "policy.schema.json")
    }

    @Test func itNeverOverwrites() async throws {
        let folder = try Folder()
        try folder.write("mine", to: "prices.json")
        let output = await Output(["new", "prices", "--policies", folder.path])
        #expect(output.code == 1)
        #expect(output.out.isEmpty)
        #expect(output.err == "larder: \(folder.path)/prices.json is there already\n")
        #expect(try folder.text(of: "prices.json") == "mine")
    }

    @Test(arguments: ["../x", "a/b", "/x", "_x", ".x", "..", "", "a\nb", "a\r\nb", "a\u{1B}b", "a\0b", "policy.schema"])
    func aNameThatIsNoFilesNameIsRefused(_ name: String) async throws {
        let folder = try Folder()
        let output = await Output(["new", name, "--policies", folder.path + "/policies"])
        #expect(output.code == 2)
        #expect(output.err.hasPrefix("larder: a resource's name is a file's name on one line"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    @Test func aNameOfSeveralWordsIsLoadable() async throws {
        let folder = try Folder()
        #expect(await Output(["new", "größte Fische", "--policies", folder.path, "--origin", "constant"]).code == 0)
        #expect(await Output(["check", "--strict", folder.path]).code == 0)
        #expect(await Output(["load", "größte Fische", "--policies", folder.path]).code == 0)
    }

    @Test func theCommandsItSuggestNameTheFolderOfPolicies() async throws {
        let folder = try Folder()
        let policies = folder.path + "/my policies"
        let output = await Output(["new", "prices", "--policies", policies])
        #expect(
            output.out == """
                \(policies)/prices.json is there; go on from it with
                  larder check '\(policies)/prices.json'
                  larder load prices --policies '\(policies)'

                """)
    }

    @Test func aPolicyForAnAppsOwnOriginIsCheckedAndExplainedWithoutIt() async throws {
        let folder = try Folder()
        let arguments = ["new", "prices", "--policies", folder.path, "--origin", "api", "--assume", "origin:api"]
        let output = await Output(arguments)
        #expect(
            output.out == """
                \(folder.path)/prices.json is there; go on from it with
                  larder check \(folder.path)/prices.json --assume origin:api
                  larder explain prices --policies \(folder.path) --assume origin:api

                """)
        for line in output.out.split(separator: "\n").dropFirst() {
            let words = line.split(separator: " ").dropFirst().map(String.init)
            let next = await Output(words)
            #expect(next.code == 0, "\(next.err)")
        }
    }

    @Test(arguments: [
        (["new"], "one RESOURCE, please"), (["new", "a", "b"], "one RESOURCE, please"),
        (["new", "a", "--strategy", "fastest"], "there is no strategy called 'fastest'; there are: network-first, "),
        (["new", "a", "--origin", "ftp"], "there is no origin called 'ftp'; there are: file, constant, "),
        (
            ["new", "a", "--origin", "https://example.com"],
            "no registered origin takes a URL; there are: file, constant, mirrors, sample. To call your service from a "
                + "closure of your app, register it as .origin(\"a\") { … } and begin with: larder new a --origin a "
                + "--assume origin:a --policies /"
        ),
        (
            ["new", "a", "--origin", "ftp"],
            "there is no origin called 'ftp'; there are: file, constant, mirrors, sample; if it is your app's own, add "
                + "--assume origin:ftp\n"
        ),
    ])
    func aWrongCallIsTwoAndWritesNothing(_ arguments: [String], _ message: String) async throws {
        let folder = try Folder()
        let output = await Output(arguments + ["--policies", folder.path])
        #expect(output.code == 2)
        #expect(output.err.hasPrefix("larder: " + message))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }
}
