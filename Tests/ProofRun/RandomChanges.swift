import LarderSimulation

extension RandomPolicy {
    /// Policies that differ in one setting, each of which may break a promise that this one keeps.
    func changes(against promise: String, _ random: inout SeededGenerator) -> [RandomPolicy] {
        switch promise {
        case "neverOlderThan": longerWindows(&random) + [with { $0.ages = [] }, with { $0.fallback = .local }]
        case "waits": longerWaits(&random) + slowerStores(&random)
        case "waitsAtMost": longerCalls(&random) + slowerStores(&random)
        case "offlineFor": shorterWindows(&random) + shorterLifetimes(&random)
        case "callsPerLoad":
            moreTries(&random)
                + [
                    with { $0.mirrors += 1 }, with { $0.fallback = .elsewhere },
                    with { $0.around.append(.hedge(50)) },
                ]
        default:
            longerWindows(&random)
                + [
                    with { $0.refreshAhead = nil }, with { $0.strategy = "cache-first" },
                    with { $0.sections = [#""expensive": { "refresh": false }"#] },
                ]
        }
    }

    func with(_ change: (inout RandomPolicy) -> Void) -> RandomPolicy {
        var copy = self
        change(&copy)
        return copy
    }

    private func longer(_ time: Int, _ random: inout SeededGenerator) -> Int {
        time + (random.isOne(in: 4) ? 2 : random.time(upTo: max(2, time)) + 1)
    }

    private func shorter(_ time: Int, _ random: inout SeededGenerator) -> Int {
        max(1, time - (random.isOne(in: 4) ? 2 : random.time(upTo: max(2, time))))
    }

    private func longerWindows(_ random: inout SeededGenerator) -> [RandomPolicy] {
        guard let age = ages.first else { return [] }
        let (fresh, stale, error) = (
            longer(age.fresh, &random), longer(age.whileRevalidating, &random), longer(age.onError, &random)
        )
        return [
            with { $0.ages[0].fresh = fresh }, with { $0.ages[0].whileRevalidating = stale },
            with { $0.ages[0].onError = error },
        ]
    }

    private func shorterWindows(_ random: inout SeededGenerator) -> [RandomPolicy] {
        guard let age = ages.first else { return [] }
        let (fresh, error) = (shorter(age.fresh, &random), shorter(age.onError, &random))
        let jitter = min(100, age.jitter + random.roll(100) + 1)
        return [
            with { $0.ages[0].fresh = fresh }, with { $0.ages[0].onError = error },
            with { $0.ages[0].jitter = jitter },
        ]
    }

    private func shorterLifetimes(_ random: inout SeededGenerator) -> [RandomPolicy] {
        tiers.indices.flatMap { number -> [RandomPolicy] in
            let lifetime = shorter(tiers[number].forgetAfter ?? 600_000, &random)
            return [
                with { $0.tiers[number].forgetAfter = lifetime },
                with { $0.tiers[number] = Tier(name: "memory", forgetAfter: $0.tiers[number].forgetAfter) },
            ]
        }
    }

    private func longerWaits(_ random: inout SeededGenerator) -> [RandomPolicy] {
        let patience = longer(patience ?? 0, &random)
        return longerCalls(&random) + [with { $0.patience = patience }, with { $0.patience = nil }]
    }

    private func slowerStores(_ random: inout SeededGenerator) -> [RandomPolicy] {
        tiers.indices.filter { tiers[$0].isForeign }.flatMap { number -> [RandomPolicy] in
            let limit = longer(tiers[number].limit ?? 0, &random)
            return [with { $0.tiers[number].limit = limit }, with { $0.tiers[number].limit = nil }]
        }
    }

    private func longerCalls(_ random: inout SeededGenerator) -> [RandomPolicy] {
        let later = around.indices.flatMap { number -> [RandomPolicy] in
            guard case .timeout(let after) = around[number] else { return [] }
            let time = longer(after, &random)
            return [with { $0.around[number] = .timeout(time) }, with { $0.around.remove(at: number) }]
        }
        return later + moreTries(&random)
    }

    private func moreTries(_ random: inout SeededGenerator) -> [RandomPolicy] {
        around.indices.flatMap { number -> [RandomPolicy] in
            guard case .retry(let retries, let backoff, let factor, let jitter, let limit) = around[number] else {
                return []
            }
            let (more, pause) = (retries + random.roll(3) + 1, longer(backoff, &random))
            return [
                with {
                    $0.around[number] = .retry(
                        retries: more, backoff: backoff, factor: factor, jitter: jitter, limit: limit)
                },
                with {
                    $0.around[number] = .retry(
                        retries: retries, backoff: pause, factor: factor, jitter: jitter, limit: limit)
                },
            ]
        }
    }
}
