import Foundation
import Larder
import LarderSystem
import LarderSimulation
import Testing

@testable import LarderCore

/// The counts that tell what other settings would have brought.
@Suite struct WhatIfCountsTests {
    private static func policy(
        _ strategy: String, _ validators: String = #"{ "use": "age", "fresh": "1m", "onError": "10m" }"#,
        store: String = #""faulty""#
    ) -> [String: String] {
        [
            "feed":
                #"{ "resource": "feed", "origin": "scripted", "strategy": \#(strategy), "validators": [\#(validators)], "#
                + #""store": \#(store) }"#
        ]
    }

    private static let patient = #"{ "use": "network-first", "patience": "1s", "background": "30s" }"#

    // MARK: Limits

    @Test func countsAreExactAtLimits() {
        var counts = Histogram(.durations)
        counts.record(.seconds(43_200) - .nanoseconds(1))
        counts.record(.seconds(43_200))
        counts.record(.seconds(400 * 86_400))
        #expect(counts.count == 3)
        #expect(counts.count(below: .seconds(43_200)) == 1)
        #expect(counts.count(below: .seconds(16 * 3_600)) == 2)
        #expect(counts.count(below: .forever) == 2)
    }

    @Test func dumpKeepsAllCounts() throws {
        var metrics = ResourceMetrics()
        for (place, (_, path)) in WhatIfCounts.distributions.enumerated() {
            metrics.alternatives[keyPath: path].record(Int64(place) * 1_000_000_007, times: UInt64(place + 1))
        }
        for (place, (_, path)) in WhatIfCounts.totals.enumerated() {
            metrics.alternatives[keyPath: path] = UInt64(place + 1)
        }
        var feed = ResourceDump("feed")
        feed.revisions = [RevisionDump(name: "one", strategy: "race", isCurrent: true, metrics: metrics)]
        let dump = MetricsDump(
            host: nil, process: "p", instance: "i", started: Timestamp(seconds: 1), written: Timestamp(seconds: 2),
            resources: [feed])
        let read = try MetricsDump(reading: Array(dump.json.text().utf8))
        #expect(read.resources[0].revisions[0].metrics.alternatives == metrics.alternatives)
    }

    // MARK: Copies refused for their age

