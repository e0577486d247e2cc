import Foundation
import Larder
import LarderEditions
import Testing

@testable import LarderCommand

/// Publishing refuses calls that apps would not follow, and warns of those that look like mistakes.
@Suite struct PublishingTests {
    private static func publish(_ edition: String, _ options: String..., in folder: PublishingFolder) async -> Output {
        let call = ["channel", "publish", "DIR/shop.channel", "DIR/\(edition)", "--share", "5%", "--key"]
        return await folder.run(call + ["DIR/release.pem"] + options)
    }

    @Test func missingChannelIsNotMadeUnasked() async throws {
        let folder = try await PublishingFolder()
        _ = await folder.sign(1)
        let output = await Self.publish("shop-1.edition", in: folder)
        #expect(output.code == 1)
        #expect(output.err.contains("Fetch the channel from the web server first"))
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/shop.channel"))
        #expect(await Self.publish("shop-1.edition", "--new", in: folder).code == 0)
    }

    @Test func channelIsNotMadeTwice() async throws {
        let folder = try await ChannelCommandTests.withTwo()
        _ = await folder.sign(3)
        let output = await Self.publish("shop-3.edition", "--new", in: folder)
        #expect(output.code == 1 && output.err.contains("shop.channel is there already"))
        #expect(try folder.channel().revision == 2)
    }

    @Test func otherContentUnderTheSameNumberIsRefused() async throws {
        let folder = try await ChannelCommandTests.withTwo()
        try folder.folder.edit("Policies/_base.json", "network-only", "network-first")
        _ = await folder.run(
            "edition", "new", "DIR/Policies", "--channel", "shop", "--number", "2", "--out", "DIR/b.edition.json")
        _ = await folder.run("edition", "sign", "DIR/b.edition.json", "--key", "DIR/release.pem")
        let output = await Self.publish("b.edition", in: folder)
        #expect(output.code == 1)
        #expect(output.err.contains("lists edition 2 (shop-2.edition) with other content"))
        // The file of the former edition is replaced.
        try folder.folder.write(folder.folder.text(of: "b.edition"), to: "shop-2.edition")
        #expect(
            await Self.publish("shop-2.edition", in: folder).err.contains("lists edition shop-2.edition with other"))
        #expect(try folder.channel().revision == 2)
    }

    @Test func lowerNumberIsAWarning() async throws {
        let folder = try await PublishingFolder()
        _ = await folder.publish(5, "--share", "5%")
        let output = await folder.publish(4, "--share", "5%")
        #expect(output.code == 0)
        #expect(output.err == "warning: edition 4 now comes before edition 5, which has a higher number\n")
        #expect(await folder.publish(6, "--share", "5%").err.isEmpty)
    }

    @Test func validityBelowADayIsAWarning() async throws {
        let folder = try await ChannelCommandTests.withTwo()
        let output = await ChannelCommandTests.halt(folder, "--until", "1h")
        #expect(output.code == 0 && output.err.hasPrefix("warning: apps ask every 15 minutes"))
        #expect(await ChannelCommandTests.halt(folder, "--to", "embedded", "--until", "1d").err.isEmpty)
    }

    @Test(arguments: ["30s", "3651d", "99999999d", "soon", ""])
    func validityOutOfRangeIsRefused(_ until: String) async throws {
        let folder = try await ChannelCommandTests.withTwo()
        let output = await ChannelCommandTests.halt(folder, "--until", until)
        #expect(output.code == 2)
        #expect(output.err.hasPrefix("larder: --until takes a time from 1m to 3650d, such as 30d\n"))
        #expect(try folder.channel().revision == 2)
    }

    @Test(arguments: [
        (["--ring", "beta", "--ring", "beta"], "--ring beta is given twice"),
        (["--ring", ""], "--ring takes a name of letters"), (["--ring", "a b"], "--ring takes a name of letters"),
        (["--share", "0%"], "--share takes a share above 0%"),
    ])
    func wrongAudienceIsRefused(_ options: [String], _ message: String) async {
        let call = ["channel", "publish", "a.channel", "a.edition", "--share", "5%", "--key", "k"]
        let output = await Output(call + options)
        #expect(output.code == 2 && output.err.hasPrefix("larder: " + message), "\(output.err)")
    }

    @Test func linkedChannelIsWrittenThrough() async throws {
        let folder = try await ChannelCommandTests.withTwo()
        try FileManager.default.createDirectory(
            at: folder.folder.url.appending(path: "www"), withIntermediateDirectories: true)
        try FileManager.default.moveItem(
            atPath: folder.path + "/shop.channel", toPath: folder.path + "/www/shop.channel")
        try FileManager.default.createSymbolicLink(
            atPath: folder.path + "/shop.channel", withDestinationPath: "www/shop.channel")
        #expect(await ChannelCommandTests.halt(folder).code == 0)
        let target = try SignedFile(.channel, reading: folder.bytes(of: "www/shop.channel"))
        #expect(try ChannelFile(reading: target).revision == 3)
        #expect(
            try FileManager.default.destinationOfSymbolicLink(atPath: folder.path + "/shop.channel")
                == "www/shop.channel")
    }
}
