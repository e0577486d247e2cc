import Foundation
import Larder
import LarderEditions
import Testing

@testable import LarderCommand

/// The keys in the `_larder.json` of the app decide what is signed.
@Suite struct KnownKeysTests {
    /// A folder whose channel is signed by a key that the app does not know.
    private static func withForeignChannel() async throws -> PublishingFolder {
        let folder = try await ChannelCommandTests.withTwo()
        await folder.makeOtherKey()
        var file = try folder.channel().file()
        try file.sign(with: folder.key("other"))
        try Data(file.bytes).write(to: folder.folder.url.appending(path: "shop.channel"))
        return folder
    }

    @Test func channelOfTheAppIsVerified() async throws {
        let folder = try await ChannelCommandTests.withTwo()
        let key = try folder.key("release").publicKey
        let status = await folder.run("channel", "status", "DIR/shop.channel")
        #expect(status.code == 0 && status.out.contains("signed by \(key.id), verified\n"))
        _ = await ChannelCommandTests.halt(folder)
        let steer = try folder.key("steer").publicKey
        let facts = try Facts(await folder.run("channel", "status", "DIR/shop.channel", "--json").out)
        #expect(facts["verified"].isTrue)
        #expect(facts["signers"].items.map(\.string) == [steer.id])
        #expect(facts["file"].string == folder.path + "/shop.channel")
        #expect(facts["editions"].items.map { $0["halted"].isTrue } == [true, false])
    }

    @Test func statusWithoutKnownKeysSaysThatNothingIsVerified() async throws {
        let folder = try await PublishingFolder()
        _ = await folder.publish(1, "--share", "5%")
        let facts = try Facts(await folder.run("channel", "status", "DIR/shop.channel", "--json").out)
        #expect(facts["verified"].value as? Bool == false)
        #expect(facts["signers"].items.map(\.string) == [try folder.key("release").publicKey.id])
    }

    @Test func channelSignedByNoKnownKeyIsNotChanged() async throws {
        let folder = try await Self.withForeignChannel()
        let before = try folder.bytes(of: "shop.channel")
        let calls = [
            ["halt", "DIR/shop.channel", "--key", "DIR/steer.pem"],
            ["renew", "DIR/shop.channel", "--key", "DIR/steer.pem"],
            ["grow", "DIR/shop.channel", "--share", "50%", "--key", "DIR/release.pem"],
            ["publish", "DIR/shop.channel", "DIR/shop-2.edition", "--share", "50%", "--key", "DIR/release.pem"],
            ["status", "DIR/shop.channel"],
        ]
        for call in calls {
            let output = await folder.run(["channel"] + call)
            #expect(output.code == 1 && output.err.contains("the channel is signed by no known key"), "\(call)")
            #expect(output.err.hasSuffix("; the one on the web server is the one to change\n"))
        }
        #expect(try folder.bytes(of: "shop.channel") == before)
    }

    @Test func changeSignedByNoKnownKeyIsNotWritten() async throws {
        let folder = try await ChannelCommandTests.withTwo()
        await folder.makeOtherKey()
        let before = try folder.bytes(of: "shop.channel")
        let calls = [
            ["halt", "DIR/shop.channel"], ["renew", "DIR/shop.channel"],
            ["grow", "DIR/shop.channel", "--share", "50%"],
            ["publish", "DIR/new.channel", "DIR/shop-2.edition", "--share", "50%", "--new"],
        ]
        for call in calls {
            let output = await folder.run(["channel"] + call + ["--key", "DIR/other.pem"])
            #expect(output.code == 1 && output.err.contains("apps do not know the key of --key"), "\(call)")
        }
        #expect(try folder.bytes(of: "shop.channel") == before)
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/new.channel"))
    }

    @Test func steerKeyDoesNotPublish() async throws {
        let folder = try await ChannelCommandTests.withTwo()
        _ = await folder.sign(3)
        let call = ["channel", "publish", "DIR/shop.channel", "DIR/shop-3.edition", "--share", "5%", "--key"]
        let output = await folder.run(call + ["DIR/steer.pem"])
        #expect(output.code == 1 && output.err.contains("a steer key does not publish"))
        #expect(try folder.channel().revision == 2)
        #expect(await folder.run(call + ["DIR/steer.pem", "--key", "DIR/release.pem"]).code == 0)
    }

