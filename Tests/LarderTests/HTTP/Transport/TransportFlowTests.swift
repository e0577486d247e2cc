import LarderFoundation
import LarderSystem
import LarderCore
import Testing

@testable import LarderPlugins

/// Bodies as they arrive, readers that are slow, and many requests at once.
@Suite(.timeLimit(.minutes(20))) struct TransportFlowTests {
    @Test(arguments: TestedTransport.allCases)
    func bytesArriveAsTheyAreSent(_ tested: TestedTransport) async throws {
        let gates = [Gate(), Gate()]
        let server = try ScriptedServer(
            .steps(
                .send("HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n"), .wait(gates[0]), .send("Hello"),
                .wait(gates[1]),
                .send(", you!")))
        let answer = try await tested.make().begin(server.url)
        #expect(answer.status == 200)
        gates[0].open()
        #expect(try await answer.body.next() == Data("Hello".utf8))
        gates[1].open()
        #expect(try await answer.body.whole() == Data(", you!".utf8))
        #expect(try await answer.body.next() == nil)
    }

    @Test(arguments: TestedTransport.allCases)
    func largeBodyArrivesWhole(_ tested: TestedTransport) async throws {
        let part = Data((0..<65_536).map { UInt8(truncatingIfNeeded: $0 ^ $0 >> 8) })
        let server = try ScriptedServer(
            .steps(.send("HTTP/1.1 200 OK\r\nContent-Length: \(part.count * 128)\r\n\r\n"), .repeated(part, times: 128))
        )
        let body = try await tested.make().fetch(server.url).body
        #expect(body.count == part.count * 128)
        #expect(stride(from: 0, to: body.count, by: part.count).allSatisfy { body[$0..<($0 + part.count)] == part })
    }

    @Test(arguments: TestedTransport.with(.pausing))
    func slowReaderHoldsServerBack(_ tested: TestedTransport) async throws {
        let (part, heldBack) = (Data(repeating: 7, count: 65_536), Gate())
        let server = try ScriptedServer { request in
            request.path == "/small"
                ? .answer(200, [:], "small")
                : .steps(
                    .send("HTTP/1.1 200 OK\r\nContent-Length: \(part.count * 1_024)\r\n\r\n"),
                    .repeated(part, times: 1_024, heldBack: heldBack), .open(heldBack))
        }
        let transport = try tested.make()
        let answer = try await transport.begin(server.url)
        try await heldBack.opened()
        #expect(server.sent < part.count * 512)
        // The reader that waits holds up no other request.
        #expect(try await transport.fetch(server.url + "/small").text == "small")
        var count = 0
        while let bytes = try await answer.body.next() {
            count += bytes.count
            #expect(bytes.count < 4 * HTTPBody.mostWaiting)
        }
        #expect(count == part.count * 1_024)
    }

    @Test(arguments: TestedTransport.with(.pausing))
    func heldBackServerIsLeftWhenReaderEnds(_ tested: TestedTransport) async throws {
        let (heldBack, left) = (Gate(), Gate())
        let server = try ScriptedServer(
            .steps(
                .send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"),
                .repeated(Data(repeating: 7, count: 65_536), times: .max, heldBack: heldBack), clientLeft: left))
        do {
            let answer = try await tested.make().begin(server.url)
            try await heldBack.opened()
            #expect(try await answer.body.next()?.isEmpty == false)
        }
        try await left.opened()
    }

    @Test(arguments: TestedTransport.with(.pausing))
    func readerOfCompressedBodyDecidesHowMuchIsDecoded(_ tested: TestedTransport) async throws {
        let (part, heldBack, left) = (Data(repeating: Compressed.bombByte, count: 65_536), Gate(), Gate())
        let server = try ScriptedServer(
            .steps(
                .send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nConnection: close\r\n\r\n"),
                .bytes(Compressed.bombHead),
                .repeated(part, times: .max, heldBack: heldBack), clientLeft: left))
        do {
            let answer = try await tested.make().begin(server.url)
            var count = 0
            while count < 100_000_000, let bytes = try await answer.body.next() {
                count += bytes.count
                #expect(bytes.first == 0 && bytes.last == 0 && bytes.count < 64_000_000)
            }
            #expect(count >= 100_000_000)
            try await heldBack.opened()
            #expect(server.sent < 32_000_000)
        }
        try await left.opened()
    }

    @Test(arguments: TestedTransport.with(.pausing))
    func bodyLargerThanTheCapacityFailsAndEndsRequest(_ tested: TestedTransport) async throws {
        let (part, left) = (Data(repeating: Compressed.bombByte, count: 65_536), Gate())
        let server = try ScriptedServer(
            .steps(
                .send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nConnection: close\r\n\r\n"),
                .bytes(Compressed.bombHead), .repeated(part, times: .max), clientLeft: left))
        var limits = HTTPLimits.ample
        limits.capacity = 1_000_000
        let transport = try tested.make()
        let body = try await transport.begin(server.url, within: limits).body
        var count = 0
        await #expect(throws: HTTPFailure.largerThanCapacity) {
            while let bytes = try await body.next() { count += bytes.count }
        }
        #expect(count <= limits.capacity)
        try await left.opened()
    }

    @Test(arguments: TestedTransport.allCases)
    func manyRequestsAtOnceGetTheirAnswers(_ tested: TestedTransport) async throws {
        let (transport, server) = (
            try tested.make(connectionsPerHost: 4), try ScriptedServer { .answer(200, [:], $0.target) }
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                group.addTask {
                    let answer = try await transport.fetch(server.url + "/?\(number)")
                    #expect(answer.text == "/?\(number)")
                }
            }
            try await group.waitForAll()
        }
        #expect(Set(server.requests.map(\.target)).count == 200 && server.requests.count == 200)
        #expect(server.connections <= 4)
    }
}
