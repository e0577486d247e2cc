#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import Larder

/// What several loads at a time do to each other.
extension StrategyConformance {
    func judgeCompany(_ findings: inout Findings) {
        if plugin.needs.contains(.origin) {
            for seed in UInt64(1)...3 { judgeFlight(seed, &findings) }
            judgeLeavers(&findings)
            judgeLateAnswer(&findings)
            judgeScopes(&findings)
        }
        judgeAnswer(&findings)
    }

    /// Thirty loads of one thing, in some order.
    private func judgeFlight(_ seed: UInt64, _ findings: inout Findings) {
        findings.judge("thirty loads of one thing at a time, seed \(seed)") {
            try SimulatedWorld(seed: seed, interleaving: .shuffled).run(leaving: .anything) { world in
                let stage = try await stage(world)
                stage.origin.play(then: .value("one", after: .milliseconds(50)))
                let loads = (0..<30).map { number in
                    Watched(in: world) {
                        try await world.sleep(for: .milliseconds(number))
                        return try await stage.handle.load()
                    }
                }
                try await world.sleep(for: .seconds(60))
                return (loads, stage.origin.calls.count)
            }
        } _: { seen, findings in
            let (loads, calls) = seen
            findings.expect(calls == 1, .oneFlight, "one call", got: "\(calls)")
            let odd = loads.first { $0.value?.value != "one" }
            findings.expect(odd == nil, .delivers, "'one' for each", got: odd?.inWords ?? "")
        }
    }

    private struct Leavers: Sendable {
        var first: Watched<Loaded<String>>
        var stayed: Watched<Loaded<String>>
        var leftAfterFirst: Int
        var leftAfterAll: Int
        var next: Watched<Loaded<String>>
    }

    /// Who leaves disturbs no other; when all have left the call is given up, and the next load makes its own.
    private func judgeLeavers(_ findings: inout Findings) {
        findings.judge("two loads wait for a call, and one after the other is cancelled") {
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
                try await world.settle()
                let leftAfterAll = wasDisturbed ? -1 : stage.leftRunning
                let next = stage.load()
                try await world.sleep(for: .seconds(60))
                return Leavers(
                    first: first, stayed: stayed, leftAfterFirst: leftAfterFirst, leftAfterAll: leftAfterAll,
                    next: next)
            }
        } _: { seen, findings in
            findings.expect(
                seen.first.isCancelled, .cancellation, "a CancellationError for the first", got: seen.first.inWords)
            findings.expect(
                seen.leftAfterFirst == 1 && seen.leftAfterAll >= 0, .freesFlight, "that the second waits on",
                got: "\(seen.leftAfterFirst) calls under way and \(seen.stayed.inWords)")
            findings.expect(
                seen.leftAfterAll <= 0, .freesFlight, "nothing under way when both are cancelled",
                got: "\(seen.leftAfterAll) tasks")
            findings.expect(
                seen.next.value?.value == "value", .freesFlight, "that a later load makes a call of its own",
                got: seen.next.inWords)
        }
    }

    /// Two calls for one key, for two codecs; the one that began first ends last.
    private func judgeLateAnswer(_ findings: inout Findings) {
        guard plugin.needs.contains(.store) else { return }
        findings.judge("a call that begins first ends last") {
            try SimulatedWorld().run(leaving: .anything) { world in
                let stage = try await stage(world)
                stage.origin.play(.value("late", after: .seconds(2)), .value("newer", after: .milliseconds(20)))
                let raw = stage.pantry.resource(Stage.resource)
                let late = Watched(in: world) { try await raw.load() }
                try await world.sleep(for: .milliseconds(10))
                let newer = stage.load()
                try await world.sleep(for: .seconds(60))
                return (stage.held(), late.ending != nil && newer.ending != nil)
            }
        } _: { seen, findings in
            findings.expect(seen.1, .endsEverything, "that both end", got: "one that goes on")
            findings.expect(
                seen.0 == "newer", .lateAnswer, "a store that holds 'newer'", got: seen.0.map { "'\($0)'" } ?? "nothing"
            )
        }
    }

    /// Several keys and accounts at a time, twice each; every value names its key.
    private func judgeScopes(_ findings: inout Findings) {
        findings.judge("several keys and accounts, one after the other") {
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
                        let text = Stage.key(["id": id], scope: scope).text
                        if loaded.value != text { odd = odd ?? "'\(loaded.value)' for '\(text)'" }
                    }
                }
                return odd
            }
        } _: { odd, findings in
            findings.expect(odd == nil, .isolation, "each load's own value", got: odd ?? "")
        }
    }

    private struct Traces: Sendable, Equatable {
        var calls = 0
        var reads = 0
        var tasks = 0
        var metrics = ResourceMetrics()
    }

    /// Asks the strategy itself for an answer at once, where there is none.
    private func judgeAnswer(_ findings: inout Findings) {
        for copy in [StrategySituation.Copy.none, .onError, .beyond] {
            findings.judge("asked for an answer at once, with \(copy.rawValue)") {
                try SimulatedWorld().run(leaving: .anything) { world in
                    let made = Locked<(any Loader)?>(nil)
                    let probe = Plugin.strategy(
                        "conformance-probe", "Shows the strategy it is made of.", needs: plugin.needs,
                        Setting("of", .part(.strategy), help: "The strategy")
                    ) { sides, part in
                        let loader = try part.strategy(over: sides)
                        made.withLock { $0 = loader }
                        return loader
                    }
                    let probing = StrategyConformance(probe, ["of": .use(plugin.name, settings)], registry: registry)
                    let stage = try await probing.stage(world, copies: copy, isForeign: false, plugins: [plugin])
                    let request = stage.handle.request()
                    func traces() -> Traces {
                        Traces(
                            calls: stage.origin.calls.count, reads: stage.store.count(of: .read),
                            tasks: stage.leftRunning, metrics: stage.handle.metrics)
                    }
                    if let age = copy.age {
                        stage.store.put(Entry(Data("old".utf8), Metadata(fetchedAt: world.now - age)), for: Stage.key())
                    }
                    guard let loader = made.withLock({ $0 }), loader.answer(request, codec: .raw, for: .fresh) == nil
                    else {
                        return Traces()
                    }
                    return traces()
                }
            } _: { traces, findings in
                findings.expect(
                    traces == Traces(metrics: traces.metrics) && traces.metrics.loads == 0, .noTrace,
                    "an answer of nil that changes nothing",
                    got: "\(traces.calls) calls, \(traces.reads) reads, \(traces.tasks) tasks")
            }
        }
    }
}
