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
        guard let story = verdict.refutation else { return ["✓ \(title): proved for \(histories) histories"] }
        return ["✗ \(title): refuted: \(story.inWords): \(verdict.end)", "    " + remedy(verdict)]
    }

    /// The promises that are broken, each with the reason and the way out.
    package var broken: [(promise: String, told: String)] {
        verdicts.filter { !$0.isProved }.map { verdict in
            (verdict.promise, lines(verdict).map { $0.drop { $0 == " " || $0 == "✗" } }.joined(separator: "; "))
        }
    }

    /// The setting by which the promise would hold.
    private func remedy(_ verdict: Verdict) -> String {
        switch verdict.promise {
        case "sentWithin":
            return verdict.needed.map { "it would hold with \"\($0.spelled)\"" } ?? "no limit is enough"
        case "appliesOnce":
            return
                "send a key with each change, which the service knows, or let clients name records (\"ids\": \"client\")"
        case "noLostUpdate" where verdict.end.contains("no more"):
            return
                "let pages tell deletions (\"deleted\" or \"tombstone\"), or fetch everything now and then (\"full\": \"7d\")"
        case "noLostUpdate":
            return "send the version of the record with each change (\"version\"), which the service compares"
        default: return "no setting is known by which it would hold"
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
