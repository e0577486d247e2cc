import Foundation
import Larder
import LarderEditions
import Testing

@testable import LarderCommand

/// Mistakes in calls of `edition` are found early, and told with the file they are in.
@Suite struct EditionMistakesTests {
    private static func new(_ folder: PublishingFolder, _ options: String...) async -> Output {
        await folder.run(["edition", "new", "DIR/Policies", "--number", "1"] + options)
    }

    // MARK: Before the checks

    @Test func mistakeInTheCallIsFoundBeforeTheChecks() async throws {
        let folder = try await PublishingFolder()
        let calls: [([String], String)] = [
            (["--channel", "shop", "--out", "DIR/none/x.json"], "/none/x.json: there is no folder"),
            (["--channel", "a b"], "--channel takes a name of letters"),
            (["--channel", "../shop"], "--channel takes a name of letters"),
            (["--channel", ""], "--channel takes a name of letters"),
            (["--channel", "shop", "--against", "DIR/Nope"], "Nope"),
        ]
        for (options, message) in calls {
            let output = await folder.run(["edition", "new", "DIR/Policies", "--number", "1"] + options)
            #expect(output.code != 0 && output.err.contains(message), "\(output.err)")
            #expect(!output.err.contains("1 of "), "\(options)")
        }
        let file = await folder.run(
            "edition", "new", "DIR/Policies/motto.json", "--channel", "shop", "--number", "1", "--out", "DIR/x")
        #expect(file.code == 1 && file.err.contains("Policies/motto.json is no folder"))
    }

    @Test func stagesAreToldAndPromisesAreProvedOnce() async throws {
        let folder = try await PublishingFolder()
        let output = await Self.new(folder, "--channel", "shop", "--out", "DIR/1.edition.json")
        #expect(output.code == 0)
        #expect(output.err.contains("1 of 2: larder check \(folder.path)/Policies --no-prove\n"))
        #expect(output.err.contains("2 of 2: larder prove --policies \(folder.path)/Policies\n"))
    }

    // MARK: Contents

    @Test func policiesThatChangeNothingMakeNoEdition() async throws {
        let folder = try await PublishingFolder()
        let options = ["--channel", "shop", "--out", "DIR/1.edition.json", "--against", "DIR/Policies"]
        let output = await folder.run(["edition", "new", "DIR/Policies", "--number", "1"] + options)
        #expect(output.code == 1)
        #expect(output.err.hasSuffix("/1.edition.json is not written, because it would change nothing\n"))
        #expect(!output.err.contains("larder prove"))
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/1.edition.json"))
    }

    @Test func policyThatIsLeftOutIsTold() async throws {
        let (folder, app) = try await (PublishingFolder(), PublishingFolder())
        try app.folder.write(
            #"{ "extends": "_base.json", "resource": "other", "origin": { "use": "constant", "value": 1 } }"#,
            to: "Policies/other.json")
        try folder.folder.edit("Policies/_base.json", "network-only", "network-first")
        let output = await Self.new(
            folder, "--channel", "shop", "--out", "DIR/1.edition.json", "--against", app.path + "/Policies")
        #expect(output.code == 0, "\(output.err)")
        #expect(output.err.contains("other: not in the edition, so the app's own policy stays\n"))
        #expect(!output.err.contains("copies are deleted"))
    }

