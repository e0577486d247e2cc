import LarderFoundation
import Larder
import LarderSystem
import LarderCore
import LarderSimulation
import Testing

/// `resource.prefetch`: the queue, its endings and its progress.
@Suite struct PrefetchTests {
    static let age = #"[{ "use": "age", "fresh": "10m", "whileRevalidating": "1h", "onError": "7d" }]"#

    static func simulated(
        _ world: SimulatedWorld, strategy: String = #""cache-first""#, around: String = "[]",
        store: String = #""memory""#
    ) async throws -> SimulatedPantry {
        let simulated = try await SimulatedPantry(
            world, strategy: strategy, validators: age, around: around, store: store)
        simulated.origin.play(then: .value("value", after: .milliseconds(100)))
        return simulated
    }

    static func ids(_ range: ClosedRange<Int>) -> [Parameters] { range.map { ["id": "\($0)"] } }

    private func called(_ simulated: SimulatedPantry) -> [String] {
        simulated.origin.calls.compactMap { $0.request.parameters["id"] }
    }

    // MARK: Fetching

    @Test(arguments: [
        #""cache-first""#, #""network-first""#, #""stale-while-revalidate""#, #""race""#,
    ])
    func instancesAreCachedAfterwardsWithEveryStrategy(_ strategy: String) throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.simulated(world, strategy: strategy)
            let progress = await simulated.feed.prefetch(Self.ids(1...10)).finished()
            #expect(progress.total == 10 && progress.done == 10 && progress.left == 0 && progress.share == 1)
            #expect(progress.bytes == 50)
            #expect(simulated.origin.calls.count == 10)
            #expect(simulated.origin.calls.allSatisfy { $0.request.purpose == .prefetch && $0.priority == .low })
            #expect(simulated.feed.metrics.prefetches == 10 && simulated.feed.metrics.loads == 0)
            for parameters in Self.ids(1...10) {
                #expect(try await simulated.feed.load(parameters, mode: .cachedOnly).freshness == .fresh)
            }
            await simulated.pantry.close()
        }
    }

    @Test func fourRunAtATimeInOrderOfPriorityAndCall() throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.simulated(world)
            let low = simulated.feed.prefetch(Self.ids(1...8))
            let high = simulated.feed.prefetch(Self.ids(9...10), priority: .high)
            var most = 0
            while low.present.left > 0 {
                try await world.sleep(for: .milliseconds(10))
                most = max(most, simulated.origin.underWay)
            }
            #expect(most == 4 && high.present.done == 2)
            #expect(called(simulated) == ["9", "10", "1", "2", "3", "4", "5", "6", "7", "8"])
            await simulated.pantry.close()
        }
    }

    @Test func tenThousandRequestsNeedFewTasks() throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.simulated(world)
            let prefetch = simulated.feed.prefetch(Self.ids(1...10_000))
            try await world.sleep(for: .seconds(1))
            #expect(world.unfinished < 20)
            #expect(await prefetch.finished().done == 10_000)
            await simulated.pantry.close()
        }
    }

    @Test func freshCopyNeedsNoCall() throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.simulated(world, strategy: #""network-first""#)
            _ = try await simulated.feed.load(["id": "1"])
            let progress = await simulated.feed.prefetch(Self.ids(1...2)).finished()
            #expect(progress.done == 2 && progress.bytes == 5 && called(simulated) == ["1", "2"])
            try await world.sleep(for: .seconds(700))
            #expect(await simulated.feed.prefetch(Self.ids(1...1)).finished().bytes == 5)
            #expect(called(simulated) == ["1", "2", "1"])
            await simulated.pantry.close()
        }
    }

    @Test func equalRequestsShareOnePlace() throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.simulated(world)
            let (one, other) = (simulated.feed.prefetch(Self.ids(1...6)), simulated.feed.prefetch(Self.ids(4...8)))
            #expect(await one.finished().done == 6)
            #expect(await other.finished().done == 5)
            #expect(simulated.origin.calls.count == 8)
            await simulated.pantry.close()
        }
    }

    @Test func loadOfTheSameInstanceJoinsAndRaises() throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.simulated(world, around: #"[{ "use": "limit", "concurrent": 1 }]"#)
            let prefetch = simulated.feed.prefetch(Self.ids(1...3))
            try await world.sleep(for: .milliseconds(10))
            let user = simulated.start(["id": "3"], priority: .high)
            _ = try await user.value()
            #expect(user.endedAt == .milliseconds(200) && called(simulated).prefix(2) == ["1", "3"])
            #expect(await prefetch.finished().done == 3)
            #expect(simulated.origin.calls.count == 3)
            await simulated.pantry.close()
        }
    }

    // MARK: Failures

    @Test func failureIsTriedAgainTwice() throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.simulated(world)
            simulated.origin.play(.failure(.status(503)), .failure(.status(503)))
            let first = simulated.feed.prefetch(Self.ids(1...1))
            #expect(await first.finished().done == 1)
            let starts = simulated.origin.starts
            let pauses = zip(starts.dropFirst(), starts).map { $0 - $1 }
            #expect((.milliseconds(3_750)...(.milliseconds(6_250))).contains(pauses[0]))
            #expect((.milliseconds(22_500)...(.milliseconds(37_500))).contains(pauses[1]))
            simulated.origin.play(then: .failure(.status(503)))
            let second = simulated.feed.prefetch(Self.ids(2...2))
            #expect(await second.finished().failed == 1)
            #expect(second.failures.map(\.error.status) == [503] && simulated.origin.calls.count == 6)
            await simulated.pantry.close()
        }
    }

    @Test func originMayAskForALongerPause() throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.simulated(world)
            simulated.origin.play(.failure(.status(429, retryAfter: .seconds(120))))
            #expect(await simulated.feed.prefetch(Self.ids(1...1)).finished().done == 1)
            #expect(simulated.origin.starts == [.zero, .seconds(120)])
            await simulated.pantry.close()
        }
    }

    @Test func answerThatIsAnErrorIsNotTriedAgain() throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.simulated(world)
            simulated.origin.play(.failure(.status(404)))
            let prefetch = simulated.feed.prefetch(Self.ids(1...2))
            let progress = await prefetch.finished()
            #expect(progress.failed == 1 && progress.done == 1 && simulated.origin.calls.count == 2)
            #expect(prefetch.failures.first?.request.parameters["id"] == "1")
            await simulated.pantry.close()
        }
    }

    @Test func staleCopyThatStandsInIsNoSuccess() throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.simulated(world)
            _ = try await simulated.feed.load(["id": "1"])
            try await world.sleep(for: .seconds(700))
            simulated.origin.play(then: .failure(.status(503)))
            #expect(await simulated.feed.prefetch(Self.ids(1...1)).finished().failed == 1)
            #expect(simulated.origin.calls.count == 4)
            await simulated.pantry.close()
        }
    }

    @Test func policyThatKeepsNothingFails() throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.simulated(world, strategy: #""network-only""#)
            let prefetch = simulated.feed.prefetch(Self.ids(1...1))
            #expect(await prefetch.finished().failed == 1)
            #expect(prefetch.failures.first?.error.message == "the answer was not kept")
            #expect(simulated.origin.calls.count == 1)
            await simulated.pantry.close()
        }
    }

    @Test func wrongResourcesFail() throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.simulated(world)
            let other = simulated.feed.prefetch([Request("catalog"), simulated.feed.request()])
            #expect(await other.finished().failed == 1 && other.present.done == 1)
            let missing = simulated.pantry.resource("catalog").prefetch([[:]])
            #expect(await missing.finished().failed == 1)
            #expect(missing.failures.first?.error.code == .noSuchResource)
            await simulated.pantry.close()
        }
    }

    @Test func longListIsNotRefused() throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.simulated(world)
            let prefetch = simulated.feed.prefetch(Self.ids(1...20_010))
            #expect(prefetch.present.failed == 0 && prefetch.present.left == 20_010)
            prefetch.cancel()
            #expect(prefetch.present.cancelled == 20_010)
            await simulated.pantry.close()
        }
    }

    // MARK: The network

    @Test func requestsWaitForTheNetwork() throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.simulated(world)
            world.network = .offline
            let prefetch = simulated.feed.prefetch(Self.ids(1...6))
            try await world.sleep(for: .seconds(3_600))
            #expect(simulated.origin.calls.isEmpty && prefetch.present.left == 6)
            // A call that fails because the network is lost again counts as no try.
            simulated.origin.play(then: .failure(.status(503), after: .milliseconds(100)))
            for _ in 1...5 {
                world.network = .online
                try await world.sleep(for: .milliseconds(50))
                #expect(simulated.origin.underWay == 4)
                world.network = .offline
                try await world.sleep(for: .seconds(3_600))
                #expect(prefetch.present.left == 6)
            }
            simulated.origin.play(then: .value("value"))
            world.network = .online
            #expect(await prefetch.finished().done == 6)
            await simulated.pantry.close()
        }
    }

    @Test func requestsWaitForWiFiOrPower() throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.simulated(world)
            world.network = NetworkState(.online, kind: .cellular)
            let patient = simulated.feed.prefetch(Self.ids(1...1), when: .wifi)
            let charged = simulated.feed.prefetch(Self.ids(2...2), when: .wifi, orWhileCharging: true)
            let any = simulated.feed.prefetch(Self.ids(3...3))
            try await world.sleep(for: .seconds(300))
            #expect(any.present.done == 1 && charged.present.left == 1)
            world.isCharging = true
            try await world.sleep(for: .seconds(61))
            #expect(charged.present.done == 1 && patient.present.left == 1)
            world.network = NetworkState(.online, kind: .wifi)
            #expect(await patient.finished().done == 1)
            await simulated.pantry.close()
        }
    }

    @Test func secondRequestMayAllowWhatTheFirstDoesNot() throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.simulated(world)
            world.network = NetworkState(.online, kind: .cellular)
            let patient = simulated.feed.prefetch(Self.ids(1...1), when: .wifi)
            try await world.sleep(for: .seconds(1))
            #expect(await simulated.feed.prefetch(Self.ids(1...1)).finished().done == 1)
            #expect(await patient.finished().done == 1)
            #expect(simulated.origin.calls.count == 1)
            await simulated.pantry.close()
        }
    }

    @Test func reloadedPolicyMayAllowWhatTheFormerDidNot() throws {
        try SimulatedWorld().run { world in
            func policy(_ section: String) -> [String: String] {
                [
                    "feed": """
                    { "resource": "feed", "origin": "scripted", "strategy": "cache-first", "store": "memory"\(section) }
                    """
                ]
            }
            world.network = NetworkState(.online, kind: .cellular, isExpensive: true)
            let simulated = try await SimulatedPantry(policy(#", "expensive": { "prefetch": false }"#), in: world)
            let prefetch = simulated.feed.prefetch(Self.ids(1...3))
            try await world.sleep(for: .seconds(60))
            #expect(prefetch.present.left == 3)
            try await simulated.pantry.replace(policies: policy(""))
            try await world.sleep(for: .seconds(1))
            #expect(prefetch.present.done == 3)
            await simulated.pantry.close()
        }
    }

    @Test func ruleOfASectionMayUseTheQueue() throws {
        try SimulatedWorld().run { world in
            let others = Locked<[Prefetch]>([])
            let pantry = Locked<Pantry?>(nil)
            let nosy = Plugin.section(
                "nosy", "Prefetches while it is asked.",
                traits: { .with { $0.limitsBackgroundWork = true } }
            ) { _ in
                AsksFirst {
                    if let feed = pantry.withLock({ $0.take() })?.resource("feed") {
                        others.withLock { $0 = [feed.prefetch([["id": "2"]])] }
                    }
                }
            }
            let simulated = try await SimulatedPantry(
                [
                    "feed": """
                    { "resource": "feed", "origin": "scripted", "strategy": "cache-first", "store": "memory", "nosy": {} }
                    """
                ], in: world, plugins: [nosy])
            pantry.withLock { $0 = simulated.pantry }
            let prefetch = simulated.feed.prefetch(Self.ids(1...1))
            #expect(await prefetch.finished().done == 1)
            for other in others.withLock({ $0 }) { #expect(await other.finished().done == 1) }
            #expect(others.withLock { $0.count } == 1)
            await simulated.pantry.close()
        }
    }
}

/// An attachment without work.
/// Permits all work, and first does something else.
private struct AsksFirst: LarderCore.Attachment {
    let act: @Sendable () -> Void

    func permits(_ work: BackgroundWork, on network: NetworkState) -> Bool {
        act()
        return true
    }
}
