import Larder
import Testing

/// Texts are checked once, and their bytes stay as they are.
struct JSONTextTests {
    @Test func bytesStayAsTheyWereWritten() throws {
        let text = try JSONText(" {\"b\" : 1.50 , \"a\":[ 1,2 ]}\n".utf8)
        #expect(text.bytes == Array("{\"b\" : 1.50 , \"a\":[ 1,2 ]}".utf8))
        #expect(text["b"]?.bytes == Array("1.50".utf8))
        #expect(text["a"]?.items.map(\.integer) == [1, 2])
        #expect(text.members.map(\.name) == ["b", "a"])
    }

    @Test(arguments: [
        "", " ", "{", "[", "[1,]", "{\"a\":1,}", "{\"a\"}", "{a:1}", "01", "-", "1.", ".5", "1e", "+1", "nul", "tru",
        "'a'", "\"a",
        "\"\u{1}\"", "\"\\x\"", "\"\\u12\"", "[1 2]", "{} {}", "\"\\ud800\"", "\"\\udc00\"", "\"\\ud800\\u0041\"",
        "NaN", "--1", "[",
    ])
    func brokenTextIsRefused(_ text: String) {
        #expect(throws: JSONText.Mistake.self) { try JSONText(text.utf8) }
    }

    @Test func membersAreWrittenInTheirOrderAndNilWritesNone() throws {
        var members = JSONText.Members()
        #expect(JSONText(object: members) == .object)
        members.add("a\"", "\n\u{E9}")
        members.add("b", -7 as Int64)
        members.add("c", true)
        members.add("d", nil as JSONText?)
        members.add("e", nil as String?)
        members.add("f", nil as Int64?)
        members.add("g", nil as Bool?)
        members.add("h", JSONText.null)
        let text = JSONText(object: members)
        #expect(try JSONText(text.bytes) == text)
        #expect(text.members.map(\.name) == ["a\"", "b", "c", "h"])
        #expect((text["a\""]?.string, text["b"]?.integer) == ("\n\u{E9}", -7))
        #expect((text["c"]?.bool, text["h"]) == (true, .null))
    }

    @Test func badEncodingIsRefused() {
        #expect(throws: JSONText.Mistake.self) { try JSONText([0x22, 0xFF, 0x22]) }
        #expect(throws: JSONText.Mistake.self) { try JSONText([0x22, 0xC0, 0x80, 0x22]) }
        #expect(throws: JSONText.Mistake.self) { try JSONText([0x22, 0xED, 0xA0, 0x80, 0x22]) }
    }

    @Test(arguments: [2, 16, 17, 18, 40], ["n", "\\u006e"])
    func secondMemberOfTheSameNameIsRefused(_ count: Int, _ letter: String) {
        for twice in 0..<(count - 1) {
            let names = (0..<(count - 1)).map { "\"n\($0)\":0" } + ["\"\(letter)\(twice)\":1"]
            #expect(throws: JSONText.Mistake.self) { try JSONText("{\(names.joined(separator: ","))}".utf8) }
        }
    }

    @Test(arguments: [2, 20])
    func namesThatDifferInBytesAreTwoNames(_ count: Int) throws {
        let others = (0..<count).map { "\"n\($0)\":0" }
        let text = try JSONText("{\((others + ["\"é\":1", "\"e\\u0301\":2"]).joined(separator: ","))}".utf8)
        #expect(text["e\u{301}"]?.integer == 2)
        #expect(text["\u{E9}"]?.integer == 1)
    }

    @Test func depthIsLimited() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        #expect(try JSONText(nested(128).utf8).kind == .list)
        #expect(throws: JSONText.Mistake.self) { try JSONText(nested(129).utf8) }
        #expect(throws: JSONText.Mistake.self) { try JSONText(String(repeating: "[", count: 100_000).utf8) }
        #expect(throws: JSONText.Mistake.self) { try JSONText(String(repeating: "{\"a\":", count: 100_000).utf8) }
    }

    @Test func escapesAreRead() throws {
        let text = try JSONText(#""\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00x""#.utf8)
        #expect(text.string == "\"\\/\u{8}\u{c}\n\r\té😀x")
    }

    @Test func numbersKeepTheirDigits() throws {
        let text = try JSONText("{\"id\":12345678901234567890123,\"x\":0.10}".utf8)
        #expect(text["id"]?.name == "12345678901234567890123")
        #expect(text["id"]?.integer == nil)
        #expect(text.setting(["x"], to: nil).bytes == Array("{\"id\":12345678901234567890123}".utf8))
    }

    @Test(arguments: [
        ("/a/0/b", "1"), ("/a/1", "2"), ("", nil), ("/m~1n/~0", "3"), ("/a/01", ""), ("/a/9", ""), ("/x", ""),
        ("/a/-", ""),
    ])
    func pointersLeadThroughObjectsAndLists(_ pointer: String, _ value: String?) throws {
        let text = try JSONText(#"{"a":[{"b":1},2],"m/n":{"~":3}}"#.utf8)
        let found = text[try #require(JSONPointer(pointer))]
        #expect(
            found.map { String(decoding: $0.bytes, as: UTF8.self) } ?? "" == value
                ?? String(decoding: text.bytes, as: UTF8.self))
    }
}
