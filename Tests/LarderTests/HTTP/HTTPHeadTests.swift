import LarderCore
import Testing

@testable import LarderPlugins

@Suite struct HTTPHeadTests {
    private typealias Head = LarderPlugins.HTTPHead

    /// Reads a head, line by line. Returns the head and the lines after it that were read.
    private func head(_ text: String) throws(HTTPFailure) -> Head? {
        var reader = HTTPHeadReader()
        let bytes = Array(text.utf8)
        var start = 0
        for place in bytes.indices where bytes[place] == 10 {
            let line = Array(bytes[start...place])
            start = place + 1
            let result = line.withUnsafeBytes { bytes in
                Result { () throws(HTTPFailure) in try reader.read(bytes) }
            }
            if let head = try result.get() { return head }
        }
        return nil
    }

    private func texts(_ head: Head?) -> [String] {
        head.map { $0.decodedFields.map { "\($0.name): \($0.value)" } } ?? []
    }

    @Test func statusVersionAndFieldsAreReadInOrder() throws {
        let head = try head("HTTP/1.1 404 Not Found\r\nB: 2 \r\nA:1\r\nb:\t3\r\nEmpty:\r\n\r\n")
        #expect(head?.status == 404 && head?.version == "1.1")
        #expect(texts(head) == ["b: 2", "a: 1", "b: 3", "empty: "])
    }

    @Test func headOfHTTP2HasNoReason() throws {
        let head = try head("HTTP/2 200 \r\netag: \"a\"\r\n\r\n")
        #expect(head?.status == 200 && head?.version == "2")
        #expect(try self.head("HTTP/2 204\r\n\r\n")?.status == 204)
    }

    @Test func headsBeforeTheAnswersAreSkipped() throws {
        let head = try head(
            "HTTP/1.1 103 Early\r\nLink: a\r\n\r\nHTTP/1.1 100 Go\r\n\r\nHTTP/1.1 200 OK\r\nA: 1\r\n\r\n")
        #expect(head?.status == 200)
        #expect(texts(head) == ["a: 1"])
    }

    @Test func foldedLineBelongsToFieldBeforeIt() throws {
        #expect(texts(try head("HTTP/1.1 200 OK\r\nA: 1\r\n  2\r\n\t3 \r\nB: 4\r\n\r\n")) == ["a: 1 2 3", "b: 4"])
    }

    @Test(arguments: [
        "HTTP/1.1 20 OK\r\n", "HTTP/1.1 2000 OK\r\n", "HTTP/1.1 abc\r\n", "HTTP/1.1 099 Low\r\n", "HTTP/ 200\r\n",
        "HTTPS 200\r\n", "nonsense\r\n", "\r\n", "HTTP/1.1 101 Switching Protocols\r\n\r\n",
        "HTTP/1.1 200 OK\r\nno field\r\n", "HTTP/1.1 200 OK\r\nA : 1\r\n", "HTTP/1.1 200 OK\r\n: 1\r\n",
        "HTTP/1.1 200 OK\r\n folded\r\n", "HTTP/1.1 200 OK\r\nA: 1\r2\r\n", "HTTP/1.1 200 OK\r\nA: 1\0\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
    ])
    func headThatIsNotValidIsRefused(_ text: String) {
        do {
            _ = try head(text)
            Issue.record("the head was accepted")
        } catch {
            #expect(error.cause == .malformed)
            #expect(!"\(error)".contains("HTTP/1.1"))
        }
    }

    @Test(arguments: [
        ("8", true), ("0", true), ("008", true), ("8, 8", true), ("9223372036854775807", true), ("8, 5", false),
        ("+8", false), ("-8", false), ("8 8", false), ("8,", false), ("", false), ("9223372036854775808", false),
        ("99999999999999999999", false), ("８", false), ("8.0", false),
    ])
    func lengthThatIsNotANumberIsRefused(_ length: String, _ isValid: Bool) throws {
        let text = "HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\n"
        if isValid { return #expect(try head(text)?.status == 200) }
        #expect(throws: HTTPFailure.self) { try head(text) }
    }

    @Test func headsMayHave64KBTogetherWith32ForEachLine() throws {
        let start = "HTTP/1.1 103 Early\r\nA: "
        let end = "\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"
        // Each of the five lines counts 32 bytes more.
        let room = HTTPHeadReader.capacity - start.utf8.count - end.utf8.count - 5 * 32
        #expect(try head(start + String(repeating: "x", count: room) + end)?.status == 200)
        #expect(throws: HTTPFailure(.tooLarge, "the answer's head is too large")) {
            try head(start + String(repeating: "x", count: room + 1) + end)
        }
    }

    @Test func fieldsOfCompressionAreLeftOutOfDecodedAnswer() throws {
        let encoded = try head("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 9\r\nA: 1\r\n\r\n")
        #expect(texts(encoded) == ["a: 1"])
        let plain = try head("HTTP/1.1 200 OK\r\nContent-Encoding: identity\r\nContent-Length: 9\r\n\r\n")
        #expect(texts(plain) == ["content-encoding: identity", "content-length: 9"])
    }
}
