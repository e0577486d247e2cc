import Larder
import LarderSimulation
import LarderSystem
import Testing

@testable import LarderEditions

@Suite struct EditionFileTests {
    static let example = #"""
        { "format": "larder-edition/1", "channel": "shop", "number": 42, "about": "Longer windows",
          "needs": { "plugins": { "strategy cache-first": "sha256:DIGITS", "store mine": "any" } },
          "policies": { "feed.json": { "extends": "_base.json", "resource": "feed", "share": 1.50, "count": 12345678901 },
                        "_base.json": { "strategy": "cache-first" } } }
        """#.replacing("DIGITS", with: String(repeating: "0a", count: 32))

    static func read(_ text: String) throws -> EditionFile {
        try EditionFile(reading: SignedFile(.edition, payload: Array(text.utf8)))
    }

    @Test func exampleIsRead() throws {
        let edition = try Self.read(Self.example)
        #expect(edition.channel == "shop")
        #expect(edition.number == 42)
        #expect(edition.about == "Longer windows")
        #expect(edition.plugins.keys.sorted() == ["store mine", "strategy cache-first"])
        #expect(edition.policies.keys.sorted() == ["_base.json", "feed.json"])
    }

    @Test func editionIsReadAsItWasWritten() throws {
        let edition = try Self.read(Self.example)
        #expect(try EditionFile(reading: edition.file()) == edition)
        #expect(try Self.read(edition.text).text == edition.text)
    }

    @Test func textsAreNamedByResource() throws {
        let texts = try Self.read(Self.example).texts
        #expect(texts.keys.sorted() == ["_base", "feed"])
        #expect(try JSON(reading: Array(texts["_base", default: ""].utf8)) == ["strategy": "cache-first"])
    }

    @Test func aboutAndNeedsMayBeLeftOut() throws {
        let edition = try Self.read(
            #"{ "format": "larder-edition/1", "channel": "a", "number": 1, "policies": {}, "x-built-by": "ci" }"#)
        #expect(edition.about == nil)
        #expect(edition.plugins.isEmpty)
    }

    private static let mistakes: [(String, String, String)] = [
        ("larder-edition/1", "larder-channel/1", "$.format"), (#""channel": "shop", "#, "", "$.channel"),
        ("42", "0", "$.number"), ("42", "4.2", "$.number"), (#""Longer windows""#, "1", "$.about"),
        ("Longer windows", String(repeating: "a", count: 1_001), "$.about"),
        (#""plugins""#, #""plugin""#, "$.needs.plugin"),
        ("sha256:0a", "sha256:0A", "$.needs.plugins"), (#""any""#, #""all""#, "$.needs.plugins"),
        ("store mine", "store", "$.needs.plugins"), ("store mine", "Store mine", "$.needs.plugins"),
        ("feed.json", "_larder.json", "$.policies"), ("feed.json", "feed", "$.policies"),
        ("feed.json", "a/feed.json", "$.policies"), ("feed.json", "../feed.json", "$.policies"),
        ("feed.json", ".json", "$.policies"), ("feed.json", ".feed.json", "$.policies"),
        ("feed.json", #"a\u0000.json"#, "$.policies"), ("feed.json", "policy.schema.json", "$.policies"),
        (#"{ "strategy": "cache-first" }"#, "[]", "$.policies"), (#""number""#, #""texts": {}, "number""#, "$.texts"),
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

    @Test func editionOf10001PoliciesIsRefused() throws {
        func edition(_ count: Int) -> EditionFile {
            let policies = (0..<count).map { ("p\($0).json", ["resource": .string("p\($0)")] as JSON) }
            return EditionFile(
                channel: "a", number: 1, plugins: [:], policies: Dictionary(policies) { first, _ in first })
        }
        #expect(try EditionFile(reading: edition(10_000).file()).policies.count == 10_000)
        #expect(throws: EditionError.self) { try edition(10_001).file() }
    }

    /// Texts in place of values and in names of policies, and the secret half of a key, appear in no error.
    @Test func errorsQuoteNothingOfTheFile() throws {
        let canary = "canary-4f2a"
        let key = try TestKey.release()
        var errors: [String] = []
        func attempt(_ text: String) {
            for kind in [SignedFile.Kind.channel, .edition] {
                do {
                    let file = try SignedFile(kind, payload: Array(text.utf8))
                    _ = try kind == .edition ? EditionFile(reading: file).text : ChannelFile(reading: file).text
                } catch { errors.append("\(error)") }
                do {
                    let file = try SignedFile(kind, reading: Array(text.utf8))
                    _ = try file.signers(among: [key.publicKey])
                } catch { errors.append("\(error)") }
            }
        }
        for example in [Self.example, ChannelFileTests.example] {
            let bytes = Array(example)
            let ends = bytes.indices.filter { bytes[$0] == "\"" }
            for start in stride(from: 0, to: ends.count - 1, by: 2) {
                let (before, after) = (String(bytes[..<ends[start]]), String(bytes[(ends[start + 1] + 1)...]))
                // In place of a text, and as a text where there should be none.
                attempt("\(before)\"\(canary) \"\(after)")
                attempt("\(before)\(canary)\(after)")
                attempt("\(before)\"x\"\(after.replacing(": {", with: ": \"\(canary)\", \"x-\": {"))")
            }
            attempt(String(example.prefix(200)) + canary)
        }
        var signed = try SignedFile(.edition, payload: Array(canary.utf8))
        try signed.sign(with: key)
        attempt(String(decoding: signed.bytes.dropFirst(), as: UTF8.self))
        attempt(String(decoding: signed.bytes, as: UTF8.self).replacing("canary", with: "canary "))
        #expect(errors.count > 100)
        let secret = key.pem.split(separator: "\n")[1].suffix(43)
        for error in errors {
            #expect(!error.contains(canary), "\(error)")
            #expect(!error.contains(secret))
        }
    }
}
