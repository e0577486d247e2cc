import Larder
import LarderFoundation
import LarderSimulation
import LarderSystem
import Testing

@testable import LarderSync

/// Reduced histories of worlds that have broken a promise.
@Suite struct FoundByWorldsTests {
    /// Runs a test with an app and a service.
    private func run(
        _ policy: String = RestPushTests.policy(),
        _ test: @escaping @Sendable (RestService, RecordsApp, Pantry, Records<Note>) async throws -> Void
    ) throws {
        try SimulatedWorld(seed: 1).run(leaving: .anything) { world in
            let (service, app) = (RestService(), try RecordsApp(in: world))
            app.service.withLock { $0 = { try service.answer($0) } }
            app.changes.withLock { $0 = { try service.change($0, $1) } }
            let pantry = try await app.pantry(["notes": policy])
            let notes = pantry.records("notes", of: Note.self)
            try await notes.sync()
            try await test(service, app, pantry, notes)
            await pantry.close()
        }
    }

    @Test func failingDiskIsNotTriedInALoop() throws {
        let base = SimulatedWorld(seed: 1)
        let tries = Locked(0)
        try base.run(leaving: .anything) { _ in
            let (service, world) = (RestService(), FailingWorld(base: base, tries: tries))
            let app = try RecordsApp(in: world)
            app.service.withLock { $0 = { try service.answer($0) } }
            app.changes.withLock { $0 = { try service.change($0, $1) } }
            let pantry = try await app.pantry(["notes": RestPushTests.policy()])
            let notes = pantry.records("notes", of: Note.self)
            try await notes.create(Note(title: "waits"))
            world.isFailing.withLock { $0 = true }
            try await base.sleep(for: .seconds(3_600))
            #expect(tries.withLock { $0 } < 200)
            world.isFailing.withLock { $0 = false }
            try await base.sleep(for: .seconds(1_000))
            #expect(try await notes.books().pending == 0)
            await pantry.close()
        }
    }

    @Test func recordOfARefusedChangeIsLookedUpAgainAfterAFailure() throws {
        try run { service, app, _, notes in
            try service.set("a", #"{"id":"a","title":"old","rank":1}"#)
            try await notes.sync()
            try service.set("a", #"{"id":"a","title":"old","rank":2}"#)
            let failures = Locked(2)
            app.service.withLock {
                $0 = { request in
                    let fails = failures.withLock { left in
                        defer { left -= 1 }
                        return left > 0
                    }
                    if fails { throw LoadError(.failed, "the network is gone") }
                    return try service.answer(request)
                }
            }
            try await notes.update("a") { $0.title = "mine" }
            try await app.world.sleep(for: .seconds(1))
            #expect(try await notes.books().pending == 1)
            try await app.world.sleep(for: .seconds(61))
            #expect(try await notes.books().pending == 0)
            #expect(service.note("a")?["title"]?.string == "mine")
        }
    }

    @Test func recordsAreFetchedAtOnceAfterAReloadWithAnotherSource() throws {
        let there = RestPushTests.policy().replacing(
            #""origin": "service""#, with: #""origin": { "use": "service", "at": "there" }"#)
        try run { service, app, pantry, notes in
            try service.set("a", #"{"id":"a","title":"there"}"#)
            try await app.change("notes", there, of: pantry)
            try await app.world.sleep(for: .seconds(1))
            #expect(try await notes.get("a").record?.value.title == "there")
        }
    }

    @Test func changesAreSentAtOnceAfterAReloadWithTheirSource() throws {
        let there = RestPushTests.policy().replacing(
            #""origin": "service""#, with: #""origin": { "use": "service", "at": "there" }"#)
        try run { service, app, pantry, notes in
            try await notes.create(Note(title: "for here"))
            try await app.change("notes", there, of: pantry)
            try await app.world.sleep(for: .seconds(100))
            #expect(service.calls.isEmpty)
            try await app.change("notes", RestPushTests.policy(), of: pantry)
            try await app.world.sleep(for: .seconds(1))
            #expect(service.calls.count == 1)
        }
    }
}

/// A world in which all work on the disk can fail.
private struct FailingWorld: World {
    struct Failure: Error {}

    let base: SimulatedWorld
    let tries: Locked<Int>
    let isFailing = Locked(false)

    var now: Timestamp { base.now }
    var uptime: Duration { base.uptime }
    var network: NetworkState { base.network }
    var networkChanges: AsyncStream<NetworkState> { base.networkChanges }
    var hasOtherProcesses: Bool { false }

    func random() -> UInt64 { base.random() }
    func onNetworkChange(_ changed: @escaping @Sendable () -> Void) -> Subscription { base.onNetworkChange(changed) }
    func sleep(for duration: Duration) async throws { try await base.sleep(for: duration) }
    func alarm(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> Alarm {
        base.alarm(after: delay, action)
    }
    func spawn(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> { base.spawn(work) }

    func blocking<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        if isFailing.withLock({ $0 }) {
            let count = tries.withLock { tries in
                tries += 1
                return tries
            }
            // Tries that follow each other without a pause would never let time pass.
            if count < 10_000 { throw Failure() }
        }
        return try work()
    }
}
