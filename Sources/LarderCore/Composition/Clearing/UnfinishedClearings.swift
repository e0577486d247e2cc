import LarderSystem

/// Reports the clearings that the stores of one resource have not finished, as a problem of the cache folder.
final class UnfinishedClearings: Sendable {
    private struct State {
        var reporters = 0
        /// The reasons why clearings are not finished, by the numbers of the reporters.
        var reasons: [Int: String] = [:]
        var actions: [@Sendable () -> Void] = []
    }

    private let resource: String
    private let problems: CacheProblems
    private let state = Locked(State())

    init(of resource: String, problems: CacheProblems) {
        self.resource = resource
        self.problems = problems
    }

    /// Returns a function with which one store reports on its clearings.
    func reporter() -> @Sendable (ClearingReport) -> Void {
        let number = state.withLock { state in
            state.reporters += 1
            return state.reporters
        }
        return { [self] report in note(report, from: number) }
    }

    private func note(_ report: ClearingReport, from number: Int) {
        let actions = state.withLock { state -> [@Sendable () -> Void] in
            let wasFinished = state.reasons.isEmpty
            switch report {
            case .unfinished(let reason): state.reasons[number] = reason
            case .finished: state.reasons[number] = nil
            case .released:
                // The copies of this store may still be there, so nobody may take the clearings for finished.
                if state.reasons.removeValue(forKey: number) != nil { state.actions = [] }
            }
            if let first = state.reasons.min(by: { $0.key < $1.key }) {
                problems.begin(CacheProblem(unfinishedClearingOf: resource, reason: first.value))
                return []
            }
            if !wasFinished { problems.end(CacheProblem.clearing, of: resource) }
            defer { state.actions = [] }
            return state.actions
        }
        for action in actions { action() }
    }

    /// Calls `action` when all clearings are finished. Calls it at once if they are.
    func whenFinished(_ action: @escaping @Sendable () -> Void) {
        let isFinished = state.withLock { state in
            if !state.reasons.isEmpty { state.actions.append(action) }
            return state.reasons.isEmpty
        }
        if isFinished { action() }
    }
}
