import Larder
import LarderFoundation
import LarderSimulation
import LarderSystem
import Testing

@testable import LarderSync

/// Services that take many changes at once, also at their worst.
@Suite struct BatchPushTests {
    private static func policy(_ more: String = "") -> String {
        """
        { "resource": "notes", "origin": "service",
          "records": { "id": "/id", "push": { "use": "batch", "most": 10, "body": { "operations": "{operations}" },
            "operation": { "op": "{kind}", "id": "{id}", "key": "{key}", "set": "{changes}" },
            "results": "/results", "status": "/code"\(more) } } }
        """
    }

    /// Answers a batch.
    private typealias Answer = @Sendable (_ call: Int, _ operations: [JSONText]) throws -> String

    private func run(
        _ policy: String = policy(), count: Int, answer: @escaping Answer,
        _ test: @escaping @Sendable (SimulatedWorld, Records<Note>, Locked<[Int]>) async throws -> Void
    ) throws {
        let simulated = SimulatedWorld(seed: 1)
        try simulated.run(leaving: .anything) { world in
            let app = try RecordsApp(in: world)
            // The number of operations of each call.
            let calls = Locked<[Int]>([])
            app.changes.withLock {
                $0 = { _, request in
                    let operations = try JSONText(request.body ?? Data())["operations"]?.items ?? []
                    let number = calls.withLock { calls in
                        calls.append(operations.count)
                        return calls.count
                    }
                    return try answer(number, operations)
                }
            }
            let pantry = try await app.pantry(["notes": policy])
            let notes = pantry.records("notes", of: Note.self)
            try await pantry.write { writer in
                for number in 0..<count { try writer.create(Note(id: "n\(number)", title: ""), in: notes) }
            }
            try await test(simulated, notes, calls)
            let books = try await notes.books()
            #expect(books.unaccounted == 0)
            await pantry.close()
        }
    }

    private static func results(_ codes: [Int]) -> String {
        #"{ "results": [\#(codes.map { #"{"code":\#($0)}"# }.joined(separator: ","))] }"#
    }

    @Test func changesGoInBatches() throws {
        try run(count: 25) { _, operations in
            Self.results(operations.map { _ in 200 })
        } _: { world, notes, calls in
            try await world.sleep(for: .seconds(1))
            #expect(calls.withLock { $0 } == [10, 10, 5])
            #expect(try await notes.books().accepted == 25)
        }
    }

    @Test func refusalOfACallIsThatOfOneChange() throws {
        try run(count: 5) { _, operations in
            if operations.contains(where: { $0["id"]?.string == "n3" }) { throw LoadError.status(400) }
            return Self.results(operations.map { _ in 200 })
        } _: { world, notes, _ in
            try await world.sleep(for: .seconds(1))
            #expect(try await notes.books().accepted == 4)
            #expect(try await notes.books().rejected == 1)
        }
    }

    @Test func acceptedChangesLeaveTheQueueAlsoWithoutAPuller() throws {
        try run(count: 3) { _, operations in
            Self.results(operations.map { _ in 200 })
        } _: { world, notes, _ in
            try await world.sleep(for: .seconds(1))
            let count = try await notes.attachment().reading { database in
                try database.reading { try $0.first("SELECT count(*) FROM outbox") { $0.integer(0) } }
            }
            #expect(count == 0)
            #expect(try await notes.count(Query()) == 3)
        }
    }

    @Test func eachChangeHasItsOwnResult() throws {
        try run(count: 5) { call, operations in
            Self.results(call == 1 ? [200, 422, 500, 201, 401] : operations.map { _ in 200 })
        } _: { world, notes, calls in
            try await world.sleep(for: .seconds(1))
            #expect(try await notes.books().accepted == 2)
            #expect(try await notes.books().rejected == 1)
            #expect(try await notes.books().pending == 2)
            // A change that needs a sign-in waits longer than one that failed.
            try await world.sleep(for: .seconds(10))
            #expect(calls.withLock { $0 } == [5, 1])
            try await world.sleep(for: .seconds(1_000))
            #expect(try await notes.books().pending == 0)
        }
    }

    @Test func batchThatIsTooLargeIsHalved() throws {
        try run(count: 9) { _, operations in
            if operations.count > 2 { throw LoadError.status(413) }
            return Self.results(operations.map { _ in 200 })
        } _: { world, notes, calls in
            try await world.sleep(for: .seconds(1))
            #expect(calls.withLock { $0 } == [9, 4, 2, 2, 5, 2, 3, 1, 2])
            #expect(try await notes.books().accepted == 9)
        }
    }

