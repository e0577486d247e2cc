import Larder
import LarderFoundation
import LarderSimulation
import LarderSystem
import Testing

@testable import LarderSync

/// A service in memory understands everything that a policy sends, and answers as the policy expects.
@Suite struct SimulatedServiceTests {
    /// The settings of a policy about its service.
    struct Language: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var pull = #"{ "use": "since", "items": "/items", "next": "/next", "serverTime": "/time", "deleted": "/gone" }"#
        var push = #"{ "use": "rest" }"#
        var others = #""version": "/rev", "#

        var policy: String {
            """
            { "resource": "notes", "origin": "simulated",
              "records": { "id": "/id", \(others)"updatedAt": "/at", "pull": \(pull), "push": \(push) } }
            """
        }
    }

    private static func batch(_ more: String) -> String {
        """
        { "use": "batch", "every": "1m", "body": { "all": "{operations}" },
          "operation": { "op": "{kind}", "id": "{id}", "key": "{key}", "set": "{changes}", "if": "{version}" },
          "results": "/results", "status": "/code", "record": "/record", "conflictRecord": "/record"\(more) }
        """
    }

    private static let mutations = """
        { "use": "rest", "record": "/data/note", "conflictRecord": "/data/note",
          "create": { "body": { "query": "mutation make", "variables": { "note": "{record}", "key": "{key}" } } },
          "update": { "method": "POST", "fields": {}, "body": { "query": "mutation change",
            "variables": { "id": "{id}", "set": "{changes}", "rev": "{version}", "key": "{key}" } } },
          "delete": { "method": "POST", "fields": {}, "body": { "query": "mutation remove",
            "variables": { "id": "{id}", "rev": "{version}", "key": "{key}" } } } }
        """

    static let languages = [
        Language(testDescription: "since, rest with If-Match"),
        Language(
            testDescription: "all", pull: #"{ "use": "all", "items": "/items", "next": "/next" }"#),
        Language(
            testDescription: "token with more",
            pull: #"{ "use": "token", "items": "/items", "token": "/token", "more": "/more", "tombstone": "/gone" }"#),
        Language(
            testDescription: "token with next",
            pull: #"{ "use": "token", "items": "/items", "token": "/token", "next": "/next", "deleted": "/gone" }"#),
        Language(testDescription: "ids of the service", others: #""version": "/rev", "ids": "server", "#),
        Language(testDescription: "mutations of GraphQL", push: mutations),
        Language(testDescription: "batch in order", push: batch("")),
        Language(testDescription: "batch with match", push: batch(#", "match": "/name""#)),
    ]

    private func run(
        _ language: Language,
        _ test: @escaping @Sendable (SimulatedWorld, SimulatedService, Records<JSONText>) async throws -> Void
    ) throws {
        try SimulatedWorld(seed: 1).run(leaving: .anything) { world in
            let app = try RecordsApp(in: world)
            let service = SimulatedService(in: world)
            app.plugins.withLock {
                $0 = [
                    Plugin.origin(
                        "simulated", "A service in memory.", traits: { .with { $0.acceptsSends = true } }
                    ) { _ in service }
                ]
            }
            let pantry = try await app.pantry(["notes": language.policy])
            service.dialect = pantry.serviceDialect(of: "notes")
            try await test(world, service, pantry.records("notes"))
            await pantry.close()
        }
    }

    private static func title(_ text: String) -> JSONText { JSONText(object: [("title", JSONText(string: text))]) }

    /// Waits until the service has everything.
    private static func send(_ records: Records<JSONText>, _ world: SimulatedWorld) async throws {
        for _ in 0..<360 {
            try await world.sleep(for: .seconds(10))
            if try await records.waiting().isEmpty { return }
        }
        Issue.record("changes wait for ever")
    }

    @Test(arguments: languages) func pagesHaveEachRecordOnce(_ language: Language) throws {
        try run(language) { _, service, records in
            for number in 0..<450 { service.put("n\(number)", Self.title("\(number)")) }
            let before = service.calls
            try await records.sync()
            #expect(service.calls == before + 3)
            let shown = try await records.query().records
            #expect(shown.count == 450)
            let wrong = shown.filter { service.records[$0.id]?.means($0.value) != true }
            #expect(wrong.isEmpty)
        }
    }

    @Test(arguments: languages) func changesOfEachKindAreUnderstood(_ language: Language) throws {
        try run(language) { world, service, records in
            service.put("kept", Self.title("first"))
            service.put("gone", Self.title("first"))
            try await records.sync()
            let new = try await records.create(Self.title("new"))
            try await records.update("kept") { $0 = $0.setting(["title"], to: JSONText(string: "second")) }
            try await records.delete("gone")
            try await Self.send(records, world)
            let titles = service.records.values.compactMap { $0["title"]?.string }.sorted()
            #expect(titles == ["new", "second"])
            #expect(service.made.compactMap(\.change?.kind).count == 3)
            #expect(Set(service.made.compactMap(\.change?.kind)) == [.create, .update, .delete])
            let letters = try await records.rejected()
            #expect(letters.isEmpty)
            try await records.sync()
            let shown = try await records.query().records
            #expect(shown.count == 2)
            let wrong = shown.filter { service.records[$0.id]?.means($0.value) != true }
            #expect(wrong.isEmpty)
            if language.others.contains("server") { #expect(service.records[new.id] == nil) }
        }
    }

    @Test(arguments: languages) func lostAnswerMakesNothingTwice(_ language: Language) throws {
        try run(language) { world, service, records in
            try await records.sync()
            service.trouble = [.answerIsLost, .answerIsLost]
            _ = try await records.create(Self.title("new"))
            try await Self.send(records, world)
            #expect(service.trouble.isEmpty)
            #expect(service.made.count == 1 && service.records.count == 1)
            #expect(service.made.first?.change?.key != nil)
        }
    }

    @Test(arguments: languages) func changeOfAnOldVersionReplacesNothingUnseen(_ language: Language) throws {
        try run(language) { world, service, records in
            service.put("n", Self.title("first"))
            try await records.sync()
            try await world.sleep(for: .seconds(1))
            service.put("n", Self.title("theirs"))
            let before = service.calls
            try await world.sleep(for: .seconds(1))
            try await records.update("n") { $0 = $0.setting(["title"], to: JSONText(string: "mine")) }
            try await Self.send(records, world)
            // One call is refused with 412, and another has the version of the other device's change.
            #expect(service.calls >= before + 2)
            #expect(service.made.count { $0.change != nil } == 1)
            let blind = service.made.filter { $0.isBlind }
            #expect(blind.isEmpty)
            #expect(service.records["n"]?["title"]?.string == "mine")
        }
    }

    @Test(arguments: languages) func deletionsAreTold(_ language: Language) throws {
        try run(language) { world, service, records in
            for name in ["a", "b"] { service.put(name, Self.title(name)) }
            try await records.sync()
            try await world.sleep(for: .seconds(120))
            service.delete("a")
            try await records.sync()
            let ids = try await records.query().records.map(\.id)
            #expect(ids == ["b"])
        }
    }

    @Test func changeWithoutAVersionIsBlind() throws {
        try run(Language(testDescription: "", others: "")) { world, service, records in
            service.put("n", Self.title("first"))
            try await records.sync()
            try await world.sleep(for: .seconds(1))
            service.put("n", Self.title("theirs"))
            try await records.update("n") { $0 = $0.setting(["title"], to: JSONText(string: "mine")) }
            try await Self.send(records, world)
            #expect(service.made.last?.isBlind == true)
        }
    }

    @Test func changeWithoutAKeyIsMadeTwice() throws {
        let language = Language(
            testDescription: "", push: #"{ "use": "rest", "key": "" }"#, others: #""ids": "server", "#)
        try run(language) { world, service, records in
            try await records.sync()
            service.trouble = [.answerIsLost]
            _ = try await records.create(Self.title("new"))
            try await Self.send(records, world)
            #expect(service.made.count == 2)
        }
    }
}