    @Test func onlyAReleaseKeySignsEditions() async throws {
        let folder = try await PublishingFolder()
        try folder.nameKeys()
        await folder.makeOtherKey()
        _ = await folder.make(1)
        let call = ["edition", "sign", "DIR/shop-1.edition.json", "--policies", "DIR/Policies", "--key"]
        for key in ["DIR/steer.pem", "DIR/other.pem"] {
            let output = await folder.run(call + [key])
            #expect(output.code == 1 && output.err.contains("is no release key of the app"))
            #expect(!FileManager.default.fileExists(atPath: folder.path + "/shop-1.edition"))
        }
        #expect(await folder.run(call + ["DIR/release.pem"]).code == 0)
    }

    @Test func editionOfASteerKeyIsNotPublished() async throws {
        let folder = try await ChannelCommandTests.withTwo()
        _ = await folder.make(3)
        _ = await folder.run("edition", "sign", "DIR/shop-3.edition.json", "--key", "DIR/steer.pem")
        let output = await folder.run(
            "channel", "publish", "DIR/shop.channel", "DIR/shop-3.edition", "--share", "5%", "--key", "DIR/release.pem")
        #expect(output.code == 1 && output.err.contains("is signed by the steer key"))
        let verified = await folder.run("edition", "verify", "DIR/shop-3.edition", "--policies", "DIR/Policies")
        #expect(verified.code == 1 && verified.err.contains("is signed by the steer key"))
    }

    @Test func withoutKnownKeysOnlyTheFormerKeySignsAgain() async throws {
        let folder = try await PublishingFolder()
        _ = await folder.publish(1, "--share", "5%")
        let before = try folder.bytes(of: "shop.channel")
        let output = await ChannelCommandTests.halt(folder)
        #expect(output.code == 1)
        #expect(
            output.err.contains(
                "no key of the app is known: --policies DIR or --keys KEY,… names them"))
        #expect(try folder.bytes(of: "shop.channel") == before)
        #expect(await ChannelCommandTests.grow(folder, "50%").code == 0)
    }

    @Test func editionIsVerifiedByTheKeysOfTheApp() async throws {
        let folder = try await PublishingFolder()
        try folder.nameKeys()
        _ = await folder.sign(1)
        #expect(await folder.run("edition", "verify", "DIR/shop-1.edition", "--policies", "DIR/Policies").code == 0)
        let unknown = await folder.run("edition", "verify", "DIR/shop-1.edition")
        #expect(unknown.code == 2 && unknown.err.contains("no key of the app is known"))
        let short = await folder.run("edition", "verify", "DIR/shop-1.edition", "--keys", "ed25519:AAAA")
        #expect(short.code == 2 && short.err.contains("--keys takes public keys"))
    }

    @Test func keysOfAnotherChannelAreNotTaken() async throws {
        let folder = try await ChannelCommandTests.withTwo()
        try folder.nameKeys(channel: "other")
        let output = await folder.run("channel", "renew", "DIR/shop.channel", "--key", "DIR/release.pem")
        #expect(output.code == 1 && output.err.contains("_larder.json is for the channel other, not shop"))
    }

    @Test func folderWithoutKeysIsToldWithTheWayOut() async throws {
        let folder = try await ChannelCommandTests.withTwo()
        let keys = try ["release", "steer"].map { "\(try folder.key($0).publicKey)" }.joined(separator: ",")
        let call = ["channel", "halt", "DIR/shop.channel", "--key", "DIR/steer.pem", "--policies", "DIR/Policies"]
        try folder.folder.write("{}", to: "Policies/_larder.json")
        #expect(await folder.run(call).err.contains("_larder.json has no section 'channel'"))
        try folder.folder.write(#"{ "channel": { "name": "${NAME}" } }"#, to: "Policies/_larder.json")
        let output = await folder.run(call)
        #expect(
            output.code == 1 && output.err.contains("has errors, so the keys in it are not known; --keys names them"))
        #expect(await folder.run(Array(call.dropLast(2)) + ["--keys", keys]).code == 0)
    }
}
