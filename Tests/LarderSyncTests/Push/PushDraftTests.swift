import Larder
import LarderFoundation
import LarderSimulation
import LarderSystem
import Testing

@testable import LarderSync

/// Changes as a policy would send them, without sending them.
@Suite struct PushDraftTests {
    private static func policy(_ push: String, _ others: String = "") -> String {
        #"{ "resource": "notes", "origin": "service", "records": { "id": "/id"\#(others), "push": \#(push) } }"#
    }

    @Test func listIsReadAsTheNewPolicySays() throws {
        let body = #"{ "use": "rest", "update": { "body": { "added": "{added}", "set": "{changes}" } } }"#
        for (conflict, added) in [
            ("", #"{}"#), (#", "conflict": { "use": "merge-fields", "union": ["tags"] }"#, #"{"tags":["b"]}"#),
        ] {
            try RecordsApp.run(Self.policy(#""rest""#)) { app, _, notes in
                try await notes.importing([Note(id: "a", title: "x", tags: ["a"])])
                try await notes.update("a") { $0.tags = ["a", "b"] }
                let waiting = try await notes.waiting()
                let change = try #require(waiting.first).pushed
                let other = try await app.pantry(["notes": Self.policy(body, conflict)])
                let service = try other.records("notes").service()
                let draft = try #require(try await service.draft(of: change))
                let text = try JSONText(draft.body ?? Data())
                #expect(draft.method == "PATCH" && text["added"]?.text == added, "\(text.text)")
                #expect(service.sends(change))
                await other.close()
            }
        }
    }

    @Test func pusherOfAnAppIsNotTried() throws {
        try RecordsApp.run(Self.policy(#""rest""#)) { app, _, notes in
            let calls = Locked(0)
            app.plugins.withLock {
                $0 = [
                    .pusher("own", "Sends in its own way.", most: 1) { changes, _ in
                        calls.withLock { $0 += 1 }
                        return changes.map { _ in .unknown }
                    }
                ]
            }
            try await notes.create(Note(id: "a", title: "x"))
            let waiting = try await notes.waiting()
            let other = try await app.pantry(["notes": Self.policy(#""own""#)])
            let service = try other.records("notes").service()
            let draft = try await service.draft(of: try #require(waiting.first).pushed)
            #expect(draft == nil && calls.withLock { $0 } == 0)
            await other.close()
        }
    }
}
