import LarderFoundation
import Larder
import Testing

@Suite struct RequestTests {
    @Test func bodiesMakeDifferentKeysThatDoNotContainThem() {
        let one = Request("feed", ["id": "1"], body: Data("query one".utf8))
        let two = Request("feed", ["id": "1"], body: Data("query two".utf8))
        #expect(one.key != two.key && one.key != Request("feed", ["id": "1"]).key)
        #expect(one.key == Request("feed", ["id": "1"], body: Data("query one".utf8)).key)
        #expect(one.key.text.hasPrefix("feed?id=1?body=") && one.key.text.utf8.count == 15 + 64)
        #expect(Request("feed", body: Data()).key.text.hasPrefix("feed??body=") && !one.key.text.contains("query"))
    }

    /// A call is copied into most functions on its way, so a few bytes of it are many for a load that waits.
    @Test func requestsAndCallsStaySmall() {
        #expect(MemoryLayout<Request>.size <= 68)
        #expect(MemoryLayout<Call>.size <= 209)
    }

    @Test func parametersCannotImitateBodies() {
        let body = Request("feed", body: Data("q".utf8)).key
        let digest = String(body.text.dropFirst("feed??body=".count))
        for parameters: Parameters in [["?body": digest], ["body": digest], ["": "?body=" + digest], [:]] {
            #expect(Key(resource: "feed", parameters: parameters) != body)
        }
        #expect(Key(resource: "feed??body=" + digest) != body)
        #expect(Key(resource: "feed", scope: "??body=" + digest) != body)
    }

    @Test func fieldsPurposeAndAgeDoNotChangeKey() {
        var request = Request("feed", ["id": "1"])
        let plain = request
        request.fields["Accept-Language"] = "de"
        request.purpose = .prefetch
        request.noOlderThan = .seconds(60)
        #expect(request.key == plain.key && request != plain)
        #expect(request.fields["accept-language"] == "de" && request.noOlderThan == .seconds(60))
        request.fields["Accept-Language"] = nil
        request.purpose = .user
        request.noOlderThan = nil
        #expect(request == plain && request.hashValue == plain.hashValue)
    }
}
