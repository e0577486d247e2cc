#if DEBUG || TESTABLE
    import Foundation
    import Larder
    import LarderSync

    /// An app that makes notes offline and sends them to a service over HTTP, by a policy and the public handle alone.
    ///
    /// Prints `kept ID` after each note that it has made, and `empty` when the service has all of them.
    struct NoteSender {
        private struct Note: Codable, Sendable {
            var id: String
            var title: String
            var edits = 0
        }

        private let pantry: Pantry
        private let notes: Records<Note>

        /// - Parameters:
        ///   - folder: the folder of the app.
        ///   - address: the address of the service, such as `http://127.0.0.1:8080`.
        init(in folder: String, of address: String) async throws {
            let policy = """
                { "resource": "notes", "origin": { "use": "http", "url": "\(address)/notes{/id}{?since,cursor,limit}" },
                  "records": { "id": "/id", "version": "/v",
                    "pull": { "use": "since", "items": "/notes", "deleted": "/deleted", "next": "/next",
                      "serverTime": "/now", "overlap": "0s" },
                    "push": { "use": "rest", "parallel": 8 } },
                  "outbox": { "capacity": "100MB", "backoff": "20ms", "limit": "1s" } }
                """
            let url = URL(fileURLWithPath: folder)
            pantry = try await Pantry(
                policies: ["notes": policy], registry: .standard.adding(.sync), cache: url.appending(path: "cache"),
                data: url.appending(path: "data"))
            notes = pantry.records("notes", of: Note.self)
        }

        /// Makes notes, changes some of them, and waits until nothing is left to send.
        func run(making count: Int) async throws {
            let run = UUID().uuidString
            for number in 0..<count {
                let id = "\(run)-\(number)"
                try await notes.create(Note(id: id, title: "note \(number)"))
                if number % 3 == 0 { try await notes.update(id) { $0.edits += 1 } }
                SyncRun.say("kept \(id) \(number % 3 == 0 ? 1 : 0)")
            }
            while true {
                try? await notes.sync()
                let waiting = try await notes.query(Query()).records.count { $0.state != .synced }
                if waiting == 0 { break }
                try await Task.sleep(for: .milliseconds(20))
            }
            SyncRun.say("empty")
            await pantry.close()
        }
    }
#endif
