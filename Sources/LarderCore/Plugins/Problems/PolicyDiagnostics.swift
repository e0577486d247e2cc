/// Collects the problems of one policy while it is read, and knows the position of the reader in it.
///
/// A ``SettingType`` reads its value from a ``Node`` and reports problems here. Reading goes on after a problem, so
/// that all problems of a policy are reported at once.
public class PolicyDiagnostics {
    /// The folder of the policy. The paths that the policy reads are relative to it. It is empty for a policy in memory
    /// without a folder.
    let folder: String
    /// The file in messages, where there is no better position.
    package let file: String
    /// The problems found so far.
    package private(set) var problems: [Problem] = []
    /// The JSON path of the reader: `$.store.tiers[0]`.
    private(set) var path = "$"
    /// The positions of texts that name a missing environment variable. Further problems at these positions only follow
    /// from that one.
    private var unfilled: [SourcePosition] = []
    /// The positions of values that are secret.
    private(set) var secrets: [SourcePosition] = []
    /// The required settings that the object which is being read has under a wrong name. That is already reported.
    var misnamed: Set<String> = []

    /// Makes the diagnostics of `file` in `folder`.
    init(folder: String, file: String) {
        self.folder = folder
        self.file = file
    }

    static let mostProblems = 200

    /// Whether no further problem is reported.
    var isFull: Bool { problems.count >= Self.mostProblems }

    /// Whether no error has been found so far.
    package var isSound: Bool { !problems.contains { $0.severity == .error } }

    /// Reports something wrong at `position`. With the rule `secret`, the value there is not printed.
    public func report(
        _ message: String, _ severity: Problem.Severity = .error, at position: SourcePosition?, expected: String? = nil,
        suggestion: String? = nil, rule: String? = nil
    ) {
        report(
            message, severity, at: position, expected: expected, suggestion: suggestion, rule: rule, unknown: nil)
    }

    /// Reports a problem, with the plugin that is not registered if there is one.
    func report(
        _ message: String, _ severity: Problem.Severity = .error, at position: SourcePosition?, expected: String? = nil,
        suggestion: String? = nil, rule: String? = nil, unknown: Problem.UnknownPlugin?
    ) {
        if let position, unfilled.contains(where: { $0 == position }) { return }
        if rule == Problem.secretRule, let position { secrets.append(position) }
        // So many problems mean that this is the wrong file. Finding the line of each takes time.
        guard problems.count < Self.mostProblems else { return }
        var problem = Problem(
            message, severity, file: file, at: position, path: path, expected: expected, suggestion: suggestion,
            rule: rule
        )
        problem.unknown = unknown
        problems.append(problem)
    }

    /// Notes that the text at `place` has no value from the environment. The reason is already reported.
    func leftUnfilled(_ position: SourcePosition) {
        unfilled.append(position)
    }

    /// Reports that `node` has the wrong type.
    public func reject(_ node: Node, expected: String) {
        report("\(node.inWords) is not allowed here", at: node.position, expected: expected)
    }

    /// Reports that `node` has the wrong type. If it is text, reports that the text is no such `noun`.
    func reject(_ node: Node, unless noun: String, expected: String) {
        guard let text = node.string, !text.isEmpty else { return reject(node, expected: expected) }
        report("this is not a \(noun)", at: node.position, expected: expected)
    }

    /// Runs `read` one step deeper in the policy: `.patience`, `[2]`.
    public func inside<Value>(_ step: String, _ read: () -> Value) -> Value {
        let outer = path
        path += step
        defer { path = outer }
        return read()
    }
}
