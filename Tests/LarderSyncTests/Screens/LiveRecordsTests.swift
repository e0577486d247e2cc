import Larder
import LarderFoundation
import LarderSimulation
import LarderSystem
import Observation
import Testing

@testable import LarderSync

/// The records of a query on a screen.
@Suite struct LiveRecordsTests {
    private let title = Field<String>("title")

    @Test func screenShowsWhatIsThereAndThenEachChange() throws {
        try RecordsApp.run { app, _, notes in
            try await notes.pull([#"{"id":"a","title":"x"}"#, #"{"id":"b","title":"z"}"#])
            let live = notes.live(Query(title != "z").sorted(by: title))
            #expect(live.isLoading && live.records.isEmpty && !live.isComplete)
            try await app.world.sleep(for: .milliseconds(1))
            #expect(!live.isLoading && live.isComplete && live.error == nil)
            #expect(live.records.map(\.id) == ["a"] && live.records[0].state == .synced)
            try await notes.update("a") { $0.title = "y" }
            try await notes.create(Note(title: "c"))
            try await app.world.sleep(for: .milliseconds(1))
            #expect(live.records.map(\.value.title) == ["c", "y"])
            #expect(live.records.allSatisfy { $0.state == .pending })
            try await notes.pull([#"{"id":"a","title":7}"#])
            try await notes.undo("a")
            try await app.world.sleep(for: .milliseconds(1))
            #expect(live.page?.undecodable == 1 && live.records.map(\.value.title) == ["c"])
        }
    }

    /// An actor with a screen.
    private actor Screen {
        let changes = Locked<[[String]]>([])
        private var live: LiveRecords<Note>?

        func show(_ notes: Records<Note>) {
            live = notes.live()
            observe()
        }

        private func observe() {
            withObservationTracking {
                _ = live?.records
            } onChange: {
                self.assumeIsolated { screen in
                    screen.changes.withLock { $0.append(screen.live?.records.map(\.value.title) ?? []) }
                    screen.observe()
                }
            }
        }
    }

    @Test func observersAreToldAfterTheChangeInTheActorOfTheScreen() throws {
        try RecordsApp.run { app, _, notes in
            let screen = Screen()
            await screen.show(notes)
            try await app.world.sleep(for: .milliseconds(1))
            try await notes.create(Note(title: "x"))
            try await app.world.sleep(for: .milliseconds(1))
            #expect(screen.changes.withLock { $0 } == [[], ["x"]])
        }
    }

    @Test func screenStopsWhenItIsReleased() throws {
        try SimulatedWorld(seed: 1).run(leaving: .anything) { base in
            let world = WatchedWorld(base: base)
            let app = try RecordsApp(in: world)
            let pantry = try await app.pantry()
            var (live, status): (LiveRecords<JSONText>?, LiveSyncStatus?) = (
                pantry.records("notes").live(), pantry.records("notes").liveStatus()
            )
            var whole: LiveSyncStatus? = pantry.liveSyncStatus()
            let statuses = try #require(whole?.statuses)
            try await world.sleep(for: .seconds(1))
            #expect(world.watches.withLock { $0 } == 1)
            #expect(live?.isLoading == false && status?.pendingCount == 0)
            // Nothing is read again and again.
            let uses = world.uses.withLock { $0 }
            try await world.sleep(for: .seconds(86_400))
            #expect(world.uses.withLock { $0 } == uses)
            live = nil
            try await world.sleep(for: .seconds(1))
            #expect(world.watches.withLock { $0 } == 1)
            (status, whole) = (nil, nil)
            try await world.sleep(for: .seconds(1))
            #expect(world.watches.withLock { $0 } == 0)
            var seen = 0
            for await _ in statuses { seen += 1 }
            #expect(seen <= 1)
            await pantry.close()
        }
    }

    @Test func screenFollowsAReload() throws {
        try RecordsApp.run { app, pantry, notes in
            let live = notes.live()
            let changed = RecordsApp.notes.replacing(#""/id""#, with: #""/id", "sweepGuard": "10%""#)
            try await app.change("notes", changed, of: pantry)
            try await notes.create(Note(title: "after"))
            try await app.world.sleep(for: .milliseconds(1))
            #expect(live.records.map(\.value.title) == ["after"])
        }
    }

    @Test func screenStaysInItsAccountAndIsEmptyAfterItsClearing() throws {
        let policy = #"{ "resource": "notes", "origin": "signed", "records": { "id": "/id" } }"#
        try RecordsApp.run(policy) { app, pantry, notes in
            let nobodys = notes.live()
            try await app.world.sleep(for: .milliseconds(1))
            #expect((nobodys.error as? RecordError)?.code == .notSignedIn && nobodys.records.isEmpty)
            app.account.withLock { $0 = "alice" }
            try await notes.pull([#"{"id":"a","title":"hers"}"#])
            let live = notes.live()
            app.account.withLock { $0 = "bob" }
            try await notes.create(Note(title: "his"))
            try await app.world.sleep(for: .milliseconds(1))
            #expect(live.records.map(\.value.title) == ["hers"])
            try await pantry.clear(.scope("alice"))
            try await app.world.sleep(for: .milliseconds(1))
            #expect(live.records.isEmpty && !live.isComplete)
        }
    }

    @Test func queryThatCannotBeAskedIsAnError() throws {
        try RecordsApp.run { app, pantry, notes in
            let bad = notes.live(Query(Field<String>("") == "x"))
            try await app.world.sleep(for: .milliseconds(1))
            #expect(bad.error is QueryError && !bad.isLoading && bad.records.isEmpty)
            let none = pantry.records("none", of: Note.self).live()
            #expect((none.error as? RecordError)?.code == .noRecords && !none.isLoading && none.records.isEmpty)
        }
    }

    @Test func screenGoesOnAfterDamage() throws {
        try SimulatedWorld(seed: 1).run(leaving: .anything) { world in
            let app = try RecordsApp(in: world)
            let first = try await app.pantry()
            try await first.records("notes", of: Note.self).create(Note(title: "unsent"))
            let path = try first.recordsAttachment("notes").database.file.path
            await first.close()
            try damageRecords(at: path)

            let second = try await app.pantry()
            let notes = second.records("notes", of: Note.self)
            let (live, status) = (notes.live(Query().sorted(by: title)), notes.liveStatus())
            try await world.sleep(for: .seconds(1))
            // The change that notices the damage may fail.
            _ = try? await notes.create(Note(title: "lost"))
            try await notes.create(Note(title: "kept"))
            try await world.sleep(for: .seconds(1))
            let titles = live.records.map(\.value.title)
            #expect(live.error == nil && titles.contains("unsent") && titles.contains("kept"))
            let waiting = try await notes.waiting()
            #expect(status.pendingCount == titles.count && waiting.map { $0.value?.title }.contains("unsent"))
            #expect(status.waitsFor == .push)
            await second.close()
        }
    }

    @Test func screenShowsTheChangeOfAnotherProcess() async throws {
        // Two pantries share nothing but the files, as two processes do.
        let app = try RecordsApp(in: SystemWorld())
        let (one, other) = (try await app.pantry(), try await app.pantry())
        let (notes, status) = (one.records("notes", of: Note.self), one.records("notes").liveStatus())
        let (live, whole) = (notes.live(), one.liveSyncStatus())
        try await other.records("notes", of: Note.self).create(Note(title: "there"))
        for await present in status.statuses where present.pendingCount == 1 { break }
        for await present in whole.statuses where present.pendingCount == 1 { break }
        while live.records.isEmpty {
            await withCheckedContinuation { continuation in
                let once = Locked<CheckedContinuation<Void, Never>?>(continuation)
                let isEmpty = withObservationTracking {
                    live.records.isEmpty
                } onChange: {
                    once.withLock { $0.take() }?.resume()
                }
                if !isEmpty { once.withLock { $0.take() }?.resume() }
            }
        }
        #expect(live.records.map(\.value.title) == ["there"])
        #expect(status.waitsFor == .push)
        await one.close()
        await other.close()
    }
}