    @Test func copyThatIsOnlyTooOldIsCountedByNeededWindow() throws {
        try SimulatedPantry.run(Self.policy(#""cache-first""#)) { simulated in
            simulated.stock("old", age: .seconds(3_600))
            simulated.origin.play(.failure(.status(503)))
            await #expect(throws: LoadError.self) { try await simulated.resource.load() }
            let refused = simulated.resource.metrics.alternatives.refusedForAge
            // It was fresh for a minute, so 59 minutes were needed.
            #expect(refused.count == 1)
            #expect(refused.count(below: .seconds(50 * 60)) == 0 && refused.count(below: .seconds(3_600)) == 1)
        }
    }

    @Test func copyThatIsRefusedForAnotherReasonIsNotCounted() throws {
        let validators = #"{ "use": "age", "fresh": "1m", "onError": "10m" }, { "use": "entry-version", "version": 2 }"#
        try SimulatedPantry.run(Self.policy(#""cache-first""#, validators)) { simulated in
            simulated.store.put(
                Entry(Data("old".utf8), Metadata(fetchedAt: simulated.world.now - .seconds(3_600))),
                for: simulated.key())
            simulated.origin.play(.failure(.status(503)))
            await #expect(throws: LoadError.self) { try await simulated.resource.load() }
            #expect(simulated.resource.metrics.alternatives.refusedForAge.isEmpty)
        }
    }

    /// A validator that refuses everything without a reason.
    private struct Silent: Validator {
        func permit(_ metadata: Metadata, for request: Request, at now: Timestamp) -> Permissions { Permissions([]) }
    }

    @Test func copyThatAnotherValidatorRefusesWithoutReasonIsNotCounted() {
        let copy = Metadata(fetchedAt: Timestamp(seconds: 0))
        let late = Timestamp(seconds: 3_600)
        struct Late: Validator {
            func permit(_ metadata: Metadata, for request: Request, at now: Timestamp) -> Permissions {
                Permissions(.all).refusing(.onError, "too old", neededWindow: 7)
            }
        }
        let request = Request("feed")
        #expect(Validators([Late()]).neededWindowOnError(of: copy, for: request, at: late) == 7)
        #expect(Validators([Late(), Silent()]).neededWindowOnError(of: copy, for: request, at: late) == nil)
        #expect(Validators([Silent(), Late()]).neededWindowOnError(of: copy, for: request, at: late) == nil)
    }

    // MARK: Patience

    @Test(arguments: [
        ("answered", Duration.seconds(4)), ("failed", .seconds(5)), ("given up", .seconds(60)),
    ])
    func callThatGoesOnAfterPatienceIsCountedByItsEnd(_ ending: String, _ length: Duration) throws {
        try SimulatedPantry.run(Self.policy(Self.patient), leaving: .anything) { simulated in
            simulated.stock("old", age: .seconds(90))
            simulated.origin.play(
                ending == "failed" ? .failure(.status(503), after: length) : .value("new", after: length))
            #expect(try await simulated.resource.load().source == .store("faulty"))
            try await simulated.world.sleep(for: .seconds(100))
            let counts = simulated.resource.metrics.alternatives
            #expect(counts.answeredLate.count == (ending == "answered" ? 1 : 0))
            #expect(counts.failedLate.count == (ending == "failed" ? 1 : 0))
            #expect(counts.givenUpLate.count == (ending == "given up" ? 1 : 0))
            // The time counts from the start of the load. The background time of 30 s cuts the last one.
            let end: Duration = ending == "given up" ? .seconds(31) : length
            let all = [counts.answeredLate, counts.failedLate, counts.givenUpLate].first { !$0.isEmpty }
            #expect(all?.parts.first.map { $0.from <= end.nanoseconds && end.nanoseconds < $0.to ?? .max } == true)
        }
    }

    @Test func answerWithinPatienceIsNotCounted() throws {
        try SimulatedPantry.run(Self.policy(Self.patient)) { simulated in
            simulated.stock("old", age: .seconds(90))
            simulated.origin.play(.value("new"))
            _ = try await simulated.resource.load()
            #expect(simulated.resource.metrics.alternatives.answeredLate.isEmpty)
        }
    }

    @Test func copyThatReplacesSlowOriginAgainIsCountedApart() throws {
        let strategy = #"{ "use": "network-first", "patience": "1s", "rest": "10s" }"#
        try SimulatedPantry.run(Self.policy(strategy), leaving: .anything) { simulated in
            simulated.stock("old", age: .seconds(90))
            simulated.origin.play(.value("new", after: .seconds(40)))
            _ = try await simulated.resource.load()
            _ = try await simulated.resource.load()
            let metrics = simulated.resource.metrics
            #expect(metrics.alternatives.shownWhileSlow == 1 && metrics.fallbacks == 2)
        }
    }

    // MARK: Freshness

    @Test func callsAreCountedByResultAndTimeSinceFreshness() throws {
        try SimulatedPantry.run(Self.policy(#""cache-first""#)) { simulated in
            simulated.stock("old", age: .seconds(90), etag: "1")
            simulated.origin.play(.unchanged(), .value("new", etag: "2"))
            _ = try await simulated.resource.load()
            try await simulated.world.sleep(for: .seconds(60 + 600))
            _ = try await simulated.resource.load()
            let counts = simulated.resource.metrics.alternatives
            #expect(counts.unchanged.count == 1 && counts.unchanged.parts.first?.to == Duration.seconds(40).nanoseconds)
            #expect(counts.changed.count == 1 && counts.changed.parts.first?.from == Duration.seconds(600).nanoseconds)
            #expect(counts.askedWhileFresh.isEmpty)
        }
    }

    @Test(arguments: [Duration.seconds(-5), .nanoseconds(-1)])
    func callAboutCopyFromFutureIsNotCounted(_ age: Duration) throws {
        let forever = #"{ "use": "age", "fresh": "forever" }"#
        try SimulatedPantry.run(Self.policy(#""cache-first""#, forever)) { simulated in
            simulated.stock("early", age: age, etag: "1")
            simulated.origin.play(.unchanged())
            _ = try await simulated.resource.load()
            #expect(simulated.resource.metrics.alternatives.isEmpty)
        }
    }

    @Test func callAboutFreshCopyIsCountedByTimeLeft() throws {
        try SimulatedPantry.run(Self.policy(#""network-first""#)) { simulated in
            simulated.stock("old", age: .seconds(48), etag: "1")
            simulated.origin.play(.unchanged())
            _ = try await simulated.resource.load()
            let counts = simulated.resource.metrics.alternatives
            #expect(counts.askedWhileFresh.parts.first?.from == Duration.seconds(12).nanoseconds)
            #expect(counts.unchanged.isEmpty)
        }
    }

    @Test(arguments: [true, false])
    func refreshIsCountedByWhetherItsResultAnswersLoadWhileFresh(_ isUsed: Bool) throws {
        let strategy = #"{ "use": "cache-first", "refreshAhead": 0.5 }"#
        try SimulatedPantry.run(Self.policy(strategy, store: #""memory""#)) { simulated in
            simulated.origin.play(.value("one", etag: "1"), .unchanged(), .unchanged())
            _ = try await simulated.resource.load()
            try await simulated.world.sleep(for: .seconds(40))
            _ = try await simulated.resource.load()
            try await simulated.world.sleep(for: .seconds(isUsed ? 10 : 70))
            _ = try await simulated.resource.load()
            try await simulated.world.sleep(for: .seconds(1))
            let counts = simulated.resource.metrics.alternatives
            #expect(counts.usedRefreshes == (isUsed ? 1 : 0) && counts.unusedRefreshes == (isUsed ? 0 : 1))
        }
    }

    // MARK: Capacity

    @Test func callForEvictedFreshCopyIsCountedByMissingCapacity() throws {
        let store = #"{ "use": "memory", "capacity": "5KB", "eviction": "lru" }"#
        try SimulatedPantry.run(Self.policy(#""cache-first""#, store: store)) { simulated in
            let text = String(repeating: "x", count: 2_000)
            simulated.origin.play(.value(text), .value(text), .value(text), .value(text))
            for id in ["1", "2", "3", "1"] { _ = try await simulated.resource.load(["id": id]) }
            let missing = simulated.resource.metrics.alternatives.evictedTooSoon
            // The store lacked room for one more copy.
            #expect(missing.count == 1 && missing.count(below: 2_000) == 0 && missing.count(below: 3_000) == 1)
        }
    }

    @Test func callForEvictedCopyThatIsStaleByThenIsNotCounted() throws {
        let store = #"{ "use": "memory", "capacity": "500B", "eviction": "lru" }"#
        try SimulatedPantry.run(Self.policy(#""cache-first""#, store: store)) { simulated in
            simulated.origin.play(.value("1"), .value("2"), .value("1"))
            for id in ["1", "2"] { _ = try await simulated.resource.load(["id": id]) }
            try await simulated.world.sleep(for: .seconds(60))
            _ = try await simulated.resource.load(["id": "1"])
            #expect(simulated.resource.metrics.alternatives.evictedTooSoon.isEmpty)
        }
    }
}
