import Larder
import LarderFoundation
import LarderSimulation
import LarderSystem
import Testing

@testable import LarderSync

/// The state between records and the service.
@Suite struct SyncStatusTests {
    /// Runs a test with an app and a service.
    private func run(
        _ policy: String = RestPushTests.policy(),
        _ test:
            @escaping @Sendable (RestService, SimulatedWorld, RecordsApp, Pantry, Records<Note>) async throws -> Void
    ) throws {
        let simulated = SimulatedWorld(seed: 1)
        try simulated.run(leaving: .anything) { world in
            let (service, app) = (RestService(), try RecordsApp(in: world))
            app.use(service)
            let pantry = try await app.pantry(["notes": policy])
            try await test(service, simulated, app, pantry, pantry.records("notes", of: Note.self))
            await pantry.close()
        }
    }

    @Test func failureOfAPullIsToldUntilOneEndsWell() throws {
        try run { service, world, _, _, notes in
            try await notes.sync()
            service.state.withLock { $0.hasNoList = true }
            await #expect(throws: LoadError.self) { try await notes.sync() }
            let failed = try await notes.status()
            #expect(failed.pullFailure?.isEmpty == false, "\(failed)")
            service.state.withLock { $0.hasNoList = false }
            try await notes.sync()
            #expect(try await notes.status().pullFailure == nil)
        }
    }

    @Test func statusFollowsTheQueueTheRunsAndTheNetwork() throws {
        try run { service, world, _, _, notes in
            let live = notes.liveStatus()
            #expect(live.status == SyncStatus())
            try await notes.sync()
            try await world.sleep(for: .seconds(10))
            #expect(live.lastSync.map { world.now - $0 } == .seconds(10))
            #expect(live.pendingCount == 0 && live.waitsFor == nil && !live.isSyncing)

            world.network = .offline
            try await notes.create(Note(title: "x"))
            try await world.sleep(for: .seconds(2))
            try await notes.create(Note(title: "y"))
            try await world.sleep(for: .milliseconds(1))
            #expect(live.pendingCount == 2 && live.waitsFor == .network)
            #expect(live.oldestPending.map { world.now - $0 } == .milliseconds(2_001))
            let present = try await notes.status()
            #expect(present == live.status)

            // Nothing but the network changes.
            service.state.withLock { $0.delay = .seconds(2) }
            world.network = .unknown
            try await world.sleep(for: .milliseconds(1))
            guard case .time(let time, .spread)? = live.waitsFor else {
                Issue.record("it waits for \(String(describing: live.waitsFor))")
                return
            }
            try await world.sleep(for: time - world.now + .seconds(1))
            #expect(live.isSyncing && live.waitsFor == .answer && live.pendingCount == 2)
            try await world.sleep(for: .seconds(10))
            #expect(!live.isSyncing && live.pendingCount == 0 && live.oldestPending == nil && live.waitsFor == nil)

            world.network = .offline
            try await notes.create(Note(title: "z"))
            try await world.sleep(for: .milliseconds(1))
            world.network = .unknown
            try await world.sleep(for: .milliseconds(1))
            #expect(live.waitsFor != .network)
            world.network = .offline
            try await world.sleep(for: .milliseconds(1))
            #expect(live.waitsFor == .network)
        }
    }

    @Test func everyNewStatusIsInTheStreamOnce() throws {
        try run { service, world, _, _, notes in
            try await notes.sync()
            let live = notes.liveStatus()
            try await world.sleep(for: .milliseconds(1))
            let seen = Locked<[SyncStatus]>([])
            let reading = world.spawn { [statuses = live.statuses] in
                for await status in statuses { seen.withLock { $0.append(status) } }
            }
            try await notes.create(Note(title: "x"))
            try await world.sleep(for: .seconds(1))
            let statuses = seen.withLock { $0 }
            #expect(statuses.map(\.pendingCount).first == 0 && statuses.map(\.pendingCount).last == 0)
            #expect(statuses.contains { $0.pendingCount == 1 } && statuses.contains { $0.isSyncing })
            #expect(zip(statuses, statuses.dropFirst()).allSatisfy { $0 != $1 })
            reading.cancel()
            // A reader that is cancelled ends nothing else.
            try await notes.create(Note(title: "y"))
            try await world.sleep(for: .milliseconds(10))
            #expect(live.pendingCount == 1 && seen.withLock { $0.count } == statuses.count)
        }
    }

    @Test func refusedChangesAreCountedUntilTheyAreRestored() throws {
        try run { service, world, _, _, notes in
            try await notes.sync()
            let live = notes.liveStatus()
            service.fail(.status(422))
            try await notes.create(Note(title: "x"))
            try await world.sleep(for: .seconds(1))
            #expect(live.rejectedCount == 1 && live.pendingCount == 0)
            world.network = .offline
            try await notes.rejected().first?.restore()
            try await world.sleep(for: .milliseconds(1))
            #expect(live.rejectedCount == 0 && live.pendingCount == 1)
            try await notes.waiting().first?.discard()
            try await world.sleep(for: .milliseconds(1))
            #expect(live.pendingCount == 0)
        }
    }

