import Larder
import Testing

@testable import LarderCore

@Suite struct ParametersTests {
    private static let texts = [
        "", "a", "id", "ä", "@", "?", "a&b=c", "%", "50%", "é", "e\u{301}", "0123456789", "01234567890123456789012",
        "longer than a short key can be",
    ]

    @Test func keyContainsItsParts() {
        for resource in Self.texts {
            for scope in [nil] + Self.texts.map(Optional.some) {
                for (name, value) in zip(Self.texts, Self.texts.reversed()) {
                    for parameters: Parameters in [[:], [name: value], [name: value, name + "z": resource]] {
                        let key = Key(resource: resource, scope: scope, parameters: parameters)
                        #expect(key.resource.utf8.elementsEqual(resource.utf8) && key.parameters == parameters)
                        #expect(key.scope.map { Array($0.utf8) } == scope.map { Array($0.utf8) })
                        #expect((key.weight == 0) == (key.text.utf8.count <= 23) && Key(text: key.text) == key)
                        #expect(key.isOf(ResourceName(resource)))
                    }
                }
            }
        }
    }

    @Test(arguments: ["feed", "feed2", "fee", "", "a-name-of-23-characters", "a-name-of-24-characters2"])
    func keyOfAnotherResourceIsToldApart(_ name: String) {
        for other in ["feed", "feed2", "fee", "", "a-name-of-23-characters", "a-name-of-24-characters2"] {
            for parameters: Parameters in [[:], ["id": "1"], ["id": "a longer text for a long key"]] {
                for scope in [nil, "alice"] {
                    let key = Key(resource: other, scope: scope, parameters: parameters)
                    #expect(key.isOf(ResourceName(name)) == (name == other))
                }
            }
        }
    }

    @Test func keysAreShortUpTo23Bytes() {
        let longest = Key(resource: "feed", parameters: ["id": "123456789012345"])
        #expect(longest.text == "feed?id=123456789012345" && longest.short?.text == longest.text)
        let longer = Key(resource: "feed", parameters: ["id": "1234567890123456"])
        #expect(longer.short == nil && longer != longest)
        #expect(longer == Key(resource: "feed", parameters: ["id": "1234567890123456"]))
    }

    @Test func shortKeyWithVariantDiffersFromItsBase() {
        let base = Key(resource: "feed")
        let variant = base.variant("ab")
        #expect(variant.text == "feed??variant=ab" && variant.base == base && variant != base)
        #expect(Key(text: "feed??variant=ab") == variant && variant.isOf(ResourceName("feed")))
    }

    @Test func parametersAreReadByName() {
        var parameters: Parameters = ["b": "2", "a": "1"]
        #expect(parameters["a"] == "1" && parameters["b"] == "2" && parameters["c"] == nil)
        #expect(parameters.map(\.name) == ["a", "b"] && parameters == Parameters(["a": "1", "b": "2"]))
        #expect(parameters.dictionary == ["a": "1", "b": "2"])
        parameters["a"] = nil
        #expect(parameters == ["b": "2"] && parameters.count == 1)
        parameters["b"] = nil
        #expect(parameters.isEmpty && parameters == [:])
    }

    @Test func namesOfOtherBytesAreOtherNames() {
        let both: Parameters = ["\u{E9}": "1", "e\u{301}": "2"]
        #expect(both.count == 2 && both["\u{E9}"] == "1" && both["e\u{301}"] == "2")
        #expect(both == ["e\u{301}": "2", "\u{E9}": "1"])
        #expect(Parameters(["\u{E9}": "1"]) != Parameters(["e\u{301}": "1"]))
        let key = Key(resource: "feed", parameters: both)
        #expect(key.parameters == both && Key(text: key.text) == key)
    }

    @Test func valuesOfParametersAreNotShown() {
        let parameters: Parameters = ["token": "secret", "id": "private"]
        #expect("\(parameters)" == "id, token" && !String(reflecting: parameters).contains("secret"))
        var dumped = ""
        dump(parameters, to: &dumped)
        #expect(!dumped.contains("secret") && !dumped.contains("private"))
    }
}
