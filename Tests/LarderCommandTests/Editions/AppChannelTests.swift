import Foundation
import Larder
import LarderEditions
import Testing

@testable import LarderCommand

/// `larder check` finds what would keep an app from using its channel.
@Suite struct AppChannelTests {
    private static func check(
        _ folder: PublishingFolder, url: String = "https://a.example/{file}", more: String = "", steer: String? = nil
    ) async throws -> Output {
        let (release, other) = try (folder.key("release").publicKey, folder.key("steer").publicKey)
        try folder.folder.write(
            #"""
            { "channel": { "name": "shop", "origin": { "use": "http", "url": "\#(url)" },
              "release": ["\#(release)"], "steer": ["\#(steer ?? "\(other)")"]\#(more) } }
            """#, to: "Policies/_larder.json")
        return await folder.run("check", "DIR/Policies")
    }

    @Test func soundChannelHasNoProblem() async throws {
        let output = try await Self.check(try await PublishingFolder())
        #expect(output.code == 0, "\(output.err)")
    }

    @Test func settingsThatCannotBeMeantAreErrors() async throws {
        let folder = try await PublishingFolder()
        let release = try folder.key("release").publicKey
        let twoRoles = try await Self.check(folder, steer: "\(release)")
        #expect(twoRoles.code == 1 && (twoRoles.out + twoRoles.err).contains("a key can be one of them"))
        let oneFile = try await Self.check(folder, url: "https://a.example/shop.channel")
        #expect(oneFile.code == 1 && (oneFile.out + oneFile.err).contains("does not take {file}"))
        let unknown = try await Self.check(folder, more: #", "reach": ["strategi"]"#)
        #expect(unknown.code == 1 && (unknown.out + unknown.err).contains("did you mean 'strategy'?"))
    }

    @Test(arguments: [
        ("release", "shop", #"{ "strategy": "cache-only" }"#, String?.none),
        ("other", "shop", #"{ "strategy": "cache-only" }"#, "signed by no known key"),
        ("release", "books", #"{ "strategy": "cache-only" }"#, "an edition of channel books"),
        ("release", "shop", #"{ "strategy": "cache-only", "log": "off" }"#, "'log' may not be changed"),
    ])
    func emergencyEditionIsCheckedAsTheAppWould(
        _ row: (key: String, channel: String, base: String, error: String?)
    ) async throws {
        let folder = try await PublishingFolder()
        await folder.makeOtherKey()
        let base = try JSON(reading: Array(row.base.utf8))
        let edition = EditionFile(channel: row.channel, number: 900, plugins: [:], policies: ["_base.json": base])
        var file = try edition.file()
        try file.sign(with: folder.key(row.key))
        try Data(file.bytes).write(to: folder.folder.url.appending(path: "Policies/shop-900.edition"))
        let output = try await Self.check(folder, more: #", "emergency": "shop-900.edition""#)
        let text = output.out + output.err
        #expect(output.code == (row.error == nil ? 0 : 1), "\(text)")
        if let error = row.error { #expect(text.contains(error), "\(text)") }
    }

    @Test(arguments: [
        (["channel": "shop", "channel_failure": "unreachable"], "channel shop is not used: unreachable"),
        (["channel": "shop", "revision": "3"], "channel shop has revision 3 and offers no edition here"),
        (
            ["channel": "shop", "revision": "3", "offered": "42", "arm": "trial"],
            "channel shop has revision 3 and offers edition 42"
        ),
        (
            ["channel": "shop", "revision": "3", "offered": "42", "arm": "rest"],
            "channel shop has revision 3 and offers edition 42 to a share to which this installation does not belong"
        ),
        (
            ["channel": "shop", "revision": "3", "offered": "42", "arm": "trial", "fate": "reverted", "why": "starts"],
            "channel shop has revision 3 and offers edition 42, which is not used here: reverted, starts"
        ),
        (["channel": "shop", "pin": "41"], "edition 41 is pinned, whatever channel shop says"),
    ])
    func watchTellsWhatTheChannelOffers(_ facts: [String: String], _ line: String) {
        #expect(Terminal.answer(facts) == line)
    }
}