    @Test func reasonThatSomebodyMustActUponComesFirst() throws {
        try run(RestPushTests.policy(#", "conflict": "ask""#)) { service, world, _, pantry, notes in
            try service.set("a", #"{"id":"a","title":"old"}"#)
            try await notes.sync()
            let (live, whole) = (notes.liveStatus(), pantry.liveSyncStatus())
            try await notes.update("a") { $0.title = "mine" }
            try service.set("a", #"{"id":"a","title":"theirs"}"#)
            try await world.sleep(for: .seconds(5))
            world.network = .offline
            try await notes.create(Note(title: "x"))
            try await world.sleep(for: .milliseconds(1))
            #expect(live.waitsFor == .decision && whole.waitsFor == .decision)
            try await notes.resolve("a", with: .theirs)
            try await world.sleep(for: .milliseconds(1))
            #expect(live.waitsFor == .network && whole.waitsFor == .network)
        }
    }

    @Test func wholeStatusIsTheSumOfTheResourcesAndFollowsReloads() throws {
        try run { service, world, app, pantry, notes in
            let whole = pantry.liveSyncStatus()
            try await notes.sync()
            try await world.sleep(for: .seconds(5))
            #expect(whole.lastSync.map { world.now - $0 } == .seconds(5))
            world.network = .offline
            try await notes.create(Note(title: "x"))
            let likes = SendQueueTests.policy()
            try await app.change("likes", likes, of: pantry)
            let resource = pantry.resource("likes")
            _ = try await resource.send(resource.request(["id": "7"]), method: "PUT")
            try await world.sleep(for: .milliseconds(1))
            // Requests are never fetched, so the time of the last pull is still known.
            #expect(whole.pendingCount == 2 && whole.waitsFor == .network && whole.lastSync != nil)
            let oldest = try await notes.waiting().first?.madeAt
            #expect(whole.oldestPending == oldest)
            let trips = #"{ "resource": "trips", "origin": "service", "records": { "id": "/id", "pull": "all" } }"#
            try await app.change("trips", trips, of: pantry)
            try await world.sleep(for: .milliseconds(1))
            #expect(whole.lastSync == nil)
            try await pantry.records("trips").create(try JSONText("{}".utf8))
            try await world.sleep(for: .milliseconds(1))
            // Without a push, trips stay here.
            #expect(whole.pendingCount == 3 && whole.waitsFor == .push)
            let present = try await pantry.syncStatus()
            #expect(present == whole.status)
            // A policy that goes takes its numbers with it.
            try FileManager.default.removeItem(at: app.folder.url.appending(path: "policies/trips.json"))
            try await pantry.reload()
            try await world.sleep(for: .milliseconds(1))
            #expect(whole.pendingCount == 2)
        }
    }

    @Test func statusOfRequestsIsThatOfTheirQueue() throws {
        try run { service, world, app, pantry, _ in
            world.network = .offline
            try await app.change("likes", SendQueueTests.policy(), of: pantry)
            let (likes, live) = (pantry.resource("likes"), pantry.records("likes").liveStatus())
            _ = try await likes.send(likes.request(["id": "7"]), method: "PUT")
            try await world.sleep(for: .milliseconds(1))
            #expect(live.pendingCount == 1 && live.waitsFor == .network && live.lastSync == nil)
        }
    }

    @Test func statusFollowsAReload() throws {
        try run { service, world, app, pantry, notes in
            try await notes.sync()
            let live = notes.liveStatus()
            try await world.sleep(for: .milliseconds(1))
            let without = RestPushTests.policy().replacing(#", "push": "rest""#, with: "")
            try await app.change("notes", without, of: pantry)
            try await notes.create(Note(title: "x"))
            try await world.sleep(for: .milliseconds(1))
            #expect(live.pendingCount == 1 && live.waitsFor == .push)
            #expect(live.lastSync != nil)
            // A fetch from another source is no sync with this one.
            world.network = .offline
            let other = without.replacing(#""service""#, with: #"{ "use": "service", "at": "there" }"#)
            try await app.change("notes", other, of: pantry)
            try await world.sleep(for: .seconds(1))
            #expect(live.lastSync == nil && live.pendingCount == 1)
        }
    }

    @Test func statusWithoutRecordsSaysThatNothingWaits() throws {
        try run { _, world, _, pantry, _ in
            let live = pantry.records("none").liveStatus()
            try await world.sleep(for: .seconds(1))
            #expect(live.status == SyncStatus())
            await #expect(throws: RecordError.self) { _ = try await pantry.records("none").status() }
        }
    }
}
