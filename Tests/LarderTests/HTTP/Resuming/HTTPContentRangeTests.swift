import Testing

@testable import LarderPlugins

@Suite struct HTTPContentRangeTests {
    @Test func placeOfAPartIsRead() {
        let range = HTTPContentRange("bytes 100-199/250")
        #expect(range?.start == 100 && range?.count == 100 && range?.total == 250)
        #expect(HTTPContentRange("Bytes 0-0/1")?.count == 1)
    }

    @Test(arguments: [
        "", "bytes", "bytes 1-2", "bytes 1-2/*", "bytes */5", "bytes 2-1/5", "bytes 1-5/5", "bytes -1-2/5",
        "bytes 1-2/5/6", "bytes +1-2/5", "bytes 1-2/5 6", "items 1-2/5", "bytes 1-2/9999999999999999999",
        "bytes １-2/5", "bytes=1-2/5",
    ])
    func otherTextsAreNoPlace(_ text: String) { #expect(HTTPContentRange(text) == nil) }
}
