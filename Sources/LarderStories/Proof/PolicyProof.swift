package import Larder

/// The proof of a policy's promises: about loads, or about changes of records.
package protocol PolicyProof {
    var resource: String { get }
    /// Whether every promise holds in all that was played.
    var isProved: Bool { get }
    /// The verdicts in lines of text.
    var report: [String] { get }
    var json: JSON { get }
    /// The situations or histories that break promises, as a file of scenarios that `larder test` plays; nil if nothing does.
    var scenarios: JSON? { get }
}

extension PromiseProof: PolicyProof {}

extension RecordProof: PolicyProof {
    package var scenarios: JSON? {
        let broken = verdicts.compactMap { verdict in verdict.refutation.map { scenario(verdict, $0) } }
        if broken.isEmpty { return nil }
        return [
            "resource": .string(resource), "about": .string("Histories in which \(resource) breaks its promises"),
            "histories": .list(broken),
        ]
    }

    private func scenario(_ verdict: Verdict, _ story: RecordStory) -> JSON {
        let expected: JSON = verdict.limit.map { .string($0.spelled) } ?? .bool(true)
        return [
            "name": .string("\(verdict.promise): \(story.inWords)"),
            "steps": .list(story.steps.map { .string($0.rawValue) }),
            "expect": .object([JSON.Member(verdict.promise, expected)]),
        ]
    }
}
