import Larder
import LarderFoundation
import LarderSimulation
import LarderSystem
import Testing

@testable import LarderSync

/// The times at which records are fetched, and for whom.
@Suite struct PullScheduleTests {
    private static let hourly =
        #"{ "resource": "notes", "origin": "service", "records": { "id": "/id", "pull": { "use": "all", "every": "1h" } } }"#
    private static let signed = hourly.replacing("\"service\"", with: "\"signed\"")

    /// Runs a test with a service that has one note.
    private func run(
        _ policy: String = hourly,
        _ test: @escaping @Sendable (SimulatedWorld, RecordsApp, Pantry, Locked<[String?]>) async throws -> Void
    ) throws {
        let simulated = SimulatedWorld(seed: 1)
        try simulated.run(leaving: .anything) { world in
            let app = try RecordsApp(in: world)
            // The accounts for which the service was called.
            let calls = Locked<[String?]>([])
            app.service.withLock {
                $0 = { request in
                    calls.withLock { $0.append(request.key.scope) }
                    return #"[{"id":"1","title":"\#(request.key.scope ?? "everybody")"}]"#
                }
            }
            let pantry = try await app.pantry(["notes": policy])
            try await test(simulated, app, pantry, calls)
            await pantry.close()
        }
    }

    @Test func recordsAreFetchedAtTheStartAndThenEachHour() throws {
        try run { world, _, _, calls in
            try await world.sleep(for: .seconds(1))
            #expect(calls.withLock { $0.count } == 1)
            try await world.sleep(for: .seconds(3_000))
            #expect(calls.withLock { $0.count } == 1)
            try await world.sleep(for: .seconds(700))
            #expect(calls.withLock { $0.count } == 2)
        }
    }

    @Test func loadIsFreshUntilTheServiceIsAskedAgain() throws {
        try run { world, app, pantry, calls in
            let resource = pantry.resource("notes")
            // The first load waits for the first answer, because there is nothing to show.
            #expect(try await resource.load().freshness == .fresh)
            #expect(try await resource.load(["id": "1"]).freshness == .fresh)
            #expect(calls.withLock { $0.count } == 1)
            app.service.withLock { $0 = { _ in throw LoadError(.failed, "gone") } }
            try await world.sleep(for: .seconds(3_700))
            #expect(try await resource.load().freshness == .stale)
            let fallback = try await resource.load(mode: .refresh)
            #expect(fallback.fellBack && fallback.freshness == .stale)
        }
    }

