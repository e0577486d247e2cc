import LarderFoundation
import LarderCore
import Testing

@testable import LarderPlugins

@Suite(.timeLimit(.minutes(20))) struct ScriptedServerTests {
    @Test func threadsAndDescriptorsEndWithServer() async throws {
        let transport = TestedTransport.allCases[0]
        let asked = Gate()
        var server: ScriptedServer? = try ScriptedServer(.steps(.open(asked), .silence))
        let url = try #require(server?.url)
        let waiting = Task { try await transport.make().fetch(url) }
        try await asked.opened()
        server = nil
        // The server's end is seen by the request that waits, and the port is free.
        await #expect(throws: HTTPFailure.self) { try await waiting.value }
        #expect(try await transport.make().failure(url).cause == .noConnection)
    }

    @Test func requestsAreReadWhereverTheyAreCut() throws {
        let text =
            "POST /a?b HTTP/1.1\r\nHost: x\r\nX-A:  1\r\nx-a: 2\r\nContent-Length: 5\r\n\r\nHello"
            + "PUT /c HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3;x\r\nHel\r\n2\r\nlo\r\n0\r\n\r\n"
        for step in 1...text.utf8.count {
            var (reader, requests) = (ScriptedRequestReader(), [ScriptedRequest]())
            var rest = Array(text.utf8)[...]
            while !rest.isEmpty {
                reader.append(rest.prefix(step))
                rest = rest.dropFirst(step)
                while let request = try reader.next() { requests.append(request) }
            }
            #expect(requests.map(\.target) == ["/a?b", "/c"] && requests.first?["X-A"] == "1, 2")
            #expect(requests.map(\.body) == [Data("Hello".utf8), Data("Hello".utf8)])
        }
    }
}
