import LarderFoundation
import Larder
import LarderSimulation
import Testing

/// The section `refresh` in a pantry, in simulated time.
@Suite struct RefreshScheduleTests {
    private typealias Test = @Sendable (SimulatedPantry) async throws -> Void

    private static func run(
        _ section: String = ScheduledFeed.quarter, leaving: SimulatedWorld.Leaving = .nothing, _ test: @escaping Test
    ) throws {
        try SimulatedPantry.run(ScheduledFeed.policy(section), leaving: leaving, test)
    }

    // MARK: Runs

    @Test func resourceIsRefreshedEveryQuarterOfAnHour() throws {
        try Self.run { simulated in
            try await simulated.world.pass(minutes: 24 * 60)
            let starts = simulated.origin.starts
            #expect((93...96).contains(starts.count))
            #expect(starts.first.map { $0 < .seconds(905) } == true)
            for (one, next) in zip(starts, starts.dropFirst()) {
                #expect(next - one >= .seconds(900) && next - one < .seconds(919))
            }
            let count = UInt64(starts.count)
            #expect(simulated.resource.metrics.scheduled == [count, count, 0, 0])
            #expect(simulated.held() == "value")
        }
    }

    @Test func loadsAreNoUserLoads() throws {
        try Self.run { simulated in
            try await simulated.world.pass(minutes: 60)
            let metrics = simulated.resource.metrics
            #expect(metrics.loads == 0 && metrics.refreshes == 0 && metrics.prefetches == metrics[.scheduledRun])
            let request = try #require(simulated.origin.calls.first?.request)
            #expect(request.purpose == .prefetch && request.priority == .low && request.mode == .refresh)
        }
    }

    @Test func unchangedAnswerRenewsTheCopy() throws {
        try Self.run { simulated in
            simulated.origin.play(.value("one", etag: "a"))
            simulated.origin.play(.unchanged())
            try await simulated.world.pass(minutes: 16)
            let first = try #require(simulated.store.entries[simulated.key()]?.metadata)
            try await simulated.world.pass(minutes: 16)
            #expect(simulated.origin.calls.last?.known?.metadata.etag == "a")
            let renewed = try #require(simulated.store.entries[simulated.key()]?.metadata)
            #expect(renewed.fetchedAt == first.fetchedAt && renewed.validatedAt.map { $0 > first.fetchedAt } == true)
            #expect(simulated.resource.metrics.scheduled == [2, 2, 0, 0])
        }
    }

    @Test func requestsAreLoadedOneAfterTheOther() throws {
        let section = #""refresh": { "every": "15m", "requests": [{ "page": "1" }, { "page": 2 }, {}] }"#
        try Self.run(section) { simulated in
            simulated.origin.play(then: .value("page", after: .seconds(10)))
            try await simulated.world.pass(minutes: 15.9)
            #expect(simulated.origin.calls.map { $0.request.parameters["page"] } == ["1", "2", nil])
            let starts = simulated.origin.starts
            #expect(starts[1] - starts[0] == .seconds(10) && starts[2] - starts[1] == .seconds(10))
            #expect(simulated.resource.metrics.scheduled == [1, 1, 0, 0])
        }
    }

    @Test func failedRefreshIsCountedAndNotRepeatedEarly() throws {
        try Self.run { simulated in
            simulated.origin.play(then: .failure(.status(503)))
            simulated.stock("old", age: .seconds(60))
            try await simulated.world.pass(minutes: 60)
            let metrics = simulated.resource.metrics
            #expect(metrics.scheduled[3] == metrics.scheduled[0] && metrics.originErrors == metrics.scheduled[0])
            #expect((3...4).contains(metrics.scheduled[0]))
            #expect(simulated.held() == "old" && metrics.refreshErrors == 0 && metrics.loads == 0)
        }
    }

