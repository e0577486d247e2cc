/// The reading of one policy: where it stands, what it knows, and what it found wrong so far.
///
/// A setting's type reads its value from a ``Node`` and reports what is wrong here; reading goes on, so that every
/// problem of a policy is reported at once.
public final class Reading {
    /// The plugins that may be named.
    public let registry: Registry
    /// The folder of the policy, against which the paths it reads are resolved.
    public let folder: String
    /// The file in messages, where there is no better place.
    public let file: String
    /// What was found so far.
    public private(set) var problems: [Problem] = []
    /// Where the reading is: `$.store.tiers[0]`.
    private(set) var path = "$"
    /// Texts that the environment could not fill in: whatever else is wrong with them follows from that.
    private var unfilled: [Place] = []
    private var parts: [Part] = []

    /// A reading of `file`, which lies in `folder`.
    public init(registry: Registry, folder: String, file: String) {
        self.registry = registry
        self.folder = folder
        self.file = file
    }

    /// Whether nothing so far forbids using the policy.
    public var isSound: Bool { !problems.contains { $0.severity == .error } }

    /// Reports something wrong at `place`.
    public func report(
        _ message: String, _ severity: Problem.Severity = .error, at place: Place?, expected: String? = nil,
        suggestion: String? = nil, rule: String? = nil
    ) {
        report(
            message, severity, at: place, expected: expected, suggestion: suggestion, rule: rule, unknown: nil)
    }

    /// The same, about a plugin that is not registered.
    func report(
        _ message: String, _ severity: Problem.Severity = .error, at place: Place?, expected: String? = nil,
        suggestion: String? = nil, rule: String? = nil, unknown: Problem.UnknownPlugin?
    ) {
        if let place, unfilled.contains(where: { $0 == place }) { return }
        // Whoever has so many has the wrong file; finding the line of each takes time.
        guard problems.count < 200 else { return }
        var problem = Problem(
            message, severity, file: file, at: place, path: path, expected: expected, suggestion: suggestion, rule: rule
        )
        problem.unknown = unknown
        problems.append(problem)
    }

    /// Says that the text at `place` is not what it will be, after reporting why.
    func leftUnfilled(_ place: Place) {
        unfilled.append(place)
    }

    /// Adds problems found elsewhere.
    public func report(_ found: [Problem]) {
        problems += found
    }

    /// Reports that `node` is not what it should be.
    public func reject(_ node: Node, expected: String) {
        report("\(node.inWords) cannot stand here", at: node.place, expected: expected)
    }

    /// Reports that `node` is not what it should be; if it is text at least, that it is not such a text.
    func reject(_ node: Node, unless noun: String, expected: String) {
        guard let text = node.string, !text.isEmpty else { return reject(node, expected: expected) }
        report("this is no \(noun)", at: node.place, expected: expected)
    }

    /// Reads something and gives the parts beside it that were found on the way.
    func collectingParts<Value>(_ read: () -> Value) -> (Value, [Part]) {
        let outer = parts
        parts = []
        defer { parts = outer }
        return (read(), parts)
    }

    func found(_ part: Part) {
        parts.append(part)
    }

    /// Reads something one step deeper: `.patience`, `[2]`.
    public func inside<Value>(_ step: String, _ read: () -> Value) -> Value {
        let outer = path
        path += step
        defer { path = outer }
        return read()
    }
}
