import LarderFoundation
import Larder
import Testing

@testable import LarderCommand

@Suite struct NewCommandTests {
    private static let strategies = Registry.standard[.strategy].map(\.name)
    private static let origins = Registry.standard[.origin].map(\.name)

    @Test(arguments: strategies, origins)
    func newPolicyPassesStrictCheck(_ strategy: String, _ origin: String) async throws {
        let folder = try Folder()
        let output = await Output(
            ["new", "prices", "--policies", folder.path, "--strategy", strategy, "--origin", origin])
        #expect(output.code == 0)
        #expect(output.out.hasPrefix("wrote \(folder.path)/prices.json;"))
        let check = await Output(["check", "--strict", folder.path])
        #expect(check.code == 0, "\(check.out)")
        let policy = try Facts(folder.text(of: "prices.json"))
        #expect(policy["resource"].string == "prices")
        #expect(policy["strategy"]["use"].string == strategy)
        #expect(policy["origin"]["use"].string == (strategy == "cache-only" ? nil : origin))
    }

    @Test func newPolicyUsesFirstStrategyAndSampleOriginByDefault() async throws {
        let folder = try Folder()
        #expect(await Output(["new", "prices", "--policies", folder.path + "/made/for/it"]).code == 0)
        let policy = try Facts(folder.text(of: "made/for/it/prices.json"))
        #expect(policy["strategy"]["use"].string == Self.strategies.first)
        #expect(policy["origin"]["use"].string == "sample")
        #expect(policy["$schema"].string == "policy.schema.json")
        #expect(try folder.text(of: "made/for/it/policy.schema.json") == Registry.shipped.schema.text() + "\n")
        let mode = try FileManager.default.attributesOfItem(atPath: folder.path + "/made")[.posixPermissions] as? Int
        mkdir(folder.path + "/plain", 0o777)
        let plain = try FileManager.default.attributesOfItem(atPath: folder.path + "/plain")[.posixPermissions] as? Int
        #expect(mode != nil && mode == plain)
    }

    /// The first policy in a text with articles.
    private static func policy(in path: String) throws -> Facts {
        let text = try String(contentsOf: projectFolder.appending(path: path), encoding: .utf8)
        let block = try #require(text.components(separatedBy: "```json\n").dropFirst().first)
        return try Facts(block.components(separatedBy: "\n```")[0])
    }

    @Test(arguments: [
        ([], "README.md"),
        (["--url", "https://api.example.com/prices/{id}"], "Sources/Larder/Larder.docc/GettingStarted.md"),
    ])
    func readmeAndArticleShowTheNewPolicy(_ arguments: [String], _ path: String) async throws {
        let folder = try Folder()
        try folder.write("{}", to: "policy.schema.json")
        #expect(await Output(["new", "prices", "--policies", folder.path] + arguments).code == 0)
        #expect(try Facts(folder.text(of: "prices.json")).text == Self.policy(in: path).text)
    }

    @Test func nextCommandsNameAnInstanceIfTheURLNeedsOne() async throws {
        let folder = try Folder()
        let output = await Output([
            "new", "prices", "--policies", folder.path, "--url", "https://a.example/{id}{?page}",
        ])
        #expect(output.code == 0 && output.out.contains("larder load prices --policies \(folder.path) id=1 page=1\n"))
    }

