import Larder
import LarderFoundation
import LarderSimulation
import LarderSystem
import Testing

@testable import LarderSync

/// Ids, values, addresses and fields of records and requests are in no metric, decision, trail, error or log.
@Suite struct SecretsOfRecordsTests {
    private struct Foreign: Error, CustomStringConvertible {
        let description: String
    }

    /// A part of every id, value, address, field and text of a service in this suite.
    private static let canary = "CANARY"

    private static let notes = """
        { "resource": "notes", "origin": "service",
          "records": { "id": "/id", "version": "/v", "updatedAt": "/at", "pull": { "use": "all", "every": "1m" },
                       "push": "rest" },
          "outbox": { "retention": "1h", "limit": "1h" } }
        """
    private static let likes = """
        { "resource": "likes", "origin": "service", "strategy": "network-only", "outbox": {} }
        """

    private static let trips =
        #"{ "resource": "trips", "origin": "service", "records": { "id": "/id", "pull": "leaky" } }"#

    private static let foreign = Foreign(description: "https://CANARY-host/CANARY-path?q=CANARY")

    /// The troubles of a service, one after the other.
    private static let troubles: [any Error & Sendable] = [
        foreign, LoadError(.timeout, "no answer"), status(503),
        status(401), status(409),
        status(412), status(422), status(404), status(413), LoadError(.invalidRequest, "a parameter is missing"),
    ]

    private static func status(_ status: Int) -> LoadError {
        LoadError.status(
            status,
            reply: Reply(
                status: status, fields: ["CANARY-field": "CANARY-value"],
                body: Data(#"{"id":"CANARY-a","title":"CANARY-theirs","v":"CANARY-2"}"#.utf8)))
    }

    /// Answers to a pull, good and bad.
    private static let pages = [
        #"[{"id":"CANARY-a","title":"CANARY-1","v":"CANARY-1","at":"CANARY"},{"CANARYbad":"CANARY-bad"},{"id":"CANARY-p"}]"#,
        #"<html>CANARY-login</html>"#, #"{"CANARY":"CANARY-list"}"#, #"[{"CANARY":1},{"CANARY":2}]"#,
        #"[{"id":"tmp-CANARYCANARYCANARYCANARYCA","title":"CANARY"}]"#, #"[]"#,
        #"[{"id":"CANARY-a","title":"CANARY-other","v":"CANARY-3"}]"#,
    ]

    /// The texts in which a canary would be a leak, by what they are.
    private final class Texts: Sendable {
        private let texts = Locked<[(kind: String, text: String)]>([])

        func add(_ kind: String, _ text: String) { texts.withLock { $0.append((kind, text)) } }

        func expectNoSecrets(_ kinds: Set<String>) {
            let texts = texts.withLock { $0 }
            #expect(Set(texts.map(\.kind)) == kinds)
            for (kind, text) in texts {
                #expect(!text.contains(SecretsOfRecordsTests.canary), "\(kind): \(text)")
                #expect(!text.contains("tmp-"), "\(kind): \(text)")
            }
        }
    }

    @Test func nothingOfRecordsOrRequestsLeaks() throws {
        let simulated = SimulatedWorld(seed: 1)
        try simulated.run(leaving: .anything) { world in
            let (app, texts) = (try RecordsApp(in: world), Texts())
            app.plugins.withLock {
                $0 = [
                    .puller("leaky", "Throws an error of its own.") { (_: PullQuestion) async throws -> PullPage in
                        throw Self.foreign
                    }
                ]
            }
            let pantry = try await app.pantry(["notes": Self.notes, "likes": Self.likes, "trips": Self.trips])
            let decisions = pantry.decisions
            let reading = world.spawn {
                for await decision in decisions { texts.add("decision", decision.json.text() + decision.note) }
            }
            let notes = pantry.records("notes", of: JSONNote.self)
            await Self.failing(texts) { try await pantry.records("trips").sync() }
            for page in Self.pages {
                app.service.withLock { $0 = { _ in page } }
                await Self.failing(texts) { try await notes.sync() }
            }
            for (number, trouble) in Self.troubles.enumerated() {
                app.changes.withLock { $0 = { _, _ in throw trouble } }
                app.service.withLock { $0 = { _ in throw trouble } }
                try await notes.createOrUpdate(JSONNote(id: "CANARY-\(number)", title: "CANARY title"))
                await Self.failing(texts) { try await notes.update("CANARY-a") { $0.title = "CANARY-\(number)" } }
                await Self.failing(texts) { try await notes.sync() }
                let likes = pantry.resource("likes")
                await Self.failing(texts) {
                    let request = likes.request(
                        ["id": "CANARY-like", "CANARY": "CANARY"], fields: ["CANARY-field": "CANARY-secret"],
                        body: Data("CANARY-body".utf8))
                    _ = try await likes.send(request, method: "PUT", invalidating: [.tag("CANARY-tag")])
                }
                for request in [
                    pantry.resource("notes").request(["id": "CANARY-a"], mode: .refresh), notesList(of: pantry),
                ] {
                    do { texts.add("trail", try await pantry.resource("notes").load(request).trail.description) } catch
                    {
                        texts.add("error", error is Foreign ? "" : "\(error)")
                    }
                }
                try await world.sleep(for: .seconds(30))
            }
            // The rest expires.
            try await world.sleep(for: .seconds(7_200))
            app.changes.withLock { $0 = { _, _ in #"{"id":"CANARY-a","CANARY":"CANARY"}"# } }
            app.service.withLock { $0 = { _ in #"[{"id":"CANARY-a","title":"CANARY-last"}]"# } }
            await Self.failing(texts) { try await notes.sync() }
            let rejected = try await notes.rejected()
            #expect(!rejected.isEmpty)
            try await pantry.clear(.scope("CANARY-scope"))
            let dump = await pantry.metrics.dump()
            let found = try #require(dump.resources.first { $0.name == "notes" })
            for name in ["sync_made", "sync_rejected", "sync_repeated", "sync_conflicts", "sync_quarantined"] {
                #expect(found.total[Counter(name, "")] > 0, "\(name)")
            }
            for text in [dump.json.text(), dump.prometheus, dump.openMetrics] { texts.add("metrics", text) }
            reading.cancel()
            await pantry.close()
            texts.expectNoSecrets(["decision", "error", "trail", "metrics"])
        }
    }

    /// Does something that may fail.
    private static func failing(_ texts: Texts, _ body: () async throws -> Void) async {
        do { try await body() } catch { texts.add("error", error is Foreign ? "" : "\(error)") }
    }

    private func notesList(of pantry: Pantry) -> Request { pantry.resource("notes").request() }
}

private struct JSONNote: Codable, Sendable {
    var id: String?
    var title: String?
    var CANARYfield: String? = "CANARY"
}
