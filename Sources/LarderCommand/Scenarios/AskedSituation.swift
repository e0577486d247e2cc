import Larder
import LarderSimulation

extension ScenarioHistory {
    /// The situations of the requests, as far as the scenario tells them.
    func situations(in scenario: Scenario, keepsFiles: Bool) -> [Situation] {
        answers.map { answer in
            Situation().with { situation in
                situation.copy = copyAge(of: answer, scenario, keepsFiles).map { Situation.Copy(age: $0) }
                situation.origin = [act(for: answer, scenario, hasCopy: situation.copy != nil)]
                situation.mode = answer.ask.mode
                situation.deadline = answer.ask.deadline
                situation.isRestarted = answer.ask.isRestarted || scenario.isRestarted && answer.ask.at == .zero
                situation.stores = scenario.stores.ofSituation
                let network = scenario.network.last { $0.from <= answer.start }
                (situation.network, situation.isNetworkCostly) = (
                    network?.reach ?? .unknown, network?.isCostly ?? false
                )
                (situation.earlier, situation.earlierOrigin) = earlier(than: answer)
                let spread = scenario.cached.map(\.spread).max() ?? 0
                situation.copy?.spread = scenario.chance == 1 ? spread : 0
            }
        }
    }

    /// The age of the copy when a request is made; nil if there is none.
    private func copyAge(of answer: Answer, _ scenario: Scenario, _ keepsFiles: Bool) -> Duration? {
        let isRestarted = { (time: Duration) in
            !keepsFiles && scenario.asks.contains { $0.isRestarted && $0.at >= time && $0.at <= answer.start }
        }
        var fetched = scenario.cached.first {
            $0.parameters == answer.ask.parameters && $0.scope == answer.ask.scope
        }.map { .zero - $0.age }
        for call in calls where call.key == answer.key {
            guard let end = call.end, end <= answer.start, call.start < answer.start else { continue }
            switch call.ending {
            case .value, .unchanged: fetched = end
            case .failed(let error) where error.isAnswer: fetched = nil
            case .failed, .givenUp, nil: break
            }
        }
        return fetched.flatMap { isRestarted($0) ? nil : answer.start - $0 }
    }

    private func act(for answer: Answer, _ scenario: Scenario, hasCopy: Bool) -> Situation.OriginAct {
        // Without a phase there is no network.
        guard let phase = scenario.origin.last(where: { $0.from <= answer.start }) else { return .init(.unreachable) }
        let own = calls.first { $0.key == answer.key && $0.start >= answer.start }
        switch phase.deed {
        case .value:
            if case .unchanged? = own?.ending, hasCopy { return .init(.unchanged, after: phase.takes) }
            return .init(.value, after: phase.takes)
        case .status(let status, let retryAfter): return .init(.status(status, retryAfter: retryAfter))
        case .offline: return .init(.unreachable)
        case .hangs: return .init(.hangs)
        }
    }

    /// The loads before that make a difference: calls that failed after the last success, or one that is under way.
    private func earlier(than answer: Answer) -> ([Situation.EarlierLoad], [Situation.OriginAct]) {
        func load(_ call: ScenarioOrigin.Record) -> Situation.EarlierLoad {
            .init(before: answer.start - call.start, isOther: call.key != answer.key)
        }
        let before = calls.filter { $0.start < answer.start }
        if let call = before.last(where: { $0.end.map { $0 > answer.start } ?? true }) {
            return ([load(call)], [.init(.hangs)])
        }
        guard let last = before.last, case .failed(let error) = last.ending, !error.isAnswer else { return ([], []) }
        return ([load(last)], [.init(.status(503))])
    }
}
