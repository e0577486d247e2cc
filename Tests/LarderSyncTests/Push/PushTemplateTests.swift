import Larder
import LarderSimulation
import Testing

@testable import LarderSync

@Suite struct PushTemplateTests {
    private static let change = PushedChange(
        .update, id: JSONText(string: "a\"{record}"), key: "k1", record: .object,
        fields: [
            PushedChange.Field(
                FieldChange(path: ["shop", "name"], before: nil, after: JSONText(string: "x")), isUnion: false),
            PushedChange.Field(
                FieldChange(
                    path: ["tags"], before: JSONText(.list([.int(1), .int(2)])),
                    after: JSONText(.list([.int(2), .int(3)]))), isUnion: true),
            PushedChange.Field(FieldChange(path: ["gone"], before: JSONText(.bool(true)), after: nil), isUnion: false),
        ],
        version: nil, madeAt: 5)

    private func filled(_ json: JSON) -> String { PushTemplate(json: json).filled(Self.change.value(of:)).shownText }

    @Test func textThatIsAPlaceholderBecomesItsValue() {
        #expect(filled(["c": "{changes}"]) == #"{"c":{"shop":{"name":"x"},"tags":[2,3],"gone":null}}"#)
        #expect(filled(["a": "{added}", "r": "{removed}"]) == #"{"a":{"tags":[3]},"r":{"tags":[1]}}"#)
        #expect(filled(["b": "{before}"]) == #"{"b":{"shop":{"name":null},"tags":[1,2],"gone":true}}"#)
        #expect(filled(["{kind}", "{madeAt}"]) == #"["update",5]"#)
    }

    @Test func placeholderInALongerTextIsText() {
        #expect(filled("key-{key}/{madeAt}") == #""key-k1/5""#)
        #expect(filled("{ id rev }{nothing}{") == #""{ id rev }{nothing}{""#)
    }

    @Test func valueIsNoTemplate() {
        #expect(filled("{id}!") == #""a\"{record}!""#)
    }

    @Test func memberWithoutAValueIsLeftOut() {
        #expect(filled(["v": "{version}", "k": "{key}"]) == #"{"k":"k1"}"#)
        #expect(filled(["{version}"]) == "[null]")
    }

    @Test(arguments: ["fields", "parameters"]) func unknownPlaceholderIsRefusedByThePolicy(_ place: String) throws {
        try SimulatedWorld(seed: 1).run(leaving: .anything) { world in
            let app = try RecordsApp(in: world)
            func policy(_ placeholder: String) -> String {
                RestPushTests.policy().replacing(
                    #""push": "rest""#,
                    with: #""push": { "use": "rest", "update": { "\#(place)": { "v": "\#(placeholder)" } } }"#)
            }
            try await app.pantry(["notes": policy("{version}")]).close()
            await #expect(throws: PolicyError.self) { try await app.pantry(["notes": policy("{verison}")]) }
        }
    }

    @Test func unknownPlaceholderIsFound() {
        #expect(PushTemplate(json: ["a": ["{recrd}", "{ id }", "x{foo}"]]).unknown == ["{recrd}"])
    }
}
