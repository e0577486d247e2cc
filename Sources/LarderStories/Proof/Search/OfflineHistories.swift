import Larder

extension SituationSpace {
    /// Returns the loads without network after one that the origin answered, up to a time after it.
    func offlineHistories(upTo limit: Duration?) -> [Story] {
        guard let limit = limit.map({ min($0, SimulatedPolicy.longest - SimulatedPolicy.spare) }) else { return [] }
        let ends = Set([Self.step, limit - Self.step] + policy.ageBorders.map { $0 - Self.step })
        let times = ends.union(ages).filter { $0 > .zero && $0 < limit }.sorted()
        let requests = offlineRequests(clockBack: limit + .seconds(86_400))
        let moments = policy.lifetimes.flatMap { lifetime in times.map { (lifetime: lifetime, time: $0) } }
        return moments.flatMap { lifetime, time in
            let live = Story().with { situation in
                situation.lifetime = lifetime
                situation.earlier = [Story.Load(before: time)]
                situation.earlierOrigin = [.init(.value)]
            }
            // At ages that are not right before a border, only the main ones are played.
            let isEnd = ends.contains(time)
            let histories = offlineNetworks.prefix(isEnd ? 4 : 2).flatMap { network in
                requests.prefix(isEnd ? requests.count : 2).map { $0(network(live)) }
            }
            guard isEnd, let last = policy.validatorBorders.last else { return histories }
            // The origin is asked, because the validators do not permit the copy any more.
            let renewed = live.with { situation in
                situation.copy = Story.Copy(age: time + last + .seconds(1))
                situation.earlierOrigin = [.init(.unchanged)]
            }
            let jittered = renewed.with { $0.copy?.spread = 0.999_999 }
            return histories
                + offlineNetworks.flatMap { network in
                    // The usual request and a refresh.
                    requests.prefix(6).flatMap { [$0(network(renewed)), $0(network(jittered))] }
                }
        }
    }

    private var offlineNetworks: [Variation] {
        [
            offline, { $0.with { $0.origin = [.init(.unreachable)] } },
            { $0.with { $0.origin = [.init(.status(503))] } },
            { [hanging] situation in situation.with { $0.origin = [hanging] } },
        ]
    }

    /// The requests, the usual ones first, each of them as it is, after a restart, and with a clock that was set back.
    private func offlineRequests(clockBack: Duration) -> [Variation] {
        let usual: Variation = { $0 }
        let restarted: Variation = { $0.with { $0.load.isRestarted = true } }
        let setBack: Variation = { $0.with { $0.load.clockBack = clockBack } }
        let requests: [Variation] = [
            usual, { $0.with { $0.load.mode = .refresh } }, { $0.with { $0.load.mode = .cachedOnly } },
            { $0.with { $0.load.deadline = .seconds(1) } }, { $0.with { $0.chance = 0 } },
            { $0.with { $0.chance = 1 } },
            { $0.with { ($0.load.mode, $0.chance) = (.refresh, 1) } },
            { $0.with { ($0.load.mode, $0.chance) = (.cachedOnly, 1) } },
        ]
        return requests.flatMap { request in
            [usual, restarted, setBack].map { other -> Variation in { situation in other(request(situation)) } }
        }
    }
}
