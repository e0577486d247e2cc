import Larder
import LarderSimulation
import Testing

@testable import LarderSync

@Suite struct RecordsDamageTests {
    @Test func damageIsToldAndUnsentChangesAreKept() throws {
        try SimulatedWorld(seed: 1).run(leaving: .anything) { world in
            let app = try RecordsApp(in: world)
            let first = try await app.pantry()
            let made = try await first.records("notes", of: Note.self).create(Note(title: "unsent"))
            let path = try first.recordsAttachment("notes").database.file.path
            await first.close()
            try damageRecords(at: path)

            let second = try await app.pantry()
            let notes = second.records("notes", of: Note.self)
            var decisions = second.decisions.makeAsyncIterator()
            // The change that notices the damage may fail.
            _ = try? await notes.create(Note(title: "lost"))
            try await notes.create(Note(title: "kept"))
            var kinds: [Decision.Kind] = []
            while !kinds.contains(.recordsDamaged), let decision = await decisions.next() {
                kinds.append(decision.kind)
            }
            #expect(kinds.contains(.recordsDamaged))
            #expect(try await notes.get(made.id).record?.value.title == "unsent")
            await second.close()
        }
    }
}
