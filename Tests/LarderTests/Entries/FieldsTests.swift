import Larder
import Testing

@Suite struct FieldsTests {
    @Test func namesAreComparedWithoutCaseAndKeptInLowerCase() {
        var fields: Fields = ["Accept-Language": "de", "x-trace": "1"]
        #expect(fields["accept-language"] == "de" && fields["ACCEPT-LANGUAGE"] == "de" && fields["accept"] == nil)
        #expect(fields.map(\.name) == ["accept-language", "x-trace"])
        fields["ACCEPT-language"] = "en"
        #expect(fields.all("accept-language") == ["en"] && fields.count == 2)
        fields["Accept-Language"] = nil
        #expect(fields == ["X-Trace": "1"])
    }

    @Test func orderOfNamesDoesNotMatterButOrderOfValuesDoes() throws {
        var (one, other): (Fields, Fields) = (["b": "1", "a": "2", "b": "3"], ["a": "2", "B": "1"])
        other.add(try #require(Fields.Field("b", "3")))
        #expect(one == other && one.hashValue == other.hashValue && one["b"] == "1")
        #expect(one.all("b") == ["1", "3"] && one != ["a": "2", "b": "3", "b": "1"])
        one["b"] = "1"
        #expect(one.all("b") == ["1"])
    }

    @Test(arguments: ["", "a b", "a:", "a\n", "é", "a\0", "(", "\u{212A}"]) func unsoundNameIsLeftOut(name: String) {
        #expect(Fields.Field(name, "x") == nil)
        var fields: Fields = [name: "x"]
        fields[name] = "y"
        #expect(fields.isEmpty && fields[name] == nil)
    }

    @Test(arguments: ["a\nb", "a\rb", "a\r\nb", "a\0b", "\n"]) func unsoundValueIsLeftOut(value: String) {
        #expect(Fields.Field("a", value) == nil)
        var fields: Fields = ["a": "kept", "b": value]
        #expect(fields == ["a": "kept"])
        fields["a"] = value
        #expect(fields.isEmpty)
    }

    @Test func fieldWithoutRoomIsLeftOut() {
        let most = String(repeating: "x", count: 65_536 - 33)
        var fields: Fields = ["a": most]
        fields["b"] = ""
        #expect(fields.count == 1)
        fields["a"] = most + "x"
        #expect(fields.isEmpty)
        fields["b"] = ""
        #expect(fields.count == 1)
    }

    @Test func descriptionsAndDumpsShowNoValue() throws {
        let fields: Fields = ["Authorization": "quince", "x": "quince"]
        var dumped = ""
        dump(fields, to: &dumped)
        dump(try #require(fields.first), to: &dumped)
        dumped += "\(fields) \(String(reflecting: fields)) \(fields[0]) \(String(reflecting: fields[0]))"
        #expect(!dumped.contains("quince") && dumped.contains("authorization"))
    }

    @Test func valuesThatAreEquivalentTextsAreDifferent() {
        let one: Fields = ["x-user": "a\u{301}\u{323}"]
        let other: Fields = ["x-user": "a\u{323}\u{301}"]
        #expect(one != other)
    }
}
