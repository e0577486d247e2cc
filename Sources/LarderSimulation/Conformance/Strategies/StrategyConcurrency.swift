import LarderFoundation
import LarderSystem
import Larder

/// Checks of concurrent loads.
extension StrategyConformance {
    func checkConcurrency(_ findings: inout BrokenPromises) {
        if tested.plugin.needs.contains(.origin) {
            for seed in UInt64(1)...3 { checkFlight(seed, &findings) }
            checkCancelledWaiters(&findings)
            checkLateAnswer(&findings)
            checkScopes(&findings)
        }
        checkAnswer(&findings)
    }

    /// Checks thirty loads of one key, in an order that the seed decides.
    private func checkFlight(_ seed: UInt64, _ findings: inout BrokenPromises) {
        findings.check("thirty simultaneous loads of one key, seed \(seed)") {
            try SimulatedWorld(seed: seed, interleaving: .shuffled).run(leaving: .anything) { world in
                let stage = try await stage(world)
                stage.origin.play(then: .value("one", after: .milliseconds(50)))
                let loads = (0..<30).map { number in
                    ObservedTask(in: world) {
                        try await world.sleep(for: .milliseconds(number))
                        return try await stage.handle.load()
                    }
                }
                try await world.sleep(for: .seconds(60))
                return (loads, stage.origin.calls.count)
            }
        } check: { seen, findings in
            let (loads, calls) = seen
            findings.expect(calls == 1, promise: .oneFlight, expected: "one call", got: "\(calls)")
            let odd = loads.first { $0.value?.value != "one" }
            findings.expect(odd == nil, promise: .delivers, expected: "'one' for each", got: odd?.inWords ?? "")
        }
    }

    private struct Leavers: Sendable {
        var first: ObservedTask<Loaded<String>>
        var stayed: ObservedTask<Loaded<String>>
        var leftAfterFirst: Int
        var leftAfterAll: Int
        var next: ObservedTask<Loaded<String>>
    }

    /// Checks that a cancelled waiter does not affect the others, and that the call ends with its last waiter. Also
    /// checks that the next load makes a new call.
    private func checkCancelledWaiters(_ findings: inout BrokenPromises) {
        findings.check("two loads wait for a call, and one after the other is cancelled") {
            try SimulatedWorld().run(leaving: .anything) { world in
                let stage = try await stage(world)
                stage.origin.play(.hang)
                let (first, stayed) = (stage.load(), stage.load())
                try await world.sleep(for: .milliseconds(10))
                first.cancel()
                try await world.sleep(for: .milliseconds(10))
                let leftAfterFirst = stage.origin.underWay
                let wasDisturbed = stayed.ending != nil
                stayed.cancel()
                try await world.runPendingTasks()
                let leftAfterAll = wasDisturbed ? -1 : stage.leftRunning
                let next = stage.load()
                try await world.sleep(for: .seconds(60))
                return Leavers(
                    first: first, stayed: stayed, leftAfterFirst: leftAfterFirst, leftAfterAll: leftAfterAll,
                    next: next)
            }
        } check: { seen, findings in
            findings.expect(
                seen.first.isCancelled, promise: .cancellation, expected: "a CancellationError for the first",
                got: seen.first.inWords)
            findings.expect(
                seen.leftAfterFirst == 1 && seen.leftAfterAll >= 0, promise: .freesFlight,
                expected: "a second load that still waits",
                got: "\(seen.leftAfterFirst) calls under way and \(seen.stayed.inWords)")
            findings.expect(
                seen.leftAfterAll <= 0, promise: .freesFlight, expected: "no running call when both are cancelled",
                got: "\(seen.leftAfterAll) tasks")
            findings.expect(
                seen.next.value?.value == "value", promise: .freesFlight, expected: "a new call for a later load",
                got: seen.next.inWords)
        }
    }