    @Test(arguments: [
        #""fields": { "Authorization": "Bearer 6e1f0a9b2c" }"#, #""fields": { "Authorization": "${KEY:-6e1f0a9b2c}" }"#,
        #""url": "https://a.example/?token=6e1f0a9b2c""#, #""url": "https://a.example/?sig=${SIG:-6e1f0a9b2c}""#,
    ])
    func secretStopsEdition(_ setting: String) async throws {
        let folder = try await PublishingFolder()
        let url = setting.contains("url") ? "" : #""url": "https://a.example", "#
        try folder.folder.write(
            #"{ "resource": "feed", "origin": { "use": "http", \#(url)\#(setting) } }"#, to: "Policies/feed.json")
        let output = await Self.new(folder, "--channel", "shop", "--out", "DIR/1.edition.json")
        #expect(output.code == 1)
        #expect(output.err.contains("no secret may stand in its policies"), "\(output.err)")
        #expect(output.err.contains("Policies/feed.json:1:"))
        #expect(!output.err.contains("6e1f0a9b2c"))
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/1.edition.json"))
    }

    @Test func editionForAnotherChannelThanTheAppIsAWarning() async throws {
        let folder = try await PublishingFolder()
        try folder.nameKeys()
        let output = await Self.new(folder, "--channel", "test", "--out", "DIR/1.edition.json")
        #expect(output.code == 0)
        #expect(output.err.contains("Policies/_larder.json is for the channel shop, not test\n"))
    }

    // MARK: Files

    @Test func fileThatCannotBeWrittenIsNamed() async throws {
        let folder = try await PublishingFolder()
        let key = await folder.run("edition", "key", "--out", "DIR/none/k.pem")
        #expect(key.err == "larder: \(folder.path)/none/k.pem: there is no folder \(folder.path)/none\n")
        _ = await folder.make(1)
        let signed = await folder.run(
            "edition", "sign", "DIR/shop-1.edition.json", "--key", "DIR/release.pem", "--out", "DIR/none/x")
        #expect(signed.err.contains("/none/x: there is no folder"))
        #if os(Linux)
            let refused = await Output(["edition", "key", "--out", "/proc/larder.pem"])
            #expect(refused.err.hasPrefix("larder: /proc/larder.pem: cannot create a file"))
        #endif
    }

    @Test func tooLargeFileIsToldWithTheLimit() async throws {
        let folder = try await PublishingFolder()
        try Data(count: 4_000_001).write(to: folder.folder.url.appending(path: "large.edition"))
        let output = await folder.run("edition", "verify", "DIR/large.edition")
        #expect(output.err == "larder: \(folder.path)/large.edition is larger than 4MB\n")
    }

    @Test func fileThatIsNoSignedEditionIsExplained() async throws {
        let folder = try await PublishingFolder()
        _ = await folder.sign(1)
        try folder.folder.write("", to: "empty")
        try folder.folder.write(folder.folder.text(of: "shop-1.edition").replacing("\n", with: "\r\n"), to: "crlf")
        let mistakes = [
            ("shop-1.edition.json", "it is not signed; 'larder edition sign' signs it"), ("empty", "it is empty"),
            ("crlf", "its line ends were changed to CR LF after it was signed"),
            ("release.pem", "its first line is not 'larder-signed/1'"),
        ]
        for (name, message) in mistakes {
            let output = await folder.run("edition", "verify", "DIR/\(name)")
            #expect(output.code == 1 && output.err.hasSuffix(message + "\n"), "\(output.err)")
        }
    }

    @Test func keyIsNotSigned() async throws {
        let folder = try await PublishingFolder()
        let output = await folder.run("edition", "sign", "DIR/release.pem", "--key", "DIR/release.pem")
        #expect(
            output.err
                == "larder: \(folder.path)/release.pem: the edition cannot be read: it is no JSON object\n")
    }

    // MARK: Use

    @Test func loadSaysWhetherAnEditionIsInEffect() async throws {
        let folder = try await PublishingFolder()
        try folder.nameKeys()
        let call = ["load", "motto", "--policies", "DIR/Policies", "--cache", "DIR/cache", "--data", "DIR/data"]
        let note = "the policies of the folder are in effect, and no edition\n"
        let repeated = await folder.run(call + ["--repeat", "2"])
        #expect(repeated.code == 0 && repeated.err.contains(note), "\(repeated.err)")
        #expect(!(await folder.run(call)).err.contains(note))
        try folder.folder.write("{}", to: "Policies/_larder.json")
        #expect(!(await folder.run(call + ["--repeat", "2"])).err.contains(note))
    }

    // MARK: Help

    @Test func helpOfASubcommandHasItsOptionsAndAnExample() async {
        for (command, subcommands) in [
            ("edition", ["key", "new", "sign", "verify"]),
            ("channel", ["publish", "grow", "halt", "renew", "status"]),
        ] {
            for name in subcommands {
                let help = await Output([command, name, "--help"])
                #expect(help.code == 0 && help.out.hasPrefix("usage: larder \(command) \(name)"))
                #expect(help.out.contains("\n\nFor example: larder \(command) \(name) "))
                #expect(await Output(["help", command, name]).out == help.out)
            }
        }
        let status = await Output(["channel", "status", "--help"])
        #expect(status.out.contains("--keys") && !status.out.contains("--share"))
        #expect(await Output(["channel", "--help"]).out.hasPrefix("usage: larder channel SUBCOMMAND"))
    }
}
