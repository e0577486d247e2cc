import LarderFoundation
import LarderSimulation
import Testing

import Larder
@testable import LarderSystem
@testable import LarderCore
@testable import LarderPlugins

@Suite struct BadSyntaxTests {
    @Test func hostileDepthAndSizeAreRefused() throws {
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

    @Test func parserAcceptsExactlyStrictGrammar() {
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

    @Test func parsedValuesEqualSourceText() throws {
        let text = #"{"b":[1,-2.5,null,true,"\u0041\n\"\\\uD83D\uDE00"],"a":{"c":{}}}"#
        #expect(try Self.parse(text).json.text(indented: false) == #"{"b":[1,-2.5,null,true,"A\n\"\\😀"],"a":{"c":{}}}"#)
    }

    @Test func largeWholeNumberKeepsItsDigits() throws {
        #expect(try Self.parse("9007199254740993").json.text() == "9007199254740993")
    }

    @Test func damagedTextNeverTraps() throws {
        let sound = Array(Policies.sound.utf8)
        var dice = SeededGenerator(seed: 7)
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
            // Any outcome will do, as long as there is one, and a mistake's position can be told.
            do { _ = try JSONParser.parse(SourceText(name: "", bytes: bytes)) } catch {
                #expect(error.position.line > 0)
            }
        }
    }

    @discardableResult
    private static func parse(_ text: String) throws(Problem) -> Node {
        do {
            return try JSONParser.parse(SourceText(name: "text", bytes: Array(text.utf8)))
        } catch {
            throw Problem(error)
        }
    }
}