    @Test func runThatHangsIsCancelledAndCountsAsMissed() throws {
        try Self.run { simulated in
            simulated.origin.play(.hang)
            try await simulated.world.pass(minutes: 15 + 11)
            #expect(simulated.origin.underWay == 0)
            #expect(simulated.resource.metrics.scheduled == [1, 0, 1, 0])
            try await simulated.world.pass(minutes: 16)
            #expect(simulated.resource.metrics.scheduled == [2, 1, 1, 0])
        }
    }

    @Test func fewSchedulesOfAPantryRunAtATime() throws {
        let names = (0..<6).map { "r\($0)" }
        let policies = Dictionary(
            uniqueKeysWithValues: names.map { name in
                (name, ScheduledFeed.policy()["feed"]?.replacing(#""feed""#, with: "\"\(name)\"") ?? "")
            })
        try SimulatedPantry.run(policies) { simulated in
            simulated.origin.play(then: .value("slow", after: .seconds(60)))
            simulated.world.network = .offline
            try await simulated.world.pass(minutes: 15)
            simulated.world.network = .online
            let all = simulated.world.spawn { _ = await simulated.pantry.runDue(within: .seconds(600)) }
            var most = 0
            for _ in 0..<600 {
                try await simulated.world.sleep(for: .seconds(1))
                most = max(most, simulated.origin.underWay)
            }
            await all.value
            #expect(most == 2 && simulated.origin.starts.count == 6)
        }
    }

    // MARK: Networks

    @Test func runWaitsForItsNetwork() throws {
        let section = #""refresh": { "every": "15m", "when": "wifi" }"#
        try Self.run(section) { simulated in
            simulated.world.network = NetworkState(.online, kind: .cellular)
            try await simulated.world.pass(minutes: 60)
            #expect(simulated.origin.starts.isEmpty && simulated.resource.metrics.scheduled == [0, 0, 0, 0])
            let waiting = await simulated.pantry.runDue(within: .seconds(25))
            #expect(waiting.items.map(\.result) == [.waiting("for the network 'wifi'")])
            simulated.world.network = NetworkState(.online, kind: .wifi)
            while simulated.origin.starts.isEmpty { try await simulated.world.sleep(for: .seconds(1)) }
            #expect(simulated.world.uptime <= .seconds(3_600 + 920))
            let scheduled = simulated.resource.metrics.scheduled
            #expect(scheduled[1] == 1 && scheduled[2] >= 2 && scheduled[0] == scheduled[1] + scheduled[2])
        }
    }

    @Test(arguments: [("any", true), ("online", false), ("wifi", false)])
    func runWithoutANetworkHappensOnlyIfThePolicySaysSo(_ when: String, runs: Bool) throws {
        try Self.run(#""refresh": { "every": "15m", "when": "\#(when)" }"#) { simulated in
            simulated.world.network = .offline
            try await simulated.world.pass(minutes: 60)
            #expect(simulated.origin.starts.isEmpty == !runs)
        }
    }

    @Test func lostNetworkEndsTheRunBeforeTheNextRequest() throws {
        let section = #""refresh": { "every": "15m", "when": "wifi", "requests": [{ "page": "1" }, { "page": "2" }] }"#
        try Self.run(section) { simulated in
            simulated.origin.play(.value("one", after: .seconds(10)))
            while simulated.origin.starts.isEmpty { try await simulated.world.sleep(for: .seconds(1)) }
            simulated.world.network = NetworkState(.online, kind: .cellular)
            try await simulated.world.pass(minutes: 30)
            #expect(simulated.origin.starts.count == 1 && simulated.resource.metrics.scheduled == [1, 0, 1, 0])
        }
    }

    // MARK: Clocks

    @Test func clockSetBackByAYearDoesNotStopRefreshes() throws {
        try Self.run { simulated in
            try await simulated.world.pass(minutes: 20)
            simulated.world.stepClock(by: .zero - .seconds(366 * 86_400))
            let before = simulated.origin.starts.count
            try await simulated.world.pass(minutes: 60)
            let starts = simulated.origin.starts
            #expect((3...4).contains(starts.count - before))
            for (one, next) in zip(starts, starts.dropFirst()) { #expect(next - one >= .seconds(900)) }
        }
    }

    @Test func clockSetForwardByAYearCountsNoYearOfMissedRuns() throws {
        try Self.run { simulated in
            simulated.world.stepClock(by: .seconds(400 * 86_400))
            try await simulated.world.pass(minutes: 60)
            #expect(simulated.resource.metrics.scheduled[2] == 0 && simulated.origin.starts.count >= 3)
        }
    }

    // MARK: Life

    @Test func reloadWithTheSameSettingsChangesNothing() throws {
        try Self.run { simulated in
            try await simulated.world.pass(minutes: 16)
            let schedule = try #require(simulated.pantry.attachment(RefreshSchedule.self, of: "feed"))
            let next = schedule.nextDue
            _ = try await simulated.pantry.replace(policies: ScheduledFeed.policy(strategy: "network-first"))
            #expect(simulated.pantry.attachment(RefreshSchedule.self, of: "feed") === schedule)
            #expect(schedule.nextDue == next)
        }
    }

    @Test func reloadWithAnotherIntervalKeepsTheLastRun() throws {
        try Self.run { simulated in
            while simulated.origin.starts.isEmpty { try await simulated.world.sleep(for: .seconds(1)) }
            _ = try await simulated.pantry.replace(policies: ScheduledFeed.policy(#""refresh": { "every": "1h" }"#))
            try await simulated.world.pass(minutes: 59)
            #expect(simulated.origin.starts.count == 1)
            try await simulated.world.pass(minutes: 8)
            #expect(simulated.origin.starts.count == 2)
        }
    }

    @Test func reloadWithoutTheSectionEndsTheSchedule() throws {
        try Self.run { simulated in
            _ = try await simulated.pantry.replace(policies: ScheduledFeed.policy(#""about": "No schedule""#))
            try await simulated.world.pass(minutes: 120)
            #expect(simulated.origin.starts.isEmpty)
        }
    }

    @Test func closedPantryRefreshesNothing() throws {
        try Self.run { simulated in
            simulated.origin.play(.hang)
            while simulated.origin.starts.isEmpty { try await simulated.world.sleep(for: .seconds(1)) }
            let before = simulated.world.uptime
            await simulated.pantry.close()
            #expect(simulated.world.uptime == before && simulated.origin.underWay == 0)
            #expect(simulated.resource.metrics.scheduled == [1, 0, 1, 0])
            try await simulated.world.pass(minutes: 120)
            #expect(simulated.origin.starts.count == 1)
            let report = await simulated.pantry.runDue(within: .seconds(1))
            #expect(report.items.allSatisfy { $0.result == .notDue })
        }
    }

    @Test func clearingEndsTheRunAndNothingIsSaved() throws {
        let section = #""refresh": { "every": "15m", "requests": [{ "page": "1" }, { "page": "2" }] }"#
        try Self.run(section) { simulated in
            simulated.origin.play(then: .value("of the former account", after: .seconds(30)))
            while simulated.origin.starts.isEmpty { try await simulated.world.sleep(for: .seconds(1)) }
            try await simulated.pantry.clear()
            try await simulated.world.pass(minutes: 5)
            #expect(simulated.store.entries.isEmpty && simulated.origin.starts.count == 1)
            #expect(simulated.resource.metrics.scheduled == [1, 0, 1, 0])
        }
    }

    // MARK: Restarts

    /// Opens a pantry on a cache folder, runs a test with it and closes it.
    private static func session<Value>(
        _ world: SimulatedWorld, _ cache: TemporaryFolder, _ test: (SimulatedPantry) async throws -> Value
    ) async throws -> Value {
        let simulated = try await SimulatedPantry(ScheduledFeed.policy(), in: world, cache: cache)
        let value = try await test(simulated)
        await simulated.pantry.close()
        return value
    }

    private static let plan = "feed/refresh@schedule/plan"

    @Test func restartDoesNotRefreshEarly() throws {
        try SimulatedWorld().run { world in
            let cache = try TemporaryFolder()
            var starts: [Duration] = []
            for _ in 0..<120 {
                starts += try await Self.session(world, cache) { simulated in
                    try await world.pass(minutes: 1)
                    _ = await simulated.pantry.runDue(within: .seconds(25))
                    return simulated.origin.starts
                }
            }
            #expect((6...8).contains(starts.count))
            for (one, next) in zip(starts, starts.dropFirst()) { #expect(next - one >= .seconds(900)) }
        }
    }

    @Test func deviceThatSleptForADayRefreshesOnce() throws {
        try SimulatedWorld().run { world in
            let cache = try TemporaryFolder()
            try await Self.session(world, cache) { _ in try await world.pass(minutes: 20) }
            try await world.pass(minutes: 24 * 60)
            let scheduled = try await Self.session(world, cache) { simulated in
                try await world.pass(minutes: 17)
                #expect(simulated.origin.starts.count == 1)
                return simulated.resource.metrics.scheduled
            }
            #expect(scheduled[1] == 1 && (94...97).contains(scheduled[2]) && scheduled[0] == scheduled[2] + 1)
        }
    }

    @Test(arguments: [
        "", "larder-refresh/1", "larder-refresh/1 never", "larder-refresh/1 x 5",
        "larder-refresh/1 never 99999999999999999999",
        "larder-refresh/1 9223372036854775807 9223372036854775807", "\0\u{1}\u{2}",
        String(repeating: "9", count: 100_000),
    ])
    func damagedPlanIsIgnored(_ text: String) throws {
        try SimulatedWorld().run { world in
            let cache = try TemporaryFolder()
            try await Self.session(world, cache) { _ in }
            #expect(try cache.text(of: Self.plan).hasPrefix("larder-refresh/1 never "))
            try cache.write(text, to: Self.plan)
            let count = try await Self.session(world, cache) { simulated in
                try await world.pass(minutes: 15.1)
                return simulated.origin.starts.count
            }
            #expect(count == 1)
        }
    }

    @Test func folderInThePlaceOfThePlanDoesNotStopTheSchedule() throws {
        try SimulatedWorld().run { world in
            let cache = try TemporaryFolder()
            try cache.write("in the way", to: Self.plan + "/file")
            try await Self.session(world, cache) { simulated in
                try await world.pass(minutes: 60)
                #expect((3...4).contains(simulated.origin.starts.count))
            }
        }
    }

    @Test func cacheFolderThatIsDeletedMeanwhileDoesNotStopTheSchedule() throws {
        try SimulatedWorld().run { world in
            let cache = try TemporaryFolder()
            try await Self.session(world, cache) { simulated in
                try await world.pass(minutes: 16)
                try FileManager.default.removeItem(at: cache.url.appending(path: "feed"))
                try await world.pass(minutes: 32)
                #expect((2...3).contains(simulated.origin.starts.count))
                #expect(try cache.text(of: Self.plan).hasPrefix("larder-refresh/1 "))
            }
        }
    }

    @Test func twoProcessesOnOneCacheFolderRefreshOnce() throws {
        try SimulatedWorld().run { world in
            let cache = try TemporaryFolder()
            try await Self.session(world, cache) { one in
                try await Self.session(world, cache) { other in
                    try await world.pass(minutes: 8 * 60)
                    let starts = (one.origin.starts + other.origin.starts).sorted()
                    #expect((28...32).contains(starts.count))
                    for (one, next) in zip(starts, starts.dropFirst()) { #expect(next - one >= .seconds(900)) }
                    let both = zip(one.resource.metrics.scheduled, other.resource.metrics.scheduled).map { $0 + $1 }
                    #expect(both == [UInt64(starts.count), UInt64(starts.count), 0, 0])
                }
            }
        }
    }
}