    @Test func refreshAsksTheService() throws {
        try run { world, app, pantry, calls in
            let resource = pantry.resource("notes")
            _ = try await resource.load()
            app.service.withLock { $0 = { _ in #"[{"id":"1","title":"new"},{"id":"2","title":"2"}]"# } }
            let loaded = try await resource.load(mode: .refresh)
            #expect(!loaded.fellBack && loaded.freshness == .fresh)
            #expect(String(decoding: loaded.value, as: UTF8.self).contains("new"))
        }
    }

    @Test func refreshWaitsNoLongerThanItsDeadline() throws {
        try run { world, app, pantry, _ in
            let resource = pantry.resource("notes")
            _ = try await resource.load()
            app.service.withLock {
                $0 = { _ in
                    try await world.sleep(for: .seconds(50))
                    return "[]"
                }
            }
            let begin = world.uptime
            let loaded = try await resource.load(mode: .refresh, deadline: .seconds(2))
            #expect(loaded.fellBack)
            #expect(world.uptime - begin < .seconds(3))
        }
    }

    @Test func recordsAreFetchedWhenTheAppBecomesActive() throws {
        try run { world, _, pantry, calls in
            let work = try #require(try pantry.recordsAttachment("notes").work)
            try await world.sleep(for: .seconds(30))
            work.appBecameActive()
            try await world.sleep(for: .seconds(1))
            // They were fetched just now.
            #expect(calls.withLock { $0.count } == 1)
            try await world.sleep(for: .seconds(100))
            for _ in 0..<3 { work.appBecameActive() }
            try await world.sleep(for: .seconds(1))
            #expect(calls.withLock { $0.count } == 2)
        }
    }

    @Test func callerWhoGivesUpEndsNoRunThatOthersWaitFor() throws {
        try run { world, app, pantry, calls in
            try await world.sleep(for: .seconds(1))
            app.service.withLock {
                $0 = { _ in
                    calls.withLock { $0.append(nil) }
                    try await world.sleep(for: .seconds(10))
                    return "[]"
                }
            }
            let before = calls.withLock { $0.count }
            let results = Locked<[String: Bool]>([:])
            func start(_ name: String) -> Task<Void, Never> {
                world.spawn {
                    let isDone = (try? await pantry.records("notes").sync()) != nil
                    results.withLock { $0[name] = isDone }
                }
            }
            let (first, second) = (start("first"), start("second"))
            try await world.sleep(for: .seconds(1))
            first.cancel()
            await second.value
            #expect(results.withLock { $0 } == ["first": false, "second": true])
            #expect(calls.withLock { $0.count } == before + 1)
        }
    }

    @Test func nothingIsFetchedOffline() throws {
        try run { world, _, pantry, calls in
            try await world.sleep(for: .seconds(1))
            world.network = .offline
            try await world.sleep(for: .seconds(10_000))
            #expect(calls.withLock { $0.count } == 1)
            await #expect { try await pantry.records("notes").sync() } throws: {
                ($0 as? RecordError)?.code == .unavailable
            }
            world.network = NetworkState(.online)
            try await world.sleep(for: SyncTimetable.spread + .seconds(1))
            #expect(calls.withLock { $0.count } == 2)
        }
    }

    @Test func recordsAreFetchedWhenThereIsANetworkAgain() throws {
        try run { world, _, _, calls in
            try await world.sleep(for: .seconds(1))
            for count in 2...3 {
                world.network = .offline
                try await world.sleep(for: .seconds(100))
                world.network = NetworkState(.online)
                try await world.sleep(for: SyncTimetable.spread + .seconds(1))
                #expect(calls.withLock { $0.count } == count)
            }
        }
    }

    /// Each return of one installation draws its wait as each of many installations does.
    @Test func returnsOfManyInstallationsAreSpread() throws {
        let installations = ProcessInfo.processInfo.environment["LARDER_SLOW"] == "1" ? 10_000 : 1_000
        try run { world, app, _, _ in
            let times = Locked<[Duration]>([])
            app.service.withLock {
                $0 = { _ in
                    times.withLock { $0.append(world.uptime) }
                    return "[]"
                }
            }
            var waits: [Duration] = []
            for _ in 0..<installations {
                world.network = .offline
                try await world.sleep(for: .seconds(100))
                let begin = world.uptime
                world.network = NetworkState(.online)
                try await world.sleep(for: SyncTimetable.spread + .seconds(1))
                waits += times.withLock { times in
                    defer { times = [] }
                    return times.map { $0 - begin }
                }
            }
            #expect(waits.count == installations)
            let sorted = waits.sorted()
            var (most, first) = (0, 0)
            for last in sorted.indices {
                while sorted[last] - sorted[first] > .seconds(1) { first += 1 }
                most = max(most, last - first + 1)
            }
            print("at most \(most) of \(installations) installations call in one second")
            // Of fewer, chance makes a larger part.
            #expect(most <= (installations == 10_000 ? 2_500 : 300))
        }
    }

    @Test func failedFetchIsTriedAgainAfterGrowingPauses() throws {
        try run { world, app, _, _ in
            let times = Locked<[Duration]>([])
            app.service.withLock {
                $0 = { _ in
                    times.withLock { $0.append(world.uptime) }
                    throw LoadError(.answer, "no", status: 500)
                }
            }
            try await world.sleep(for: .seconds(2_800))
            let found = times.withLock { $0 }
            let pauses: [Int64] = zip(found, found.dropFirst()).map { before, after in
                (after - before).components.seconds
            }
            #expect(pauses == [60, 120, 240, 480, 900, 900])
        }
    }

    @Test func recordsAreFetchedForWhomeverIsSignedIn() throws {
        try run(Self.signed) { world, app, pantry, calls in
            try await world.sleep(for: .seconds(10))
            #expect(calls.withLock { $0 } == [])
            app.account.withLock { $0 = "alice" }
            try await pantry.records("notes").sync()
            app.account.withLock { $0 = "bob" }
            try await pantry.records("notes").sync()
            #expect(calls.withLock { $0 } == ["alice", "bob"])
            let alice = try await pantry.records("notes", of: Note.self, scope: "alice").get("1")
            #expect(alice.record?.value.title == "alice")
        }
    }

    @Test func logoutInTheMiddleMergesNothing() throws {
        try run(Self.signed) { world, app, pantry, _ in
            app.account.withLock { $0 = "alice" }
            let (isAsked, mayAnswer) = (Gate(in: world), Gate(in: world))
            app.service.withLock {
                $0 = { _ in
                    isAsked.open()
                    try await mayAnswer.pass()
                    return #"[{"id":"1","title":"secret"}]"#
                }
            }
            let sync = world.spawn { _ = try? await pantry.records("notes").sync() }
            try await isAsked.pass()
            app.account.withLock { $0 = nil }
            let clearing = world.spawn { try? await pantry.clear(.scope("alice")) }
            mayAnswer.open()
            await clearing.value
            await sync.value
            #expect(try await pantry.records("notes", scope: "alice").count(Query()) == 0)
        }
    }
}

/// A gate that somebody opens.
private final class Gate: Sendable {
    private let world: any World
    private let isOpen = Locked(false)

    init(in world: any World) { self.world = world }

    func open() { isOpen.withLock { $0 = true } }

    func pass() async throws {
        while !isOpen.withLock({ $0 }) { try await world.sleep(for: .milliseconds(1)) }
    }
}
