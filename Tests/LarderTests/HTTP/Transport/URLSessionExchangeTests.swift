import LarderFoundation
import LarderSystem
import LarderCore
import LarderSimulation
import Testing

@testable import LarderPlugins

/// An exchange of `URLSession` whose events a test gives, in simulated time.
@Suite struct URLSessionExchangeTests {
    /// The actions on the task, in order.
    private let actions = Locked<[String]>([])

    private func exchange(method: String = "GET", limits: HTTPLimits = .ample, in world: any World)
        -> URLSessionExchange
    {
        let actions = actions
        func record(_ action: String) -> @Sendable () -> Void { { actions.withLock { $0.append(action) } } }
        let exchange = URLSessionExchange(
            URLSessionExchange.Actions(
                resume: record("resume"), suspend: record("suspend"), cancel: record("cancel"), enqueue: { $0() }),
            method: method)
        exchange.start(within: limits, of: world)
        return exchange
    }

    private var done: [String] { actions.withLock { $0 } }

    @Test func answerArrivesWithFieldsInTheOrderOfTheirNames() throws {
        try SimulatedWorld().run { world in
            let exchange = exchange(in: world)
            exchange.arrived(status: 103, fields: [:])
            exchange.arrived(status: 200, fields: ["B": "2", "A": "1", "Content-Length": "5"])
            exchange.received(Data("Hello".utf8))
            exchange.completed(nil)
            let answer = try await exchange.pending.answer()
            #expect(answer.status == 200 && answer.version == "")
            #expect(answer.fields.map(\.name) == ["a", "b", "content-length"])
            #expect(try await answer.body.whole() == Data("Hello".utf8))
            #expect(done == ["resume"])
        }
    }

    @Test func answerWhoseFirstByteIsLateFails() throws {
        try SimulatedWorld().run { world in
            let limits = HTTPLimits(connect: .seconds(1), firstByte: .seconds(3), whole: .seconds(9), capacity: 100)
            let exchange = exchange(limits: limits, in: world)
            let failure = await #expect(throws: HTTPFailure.self) { try await exchange.pending.answer() }
            #expect(failure?.cause == .firstByteTimeout && world.uptime == .seconds(3))
            #expect(done == ["resume", "cancel"])
        }
    }

    @Test func answerThatIsNotCompleteAtItsLimitFails() throws {
        try SimulatedWorld().run { world in
            let limits = HTTPLimits(connect: .seconds(1), firstByte: .seconds(3), whole: .seconds(9), capacity: 100)
            let exchange = exchange(limits: limits, in: world)
            exchange.arrived(status: 200, fields: [:])
            let answer = try await exchange.pending.answer()
            let failure = await #expect(throws: HTTPFailure.self) { try await answer.body.whole() }
            #expect(failure?.cause == .timeout && world.uptime == .seconds(9))
            #expect(done == ["resume", "cancel"])
        }
    }

    @Test func taskIsSuspendedUntilTheReaderHasTakenMuchThatWaits() throws {
        try SimulatedWorld().run { world in
            let exchange = exchange(in: world)
            exchange.arrived(status: 200, fields: [:])
            let answer = try await exchange.pending.answer()
            exchange.received(Data(count: HTTPBody.mostWaiting + 1))
            #expect(done == ["resume", "suspend"])
            #expect(try await answer.body.next()?.count == HTTPBody.mostWaiting + 1)
            #expect(done == ["resume", "suspend", "resume"])
            exchange.completed(nil)
            #expect(try await answer.body.next() == nil)
        }
    }

    @Test func bodyThatIsShorterThanItsLengthIsNotComplete() throws {
        try SimulatedWorld().run { world in
            let exchange = exchange(in: world)
            exchange.arrived(status: 200, fields: ["Content-Length": "5"])
            exchange.received(Data("Hell".utf8))
            exchange.completed(nil)
            let answer = try await exchange.pending.answer()
            let failure = await #expect(throws: HTTPFailure.self) { try await answer.body.whole() }
            #expect(failure?.cause == .reset)
        }
    }

    @Test func answerToHEADHasALengthAndNoBody() throws {
        try SimulatedWorld().run { world in
            let exchange = exchange(method: "HEAD", in: world)
            exchange.arrived(status: 200, fields: ["Content-Length": "5"])
            exchange.completed(nil)
            let body = try await exchange.pending.answer().body.whole()
            #expect(body.isEmpty)
        }
    }

    @Test func taskWhoseAnswerNobodyReadsIsCancelled() throws {
        try SimulatedWorld().run { world in
            let exchange = exchange(in: world)
            exchange.arrived(status: 200, fields: [:])
            _ = try await exchange.pending.answer()
            #expect(done == ["resume", "cancel"])
        }
    }

    @Test func headThatCannotBeUsedEndsTheExchange() throws {
        let heads: [([AnyHashable: Any], LoadError.Cause)] = [
            (["Content-Encoding": "zstd"], .malformed), (["Content-Length": "many"], .malformed),
            (["A": String(repeating: "a", count: HTTPHeadReader.capacity)], .tooLarge),
        ]
        for (fields, cause) in heads {
            nonisolated(unsafe) let fields = fields
            try SimulatedWorld().run { world in
                let exchange = exchange(in: world)
                exchange.arrived(status: 200, fields: fields)
                let failure = await #expect(throws: HTTPFailure.self) { try await exchange.pending.answer() }
                #expect(failure?.cause == cause)
                #expect(done.last == "cancel")
            }
        }
    }

    @Test func failureOfTheSessionEndsAnAnswerThatHasNotArrived() throws {
        try SimulatedWorld().run { world in
            let exchange = exchange(in: world)
            exchange.completed(HTTPFailure(.noConnection, "there is no network"))
            let failure = await #expect(throws: HTTPFailure.self) { try await exchange.pending.answer() }
            #expect(failure?.cause == .noConnection)
        }
    }
}
