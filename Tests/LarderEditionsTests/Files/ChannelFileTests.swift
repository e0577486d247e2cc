import Larder
import Testing

@testable import LarderEditions

@Suite struct ChannelFileTests {
    static let digest = "sha256:" + String(repeating: "6f", count: 32)

    static func file(_ text: String) throws -> SignedFile { try SignedFile(.channel, payload: Array(text.utf8)) }

    static func read(_ text: String) throws -> ChannelFile { try ChannelFile(reading: file(text)) }

    /// The example of the documentation.
    static let example = #"""
        { "format": "larder-channel/1", "name": "shop", "revision": 107, "until": "2026-12-25T00:00:00Z",
          "editions": [
            { "edition": "DIGEST", "at": "shop-42.edition",
              "to": { "ring": ["stable"], "share": "5%", "control": "5%", "salt": "42" },
              "guard": { "feed": { "failed_rate": "+0.5%", "load_p95": "+20%" } } },
            { "edition": "DIGEST", "at": "shop-41.edition", "to": { "ring": ["stable", "beta"], "share": "100%" } } ] }
        """#.replacing("DIGEST", with: digest)

    @Test func exampleIsRead() throws {
        let channel = try Self.read(Self.example)
        #expect(channel.name == "shop")
        #expect(channel.revision == 107)
        #expect(channel.until == Timestamp(seconds: 1_798_156_800))
        #expect(channel.editions.map(\.at) == ["shop-42.edition", "shop-41.edition"])
        #expect(channel.editions[0].to == .init(rings: ["stable"], share: 0.05, control: 0.05, salt: "42"))
        #expect(channel.editions[0].guard == ["feed": ["failed_rate": "+0.5%", "load_p95": "+20%"]])
        #expect(channel.editions[1].to == .init(rings: ["stable", "beta"], share: 1, control: 0, salt: Self.digest))
        #expect(channel.editions[1].guard == nil)
    }

    @Test func channelIsReadAsItWasWritten() throws {
        let channel = try Self.read(Self.example)
        #expect(try ChannelFile(reading: channel.file()) == channel)
        #expect(try Self.read(channel.text).text == channel.text)
    }

    @Test func editionWithoutAudienceIsForAll() throws {
        let channel = try Self.read(
            #"{ "format": "larder-channel/1", "name": "a", "revision": 1, "until": "2026-12-25T00:00:00Z", "#
                + #""editions": [{ "edition": "\#(Self.digest)", "at": "a" }], "x-note": [{}] }"#)
        #expect(channel.editions[0].to == .init(salt: Self.digest))
    }

    @Test func emergencyIsReadAsItWasWritten() throws {
        var channel = try Self.read(Self.example)
        #expect(!channel.isEmergency && !channel.text.contains("emergency"))
        channel.isEmergency = true
        #expect(channel.text.contains(#""emergency": true"#))
        #expect(try Self.read(channel.text) == channel)
        #expect(try !Self.read(channel.text.replacing(#""emergency": true"#, with: #""emergency": false"#)).isEmergency)
    }

    @Test func everyShareIsReadAsItWasWritten() throws {
        for share in [0, 1, 0.05, 0.29, 0.001, 0.070_1, 0.1 + 0.2, 1.0 / 3, 0.999_999_9, 1e-9] {
            var channel = try Self.read(Self.example)
            channel.editions[0].to.share = share
            channel.editions[0].to.control = 0
            #expect(try Self.read(channel.text).editions[0].to.share == share)
        }
        var channel = try Self.read(Self.example)
        channel.editions[0].to.share = 0.29
        #expect(channel.text.contains(#""share": "29%""#))
    }

    /// Each pair is a part of the example and its replacement, then the path that the error names.
    private static let mistakes: [(String, String, String)] = [
        ("larder-channel/1", "larder-channel/2", "$.format"), (#""name": "shop", "#, "", "$.name"),
        (#""shop""#, #""sh/op""#, "$.name"), (#""shop""#, #""""#, "$.name"), (#""shop""#, #""..""#, "$.name"),
        ("107", "0", "$.revision"), ("107", "1.5", "$.revision"), ("107", "-1", "$.revision"),
        ("107", "9007199254740992", "$.revision"), ("107", "1e3", "$.revision"), ("107", #""107""#, "$.revision"),
        ("12-25T00", "13-25T00", "$.until"), ("12-25T00", "02-30T00", "$.until"), ("12-25T00", "12-25T24", "$.until"),
        ("00:00Z", "00:00", "$.until"), ("00:00Z", "00:00+01:00", "$.until"), ("2026", "1969", "$.until"),
        ("T00", "t00", "$.until"), ("sha256:6f", "sha256:6F", "$.editions[0].edition"),
        ("sha256:6f", "sha256:", "$.editions[0].edition"), ("sha256:", "sha512:", "$.editions[0].edition"),
        ("shop-42.edition", "../shop", "$.editions[0].at"), ("shop-42.edition", "https://x", "$.editions[0].at"),
        ("shop-42.edition", "a b", "$.editions[0].at"), (#"["stable"]"#, "[]", "$.editions[0].to.ring"),
        (#"["stable"]"#, #""stable""#, "$.editions[0].to.ring"), (#"["stable"]"#, "[1]", "$.editions[0].to.ring"),
        (#""share": "5%""#, #""share": "5""#, "$.editions[0].to.share"),
        (#""share": "5%""#, #""share": 5"#, "$.editions[0].to.share"),
        (#""share": "5%""#, #""share": "101%""#, "$.editions[0].to.share"),
        (#""share": "5%""#, #""share": -0.1"#, "$.editions[0].to.share"),
        (#""share": "5%""#, #""share": "96%""#, "$.editions[0].to.control"),
        (#""share": "5%""#, #""share": null"#, "$.editions[0].to.share"),
        (#""salt": "42""#, #""salt": 42"#, "$.editions[0].to.salt"), (#""salt""#, #""seed""#, "$.editions[0].to.seed"),
        (#""guard": {"#, #""guard": [], "x-g": {"#, "$.editions[0].guard"),
        (#""revision""#, #""revisions": 1, "revision""#, "$.revisions"), (#""at""#, #""to-all": 1, "at""#, "to-all"),
        (#""editions": ["#, #""editions": [1, "#, "$.editions[0]"),
        (#""editions": ["#, #""emergency": "true", "editions": ["#, "$.emergency"),
        (#""editions": ["#, #""emergency": 1, "editions": ["#, "$.emergency"),
        (#""editions": ["#, #""emergency": null, "editions": ["#, "$.emergency"),
    ]

    @Test func mistakeIsRefusedWithItsPlace() throws {
        for (part, replacement, path) in Self.mistakes {
            let text = Self.example.replacing(part, with: replacement)
            #expect(text != Self.example, "\(part)")
            let error = #expect(throws: EditionError.self, "\(replacement)") { try Self.read(text) }
            #expect(error?.code == .badFile)
            #expect(error?.description.contains(path) == true, "\(error?.description ?? "") for \(replacement)")
        }
    }

    @Test func textThatIsNoJSONObjectIsRefused() {
        let deep = String(repeating: "[", count: 100_000)
        let wide = "[" + String(repeating: "0,", count: 200_000) + "0]"
        for text in ["", "[]", "1", "{", deep, wide, "\u{FEFF}{}", Self.example + "}", "{\"format\":\"\\uD800\"}"] {
            let error = #expect(throws: EditionError.self) { try Self.read(text) }
            #expect(error?.code == .badFile)
        }
        #expect(throws: EditionError.self) { try ChannelFile(reading: SignedFile(.channel, payload: [0xFF, 0xFE])) }
    }

    @Test func channelOf65EditionsIsRefused() throws {
        var channel = try Self.read(Self.example)
        channel.editions = Array(repeating: channel.editions[0], count: 64)
        #expect(try Self.read(channel.text) == channel)
        channel.editions.append(channel.editions[0])
        #expect(throws: EditionError.self) { try channel.file() }
    }

    @Test func editionIsNoChannel() throws {
        let file = try SignedFile(.edition, payload: Array(Self.example.utf8))
        #expect(throws: EditionError.self) { try ChannelFile(reading: file) }
    }
}
