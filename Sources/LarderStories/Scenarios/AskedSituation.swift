import Larder
import LarderSimulation

extension ScenarioHistory {
    /// The situations of the requests whose expectations are met, as far as the scenario tells them, with the ends of their
    /// loads.
    func plays(of scenario: Scenario, keepsFiles: Bool) -> [(situation: Situation, seen: Observation)] {
        let judged = answers.filter { $0.ask.expectation != nil && mismatches(of: $0).isEmpty }
        return judged.compactMap { answer in
            answer.seen.map { (situation(of: answer, scenario, keepsFiles), $0) }
        }
    }

    private func situation(of answer: Answer, _ scenario: Scenario, _ keepsFiles: Bool) -> Situation {
        Situation().with { situation in
            situation.copy = copyAge(of: answer, scenario, keepsFiles).map { Situation.Copy(age: $0) }
            situation.origin = acts(for: answer, scenario, hasCopy: situation.copy != nil)
            situation.mode = answer.ask.mode
            situation.deadline = answer.ask.deadline
            situation.isRestarted = answer.ask.isRestarted || scenario.isRestarted && answer.ask.at == .zero
            situation.clockBack = answer.ask.clockBack
            situation.stores = scenario.stores.ofSituation
            let network = scenario.network.last { $0.from <= answer.start }
            (situation.network, situation.isNetworkCostly) = (network?.reach ?? .unknown, network?.isCostly ?? false)
            (situation.earlier, situation.earlierOrigin) = earlier(than: answer)
            let spread = scenario.cached.map(\.spread).max() ?? 0
            situation.copy?.spread = scenario.chance == 1 ? spread : 0
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

    private func acts(for answer: Answer, _ scenario: Scenario, hasCopy: Bool) -> [Situation.OriginAct] {
        // Without a phase there is no network.
        guard let from = scenario.origin.last(where: { $0.from <= answer.start })?.from,
            let number = scenario.origin.firstIndex(where: { $0.from == from })
        else { return [.init(.unreachable)] }
        let phase = scenario.origin[number]
        let own = calls.filter { $0.key == answer.key && $0.start >= answer.start }
        if own.count > 1, case .failed(let error) = own[0].ending, !error.isAnswer, case .value? = own[1].ending {
            return [.init(.status(503), calls: 1), .init(.value)]
        }
        let act: Situation.OriginAct
        switch phase.deed {
        case .value:
            if case .unchanged? = own.first?.ending, hasCopy { return [.init(.unchanged, after: phase.takes)] }
            act = .init(.value, after: phase.takes)
        case .status(let status, let retryAfter):
            act = .init(.status(status, retryAfter: retryAfter), calls: phase.calls)
        case .offline: act = .init(.unreachable, calls: phase.calls)
        case .hangs: act = .init(.hangs, calls: phase.calls)
        }
        // The next phase begins after so many calls.
        return act.calls != nil && number + 1 < scenario.origin.count ? [act, .init(.value)] : [act]
    }

    /// Returns the earlier loads that make a difference: calls that failed after the last success, or one under way.
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

extension ScenarioHistory.Answer {
    /// The end of the load, as its user sees it; nil if it has none.
    fileprivate var seen: Observation? {
        switch ending {
        case nil: return nil
        case .error(let error): return Observation(ending: .error(code: "\(error.code)", status: error.status))
        case .value(let loaded):
            var seen = Observation(ending: .value(age: loaded.age))
            seen.isStale = loaded.freshness == .stale
            switch loaded.source {
            case .origin, .revalidated: seen.isLive = true
            case .fallback: seen.isFallback = true
            case .store: break
            }
            return seen
        }
    }
}
