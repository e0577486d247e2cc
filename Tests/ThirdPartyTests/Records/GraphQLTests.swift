import Foundation
import Larder
import LarderSimulation
import LarderSync
import Synchronization
import Testing

/// A service that speaks GraphQL over HTTP, declared by JSON alone.
@Suite struct GraphQLTests {
    private static func policy(_ server: LoopbackServer) -> String {
        """
        { "resource": "notes",
          "origin": { "use": "http", "url": "\(server.url.absoluteString)/graphql{?query,limit}" },
          "records": {
            "id": "/id", "ids": "server", "version": "/rev",
            "pull": { "use": "all", "items": "/data/notes", "parameters": { "query": "{ notes { id text rev } }" } },
            "push": { "use": "rest", "record": "/data/note", "failed": "/errors",
              "create": { "body": {
                "query": "mutation($note: Note!, $key: String!) { note: add(note: $note, key: $key) { id text rev } }",
                "variables": { "note": "{record}", "key": "{key}" } } },
              "update": { "method": "POST", "body": {
                "query": "mutation($id: ID!, $set: Set!) { note: change(id: $id, set: $set) { id text rev } }",
                "variables": { "id": "{id}", "set": "{changes}" } } },
              "delete": { "method": "POST", "body": {
                "query": "mutation($id: ID!) { remove(id: $id) }", "variables": { "id": "{id}" } } } } } }
        """
    }

    /// The service: notes by their ids.
    private final class Notes: Sendable {
        let state = Mutex<(notes: [String: JSONText], keys: [String: String], calls: [String])>(([:], [:], []))

        func answer(_ request: LoopbackServer.Request) -> LoopbackServer.Reply {
            let answer = (try? answerText(request)) ?? #"{"errors":[{"message":"syntax"}]}"#
            return LoopbackServer.Reply(status: 200, headers: ["Content-Type": "application/json"], body: answer)
        }

        private func answerText(_ request: LoopbackServer.Request) throws -> String {
            try state.withLock { state in
                if request.method == "GET" {
                    state.calls.append(request.path)
                    let all = state.notes.sorted { $0.key < $1.key }.map(\.value)
                    return Self.text(JSONText(object: [("data", JSONText(object: [("notes", JSONText(list: all))]))]))
                }
                let body = try JSONText([UInt8](request.body))
                state.calls.append(request.method)
                let variables = body["variables"] ?? .object
                let id = variables["id"]?.name
                if let note = variables["note"] {
                    // A service that refuses says so with the status 200.
                    if note["text"]?.string == "bad" { return #"{"data":null,"errors":[{"message":"no"}]}"# }
                    let key = variables["key"]?.string ?? ""
                    let id = state.keys[key] ?? "n\(state.keys.count + 1)"
                    state.keys[key] = id
                    state.notes[id] = note.with("id", JSONText(string: id)).with("rev", JSONText(.int(1)))
                    return Self.note(state.notes[id])
                }
                guard let id, let present = state.notes[id] else { return #"{"errors":[{"message":"unknown"}]}"# }
                guard let set = variables["set"] else {
                    state.notes[id] = nil
                    return #"{"data":{"remove":true}}"#
                }
                let rev = (present["rev"]?.number ?? 0) + 1
                state.notes[id] = set.members.reduce(present) { $0.with($1.name, $1.value) }
                    .with("rev", JSONText(.int(Int(rev))))
                return Self.note(state.notes[id])
            }
        }

        private static func note(_ note: JSONText?) -> String {
            text(JSONText(object: [("data", JSONText(object: [("note", note ?? .null)]))]))
        }

        private static func text(_ json: JSONText) -> String { String(decoding: json.bytes, as: UTF8.self) }
    }

    @Test func recordsAreFetchedAndChangedByJSONAlone() async throws {
        let notes = Notes()
        let (server, folder) = (try LoopbackServer { notes.answer($0) }, try TemporaryFolder())
        let pantry = try await Pantry(
            policies: ["notes": Self.policy(server)], registry: try .standard.adding(.sync),
            cache: folder.url.appending(path: "cache"), data: folder.url.appending(path: "data"))
        let records = pantry.records("notes")
        let made = try await records.create(try JSONText(#"{"text":"first"}"#.utf8))
        let other = try await records.create(try JSONText(#"{"text":"second"}"#.utf8))
        try await records.sync()
        let named = try await records.get(made.id).record
        #expect(named?.id.hasPrefix("n") == true && named?.state == .synced)
        try await records.update(made.id) { $0 = $0.with("text", JSONText(string: "changed")) }
        try await records.delete(other.id)
        let bad = try await records.create(try JSONText(#"{"text":"bad"}"#.utf8))
        try await records.sync()
        let texts = notes.state.withLock { $0.notes.values.compactMap { $0["text"]?.string } }
        #expect(texts == ["changed"])
        let refused = try await records.rejected()
        #expect(refused.map(\.id) == [bad.id])
        let shown = try await records.query().records.compactMap { $0.value["text"]?.string }
        #expect(shown == ["changed"])
        // The query goes with each page.
        let pulls = notes.state.withLock { $0.calls.filter { $0.hasPrefix("/graphql?query=") } }
        #expect(!pulls.isEmpty)
        await pantry.close()
    }
}