    @Test func badURLWritesNothing() async throws {
        let folder = try Folder()
        let output = await Output(["new", "prices", "--policies", folder.path + "/p", "--url", "a.example/prices"])
        #expect(output.code == 1 && output.out.isEmpty)
        #expect(
            output.err
                == "larder: \(folder.path)/p/prices.json is not written: --url: the URL has no scheme and host; "
                + "expected a URL that begins with https:// or http://\n"
        )
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/p"))
    }

    @Test(arguments: [
        ("https://a.example/{a,b}", "the next commands are", "a=1 b=1"),
        ("https://${HOST}/x/{id}", "set HOST in the environment, then run", "id=1"),
        ("${BASE}/x/{id}?u=${USER:-me}", "set BASE in the environment, then run", "id=1"),
    ]) func nextCommandsWorkForEveryURL(_ url: String, _ first: String, _ instance: String) async throws {
        let folder = try Folder()
        let output = await Output(["new", "prices", "--policies", folder.path, "--url", url], environment: [:])
        #expect(
            output.out == """
                wrote \(folder.path)/prices.json; \(first)
                  larder check \(folder.path)/prices.json
                  larder load prices --policies \(folder.path) \(instance)

                """, "\(output.err)")
    }

    @Test func strategyWithoutOriginNeedsNoURL() async throws {
        let folder = try Folder()
        let output = await Output([
            "new", "prices", "--policies", folder.path, "--strategy", "cache-only", "--url", "https://a.example/{id}",
        ])
        #expect(output.code == 0 && output.out.hasSuffix("larder load prices --policies \(folder.path)\n"))
    }

    @Test func variableOfAnotherFrameworkInTheURLIsWarnedOf() async throws {
        let folder = try Folder()
        let output = await Output(["new", "prices", "--policies", folder.path, "--url", "https://a.example/:id"])
        #expect(output.code == 0 && output.out.hasPrefix("wrote "))
        #expect(
            output.err
                == "larder: warning about \(folder.path)/prices.json: --url: ':id' is no variable, and is sent as it "
                + "stands; expected a variable in braces: {id}\n")
    }

    @Test(arguments: [
        (["--strategy", "swr"], "network-only (did you mean 'stale-while-revalidate'?)"),
        (["--strategy", "netwrok-first"], "network-only (did you mean 'network-first'?)"),
        (["--origin", "https"], "sample (did you mean 'http'?)"), (["--origin", "my api"], "mirrors, sample"),
    ]) func wordForAPluginIsLedToItsName(_ option: [String], _ end: String) async throws {
        let output = await Output(["new", "prices", "--policies", try Folder().path] + option)
        let line = output.err.split(separator: "\n").first ?? ""
        #expect(output.code == 2 && line.hasSuffix(end), "\(output.err)")
    }

    @Test func fileThatOriginReadsIsWrittenUnlessItExists() async throws {
        let folder = try Folder()
        let arguments = ["new", "prices", "--policies", folder.path, "--origin", "file"]
        let output = await Output(arguments)
        #expect(output.out.hasSuffix("\nthe origin reads \(folder.path)/Seeds/prices.json; put its data there\n"))
        #expect(try folder.text(of: "Seeds/prices.json") == "{}\n")
        #expect(
            await Output(["load", "prices", "--policies", folder.path, "--cache", folder.path + "/c"]).out == "{}\n")
        try FileManager.default.removeItem(at: folder.url.appending(path: "prices.json"))
        try folder.write("mine", to: "Seeds/prices.json")
        let again = await Output(arguments + ["--json"])
        #expect(try Facts(again.out)["seed"].string == folder.path + "/Seeds/prices.json")
        #expect(try folder.text(of: "Seeds/prices.json") == "mine")
    }

    @Test func newPolicyForAURLUsesTheOriginThatTakesOne() async throws {
        let folder = try Folder()
        let url = "https://api.example.com/prices/{id}{?page}"
        let output = await Output(["new", "prices", "--policies", folder.path, "--url", url])
        #expect(output.code == 0, "\(output.err)")
        let policy = try Facts(folder.text(of: "prices.json"))
        #expect(policy["origin"]["use"].string == "http" && policy["origin"]["url"].string == url)
        #expect(policy["validators"].items.first?["use"].string == "http", "it knows the server's rules")
        #expect(await Output(["check", "--strict", folder.path]).code == 0)
    }

    @Test func newPolicyNamesSchemaIfThereIsOne() async throws {
        let folder = try Folder()
        try folder.write("{}", to: "policy.schema.json")
        #expect(await Output(["new", "prices", "--policies", folder.path]).code == 0)
        #expect(try Facts(folder.text(of: "prices.json"))["$schema"].string == "policy.schema.json")
    }

    @Test func existingFileIsNotOverwritten() async throws {
        let folder = try Folder()
        try folder.write("mine", to: "prices.json")
        let output = await Output(["new", "prices", "--policies", folder.path])
        #expect(output.code == 1)
        #expect(output.out.isEmpty)
        #expect(output.err == "larder: \(folder.path)/prices.json already exists\n")
        #expect(try folder.text(of: "prices.json") == "mine")
    }

    @Test(arguments: ["../x", "a/b", "/x", "_x", ".x", "..", "", "a\nb", "a\r\nb", "a\u{1B}b", "a\0b", "policy.schema"])
    func nameThatCannotBeFileNameIsRefused(_ name: String) async throws {
        let folder = try Folder()
        let output = await Output(["new", name, "--policies", folder.path + "/policies"])
        #expect(output.code == 2)
        #expect(output.err.hasPrefix("larder: a resource's name is a file's name on one line"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    @Test func policyWithNameOfSeveralWordsCanBeLoaded() async throws {
        let folder = try Folder()
        #expect(await Output(["new", "größte Fische", "--policies", folder.path, "--origin", "constant"]).code == 0)
        #expect(await Output(["check", "--strict", folder.path]).code == 0)
        let loaded = await Output([
            "load", "größte Fische", "--policies", folder.path, "--cache", folder.path + "/cache", "--data",
            folder.path + "/data",
        ])
        #expect(loaded.code == 0, "\(loaded)")
    }

    @Test func suggestedCommandsNameFolderOfPolicies() async throws {
        let folder = try Folder()
        let policies = folder.path + "/my policies"
        let output = await Output(["new", "prices", "--policies", policies])
        #expect(
            output.out == """
                wrote \(policies)/prices.json; the next commands are
                  larder check '\(policies)/prices.json'
                  larder load prices --policies '\(policies)'

                """)
    }

    @Test func assumedPluginIsUsedWithoutBeingNamedAgain() async throws {
        let folder = try Folder()
        let output = await Output(
            [
                "new", "prices", "--policies", folder.path, "--assume", "origin:api", "--assume", "strategy:lucky",
                "--assume", "store:vault",
            ])
        #expect(output.code == 0, "\(output.err)")
        let policy = try Facts(folder.text(of: "prices.json"))
        #expect(policy["origin"]["use"].string == "api" && policy["strategy"]["use"].string == "lucky")
    }

    @Test func pathOfPolicySelectsResourceAndFolder() async throws {
        let folder = try Folder()
        let output = await Output(["new", folder.path + "/prices.json"])
        #expect(output.code == 0, "\(output.err)")
        #expect(try Facts(folder.text(of: "prices.json"))["resource"].string == "prices")
        #expect(output.out.hasSuffix("\n  larder load \(folder.path)/prices.json\n"))
    }

    @Test func policyForAppsOwnOriginIsCheckedAndExplained() async throws {
        let folder = try Folder()
        let arguments = ["new", "prices", "--policies", folder.path, "--origin", "api", "--assume", "origin:api"]
        let output = await Output(arguments)
        #expect(
            output.out == """
                wrote \(folder.path)/prices.json; the next commands are
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
        (["new"], "new takes one RESOURCE"), (["new", "a", "b"], "new takes one RESOURCE"),
        (["new", "a", "--strategy", "fastest"], "there is no strategy called 'fastest'; there are: network-first, "),
        (["new", "a", "--origin", "ftp"], "there is no origin called 'ftp'; there are: http, file, constant, "),
        (["new", "a", "--origin", "https://example.com"], "a URL is given as --url URL"),
        (["new", "https://example.com"], "a URL is given as --url URL, after the name of the resource"),
        (
            ["new", "a", "--origin", "file", "--url", "https://example.com"],
            "origin 'file' takes no URL. To call a service from a closure of your app, register it as .origin(\"a\") { … } "
                + "and run: larder new a --origin a --assume origin:a --policies /"
        ),
        (
            ["new", "a", "--origin", "ftp"],
            "there is no origin called 'ftp'; there are: http, file, constant, mirrors, sample; if your app registers it, add "
                + "--assume origin:ftp\n"
        ),
    ])
    func usageErrorExitsWithTwoAndWritesNothing(_ arguments: [String], _ message: String) async throws {
        let folder = try Folder()
        let output = await Output(arguments + ["--policies", folder.path])
        #expect(output.code == 2)
        #expect(output.err.hasPrefix("larder: " + message))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }
}
