#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import Larder

/// A scenario drawn, a line for each request: who asked, what the origin did meanwhile, what came of it.
///
/// ```
/// feed  0s ask ──origin──✗ 800ms patience ──▶ cached in memory, 3h old, stale (age.onError 7d)
/// feed  5s ask ──▶ cached in memory, 4s old, stale ┄┄origin┄┄▶ 120ms
/// ```
///
/// A solid line is waited for, a dotted one goes on behind the answer. Times are since the request.
struct ScenarioTimeline {
    let resource: String
    let history: ScenarioHistory

    /// Every request, and beside it what was expected and is not so.
    var lines: [String] {
        let widest = history.answers.map(\.start.short.count).max() ?? 0
        let notes = history.notes.map { "\(resource)  [\($0)]" }
        return notes
            + history.answers.map { answer in
                let wrong = history.mismatches(of: answer).map(\.text)
                let line = "\(resource)  \(answer.start.short.aligned(to: widest)) \(draw(answer))"
                return wrong.isEmpty ? line : line + "   expected: " + wrong.joined(separator: "; ")
            }
    }

    /// One request, from asking to its end.
    func draw(_ answer: ScenarioHistory.Answer) -> String {
        let calls = calls(around: answer)
        let isBehind = answer.isUnwaited
        var text = "ask" + who(answer.ask)
        if !isBehind { for call in calls { text += waited(call, answer) } }
        if answer.hasOverrun, let took = answer.took, calls.last?.end.map({ $0 < answer.start + took }) ?? true {
            // Between two tries, so that no call shows it.
            text += " ──✗ \(took.short) \(answer.limit)"
        }
        for note in notes(answer, calls) { text += " ──[\(note)]" }
        text += result(answer, isDrawn: !isBehind && calls.last?.brings(answer) == true)
        if isBehind { for call in calls { text += unwaited(call, answer) } }
        return text
    }

    /// The calls for the same instance that were under way between question and answer.
    private func calls(around answer: ScenarioHistory.Answer) -> [ScenarioOrigin.Record] {
        if answer.ask.mode == .cachedOnly { return [] }
        return history.calls.filter { call in
            guard call.key == answer.key, answer.end.map({ call.start <= $0 }) ?? true else { return false }
            if call.start >= answer.start { return true }
            return !answer.isUnwaited && call.end.map { $0 > answer.start } ?? true
        }
    }

    private func who(_ ask: Ask) -> String {
        var text = ask.parameters.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
        if let scope = ask.scope { text += " as \(scope)" }
        if ask.mode != .normal { text += " \(ask.mode.rawValue)" }
        return text
    }

    private func waited(_ call: ScenarioOrigin.Record, _ answer: ScenarioHistory.Answer) -> String {
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

    private func unwaited(_ call: ScenarioOrigin.Record, _ answer: ScenarioHistory.Answer) -> String {
        let line = " ┄┄origin┄┄"
        guard let time = call.end.map({ ($0 - answer.start).short }) else { return line + "…" }
        switch call.ending {
        case .value: return line + "▶ \(time)"
        case .unchanged: return line + "▶ \(time) unchanged"
        case .failed(let error): return line + "✗ \(time) \(error.mark)"
        case .givenUp, nil: return line + "✗ \(time) given up"
        }
    }

    /// What the trail tells beyond what the calls and the answer show.
    private func notes(_ answer: ScenarioHistory.Answer, _ calls: [ScenarioOrigin.Record]) -> [String] {
        let shown = calls.compactMap { call in
            if case .failed(let error) = call.ending { error.message } else { nil }
        }
        var seen: Set<String> = []
        let notes: [String] = answer.steps.compactMap { step in
            switch step.part {
            case "retry", "shared": return nil
            case "origin":
                let isDrawn = ["answered after", "unchanged, after", "no answer after", "timed out"]
                let isKnown =
                    shown.contains(step.event) || isDrawn.contains { step.event.hasPrefix($0) }
                    || step.event == "the caller's deadline passed"
                return isKnown ? nil : step.event
            default: return step.isServing ? nil : step.description
            }
        }
        return notes.filter { seen.insert($0).inserted }
    }

    private func result(_ answer: ScenarioHistory.Answer, isDrawn: Bool) -> String {
        switch answer.ending {
        case nil: return " no answer"
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

extension ScenarioHistory.Answer {
    var steps: [Trail.Step] {
        switch ending {
        case .value(let loaded): loaded.trail.steps
        case .error(let error): error.trail.steps
        case nil: []
        }
    }

    /// Whether a copy was shown without any call being waited for.
    var isUnwaited: Bool {
        guard case .value(let loaded) = ending, case .store = loaded.source else { return false }
        return !loaded.fellBack
    }

    /// Whether the wait for the origin ended because it had lasted long enough.
    fileprivate var hasOverrun: Bool {
        switch ending {
        case .value(let loaded):
            if case .store = loaded.source {
                let last = steps.last { $0.part == "origin" }
                return loaded.fellBack && last?.event.hasPrefix("no answer after") == true
            }
            return false
        case .error(let error): return error.code == .deadline
        case nil: return false
        }
    }

    /// Whose limit that was.
    fileprivate var limit: String {
        guard let deadline = ask.deadline, let took, took >= deadline else { return "patience" }
        return "deadline"
    }

    /// Whether a wrapper gave a call up.
    fileprivate var hasTimedOut: Bool { steps.contains { $0.event.hasPrefix("timed out") } }

    /// Which window allowed the copy that is shown.
    fileprivate var reason: String? {
        steps.last.flatMap { step in
            step.event.firstRange(of: "allowed by ").map { String(step.event[$0.upperBound...]) }
        }
    }
}

extension Trail.Step {
    /// Whether it tells of the copy or fallback that is shown, which is drawn in its own way.
    fileprivate var isServing: Bool {
        event.hasPrefix("fresh copy, ") || event.hasPrefix("stale copy, ") || event.hasPrefix("stands in, ")
    }
}

extension ScenarioOrigin.Record {
    /// Whether this call brought the answer.
    fileprivate func brings(_ answer: ScenarioHistory.Answer) -> Bool {
        guard case .value(let loaded) = answer.ending, end != nil, end == answer.end else { return false }
        switch ending {
        case .value, .unchanged: return loaded.source == .origin || loaded.source == .revalidated
        case .failed, .givenUp, nil: return false
        }
    }
}

extension LoadError {
    /// What is drawn beside the call that failed with it.
    fileprivate var mark: String { status.map(String.init) ?? "offline" }
}
