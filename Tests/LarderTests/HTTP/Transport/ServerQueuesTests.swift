import Testing

@testable import LarderPlugins

@Suite struct ServerQueuesTests {
    private final class Queues {
        private var queues: ServerQueues

        init(limit: Int) {
            queues = ServerQueues(limit: limit)
        }

        var isEmpty: Bool { queues.isEmpty }
        func add(_ number: UInt64, to server: String) -> Bool { queues.add(number, to: server) }
        func remove(_ number: UInt64, from server: String) { queues.remove(number, from: server) }
        func end(at server: String) -> UInt64? { queues.end(at: server) }
        func raiseLimit(to limit: Int, at server: String) -> [UInt64] { queues.raiseLimit(to: limit, at: server) }
    }

    @Test func requestsBeyondTheLimitWaitInOrder() {
        let queues = Queues(limit: 2)
        #expect((1...6).map { queues.add($0, to: "a") } == [true, true, false, false, false, false])
        #expect((1...4).map { _ in queues.end(at: "a") } == [3, 4, 5, 6])
        #expect(queues.end(at: "a") == nil)
        #expect(!queues.isEmpty)
        #expect(queues.end(at: "a") == nil)
        #expect(queues.isEmpty)
    }

    @Test func serversDoNotWaitForEachOther() {
        let queues = Queues(limit: 1)
        #expect(queues.add(1, to: "a"))
        #expect(!queues.add(2, to: "a"))
        #expect(queues.add(3, to: "b"))
        #expect(queues.end(at: "b") == nil)
        #expect(queues.end(at: "a") == 2)
    }

    @Test func cancelledRequestLosesItsPlaceInTheQueue() {
        let queues = Queues(limit: 1)
        for number: UInt64 in 1...1_000 { _ = queues.add(number, to: "a") }
        for number: UInt64 in 2...999 { queues.remove(number, from: "a") }
        queues.remove(7, from: "a")
        queues.remove(7, from: "b")
        #expect(queues.end(at: "a") == 1_000)
        #expect(queues.end(at: "a") == nil)
        #expect(queues.isEmpty)
    }

    @Test func raisedLimitLetsWaitingRequestsRun() {
        let queues = Queues(limit: 1)
        for number: UInt64 in 1...5 { _ = queues.add(number, to: "a") }
        #expect(queues.raiseLimit(to: 4, at: "a") == [2, 3, 4])
        #expect(queues.raiseLimit(to: 4, at: "a") == [])
        #expect(queues.raiseLimit(to: 4, at: "b") == [])
        #expect(queues.end(at: "a") == 5)
        for _ in 1...4 { #expect(queues.end(at: "a") == nil) }
        // The raised limit is forgotten with the last request.
        #expect(queues.isEmpty)
        #expect((1...2).map { queues.add($0, to: "a") } == [true, false])
    }

    @Test func serverIsSchemeHostAndPort() {
        for (url, server) in [
            ("https://a.example/b/c", "https://a.example"), ("http://a:80", "http://a:80"),
            ("http://a?b=/c/d", "http://a"), ("http://a#b", "http://a"), ("http://[::1]:8/", "http://[::1]:8"),
        ] {
            #expect(HTTPRequest(url: url).server == server)
        }
    }
}
