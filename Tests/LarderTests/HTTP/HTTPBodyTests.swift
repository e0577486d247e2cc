import LarderFoundation
import LarderSystem
import LarderCore
import Testing

@testable import LarderPlugins

@Suite struct HTTPBodyTests {
    /// A body, and the number of times that its exchange was told to go on and to end.
    private struct Exchange {
        let resumed = Locked(0)
        let cancelled = Locked(0)

        var body: HTTPBody {
            HTTPBody(
                capacity: 1_000_000,
                HTTPBody.Control { [resumed] in
                    resumed.withLock { $0 += 1 }
                } cancel: { [cancelled] in
                    cancelled.withLock { $0 += 1 }
                })
        }

        var counts: [Int] { [resumed.withLock { $0 }, cancelled.withLock { $0 }] }
    }

    private func append(_ text: String, to body: HTTPBody) -> HTTPBody.Reception {
        Array(text.utf8).withUnsafeBytes { body.append($0) }
    }

    private let exchange = Exchange()

    @Test func bytesThatHaveArrivedAreReadAtOnceThenTheEnd() async throws {
        let body = exchange.body
        #expect(append("Hello ", to: body) == .goOn && append("world", to: body) == .goOn)
        body.finish()
        #expect(try await body.next() == Data("Hello world".utf8))
        #expect(try await body.next() == nil)
        #expect(try await body.next() == nil)
        #expect(exchange.counts == [0, 0])
    }

    @Test func readerThatWaitsGetsBytesThatArriveLater() async throws {
        let body = exchange.body
        async let first = body.next()
        await Task.yield()
        #expect(append("late", to: body) == .goOn)
        #expect(try await first == Data("late".utf8))
        async let second = body.next()
        await Task.yield()
        body.finish()
        #expect(try await second == nil)
    }

    @Test func fullBodyPausesUntilItIsRead() async throws {
        let body = exchange.body
        let half = String(repeating: "x", count: HTTPBody.mostWaiting / 2)
        #expect(append(half, to: body) == .goOn)
        #expect(append(half, to: body) == .pause)
        #expect(exchange.counts == [0, 0])
        #expect(try await body.next()?.count == HTTPBody.mostWaiting)
        #expect(exchange.counts == [1, 0])
        #expect(append("more", to: body) == .goOn)
        #expect(try await body.next() == Data("more".utf8))
        // Only a pause is followed by going on.
        #expect(exchange.counts == [1, 0])
        body.finish()
    }

    @Test func failureComesAfterTheBytesBeforeIt() async throws {
        let body = exchange.body
        #expect(append("some", to: body) == .goOn)
        let failure = HTTPFailure(.reset, "the connection ended")
        body.finish(failure)
        #expect(try await body.next() == Data("some".utf8))
        await #expect(throws: failure) { try await body.next() }
        await #expect(throws: failure) { try await body.next() }
        #expect(exchange.counts == [0, 0])
    }

    @Test func cancelledReaderEndsTheExchange() async throws {
        let body = exchange.body
        let reader = Task { try await body.next() }
        await Task.yield()
        reader.cancel()
        await #expect(throws: CancellationError.self) { try await reader.value }
        #expect(exchange.counts == [0, 1])
        // Nothing that comes late has an effect.
        #expect(append("late", to: body) == .end)
        body.finish()
        await #expect(throws: CancellationError.self) { try await body.next() }
        body.cancel()
        #expect(exchange.counts == [0, 1])
    }

    @Test func bodyThatIsDroppedBeforeItsEndEndsTheExchange() {
        var body: HTTPBody? = exchange.body
        #expect(body.map { append("some", to: $0) } == .goOn)
        body = nil
        #expect(exchange.counts == [0, 1])
    }

    @Test func bodyThatIsDroppedAfterItsEndEndsNothing() {
        var body: HTTPBody? = exchange.body
        body?.finish()
        body = nil
        #expect(exchange.counts == [0, 0])
    }

    @Test func cancelledBodyForgetsItsBytes() async {
        let body = exchange.body
        #expect(append("some", to: body) == .goOn)
        body.cancel()
        await #expect(throws: CancellationError.self) { try await body.next() }
    }

    @Test func bodyLargerThanTheCapacityFailsAndForgetsItsBytes() async throws {
        let body = exchange.body
        let most = String(repeating: "x", count: 1_000_000)
        #expect(append(most, to: body) == .pause)
        #expect(try await body.next()?.count == 1_000_000)
        #expect(append("x", to: body) == .end)
        #expect(append("x", to: body) == .end)
        await #expect(throws: HTTPFailure.largerThanCapacity) { try await body.next() }
        // The transport ends the exchange because it was told so, and continues it no more.
        #expect(exchange.counts == [1, 0])
    }
}
