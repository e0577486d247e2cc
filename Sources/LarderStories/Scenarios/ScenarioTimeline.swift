import LarderFoundation
import Larder

extension ScenarioReport.Result {
    /// The drawing of the scenario: a line for each request, with the expectations that were not met.
    var timeline: [String] {
        let widest = history.answers.map(\.start.short.count).max() ?? 0
        let notes = history.notes.map { "\(file.resource)  [\($0)]" }
        return notes
            + history.answers.map { answer in
                let wrong = mismatches(of: answer).map(\.text)
                let line = "\(file.resource)  \(answer.start.short.aligned(to: widest)) \(history.drawing(of: answer))"
                return wrong.isEmpty ? line : line + "   expected: " + wrong.joined(separator: "; ")
            }
    }
}

/// A drawing of a story has a line for each request: the calls to the origin, and the answer.
///
/// ```
/// feed  0s ask ──origin──✗ 800ms patience ──▶ cached in memory, 3h old, stale (age.onError 7d)
/// feed  5s ask ──▶ cached in memory, 4s old, stale ┄┄origin┄┄▶ 120ms
/// ```
///
/// A solid line is a call that the request waited for. A dotted one went on after the answer. Times are since the request.
extension StoryHistory {
    /// Returns the line of a request.
    func drawing(of answer: Answer) -> String {
        let calls = calls(around: answer)
        let isBehind = answer.isUnwaited
        var text = "ask" + who(answer.load)
        if !isBehind { for call in calls { text += waited(call, answer) } }
        if answer.hasOverrun, let took = answer.took, calls.last?.end.map({ $0 < answer.start + took }) ?? true {
            // It ended between two tries, so that no call shows it.
            text += " ──✗ \(took.short) \(answer.limit)"
        }
        for note in notes(answer, calls) { text += " ──[\(note)]" }
        text += result(answer, isDrawn: !isBehind && calls.last?.brings(answer) == true)
        if isBehind { for call in calls { text += unwaited(call, answer) } }
        return text
    }

    /// The calls for the same instance that were under way between the request and its answer.
    private func calls(around answer: Answer) -> [Call] {
        if answer.load.mode == .cachedOnly { return [] }
        return calls.filter { call in
            guard call.key == answer.key, answer.end.map({ call.start <= $0 }) ?? true else { return false }
            if call.start >= answer.start { return true }
            return !answer.isUnwaited && call.end.map { $0 > answer.start } ?? true
        }
    }

    private func who(_ load: Story.Load) -> String {
        var text = load.parameters.map { " \($0.name)=\($0.value)" }.joined()
        if let scope = load.scope { text += " as \(scope)" }
        if load.mode != .normal { text += " \(load.mode.rawValue)" }
        return text
    }

    private func waited(_ call: Call, _ answer: Answer) -> String {
        let since = call.start < answer.start ? " since \(call.start.short)" : ""
        let line = " ──origin\(since)──"
        guard let took = answer.took, let answered = answer.end else { return line + "…" }
        guard let end = call.end, end <= answered else {
            return line + "✗ \(took.short) \(answer.hasOverrun ? answer.limit : "given up")"
        }
        let time = (end - answer.start).short
        switch call.ending {
        case .value: return line + "▶ \(time)"
        case .unchanged: return line + "▶ \(time) unchanged,"
        case .failed(let error): return line + "✗ \(time) \(error.mark)"
        case .givenUp, nil: return line + "✗ \(time) " + (answer.hasTimedOut ? "timed out" : "given up")
        }
    }

    private func unwaited(_ call: Call, _ answer: Answer) -> String {
        let line = " ┄┄origin┄┄"
        guard let time = call.end.map({ ($0 - answer.start).short }) else { return line + "…" }
        switch call.ending {
        case .value: return line + "▶ \(time)"
        case .unchanged: return line + "▶ \(time) unchanged"
        case .failed(let error): return line + "✗ \(time) \(error.mark)"
        case .givenUp, nil: return line + "✗ \(time) given up"
        }
    }

    /// The steps of the trail that the calls and the answer do not show.
    private func notes(_ answer: Answer, _ calls: [Call]) -> [String] {
        let failures = calls.compactMap { call in
            if case .failed(let error) = call.ending { error.event } else { nil }
        }
        var seen: Set<String> = []
        let notes: [String] = answer.steps.compactMap { step in
            if step.event.isDrawn { return nil }
            if step.part != "origin" { return step.description }
            let isTimeout = step.event.kind != .resting && [.timeout, .deadline].contains(step.event[.code])
            let isShown = failures.contains(step.event) || isTimeout
            return isShown ? nil : step.event.description
        }
        return notes.filter { seen.insert($0).inserted }
    }

    private func result(_ answer: Answer, isDrawn: Bool) -> String {
        switch answer.ending {
        case nil: return " no answer"
        case .cancelled: return " ──✗ cancelled"
        case .error(let error): return " ──✗ error \(error.code)"
        case .value(let loaded):
            let age = loaded.age.map { "\($0.short) old" } ?? "of unknown age"
            switch loaded.source {
            case .origin, .revalidated:
                return isDrawn ? " \(loaded.freshness)" : " ──▶ \(loaded.freshness) from \(loaded.source)"
            case .store(let tier):
                return " ──▶ cached in \(tier), \(age), \(loaded.freshness)" + (answer.reason.map { " (\($0))" } ?? "")
            case .fallback: return " ──▶ \(loaded.source), \(age), \(loaded.freshness)"
            }
        }
    }
}

extension StoryHistory.Answer {
    var steps: [Trail.Step] {
        switch ending {
        case .value(let loaded): loaded.trail.steps
        case .error(let error): error.trail.steps
        case .cancelled, nil: []
        }
    }

    /// Whether a copy was shown without waiting for a call.
    var isUnwaited: Bool {
        guard case .value(let loaded) = ending, case .store = loaded.source else { return false }
        return !loaded.fellBack
    }

    /// Whether the wait for the origin ended at a limit.
    fileprivate var hasOverrun: Bool {
        switch ending {
        case .value(let loaded):
            if case .store = loaded.source {
                return loaded.fellBack && steps.last { $0.part == "origin" }?.event.kind == .noAnswer
            }
            return false
        case .error(let error): return error.code == .deadline
        case .cancelled, nil: return false
        }
    }

    /// The name of that limit.
    fileprivate var limit: String {
        guard let deadline = load.deadline, let took, took >= deadline else { return "patience" }
        return "deadline"
    }

    /// Whether a wrapper ended a call.
    fileprivate var hasTimedOut: Bool { steps.contains { $0.event.kind != .resting && $0.event[.code] == .timeout } }

    /// The window that allowed the copy.
    fileprivate var reason: String? {
        guard let event = steps.last?.event, event.kind == .copyShown else { return nil }
        return event[.reasons]?.joined(separator: " and ")
    }
}

extension Trail.Event {
    /// Whether the drawing shows it already, as a call or as the answer.
    fileprivate var isDrawn: Bool {
        switch kind {
        case .answered, .unchanged, .noAnswer, .joined, .retrying, .copyShown, .fallbackShown: true
        default: false
        }
    }
}

extension StoryHistory.Call {
    /// Whether the answer came from this call.
    fileprivate func brings(_ answer: StoryHistory.Answer) -> Bool {
        guard case .value(let loaded) = answer.ending, end != nil, end == answer.end else { return false }
        return isAnswered && (loaded.source == .origin || loaded.source == .revalidated)
    }
}

extension LoadError {
    /// The text beside the call that failed with this error.
    fileprivate var mark: String { status.map(String.init) ?? "offline" }
}