    @Test func changeThatIsTooLargeByItselfIsALetter() throws {
        try run(count: 2) { _, _ in
            throw LoadError.status(413)
        } _: { world, notes, _ in
            try await world.sleep(for: .seconds(1))
            #expect(try await notes.books().rejected == 2)
        }
    }

    @Test(arguments: [
        "", "[]", "<html>", #"{ "results": 7 }"#, #"{ "results": [] }"#, #"{ "results": [{"code":200}] }"#,
        #"{ "results": [{"code":200},{"code":200},{"code":200}] }"#, #"{ "results": [{"code":"200"},{"code":null}] }"#,
        #"{ "results": [1,2] }"#,
    ])
    func answerThatMakesNoSenseAcceptsNothing(_ answer: String) throws {
        try run(count: 2) { _, _ in
            answer
        } _: { world, notes, _ in
            try await world.sleep(for: .seconds(1))
            #expect(try await notes.books().accepted == 0)
            #expect(try await notes.books().pending == 2)
        }
    }

    @Test func resultsInAnyOrderAreMatched() throws {
        try run(Self.policy(#", "match": "/id""#), count: 3) { call, operations in
            if call > 1 { return #"{ "results": [{"id":"n1","code":200}] }"# }
            return """
                { "results": [{"id":"n2","code":422}, {"id":"other","code":422}, {"id":"n0","code":200},
                  {"id":"n1","code":200}, {"id":"n1","code":422}] }
                """
        } _: { world, notes, calls in
            try await world.sleep(for: .milliseconds(900))
            #expect(try await notes.books().accepted == 1)
            #expect(try await notes.books().rejected == 1)
            // Two results for one change say nothing about it.
            #expect(try await notes.books().pending == 1)
            try await world.sleep(for: .seconds(10))
            #expect(calls.withLock { $0 } == [3, 1])
            #expect(try await notes.books().pending == 0)
        }
    }

    @Test func waitThatTheServiceAsksForIsBounded() throws {
        try run(count: 1) { call, _ in
            if call == 1 { throw LoadError.status(503, retryAfter: .seconds(86_400 * 365)) }
            return Self.results([200])
        } _: { world, notes, _ in
            try await world.sleep(for: .seconds(86_500))
            #expect(try await notes.books().accepted == 1)
        }
    }

    @Test func changesWaitForTheIntervalOfThePolicy() throws {
        try run(Self.policy(#", "every": "5m""#), count: 1) { _, operations in
            Self.results(operations.map { _ in 200 })
        } _: { world, notes, calls in
            // At the start, nothing waits.
            try await world.sleep(for: .seconds(1))
            #expect(calls.withLock { $0 } == [1])
            try await notes.create(Note(id: "second", title: ""))
            try await world.sleep(for: .seconds(290))
            #expect(calls.withLock { $0 } == [1])
            try await notes.create(Note(id: "later", title: ""))
            try await world.sleep(for: .seconds(20))
            #expect(calls.withLock { $0 } == [1, 2])
        }
    }

    @Test func functionIsAPusher() throws {
        try SimulatedWorld(seed: 1).run(leaving: .anything) { world in
            let sent = Locked<[[String?]]>([])
            let registry = try Registry.standard.adding(.sync).adding([
                .pusher("counting", "Counts.", most: 2) { changes, _ in
                    sent.withLock { $0.append(changes.map { $0.id?.name }) }
                    return changes.map { .accepted($0.record) }
                }
            ])
            let policy = """
                { "resource": "notes", "origin": { "use": "constant", "value": 1 },
                  "records": { "id": "/id", "push": "counting" } }
                """
            let folder = try TemporaryFolder()
            let pantry = try await Pantry(
                policies: ["notes": policy], registry: registry, cache: folder.url.appending(path: "c"),
                data: folder.url.appending(path: "d"), world: world)
            let notes = pantry.records("notes", of: Note.self)
            for name in ["a", "b", "c"] { try await notes.create(Note(id: name, title: "")) }
            try await notes.sync()
            #expect(sent.withLock { $0 } == [["a", "b"], ["c"]])
            #expect(try await notes.get("a").record?.state == .synced)
            await pantry.close()
        }
    }
}
