import LarderFoundation
import Testing

@testable import LarderCommand

/// Policies that the corpus cannot contain as text: invalid bytes, deep nesting and large files.
@Suite struct HostileTextTests {
    struct Text: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var bytes: [UInt8]
        var expected: String

        init(_ description: String, _ bytes: [UInt8], _ expected: String) {
            testDescription = description
            self.bytes = bytes
            self.expected = expected
        }

        /// Returns a text in which `bytes` replace `@`.
        init(_ text: String, with bytes: [UInt8], _ expected: String) {
            let parts = text.split(separator: "@", omittingEmptySubsequences: false)
            self.init(text, Array(Array(parts.map { Array($0.utf8) }).joined(separator: bytes)), expected)
        }
    }

    private static let noUTF8 = "1:13: error: the string is not valid UTF-8"

    static let texts = [
        Text(#"{ "about":  "a@b" }"#, with: [0xFF], noUTF8),
        Text(#"{ "about":  "a@" }"#, with: [0xE2, 0x82], noUTF8),
        Text(#"{ "about":  "@" }"#, with: [0xC0, 0xAF], noUTF8),
        Text(#"{ "about":  "@" }"#, with: [0xED, 0xA0, 0x80], noUTF8),
        Text(#"{ "about":  "@" }"#, with: [0xF4, 0x90, 0x80, 0x80], noUTF8),
        Text(
            #"{ "about": "a@b" }"#, with: [0],
            "1:14: error: a control character in a string; expected an escape such as \\u0009"),
        Text(
            #"{ @ }"#, with: [0], "1:3: error: no name begins like this; expected a name in double quotes"),
        Text(
            "UTF-16", [0xFF, 0xFE] + "{}".utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] },
            "1:1: error: the file is UTF-16, not UTF-8; expected a value"),
        Text(
            "65 lists", Array(String(repeating: "[", count: 65).utf8), "1:65: error: nested deeper than 64 levels"),
        Text(
            "a million lists", [UInt8](repeating: UInt8(ascii: "["), count: 1_000_000),
            "1:65: error: nested deeper than 64 levels"),
        Text(
            "objects and lists in turn", Array(String(repeating: #"{"a":["#, count: 40).utf8),
            "1:193: error: nested deeper than 64 levels"),
        Text(
            "one byte too many", Array(repeating: UInt8(ascii: " "), count: 1_000_001),
            " error: the file is larger than 1 MB"),
        Text(
            "as many bytes as may be", Array(repeating: UInt8(ascii: "\n"), count: 1_000_000),
            "1000001:1: error: the file is empty; expected a JSON object"),
        Text(
            "a backslash at the end", Array(#"{ "about": "\"#.utf8),
            "1:13: error: there is no such escape; expected \\\" \\\\ \\/ \\b \\f \\n \\r \\t or \\u"),
        Text(
            "half an escape at the end", Array(#"{ "about": "\u00"#.utf8),
            "1:13: error: four hexadecimal digits are missing"),
        Text(
            "line ends of two bytes",
            Array(
                "{\r\n  \"resource\": \"feed\",\r\n  \"origin\": { \"use\": \"constant\", \"value\": 1 },\r\n  \"strategy\": 5\r\n}"
                    .utf8),
            "4:15: error: the number 5 is not allowed here; expected a strategy: \"name\" or { \"use\": \"name\", … } [at $.strategy]"
        ),
    ]

    @Test(arguments: texts) func hostileTextIsRefusedWithItsPlace(_ text: Text) async throws {
        let folder = try Folder()
        try Data(text.bytes).write(to: folder.url.appending(path: "feed.json"))
        let output = await Output(["check", folder.path])
        #expect(output.out == "\(folder.path)/feed.json:\(text.expected)\n")
        #expect(output.code == 1)
    }

    @Test func depthOfSixtyFourIsAccepted() async throws {
        let folder = try Folder()
        // The policy and its origin account for two levels.
        let value = String(repeating: "[", count: 62) + String(repeating: "]", count: 62)
        try folder.write(
            #"{ "resource": "feed", "origin": { "use": "constant", "value": \#(value) }, "strategy": "network-only" }"#,
            to: "feed.json")
        #expect(await Output(["check", folder.path]).out.isEmpty)
    }
}
