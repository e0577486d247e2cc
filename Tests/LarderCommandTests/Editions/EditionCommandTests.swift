import Foundation
import Larder
import LarderEditions
import Testing

@testable import LarderCommand

@Suite struct EditionCommandTests {
    // MARK: Keys

    @Test func newKeyIsPrivateAndItsPublicKeyIsPrinted() async throws {
        let folder = try await PublishingFolder()
        let output = await folder.run("edition", "key", "--out", "DIR/other.pem")
        #expect(output.code == 0)
        #expect(output.out == "\(try folder.key("other").publicKey)\n")
        let mode = try FileManager.default.attributesOfItem(atPath: folder.path + "/other.pem")[.posixPermissions]
        #expect(mode as? Int == 0o600)
        let secret = try folder.folder.text(of: "other.pem").split(separator: "\n")[1]
        #expect(!(output.out + output.err).contains(secret))
    }

    @Test func keyIsNotReplaced() async throws {
        let folder = try await PublishingFolder()
        let before = try folder.bytes(of: "release.pem")
        let output = await folder.run("edition", "key", "--out", "DIR/release.pem")
        #expect(output.code == 1)
        #expect(output.err == "larder: \(folder.path)/release.pem exists already\n")
        #expect(try folder.bytes(of: "release.pem") == before)
    }

    // MARK: New editions

