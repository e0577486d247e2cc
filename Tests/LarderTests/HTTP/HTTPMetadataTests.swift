import LarderSystem
import Larder
import Testing

@testable import LarderPlugins

/// The facts that an origin of anybody takes from an HTTP answer.
@Suite struct HTTPMetadataTests {
    private let now = Timestamp(seconds: 1_795_348_800)

    private func metadata(_ fields: Fields) -> Metadata {
        Metadata(httpStatus: 200, fields: fields, askedAt: now - .seconds(1), arrivedAt: now)
    }

    @Test func factsHaveTheirPlaces() {
        let found = metadata([
            "ETag": "\"1\"", "Last-Modified": "x", "Content-Type": "text/plain", "Vary": "B, a", "Age": "5",
            "X-Own": "1",
        ])
        #expect(found.status == 200 && found.etag == "\"1\"" && found.lastModified == "x")
        #expect(found.contentType == "text/plain" && found.variesBy == ["a", "b"] && found.initialAge == .seconds(6))
        #expect(found.fields["x-own"] == "1" && found.fields["vary"] == "B, a")
    }

    @Test(arguments: [
        "Set-Cookie", "Set-Cookie2", "Authentication-Info", "Proxy-Authenticate", "Proxy-Authentication-Info",
        "Connection", "Keep-Alive", "Transfer-Encoding", "Upgrade", "Trailer", "TE", "Content-Encoding",
        "Content-Length",
        "Content-Range", "X-Hop",
    ])
    func fieldOfTheExchangeIsNotKept(name: String) {
        let found = metadata([name: "canary", "connection": "x-hop, close", "x-other": "1"])
        #expect(found.fields[name] == nil && found.fields.map(\.name) == ["x-other"])
    }

    @Test func allValuesOfOtherFieldsAreKept() throws {
        var fields: Fields = ["Link": "<a>", "Unknown": "x", "Via": "1.1 a"]
        fields.add(try #require(Fields.Field("Link", "<b>")))
        #expect(metadata(fields).fields == fields)
    }

    @Test func confirmationReplacesTheFieldsThatItHas() throws {
        var fields: Fields = ["Link": "<a>", "X-Old": "1", "Age": "9", "Date": "d", "Vary": "a", "Content-Type": "t"]
        fields.add(try #require(Fields.Field("Link", "<b>")))
        var found = metadata(fields)
        try found.confirm(
            httpFields: ["Link": "<c>", "Content-Length": "0"], askedAt: now, arrivedAt: now + .seconds(2))
        #expect(found.fields == ["Link": "<c>", "X-Old": "1", "Vary": "a", "Content-Type": "t"])
        #expect(found.initialAge == .seconds(2) && found.variesBy == ["a"] && found.contentType == "t")
    }

    @Test(arguments: [
        ("\"1\"", "\"1\"", true), ("\"1\"", "\"2\"", false), ("W/\"1\"", "W/\"1\"", true), ("W/\"1\"", "\"1\"", true),
        ("\"1\"", "W/\"1\"", true), ("W/\"1\"", "W/\"2\"", false), (nil, "\"1\"", false), ("\"1\"", nil, true),
        (nil, nil, true),
    ])
    func confirmationOfAnotherVersionChangesNothing(kept: String?, confirmed: String?, isConfirmed: Bool) {
        var own = Fields()
        own["etag"] = kept
        var found = metadata(own)
        let before = found
        var fields: Fields = ["X-New": "1"]
        fields["etag"] = confirmed
        do {
            try found.confirm(httpFields: fields, askedAt: now, arrivedAt: now)
            #expect(isConfirmed && found.fields["x-new"] == "1")
        } catch {
            #expect(!isConfirmed && found == before && (error as? LoadError)?.code == .failed)
        }
    }

    @Test(arguments: [
        ("\"\"", true), ("\"1\"", true), ("W/\"1\"", true), ("\"ä,*\"", true), ("*", false), ("W/*", false),
        ("1", false), ("\"1", false), ("1\"", false), ("\"", false), ("", false), ("\"1\", \"2\"", false),
        ("\"1\", *", false), ("w/\"1\"", false), ("W/ \"1\"", false), ("\"a b\"", false), ("\"a\tb\"", false),
        ("'1'", false),
    ])
    func tagThatIsNotValidIsNoValidator(tag: String, isValid: Bool) throws {
        var found = metadata(["ETag": tag, "Last-Modified": "x"])
        #expect(found.etag == (isValid ? tag : nil))
        // A copy may have been kept with it before.
        found.etag = tag
        let conditions = HTTPRequestFields.conditions(confirming: found).map { [$0.name, $0.value] }
        #expect(conditions == (isValid ? [["if-none-match", tag]] : []) + [["if-modified-since", "x"]])
        // As if it were not there.
        found = metadata(["ETag": "\"1\"", "Last-Modified": "x"])
        let fields: Fields = ["ETag": isValid ? "\"1\"" : tag, "Last-Modified": "x"]
        try found.confirm(httpFields: fields, askedAt: now, arrivedAt: now)
        #expect(found.etag == "\"1\"")
    }

    @Test func confirmationOfAnotherDateChangesNothing() throws {
        var found = metadata(["Last-Modified": "a"])
        #expect(throws: LoadError.self) {
            try found.confirm(httpFields: ["Last-Modified": "b"], askedAt: now, arrivedAt: now)
        }
        try found.confirm(httpFields: ["Last-Modified": "a"], askedAt: now, arrivedAt: now)
    }
}
