package import Larder
import LarderSimulation

extension PromiseProof {
    /// The verdicts in lines of text.
    package var report: [String] {
        if verdicts.isEmpty { return ["\(resource): no promises"] }
        return ["\(resource): \(counted(situations, one: "situation"))"] + lines.map { "  " + $0 }
    }

    package var json: JSON {
        [
            "resource": .string(resource), "proved": .bool(isProved), "complete": .bool(gaps.isEmpty),
            "situations": .int(situations), "gaps": .list(gaps.map(JSON.string)),
            "promises": .list(verdicts.map { json($0) }),
        ]
    }

    private func json(_ verdict: PromiseVerdict) -> JSON {
        let head: JSON = [
            "promise": .string(verdict.promise), "limit": verdict.limit.json, "proved": .bool(verdict.isProved),
            "situations": .int(verdict.situations),
        ]
        guard let refutation = verdict.refutation else { return head }
        return .joined(
            head,
            [
                "situation": .string(refutation.story.inWords), "lines": .list(verdict.lines.map(JSON.string)),
                "needed": refutation.needed?.json ?? .null,
                "scenario": scenario(of: verdict, promising: verdict.limit) ?? .null,
            ])
    }
}

/// A policy that could not be proved.
package struct ProofFailure {
    let resource: String
    package let problems: [Problem]

    package init(_ policy: Policy, _ error: any Error) {
        resource = policy.resource
        problems = (error as? PolicyError)?.problems ?? [Problem("\(error)", file: policy.file)]
    }

    package var json: JSON {
        [
            "resource": .string(resource), "proved": false, "complete": false, "situations": 0, "gaps": .list([]),
            "promises": .list([]), "problems": .list(problems.map { .string($0.description) }),
        ]
    }
}

extension PromiseLimit {
    /// The limit as a policy writes it.
    var json: JSON {
        switch self {
        case .time(let time): .string(time.spelled)
        case .calls(let calls): .int(calls)
        }
    }
}
