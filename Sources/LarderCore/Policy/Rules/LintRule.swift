import LarderSystem

/// A rule about the parts of a policy: each part is correct, but together they contradict each other.
package struct LintRule: Sendable {
    package let name: String
    package let severity: Problem.Severity
    /// The reason for the rule, in one line.
    package let why: String
    private let check: @Sendable (Policy, LintRule, PolicyDiagnostics) -> Void

    init(
        name: String, severity: Problem.Severity, why: String,
        check: @escaping @Sendable (Policy, LintRule, PolicyDiagnostics) -> Void
    ) {
        (self.name, self.severity, self.why, self.check) = (name, severity, why, check)
    }

    /// Checks all rules and reports what they find.
    static func check(_ policy: Policy, _ reading: PolicyDiagnostics) {
        for rule in all { rule.check(policy, rule, reading) }
    }

    /// Reports a finding about a part, or about one of its settings if the policy has it.
    func report(
        _ message: String, about part: Part, setting: String? = nil, _ reading: PolicyDiagnostics,
        expected: String? = nil
    ) {
        let place = setting?.split(separator: ".").reduce(Optional(part.node)) { $0?[String($1)] }
        if let setting, let node = place.flatMap({ $0 }) {
            report(message, at: "\(part.path).\(setting)", node: node, reading: reading, expected: expected)
        } else {
            report(message, at: part.path, node: part.node, reading: reading, expected: expected)
        }
    }

    /// Reports a finding about the node at `path`, which begins with `$`.
    func report(
        _ message: String, at path: String, node: Node, reading: PolicyDiagnostics, expected: String? = nil
    ) {
        reading.inside(String(path.dropFirst())) {
            reading.report(message, severity, at: node.position, expected: expected, rule: name)
        }
    }

    /// All rules.
    package static let all: [LintRule] = [
        contradiction, noEffect, retryFitsTimeout, unreachableFallback, noEntryFits, forgottenTooSoon, staleUnchecked,
        endlessCall, endlessStore, manyTries, slowerFirst, keepsNothing, sharedFolder, similarFolder, noWindow,
        onlyShortens, missingParameter, loadsInVain, refusedCall, repeatedTwice, risk,
    ]

    /// Returns the text of a duration that follows from settings of these parts. Values from the environment are not
    /// shown.
    static func spelled(_ duration: Duration, _ parts: [Part]) -> String {
        parts.contains(where: \.node.isFilled) ? "a time from the environment" : duration.spelled
    }
}
