import FoundationEssentials
import LarderSimulation
import Testing

@testable import Larder

@Suite struct BadSyntaxTests {
    /// A text, where it is wrong, and what is said about it.
    private static let table: [(String, String)] = [
        ("", "1:1: error: the file is empty; expected a JSON object"),
        (" \n\t ", "2:3: error: the file is empty; expected a JSON object"),
        ("resource: feed", "1:1: error: no value begins like this; expected a value"),
        ("<html>", "1:1: error: no value begins like this; expected a value"),
        (#"{"resource": "feed""#, "1:20: error: the file ends too early; expected ',' or '}'"),
        (#"{"around": ["a""#, "1:16: error: the file ends too early; expected ',' or ']'"),
        (#"{"resource":"#, "1:13: error: the file ends too early; expected a value"),
        (#"{"resource": "fe"#, "1:14: error: the string is not closed; expected '\"'"),
        ("{\"resource\": \"fe\n\"}", "1:17: error: the string is not closed on its line; expected '\"'"),
        ("{\"a\": tru}", "1:7: error: no value begins like this; expected a value"),
        ("{\"a\" 1}", "1:6: error: a colon is missing; expected ':'"),
        ("{\"a\": 1 \"b\": 2}", "1:9: error: a comma is missing; expected ',' or '}'"),
        ("{\"a\": [1 2]}", "1:10: error: a comma is missing; expected ',' or ']'"),
        ("{a: 1}", "1:2: error: no name begins like this; expected a name in double quotes"),
        ("{'a': 1}", "1:2: error: no name begins like this; expected a name in double quotes"),
        ("{} {}", "1:4: error: there is more after the end of the value; expected the end of the file"),
        ("\u{FEFF}{}", "1:1: error: the file begins with a byte order mark; expected a value"),
        ("{\0}", "1:2: error: no name begins like this; expected a name in double quotes"),
        ("{\"a\0\": 1}", "1:4: error: a control character in a string; expected an escape such as \\u0009"),
        ("{\"a\": \"\t\"}", "1:8: error: a control character in a string; expected an escape such as \\u0009"),
        (#"{"a": "\ud83d"}"#, "1:8: error: half of a surrogate pair"),
        (#"{"a": "\ude00"}"#, "1:8: error: half of a surrogate pair"),
        (#"{"a": "\ud83d\ud83d"}"#, "1:8: error: half of a surrogate pair"),
        (#"{"a": "\u12g4"}"#, "1:8: error: four hexadecimal digits are missing"),
        (#"{"a": "\x41"}"#, #"1:8: error: there is no such escape; expected \" \\ \/ \b \f \n \r \t or \u"#),
        ("{\"a\": 1, \"a\": 2}", "1:10: error: 'a' stands here twice; expected each name once"),
        (#"{"a": 1, "\u0061": 2}"#, "1:10: error: 'a' stands here twice; expected each name once"),
        ("{\n  \"a\": {\n    \"é\": 1, \"é\": 2 }}", "3:13: error: 'é' stands here twice; expected each name once"),
        ("{\"a\": 1,}", "1:9: error: a comma stands before the end of the object; expected a name in double quotes"),
        ("{\"a\": [1,]}", "1:10: error: a comma stands before the end of the list; expected a value"),
        ("{\"a\": [,1]}", "1:8: error: no value begins like this; expected a value"),
        ("{ // why\n}", "1:3: error: JSON has no comments"),
        ("{\"a\": 1 /* why */ }", "1:9: error: JSON has no comments"),
        ("{\"a\": // why\n1}", "1:7: error: JSON has no comments"),
        ("{} // why", "1:4: error: JSON has no comments"),
        ("{\"a\": 01}", "1:7: error: a number cannot begin with 0; expected a number"),
        ("{\"a\": -}", "1:8: error: a digit is missing; expected a number"),
        ("{\"a\": 1.}", "1:9: error: a digit is missing; expected a number"),
        ("{\"a\": 1e+}", "1:10: error: a digit is missing; expected a number"),
        ("{\"a\": .5}", "1:7: error: no value begins like this; expected a value"),
        ("{\"a\": +1}", "1:7: error: no value begins like this; expected a value"),
        ("{\"a\": NaN}", "1:7: error: no value begins like this; expected a value"),
        ("{\"a\": 1e999}", "1:7: error: the number is too large; expected a number"),
        ("{\"a\": -1e999}", "1:7: error: the number is too large; expected a number"),
        ("[]", "1:1: error: a list cannot stand here; expected a JSON object"),
        ("null", "1:1: error: null cannot stand here; expected a JSON object"),
        ("7", "1:1: error: the number 7 cannot stand here; expected a JSON object"),
    ]

    @Test(arguments: table)
    func aMistakeInTheSyntaxIsOneMessageWithItsPlace(text: String, message: String) throws {
        #expect(try Policies.problems(feed: text) == ["feed.json:" + message])
    }

    @Test func invalidUTF8IsAMistake() throws {
        for bytes in [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xC3]] as [[UInt8]] {
            let text = Data(Array("{\"a\":\n \"".utf8) + bytes + Array("\"}".utf8))
            #expect(
                try Policies.problems(["feed.json": text])
                    == ["feed.json:2:2: error: the string is not valid UTF-8"])
            #expect(
                try Policies.problems(["feed.json": Data(bytes)])
                    == ["feed.json:1:1: error: no value begins like this; expected a value"])
        }
    }

    @Test func hostileDepthAndSizeAreRefusedAndNotSuffered() throws {
        for bracket in ["[", "{\"a\":"] {
            let text = String(repeating: bracket, count: 100_000)
            #expect(
                try Policies.problems(feed: text)
                    == ["feed.json:1:\(64 * bracket.count + 1): error: nested deeper than 64 levels"])
        }
        #expect(
            try Policies.problems(["feed.json": Data(repeating: UInt8(ascii: " "), count: 10_000_000)])
                == ["feed.json: error: the file is larger than 1 MB"])
    }

    @Test func theParserAcceptsExactlyTheStrictGrammar() {
        let accepted = [
            "null", "true", "false", "0", "-0", "-0.0", "0.5", "10", "1e5", "1E+5", "1e-05", "1.25e2", "\"\"", "[]",
            "{}",
            " [ ] ", "\t{\r\n}\n", "[1,2]", "[[],{}]", "{\"\":0}", #""\"\\\/\b\f\n\r\t\u0000\u00e9\uD83D\uDE00""#,
            "\"é 😀 \u{7F}\u{2028}\"", "1e-999", "{\"a\":{\"a\":1},\"b\":[{\"a\":1}]}",
            String(repeating: "[", count: 64) + String(repeating: "]", count: 64),
        ]
        let rejected = [
            "nul", "True", "NULL", "nulll", "00", "-01", "1.", ".1", "-", "--1", "1e", "1e1.5", "0x1", "1_000",
            "Infinity",
            "\"", "'a'", #""\a""#, #""\u""#, #""\u12""#, #""\u+123""#, #""\U0041""#, "\"\u{1F}\"", "[", "]", "[1",
            "[1,",
            "[,]", "[1,,2]", "[1;2]", "{", "}", "{\"a\"}", "{\"a\":}", "{1:2}", "{\"a\":1,,}", "{\"a\":1}}", "1 2",
            "\u{A0}1",
            "\u{0C}1", "\0", "[\"\(String(repeating: "a", count: 9))", "#", "[1]//", "{\"a\":1,\"a\":1}",
            String(repeating: "[", count: 65) + String(repeating: "]", count: 65),
        ]
        for text in accepted {
            #expect(throws: Never.self, "\(text)") { try Self.parse(text) }
        }
        for text in rejected {
            #expect(throws: Problem.self, "\(text)") { try Self.parse(text) }
        }
    }

    @Test func whatIsReadIsWhatStandsThere() throws {
        let text = #"{"b":[1,-2.5,null,true,"\u0041\n\"\\\uD83D\uDE00"],"a":{"c":{}}}"#
        #expect(try Self.parse(text).json.text(indented: false) == #"{"b":[1,-2.5,null,true,"A\n\"\\😀"],"a":{"c":{}}}"#)
    }

    @Test func aLargeWholeNumberKeepsItsDigits() throws {
        #expect(try Self.parse("9007199254740993").json.text() == "9007199254740993")
    }

    @Test func damagedTextNeverTraps() throws {
        let sound = Array(Policies.sound.utf8)
        var dice = Dice(seed: 7)
        for _ in 0..<5_000 {
            var bytes = sound
            for _ in 0...dice.roll(4) {
                let place = dice.roll(bytes.count)
                switch dice.roll(3) {
                case 0: bytes[place] = UInt8(dice.roll(256))
                case 1: bytes.removeSubrange(place..<min(bytes.count, place + 1 + dice.roll(8)))
                default: bytes.insert(contentsOf: #"\"{[,:u"#.utf8.shuffled(using: &dice), at: place)
                }
            }
            // Any outcome will do, as long as there is one, and a problem's place can be told.
            do { _ = try JSONParser.parse(SourceText(name: "", bytes: bytes)) } catch { #expect(error.place != nil) }
        }
    }

    @discardableResult
    private static func parse(_ text: String) throws(Problem) -> Node {
        try JSONParser.parse(SourceText(name: "text", bytes: Array(text.utf8)))
    }
}
