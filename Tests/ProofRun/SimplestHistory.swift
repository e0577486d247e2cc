import Larder
import LarderSimulation
import LarderStories

extension OutsideJudge {
    /// Returns the history without the facts that a broken promise does not need, so that a person sees what breaks it.
    func simplest(_ history: RandomHistory, breaking promise: RandomPromise) throws -> RandomHistory {
        var simplest = history
        while let next = try Self.simpler(simplest.situation).lazy.map({ situation in
            RandomHistory(situation: situation, offlineSince: history.offlineSince)
        }).first(where: { try isBroken(promise, by: player.play($0.situation), in: $0) }) {
            simplest = next
        }
        return simplest
    }

    /// The situations with one fact less.
    private static func simpler(_ situation: Story) -> [Story] {
        var changes: [(inout Story) -> Void] = [
            { $0.copy = nil }, { $0.copy?.tier = nil }, { $0.copy?.ageAbove = nil }, { $0.copy?.spread = 0 },
            { $0.origin = [.init(.value)] }, { $0.origin = [.init(.unchanged)] }, { $0.origin = [.init(.status(503))] },
            { $0.origin = [.init(.hangs)] }, { ($0.earlier, $0.earlierOrigin) = ([], []) },
            { if !$0.earlier.isEmpty { $0.earlierOrigin = [.init(.value)] } },
            { if !$0.earlier.isEmpty { $0.earlierOrigin = [.init(.status(503))] } },
            { ($0.network, $0.isNetworkCostly) = (.unknown, false) }, { $0.stores = [] },
            { $0.load.isRestarted = false },
            { $0.load.clockBack = .zero }, { $0.load.mode = .normal }, { $0.load.deadline = nil }, { $0.chance = 0.5 },
        ]
        for number in situation.origin.indices.dropFirst() { changes.append { $0.origin.remove(at: number) } }
        for number in situation.origin.indices { changes.append { $0.origin[number].after = .zero } }
        for number in situation.earlier.indices { changes.append { $0.earlier.remove(at: number) } }
        for number in situation.stores.indices { changes.append { $0.stores.remove(at: number) } }
        return changes.map { change in situation.with(change) }.filter { weight($0) < weight(situation) }
    }

    /// The number of facts that need words.
    private static func weight(_ situation: Story) -> Int {
        let copy = situation.copy
        let facts = [
            copy != nil, copy?.tier != nil, copy?.ageAbove != nil, copy?.spread ?? 0 > 0, situation.network != .unknown,
            situation.isNetworkCostly, situation.load.isRestarted, situation.load.clockBack > .zero,
            situation.load.mode != .normal,
            situation.load.deadline != nil, situation.chance != 0.5,
        ]
        let acts = (situation.origin + situation.earlierOrigin).reduce(0) { $0 + weight($1) }
        return facts.count { $0 } + acts + 5 * (situation.stores.count + situation.earlier.count)
    }

    private static func weight(_ act: Story.OriginAct) -> Int {
        let ending =
            switch act.ending {
            case .value, .sends: 1
            case .unchanged: 2
            case .status(503, retryAfter: nil): 3
            case .hangs: 4
            case .status, .unreachable, .throwsError: 5
            }
        return ending + (act.after > .zero ? 1 : 0)
    }
}