    /// Checks two calls for one key with two codecs. The call that begins first ends last.
    private func checkLateAnswer(_ findings: inout BrokenPromises) {
        guard tested.plugin.needs.contains(.store) else { return }
        findings.check("a call that begins first ends last") {
            try SimulatedWorld().run(leaving: .anything) { world in
                let stage = try await stage(world)
                stage.origin.play(.value("late", after: .seconds(2)), .value("newer", after: .milliseconds(20)))
                let raw = stage.pantry.resource(TestedPlugin.resource)
                let late = ObservedTask(in: world) { try await raw.load() }
                try await world.sleep(for: .milliseconds(10))
                let newer = stage.load()
                try await world.sleep(for: .seconds(60))
                return (stage.held(), late.ending != nil && newer.ending != nil)
            }
        } check: { seen, findings in
            findings.expect(seen.1, promise: .endsEverything, expected: "loads that end", got: "one that does not end")
            findings.expect(
                seen.0 == "newer", promise: .lateAnswer, expected: "a store that holds 'newer'",
                got: seen.0.map { "'\($0)'" } ?? "nothing"
            )
        }
    }

    /// Checks loads of several keys and accounts, twice each. Every value names its key.
    private func checkScopes(_ findings: inout BrokenPromises) {
        findings.check("several keys and accounts, one after the other") {
            try SimulatedWorld().run(leaving: .anything) { world in
                let stage = try await stage(world)
                stage.origin.play(
                    then: .answering(after: .milliseconds(5)) { Entry(Data($0.key.text.utf8)) })
                var odd: String?
                for _ in 1...2 {
                    for (id, scope) in [("1", nil), ("1", "a"), ("1", "b"), ("2", "a"), ("2", nil)]
                        as [(String, String?)]
                    {
                        let loaded = try await stage.handle.load(["id": id], scope: scope)
                        let text = TestedPlugin.key(["id": id], scope: scope).text
                        if loaded.value != text { odd = odd ?? "'\(loaded.value)' for '\(text)'" }
                    }
                }
                return odd
            }
        } check: { odd, findings in
            findings.expect(odd == nil, promise: .isolation, expected: "each load's own value", got: odd ?? "")
        }
    }

    private struct Traces: Sendable, Equatable {
        var calls = 0
        var reads = 0
        var tasks = 0
        var metrics = ResourceMetrics()
    }

    /// Checks that a request for an answer at once changes nothing if there is none.
    private func checkAnswer(_ findings: inout BrokenPromises) {
        for copy in [StrategySituation.Copy.none, .onError, .beyond] {
            findings.check("asked for an answer at once, with \(copy.rawValue)") {
                try SimulatedWorld().run(leaving: .anything) { world in
                    let made = Locked<(any Loader)?>(nil)
                    let probe = Plugin.strategy(
                        "conformance-probe", "Shows the strategy it is made of.", needs: tested.plugin.needs,
                        Setting("of", .part(.strategy), help: "The strategy")
                    ) { sides, part in
                        let loader = try part.strategy(over: sides)
                        made.withLock { $0 = loader }
                        return loader
                    }
                    let stage = try await stage(
                        world, copies: copy, isForeign: false,
                        strategy: ["use": "conformance-probe", "of": tested.reference], plugins: [probe])
                    let request = stage.handle.request()
                    func traces() -> Traces {
                        Traces(
                            calls: stage.origin.calls.count, reads: stage.store.count(of: .read),
                            tasks: stage.leftRunning, metrics: stage.handle.metrics)
                    }
                    if let age = copy.age {
                        stage.store.put(
                            Entry(Data("old".utf8), Metadata(fetchedAt: world.now - age)), for: TestedPlugin.key())
                    }
                    guard let loader = made.withLock({ $0 }), loader.answer(request, codec: .raw, for: .fresh) == nil
                    else {
                        return Traces()
                    }
                    return traces()
                }
            } check: { traces, findings in
                findings.expect(
                    traces == Traces(metrics: traces.metrics) && traces.metrics.loads == 0, promise: .noTrace,
                    expected: "an answer of nil that changes nothing",
                    got: "\(traces.calls) calls, \(traces.reads) reads, \(traces.tasks) tasks")
            }
        }
    }
}
