import Larder
import LarderSimulation
import LarderSystem
import Testing

@testable import LarderSync

/// Records of the service that the policy does not keep.
@Suite struct KeepTests {
    private static func policy(_ keep: String, pull: String = "since", also: String = "") -> String {
        """
        { "resource": "notes", "origin": "service", "records": { "id": "/id", \(also)"keep": \(keep),
          "pull": { "use": "\(pull)", "items": "/notes", "deleted": "/deleted", "next": "/next"\
        \(pull == "since" ? #", "serverTime": "/now", "overlap": "0s""# : "") } } }
        """
    }

    private func run(
        _ policy: String, _ test: @escaping @Sendable (RecordsApp, NotesService, Records<Note>) async throws -> Void
    ) throws {
        try RecordsApp.run(policy) { app, _, notes in
            let service = NotesService()
            app.service.withLock { $0 = { try service.answer($0) } }
            try await test(app, service, notes)
        }
    }

    private func titles(_ notes: Records<Note>) async throws -> [String] {
        try await notes.query(Query()).records.map(\.value.title).sorted()
    }

    @Test func latestRecordsStay() throws {
        try run(Self.policy(#"{ "most": 3, "by": "at" }"#)) { _, service, notes in
            for number in 0..<5 { service.change("n\(number)", "\(number)") }
            try await notes.sync()
            var titles = try await titles(notes)
            #expect(titles == ["2", "3", "4"])
            service.change("n0", "again")
            try await notes.sync()
            titles = try await self.titles(notes)
            #expect(titles == ["3", "4", "again"])
        }
    }

    @Test func recordThatWasRemovedIsUnknown() throws {
        try run(Self.policy(#"{ "most": 1, "by": "at" }"#)) { _, service, notes in
            service.change("n0", "0")
            try await notes.sync()
            guard case .absent = try await notes.get("n1") else { throw Unexpected() }
            service.change("n1", "1")
            try await notes.sync()
            guard case .unknown = try await notes.get("n0") else { throw Unexpected() }
            guard case .found = try await notes.get("n1") else { throw Unexpected() }
        }
    }

    @Test func recordWithAChangeStays() throws {
        try run(Self.policy(#"{ "most": 1, "by": "at" }"#)) { _, service, notes in
            service.change("n0", "0")
            try await notes.sync()
            try await notes.update("n0") { $0.title = "mine" }
            for number in 1..<4 { service.change("n\(number)", "\(number)") }
            try await notes.sync()
            let titles = try await titles(notes)
            #expect(titles == ["3", "mine"])
        }
    }

    @Test func recordThatWasFetchedLongAgoGoes() throws {
        try run(Self.policy(#"{ "for": "1h" }"#)) { app, service, notes in
            service.change("n0", "0")
            try await notes.sync()
            try await app.world.sleep(for: .seconds(3_599))
            service.change("n1", "1")
            try await notes.sync()
            var titles = try await titles(notes)
            #expect(titles == ["0", "1"])
            try await app.world.sleep(for: .seconds(2))
            try await notes.sync()
            titles = try await self.titles(notes)
            #expect(titles == ["1"])
        }
    }

    @Test func fullPullThatNothingIsRemovedAfterKnowsAll() throws {
        try run(Self.policy(#"{ "most": 2, "by": "at" }"#, pull: "all")) { _, service, notes in
            for number in 0..<3 { service.change("n\(number)", "\(number)") }
            try await notes.sync()
            guard case .unknown = try await notes.get("n0") else { throw Unexpected() }
            service.change("n0", nil)
            try await notes.sync()
            guard case .absent = try await notes.get("n0") else { throw Unexpected() }
        }
    }

    @Test func recordThatMakesNoSenseStopsThePullIfThePolicySaysSo() throws {
        for (malformed, count) in [("quarantine", 2), ("stop", 0)] {
            try RecordsApp.run(
                """
                { "resource": "notes", "origin": "service", "records": { "id": "/id", "malformed": "\(malformed)",
                  "pull": "all" } }
                """
            ) { app, _, notes in
                app.service.withLock { $0 = { _ in #"[{"id":"a","title":"A"},{"title":"B"},{"id":"c","title":"C"}]"# } }
                do {
                    try await notes.sync()
                    #expect(malformed == "quarantine")
                } catch let error as RecordError {
                    #expect(error.code == .badAnswer && malformed == "stop")
                }
                let found = try await notes.count(Query())
                #expect(found == count)
            }
        }
    }

    private struct Unexpected: Error {}
}