    @Test func newEditionHasPoliciesAndTheirPlugins() async throws {
        let folder = try await PublishingFolder()
        let output = await folder.make(42)
        #expect(output.code == 0, "\(output.err)")
        let path = folder.path + "/shop-42.edition.json"
        #expect(
            output.out == """
                wrote \(path): 2 files, 2 plugins; the next command is
                  larder edition sign \(path) --key release.pem

                """)
        let file = try SignedFile(.edition, payload: folder.bytes(of: "shop-42.edition.json"))
        let edition = try EditionFile(reading: file)
        #expect(edition.channel == "shop" && edition.number == 42 && edition.about == nil)
        #expect(edition.policies.keys.sorted() == ["_base.json", "motto.json"])
        #expect(edition.plugins.keys.sorted() == ["origin constant", "strategy network-only"])
    }

    @Test func editionOfTheSamePoliciesIsTheSame() async throws {
        let (one, other) = try await (PublishingFolder(), PublishingFolder())
        _ = await (one.make(1), other.make(1))
        #expect(try one.bytes(of: "shop-1.edition.json") == other.bytes(of: "shop-1.edition.json"))
    }

    @Test func policyWithErrorStopsEdition() async throws {
        let folder = try await PublishingFolder()
        try folder.folder.edit("Policies/_base.json", "network-only", "network-onyl")
        let output = await folder.make(1)
        #expect(output.code == 1)
        #expect(output.out.isEmpty)
        #expect(output.err.contains("unknown strategy 'network-onyl'"))
        #expect(output.err.contains("is not written, because 'larder check"))
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/shop-1.edition.json"))
    }

    @Test func failedScenarioStopsEdition() async throws {
        let folder = try await PublishingFolder()
        try FileManager.default.createDirectory(
            at: folder.folder.url.appending(path: "Policies/Scenarios"), withIntermediateDirectories: true)
        try folder.folder.write(
            #"""
            { "resource": "motto", "scenarios": [
                { "name": "It is another", "origin": { "value": 1 }, "asks": { "expect": { "value": 2 } } } ] }
            """#, to: "Policies/Scenarios/motto.json")
        let output = await folder.make(1)
        #expect(output.code == 1)
        #expect(output.err.contains("is not written, because 'larder test"))
    }

    @Test func brokenPromiseStopsEdition() async throws {
        let folder = try await PublishingFolder()
        try folder.folder.write(
            #"""
            { "resource": "motto", "origin": { "use": "http", "url": "https://a.example" }, "strategy": "network-only",
              "promises": { "offlineFor": "1d" } }
            """#, to: "Policies/motto.json")
        let output = await folder.make(1)
        #expect(output.code == 1)
        #expect(
            output.err.contains("is not written, because 'larder prove")
                && output.out.isEmpty && output.err.contains("✗"))
    }

    @Test func changeFromOtherPoliciesIsShown() async throws {
        let (folder, old) = try await (PublishingFolder(), PublishingFolder())
        try old.folder.edit("Policies/_base.json", "network-only", "network-first")
        let output = await folder.run(
            "edition", "new", "DIR/Policies", "--channel", "shop", "--number", "2", "--out", "DIR/2.edition.json",
            "--against", old.path + "/Policies")
        #expect(output.code == 0, "\(output.err)")
        #expect(output.err.contains("motto"))
    }

    @Test func changeThatNoEditionMayMakeStopsEdition() async throws {
        let (folder, app) = try await (PublishingFolder(), PublishingFolder())
        try app.folder.edit("Policies/motto.json", "less", "more")
        let output = await folder.run(
            "edition", "new", "DIR/Policies", "--channel", "shop", "--number", "2", "--out", "DIR/2.edition.json",
            "--against", app.path + "/Policies")
        #expect(output.code == 1)
        // The place is that in the changed file.
        #expect(output.err.contains("\(folder.path)/Policies/motto.json:1:59: error: 'origin' may not be changed"))
        #expect(!output.err.contains("larder prove"))
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/2.edition.json"))
        // Where the app names the keys itself, only these count.
        try app.folder.edit("Policies/motto.json", "more", "less")
        try app.folder.edit("Policies/_base.json", "network-only", "network-first")
        try app.folder.write(
            #"""
            { "channel": { "name": "shop", "origin": "constant", "release": ["\#(try app.key("release").publicKey)"],
              "reach": ["validators"] } }
            """#.replacing(#""constant""#, with: #"{ "use": "http", "url": "https://a.example/{file}" }"#),
            to: "Policies/_larder.json")
        let narrow = await folder.run(
            "edition", "new", "DIR/Policies", "--channel", "shop", "--number", "2", "--out", "DIR/2.edition.json",
            "--against", app.path + "/Policies", registry: .shipped)
        #expect(narrow.code == 1)
        #expect(narrow.err.contains("'strategy' may not be changed"))
    }

    @Test func assumedPluginMustOnlyBeThere() async throws {
        let folder = try await PublishingFolder()
        try folder.folder.edit("Policies/motto.json", "constant", "prices")
        let output = await folder.run(
            "edition", "new", "DIR/Policies", "--channel", "shop", "--number", "1", "--out", "DIR/1.edition.json",
            "--assume", "origin:prices")
        #expect(output.code == 0, "\(output.err)")
        let file = try SignedFile(.edition, payload: folder.bytes(of: "1.edition.json"))
        #expect(try EditionFile(reading: file).plugins["origin prices"] == EditionFile.anyDeclaration)
    }

    // MARK: Signatures

    @Test func signedEditionIsVerified() async throws {
        let folder = try await PublishingFolder()
        let signed = await folder.sign(42)
        let key = try folder.key("release").publicKey
        #expect(
            signed.out == """
                wrote \(folder.path)/shop-42.edition: edition 42 of channel shop, signed by \(key.id); the next command is
                  larder channel publish \(folder.path)/shop.channel \(folder.path)/shop-42.edition --share 5% --key release.pem --new

                """)
        let file = try SignedFile(.edition, reading: folder.bytes(of: "shop-42.edition"))
        let output = await folder.run("edition", "verify", "DIR/shop-42.edition", "--keys", "\(key)")
        #expect(output.code == 0, "\(output.err)")
        #expect(
            output.out == """
                edition 42 of channel shop
                  signed by \(key.id)
                  digest \(file.digest)
                  policies _base.json, motto.json

                """)
    }

    @Test func secondSignatureIsAdded() async throws {
        let folder = try await PublishingFolder()
        _ = await folder.sign(42)
        let refused = await folder.run("edition", "sign", "DIR/shop-42.edition", "--key", "DIR/steer.pem")
        #expect(refused.code == 2)
        let output = await folder.run(
            "edition", "sign", "DIR/shop-42.edition", "--key", "DIR/steer.pem", "--out", "DIR/shop-42.edition")
        #expect(output.code == 0, "\(output.err)")
        let keys = try ["steer", "release"].map { try folder.key($0).publicKey }
        #expect(try SignedFile(.edition, reading: folder.bytes(of: "shop-42.edition")).signers(among: keys) == keys)
    }

    @Test func otherFileIsNotReplacedBySignedEdition() async throws {
        let folder = try await PublishingFolder()
        _ = await folder.sign(42)
        let before = try folder.bytes(of: "shop-42.edition")
        for out in [[], ["--out", "DIR/release.pem"], ["--out", "DIR/shop-42.edition.json"]] {
            let call = ["edition", "sign", "DIR/shop-42.edition.json", "--key", "DIR/steer.pem"] + out
            let output = await Output(call.map { $0.replacing("DIR", with: folder.path) })
            #expect(output.code == 1)
            #expect(output.err.hasSuffix(" exists already\n"))
        }
        #expect(try folder.bytes(of: "shop-42.edition") == before)
    }

    @Test func keyIsReadFromInput() async throws {
        let folder = try await PublishingFolder()
        _ = await folder.make(1)
        let pem = try folder.folder.text(of: "release.pem")
        let output = await folder.run("edition", "sign", "DIR/shop-1.edition.json", "--key", "-", input: pem)
        #expect(output.code == 0, "\(output.err)")
        let other = await folder.run(
            "edition", "sign", "DIR/shop-1.edition.json", "--key", "-", "--out", "DIR/x", input: "canary-4f2a")
        #expect(other.code == 1)
        #expect(other.err.hasPrefix("larder: the input: this is no private key in PEM"))
        #expect(!other.err.contains("canary"))
    }

    @Test func changedOrForeignEditionIsRefused() async throws {
        let folder = try await PublishingFolder()
        _ = await folder.sign(42)
        let (release, steer) = try (folder.key("release").publicKey, folder.key("steer").publicKey)
        let foreign = await folder.run("edition", "verify", "DIR/shop-42.edition", "--keys", "\(steer)")
        #expect(foreign.code == 1 && foreign.err.contains("signed by no known key"))
        var text = try folder.folder.text(of: "shop-42.edition")
        text = text.replacing("network-only", with: "cache-only")
        try folder.folder.write(text, to: "shop-42.edition")
        let changed = await folder.run("edition", "verify", "DIR/shop-42.edition", "--keys", "\(release),\(steer)")
        #expect(changed.code == 1 && changed.err.contains("the edition was changed after it was signed"))
    }

    @Test func editionThatNeedsAnotherProgramIsRefused() async throws {
        let folder = try await PublishingFolder()
        _ = await folder.sign(42)
        let key = try folder.key("release").publicKey
        let output = await folder.run(
            "edition", "verify", "DIR/shop-42.edition", "--keys", "\(key)", registry: Registry())
        #expect(output.code == 1)
        #expect(output.err.hasSuffix("/shop-42.edition: this app has no origin 'constant'\n"))
    }

    @Test func policiesOfAnEditionAreCheckedForAnApp() async throws {
        let folder = try await PublishingFolder()
        let policy = try JSON(reading: Array(#"{ "resource": "motto", "strategy": "network-onyl" }"#.utf8))
        var file = try EditionFile(channel: "shop", number: 1, plugins: [:], policies: ["motto.json": policy]).file()
        let key = try folder.key("release")
        try file.sign(with: key)
        try Data(file.bytes).write(to: folder.folder.url.appending(path: "shop-1.edition"))
        let call = ["edition", "verify", folder.path + "/shop-1.edition", "--keys", "\(key.publicKey)"]
        #expect(await Output(call).code == 0)
        let output = await Output(call + ["--policies", folder.path + "/Policies"])
        #expect(output.code == 1)
        #expect(output.err.contains("unknown strategy 'network-onyl'"))
        _ = await folder.sign(2)
        let sound = ["edition", "verify", folder.path + "/shop-2.edition", "--keys", "\(key.publicKey)"]
        #expect(await Output(sound + ["--policies", folder.path + "/Policies"]).code == 0)
    }

    // MARK: Calls

    @Test(arguments: [
        (["edition"], "edition takes one of key, new, sign, verify"),
        (["edition", "sing"], "edition has no 'sing' (did you mean 'sign'?)"),
        (["edition", "key", "a"], "it is called 'edition key'"),
        (["edition", "sign"], "it is called 'edition sign FILE'"),
        (["edition", "key", "--number", "1"], "--number does not go with 'edition key'"),
        (["edition", "new", "P", "--number", "1"], "--channel NAME is missing"),
        (["edition", "new", "P", "--channel", "a"], "--number N is missing"),
        (["edition", "new", "P", "--channel", "a", "--number", "0"], "--number takes a whole number from 1"),
    ])
    func wrongCallIsExplained(_ arguments: [String], _ message: String) async {
        let output = await Output(arguments)
        #expect(output.code == 2)
        #expect(output.err.hasPrefix("larder: " + message), "\(output.err)")
    }

    @Test func resultIsOneDocument() async throws {
        let folder = try await PublishingFolder()
        let key = try folder.key("release").publicKey
        let calls = [
            ["key", "--out", "DIR/k.pem"],
            ["new", "DIR/Policies", "--channel", "shop", "--number", "7", "--out", "DIR/shop-7.edition.json"],
            ["sign", "DIR/shop-7.edition.json", "--key", "DIR/release.pem"],
            ["verify", "DIR/shop-7.edition", "--keys", "\(key)"],
        ]
        for call in calls {
            let words = (["edition"] + call + ["--json"]).map { $0.replacing("DIR", with: folder.path) }
            let output = await Output(words)
            #expect(output.code == 0, "\(output.err)")
            #expect(!(try Facts(output.out).members.isEmpty))
        }
    }

    @Test func helpListsSubcommandsAndTheirOptions() async {
        let output = await Output(["help", "edition"])
        #expect(output.out.contains("  sign FILE     Signs an edition\n"))
        #expect(output.out.contains("--key FILE"))
        #expect(output.out.contains("sign: A private key in PEM"))
    }
}
