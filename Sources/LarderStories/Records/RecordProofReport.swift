package import Larder
import LarderSync

extension RecordProof {
    /// The verdicts in lines of text.
    package var report: [String] {
        let counted = "\(histories) \(histories == 1 ? "history" : "histories") of changes"
        return ["\(resource): \(counted)"] + lines.map { "  " + $0 }
    }

    /// A line for each promise, and one for each gap.
    package var lines: [String] { verdicts.flatMap(lines) + gaps.map { "not complete: \($0)" } }

    private func lines(_ verdict: Verdict) -> [String] {
        let title = verdict.promise + (verdict.limit.map { " \($0.inWords)" } ?? "")
        if histories == 0 { return ["– \(title): not played"] }
        guard let story = verdict.refutation, let breach = verdict.breach else {
            return ["✓ \(title): proved for \(histories) histories"]
        }
        let limit = verdict.needed.map { "it would hold with \"\($0.spelled)\"" }
        let remedy = breach.remedy ?? limit ?? "no setting is known by which it would hold"
        return ["✗ \(title): refuted: \(story.inWords): \(breach.words)", "    " + remedy]
    }

    /// The promises that are broken, each with the reason and the way out.
    package var broken: [(promise: String, told: String)] {
        verdicts.filter { !$0.isProved }.map { verdict in
            (verdict.promise, lines(verdict).map { $0.drop { $0 == " " || $0 == "✗" } }.joined(separator: "; "))
        }
    }

    package var json: JSON {
        [
            "resource": .string(resource), "proved": .bool(isProved), "complete": .bool(gaps.isEmpty),
            "histories": .int(histories), "gaps": .list(gaps.map(JSON.string)),
            "promises": .list(verdicts.map(json)),
        ]
    }

    private func json(_ verdict: Verdict) -> JSON {
        .present([
            "promise": .string(verdict.promise), "limit": verdict.limit.map { .string($0.spelled) },
            "proved": .bool(verdict.isProved),
            "history": verdict.refutation.map { .list($0.steps.map { .string($0.rawValue) }) },
            "lines": .list(lines(verdict).map(JSON.string)),
            "needed": verdict.isProved ? nil : verdict.needed.map { .string($0.spelled) },
        ])
    }
}
