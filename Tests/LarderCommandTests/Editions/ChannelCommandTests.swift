import Foundation
import Larder
import LarderEditions
import LarderReports
import LarderSystem
import Testing

@testable import LarderCommand

@Suite struct ChannelCommandTests {
    static func grow(_ folder: PublishingFolder, _ share: String, key: String = "release") async -> Output {
        await folder.run("channel", "grow", "DIR/shop.channel", "--share", share, "--key", "DIR/\(key).pem")
    }

    static func halt(_ folder: PublishingFolder, _ options: String...) async -> Output {
        let call = ["channel", "halt", "DIR/shop.channel", "--key", "DIR/steer.pem"] + options
        return await folder.run(call)
    }

    /// A folder whose channel offers edition 1 to all and edition 2 to 5 %, and whose app knows both keys.
    static func withTwo() async throws -> PublishingFolder {
        let folder = try await PublishingFolder()
        try folder.nameKeys()
        #expect(await folder.publish(1, "--share", "100%").code == 0)
        #expect(await folder.publish(2, "--share", "5%", "--control", "5%", "--ring", "stable").code == 0)
        return folder
    }

    // MARK: Publishing

    @Test func firstEditionMakesTheChannel() async throws {
        let folder = try await PublishingFolder()
        let output = await folder.publish(42, "--share", "5%", "--control", "5%", "--ring", "a", "--ring", "b")
        #expect(output.code == 0, "\(output.err)")
        #expect(
            output.out == """
                wrote \(folder.path)/shop.channel: revision 1, valid until \((Dumps.now + .seconds(30 * 86_400)).spelled)
                  edition 42 (shop-42.edition) for 5.0 % of a, b, compared with 5.0 %
                  upload shop-42.edition
                  upload shop.channel

                """)
        let edition = try SignedFile(.edition, reading: folder.bytes(of: "shop-42.edition"))
        let channel = try folder.channel()
        #expect(channel.name == "shop" && channel.revision == 1)
        #expect(
            channel.editions == [
                .init(
                    digest: edition.digest, at: "shop-42.edition",
                    to: .init(rings: ["a", "b"], share: 0.05, control: 0.05, salt: "42-1"))
            ])
        let file = try SignedFile(.channel, reading: folder.bytes(of: "shop.channel"))
        let key = try folder.key("release").publicKey
        #expect(try file.signers(among: [key]) == [key])
    }

    @Test func newerEditionComesFirst() async throws {
        let channel = try await Self.withTwo().channel()
        #expect(channel.revision == 2)
        #expect(channel.editions.map(\.at) == ["shop-2.edition", "shop-1.edition"])
    }

    @Test func otherNameOfTheChannelFileIsAWarning() async throws {
        let folder = try await PublishingFolder()
        #expect(await folder.publish(1, "--share", "1%").err.isEmpty)
        let output = await folder.run(
            "channel", "publish", "DIR/shop.json", "DIR/shop-1.edition", "--share", "1%", "--key", "DIR/release.pem",
            "--new")
        #expect(output.code == 0)
        #expect(output.err == "warning: apps look for the channel under the name shop.channel\n")
    }

    @Test func keyThatAppsDoNotKnowIsRefused() async throws {
        let folder = try await PublishingFolder()
        _ = await folder.publish(1, "--share", "1%")
        let before = try folder.bytes(of: "shop.channel")
        let output = await Self.halt(folder, "--keys", "\(try folder.key("release").publicKey)")
        #expect(output.code == 1 && output.err.contains("would refuse the channel"))
        #expect(try folder.bytes(of: "shop.channel") == before)
        let keys = try ["release", "steer"].map { "\(try folder.key($0).publicKey)" }.joined(separator: ",")
        #expect(await Self.halt(folder, "--keys", keys).code == 0)
    }

    @Test func renewedChannelIsValidForLonger() async throws {
        let folder = try await PublishingFolder()
        _ = await folder.publish(1, "--share", "5%", "--until", "1d")
        let before = try folder.channel()
        let output = await folder.run("channel", "renew", "DIR/shop.channel", "--key", "DIR/release.pem")
        #expect(output.code == 0)
        let after = try folder.channel()
        #expect(after.until == Dumps.now + .seconds(30 * 86_400) && after.revision == before.revision + 1)
        #expect(after.editions == before.editions)
    }

    @Test func timeOfValidityIsChosen() async throws {
        let folder = try await PublishingFolder()
        #expect(await folder.publish(1, "--share", "1", "--until", "7d").code == 0)
        #expect(try folder.channel().until == Dumps.now + .seconds(7 * 86_400))
    }

    @Test func editionThatCannotBeOfferedIsRefused() async throws {
        let folder = try await Self.withTwo()
        let before = try folder.bytes(of: "shop.channel")
        #expect(await folder.publish(2, "--share", "50%").err.contains("already; 'larder channel grow'"))
        _ = await folder.make(3)
        let raw = "larder-signed/1\n\n" + (try folder.folder.text(of: "shop-3.edition.json"))
        try folder.folder.write(raw, to: "unsigned.edition")
        func publish(_ edition: String) async -> Output {
            await folder.run(
                "channel", "publish", "DIR/shop.channel", edition, "--share", "1%", "--key", "DIR/release.pem")
        }
        #expect(await publish("DIR/unsigned.edition").err.contains("is not signed"))
        #expect(
            await publish("DIR/shop-3.edition.json").err.contains("it is not signed; 'larder edition sign' signs it"))
        #expect(await publish("DIR/Policies/../shop-2.edition").err.contains("must lie next to"))
        #expect(await publish("DIR/none.edition").code == 1)
        _ = await folder.run(
            "edition", "new", "DIR/Policies", "--channel", "other", "--number", "4", "--out", "DIR/o.edition.json")
        _ = await folder.run("edition", "sign", "DIR/o.edition.json", "--key", "DIR/release.pem")
        #expect(await publish("DIR/o.edition").err.contains("is for channel other, not shop"))
        #expect(try folder.bytes(of: "shop.channel") == before)
    }

    @Test func editionWhoseSignatureIsWrongIsRefused() async throws {
        let folder = try await PublishingFolder()
        _ = await folder.sign(1)
        try folder.folder.edit("shop-1.edition", "network-only", "cache-only")
        let output = await folder.run(
            "channel", "publish", "DIR/shop.channel", "DIR/shop-1.edition", "--share", "1%", "--key", "DIR/release.pem",
            "--new")
        #expect(output.code == 1 && output.err.contains("the edition was changed after it was signed"))
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/shop.channel"))
    }

    @Test func editionOfUnknownKeyIsRefusedIfKeysAreNamed() async throws {
        let folder = try await PublishingFolder()
        _ = await folder.sign(1)
        func publish(_ keys: String...) async -> Output {
            let call = ["channel", "publish", "DIR/shop.channel", "DIR/shop-1.edition", "--share", "1%", "--key"]
            return await folder.run(call + ["DIR/steer.pem", "--new"] + keys)
        }
        let (release, steer) = try (folder.key("release").publicKey, folder.key("steer").publicKey)
        #expect(await publish("--keys", "\(steer)").err.contains("signed by no known key"))
        #expect(await publish("--keys", "\(release)").err.contains("would refuse the channel"))
        #expect(await publish("--keys", "\(release),\(steer)").code == 0)
    }

    // MARK: Growing

    @Test func shareGrows() async throws {
        let folder = try await Self.withTwo()
        let output = await Self.grow(folder, "25%")
        #expect(output.code == 0, "\(output.err)")
        #expect(
            output.out.hasSuffix(
                "\n  edition 2 (shop-2.edition) for 25.0 % of stable, compared with 5.0 %, before 5.0 %\n  upload shop.channel\n"
            ))
        let channel = try folder.channel()
        #expect(channel.revision == 3)
        #expect(channel.editions.map(\.to.share) == [0.25, 1])
        #expect(channel.editions[0].to.salt == "2-2")
    }

    @Test func controlGivesWayToTheShare() async throws {
        let folder = try await Self.withTwo()
        #expect(await Self.grow(folder, "100%").code == 0)
        #expect(try folder.channel().editions[0].to.control == 0)
    }

    @Test func shareNeverShrinks() async throws {
        let folder = try await Self.withTwo()
        for share in ["5%", "1%", "0"] {
            #expect(
                await Self.grow(folder, share).err.contains(
                    "shares only grow. To offer it to fewer, halt it and publish it again"))
        }
        #expect(try folder.channel().revision == 2)
    }

    @Test func haltedOrWholeEditionDoesNotGrow() async throws {
        let folder = try await Self.withTwo()
        #expect(await Self.halt(folder).code == 0)
        #expect(await Self.grow(folder, "50%").err.contains("was halted; 'larder channel publish' offers it again"))
        let other = try await PublishingFolder()
        _ = await other.publish(1, "--share", "100%")
        #expect(
            await Self.grow(other, "100%").err.contains(
                "edition 1 (shop-1.edition) has 100.0 % of all installations already; 'larder channel halt' takes it back"
            ))
    }

    @Test func steerKeyGrows() async throws {
        let folder = try await Self.withTwo()
        for (share, key) in [("25%", "steer"), ("50%", "release")] {
            let output = await Self.grow(folder, share, key: key)
            #expect(output.code == 0, "\(output.err)")
            let file = try SignedFile(.channel, reading: folder.bytes(of: "shop.channel"))
            #expect(file.keyIDs == [try folder.key(key).publicKey.id])
        }
    }

    @Test func changedChannelIsNotSignedAgain() async throws {
        let folder = try await Self.withTwo()
        try folder.folder.edit("shop.channel", #""revision": 2"#, #""revision": 9"#)
        let before = try folder.bytes(of: "shop.channel")
        #expect(await Self.grow(folder, "25%").err.contains("the channel was changed after it was signed"))
        #expect(try folder.bytes(of: "shop.channel") == before)
    }

    // MARK: Halting

    @Test func haltLeadsBackToTheEditionBefore() async throws {
        let folder = try await Self.withTwo()
        let output = await Self.halt(folder)
        #expect(output.code == 0, "\(output.err)")
        #expect(
            output.out.hasSuffix(
                """

                  edition 2 (shop-2.edition) is halted
                  next is edition 1 (shop-1.edition) for 100.0 % of all installations
                  upload shop.channel

                """))
        #expect(try folder.channel().editions.map(\.to.share) == [0, 1])
        #expect(try folder.channel().editions[0].to.control == 0)
    }

    @Test func secondHaltChangesNothing() async throws {
        let folder = try await Self.withTwo()
        _ = await Self.halt(folder)
        let output = await Self.halt(folder)
        #expect(output.code == 1 && output.err.contains("nothing is left to halt"))
        #expect(try folder.channel().revision == 3)
    }

    @Test func haltGoesBackToANumber() async throws {
        let folder = try await Self.withTwo()
        _ = await folder.publish(3, "--share", "50%")
        #expect(await Self.halt(folder, "--to", "7").err.contains("has no edition 7"))
        #expect(await Self.halt(folder, "--to", "1").code == 0)
        #expect(try folder.channel().editions.map(\.to.share) == [0, 0, 1])
        #expect(await Self.halt(folder, "--to", "2").err.contains("edition 2 was halted itself"))
    }

    @Test func haltToEditionWithoutItsFileNamesTheFile() async throws {
        let folder = try await Self.withTwo()
        try FileManager.default.removeItem(atPath: folder.path + "/shop-1.edition")
        let output = await Self.halt(folder, "--to", "1")
        #expect(output.err.contains("these files are not next to it: shop-1.edition"))
        #expect(await Self.halt(folder).code == 0)
    }

    @Test func haltGoesBackToThePoliciesInTheApp() async throws {
        let folder = try await Self.withTwo()
        let output = await Self.halt(folder, "--to", "embedded")
        #expect(output.out.hasSuffix("\n  next are the policies in the app\n  upload shop.channel\n"))
        #expect(try folder.channel().editions.map(\.to.share) == [0, 0])
    }

    @Test func haltLeadsToTheEmergencyEditionInTheApp() async throws {
        let folder = try await Self.withTwo()
        let output = await Self.halt(folder, "--to", "emergency")
        #expect(
            output.out.hasSuffix(
                """

                  next is the emergency edition in the app; an app without one goes on with its own policies
                  upload shop.channel

                """), "\(output.err)")
        #expect(output.err == "warning: the app with these policies carries no emergency edition\n")
        let channel = try folder.channel()
        #expect(channel.isEmergency && channel.editions.allSatisfy { $0.to.share > 0 }, "the way back is kept")
        let again = await Self.halt(folder, "--to", "emergency")
        #expect(again.code == 1 && again.err.contains("leads to the emergency edition already"))
        let status = await folder.run("channel", "status", "DIR/shop.channel")
        #expect(status.out.contains("\nEMERGENCY: apps use the emergency edition that they carry\n"))
        let json = await folder.run("channel", "status", "DIR/shop.channel", "--json")
        #expect(json.out.contains(#""isEmergency": true"#))
        let back = await Self.halt(folder, "--to", "2")
        #expect(
            back.out.contains("\n  the emergency edition is not used any more\n  next is edition 2 (shop-2.edition)"))
        #expect(try !folder.channel().isEmergency && folder.channel().editions.allSatisfy { $0.to.share > 0 })
    }

    @Test func emergencyEndsWithTheNextChangeButRenewing() async throws {
        let folder = try await Self.withTwo()
        func isEmergency() throws -> Bool { try folder.channel().isEmergency }
        _ = await Self.halt(folder, "--to", "emergency")
        _ = await folder.run("channel", "renew", "DIR/shop.channel", "--key", "DIR/steer.pem")
        #expect(try isEmergency())
        let over = await Self.halt(folder, "--to", "embedded")
        #expect(over.out.contains("  the emergency edition is not used any more\n  next are the policies in the app\n"))
        #expect(try !isEmergency())
        _ = await Self.halt(folder, "--to", "emergency")
        #expect(await folder.publish(3, "--share", "5%").out.contains("  the emergency edition is not used any more\n"))
        #expect(try !isEmergency())
        var channel = try folder.channel()
        channel.isEmergency = true
        var file = try channel.file()
        try file.sign(with: try folder.key("release"))
        try Data(file.bytes).write(to: folder.folder.url.appending(path: "shop.channel"))
        #expect(await Self.grow(folder, "10%").code == 0)
        #expect(try !isEmergency())
    }

    @Test func haltedEditionIsOfferedAgainWithAnotherSalt() async throws {
        let folder = try await Self.withTwo()
        _ = await Self.halt(folder)
        #expect(await folder.publish(2, "--share", "5%").code == 0)
        let channel = try folder.channel()
        #expect(channel.editions.map(\.at) == ["shop-2.edition", "shop-1.edition"])
        #expect(channel.editions[0].to.salt == "2-4")
    }

    // MARK: Status

    @Test func statusShowsChannel() async throws {
        let folder = try await Self.withTwo()
        let key = try folder.key("release").publicKey
        let output = await folder.run("channel", "status", "DIR/shop.channel", "--keys", "\(key)")
        #expect(output.code == 0, "\(output.err)")
        let digests = try folder.channel().editions.map { $0.digest.dropFirst(7).prefix(12) }
        #expect(
            output.out == """
                channel shop, revision 2
                valid until \((Dumps.now + .seconds(30 * 86_400)).spelled), for 30 d
                signed by \(key.id), verified

                edition  file            rings   salt  digest          share  control
                2        shop-2.edition  stable  2-2   \(digests[0])    5.0 %    5.0 %
                1        shop-1.edition  all     1-1   \(digests[1])  100.0 %        –

                """)
    }

    @Test func statusOfOldOrForeignChannelFails() async throws {
        let folder = try await PublishingFolder()
        _ = await folder.publish(1, "--share", "100%", "--until", "1m")
        let steer = try folder.key("steer").publicKey
        #expect(await folder.run("channel", "status", "DIR/shop.channel", "--keys", "\(steer)").code == 1)
        let unverified = await folder.run("channel", "status", "DIR/shop.channel")
        #expect(unverified.code == 0 && unverified.out.contains("not verified: --policies or --keys names"))
        let release = try folder.key("release")
        var channel = try folder.channel()
        channel.until = Dumps.now
        var file = try channel.file()
        try file.sign(with: release)
        try Data(file.bytes).write(to: folder.folder.url.appending(path: "shop.channel"))
        let expired = await folder.run("channel", "status", "DIR/shop.channel")
        #expect(expired.code == 1 && expired.out.contains(", not any more; 'larder channel renew' extends it\n"))
    }

    // MARK: Calls

    @Test(arguments: [
        (["channel"], "channel takes one of publish, grow, halt, renew, status"),
        (["channel", "publish", "a"], "it is called 'channel publish CHANNEL EDITION'"),
        (["channel", "status", "a", "--share", "5%"], "--share does not go with 'channel status'"),
        (["channel", "grow", "a", "--key", "k"], "--share is missing"),
        (["channel", "grow", "a", "--share", "5%"], "--key FILE is missing"),
        (["channel", "grow", "a", "--share", "500%", "--key", "k"], "--share takes a share"),
    ])
    func wrongCallIsExplained(_ arguments: [String], _ message: String) async {
        let output = await Output(arguments)
        #expect(output.code == 2)
        #expect(output.err.hasPrefix("larder: " + message), "\(output.err)")
    }

    @Test func resultIsOneDocument() async throws {
        let folder = try await Self.withTwo()
        for call in [
            ["grow", "DIR/shop.channel", "--share", "25%", "--key", "DIR/release.pem"],
            ["halt", "DIR/shop.channel", "--key", "DIR/release.pem"], ["status", "DIR/shop.channel"],
        ] {
            let output = await folder.run(["channel"] + call + ["--json"])
            #expect(output.code == 0, "\(output.err)")
            let facts = try Facts(output.out)
            #expect(facts["editions"].items.count == 2)
            #expect(facts["editions"].items[1]["number"].int == 1)
        }
    }
}
