import Larder
import LarderSimulation

extension ScenarioReport.Result {
    /// The stories of the loads whose expectations are met, each as if it were the only one, with what their users saw.
    func plays(keepingFiles keepsFiles: Bool) -> [(situation: Story, seen: ObservedLoad)] {
        let judged = history.answers.filter { scenario.expectations[$0.number] != nil && mismatches(of: $0).isEmpty }
        return judged.compactMap { answer in
            answer.seen.map { (history.story(of: answer, in: scenario.story, keepsFiles: keepsFiles), $0) }
        }
    }
}

extension StoryHistory {
    /// The story in which a load is the only one that is judged. Everything before it becomes a copy and earlier loads.
    fileprivate func story(of answer: Answer, in whole: Story, keepsFiles: Bool) -> Story {
        Story().with { story in
            story.copy = copyAge(of: answer, whole, keepsFiles).map { Story.Copy(age: $0) }
            story.origin = acts(for: answer, whole, hasCopy: story.copy != nil)
            (story.load.mode, story.load.deadline) = (answer.load.mode, answer.load.deadline)
            story.load.isRestarted = answer.load.isRestarted || whole.isRestarted && answer.load.at == .zero
            story.load.clockBack = answer.load.clockBack
            (story.stores, story.lifetime) = (whole.stores, whole.lifetime)
            let network = whole.networks.last { $0.from <= answer.start }
            story.networks = network.map { [Story.Network($0.reach, isCostly: $0.isCostly)] } ?? []
            (story.earlier, story.earlierOrigin) = earlier(than: answer)
            let spread = whole.copies.map(\.spread).max() ?? 0
            story.copy?.spread = whole.chance == 1 ? spread : 0
        }
    }

    /// The age of the copy when a request is made; nil if there is none.
    private func copyAge(of answer: Answer, _ whole: Story, _ keepsFiles: Bool) -> Duration? {
        let isRestarted = { (time: Duration) in
            !keepsFiles && whole.loads.contains { $0.isRestarted && $0.at >= time && $0.at <= answer.start }
        }
        var fetched = whole.copies.first {
            $0.parameters == answer.load.parameters && $0.scope == answer.load.scope
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

    private func acts(for answer: Answer, _ whole: Story, hasCopy: Bool) -> [Story.OriginAct] {
        // Without an act there is no network.
        guard let from = whole.origin.last(where: { $0.from <= answer.start })?.from,
            let number = whole.origin.firstIndex(where: { $0.from == from })
        else { return [.init(.unreachable)] }
        let own = calls.filter { $0.key == answer.key && $0.start >= answer.start }
        if own.count > 1, case .failed(let error) = own[0].ending, !error.isAnswer, case .value? = own[1].ending {
            return [.init(.status(503), calls: 1), .init(.value)]
        }
        var act = whole.origin[number]
        act.from = .zero
        switch act.ending {
        case .sends, .value, .unchanged:
            if case .unchanged? = own.first?.ending, hasCopy { return [.init(.unchanged, after: act.after)] }
            (act.ending, act.calls) = (.value, nil)
        case .status, .unreachable, .hangs, .throwsError: act.after = .zero
        }
        // The next act begins after so many calls.
        return act.calls != nil && number + 1 < whole.origin.count ? [act, .init(.value)] : [act]
    }

    /// Returns the earlier loads that make a difference: calls that failed after the last success, or one under way.
    private func earlier(than answer: Answer) -> ([Story.Load], [Story.OriginAct]) {
        func load(_ call: Call) -> Story.Load {
            Story.Load(before: answer.start - call.start, isOther: call.key != answer.key)
        }
        let before = calls.filter { $0.start < answer.start }
        if let call = before.last(where: { $0.end.map { $0 > answer.start } ?? true }) {
            return ([load(call)], [.init(.hangs)])
        }
        guard let last = before.last, case .failed(let error) = last.ending, !error.isAnswer else { return ([], []) }
        return ([load(last)], [.init(.status(503))])
    }
}

extension StoryHistory.Answer {
    /// The end of the load, as its user sees it; nil if it has none.
    fileprivate var seen: ObservedLoad? {
        switch ending {
        case nil, .cancelled: return nil
        case .error(let error): return ObservedLoad(ending: .error(code: "\(error.code)", status: error.status))
        case .value(let loaded):
            var seen = ObservedLoad(ending: .value(age: loaded.age))
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
