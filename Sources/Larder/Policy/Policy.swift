/// What one file says about one resource, read and found sound.
public struct Policy: Sendable {
    /// The resource's name.
    public let resource: String
    /// What it is, in its author's words.
    public let about: String?
    /// The file it was read from, as messages call it.
    public let file: String
    /// What is in effect: the file merged with what it extends.
    public let tree: Node
    /// Where data comes from; nil where the strategy asks no origin.
    public let origin: Part?
    /// What is put around the origin, in the order a call meets it.
    public let around: [Part]
    /// In which order things are tried.
    public let strategy: Part
    /// What may be kept and shown.
    public let validators: [Part]
    /// Where copies are kept; nil for nowhere.
    public let store: Part?
    /// What is tried when all of that fails, in order.
    public let fallbacks: [Part]
    /// The share of its decisions that are told to the log.
    public internal(set) var told = 1.0
    /// A fingerprint of what is in effect, as it is written: the same however it is laid out and wherever it comes from.
    public private(set) var revision = ""
    /// What is not wrong, but perhaps not what its author thinks.
    public private(set) var warnings: [Problem] = []

    init(
        resource: String, about: String?, file: String, tree: Node, origin: Part?, around: [Part], strategy: Part,
        validators: [Part], store: Part?, fallbacks: [Part]
    ) {
        self.resource = resource
        self.about = about
        self.file = file
        self.tree = tree
        self.origin = origin
        self.around = around
        self.strategy = strategy
        self.validators = validators
        self.store = store
        self.fallbacks = fallbacks
        let keys = (tree.members ?? []).map(\.name).filter { $0 != "$schema" }
        revision = String(SHA256.hex(canonical(keys, isShown: true).bytes).prefix(12))
    }

    func warned(of problems: [Problem]) -> Policy {
        var copy = self
        copy.warnings = problems
        return copy
    }

    /// Whether both say the same, the environment's values included.
    func isSame(as other: Policy) -> Bool {
        let keys = PolicySlot.all.map(\.name)
        return revision == other.revision && fingerprint(of: keys) == other.fingerprint(of: keys)
    }

    /// A fingerprint of what some keys say, the environment's values included: to be compared while this process runs.
    func fingerprint(of keys: [String]) -> Int { canonical(keys, isShown: false).hash }

    private func canonical(_ keys: [String], isShown: Bool) -> Canonical {
        let members = (tree.members ?? []).filter { keys.contains($0.name) }
        var text = Canonical(isShown: isShown)
        text.write(sorted: members) { text, key, node in
            if let parts = parts(key) { text.write(parts) { $1.write(to: &$0) } } else { text.write(node) }
        }
        return text
    }

    /// The parts that stand under a key; nil where none can.
    private func parts(_ key: String) -> [Part]? {
        switch key {
        case "origin": origin.map { [$0] } ?? []
        case "around": around
        case "strategy": [strategy]
        case "validators": validators
        case "store": store.map { [$0] } ?? []
        case "fallbacks": fallbacks
        default: nil
        }
    }
}

/// A place in a policy where plugins stand.
package struct PolicySlot: Sendable {
    package let name: String
    package let kind: PluginKind
    package let isList: Bool
    package let help: String

    /// In the order a person asks: where does it come from, how is it called, in which order are things tried, what may
    /// still be shown, where is it kept, and what if all of that fails.
    package static let all = [
        PolicySlot(name: "origin", kind: .origin, isList: false, help: "Where the data comes from"),
        PolicySlot(name: "around", kind: .wrapper, isList: true, help: "How the origin is called, outermost first"),
        PolicySlot(name: "strategy", kind: .strategy, isList: false, help: "In which order things are tried"),
        PolicySlot(name: "validators", kind: .validator, isList: true, help: "What may be kept and what may be shown"),
        PolicySlot(name: "store", kind: .store, isList: false, help: "Where copies are kept"),
        PolicySlot(name: "fallbacks", kind: .origin, isList: true, help: "What is tried when all of that fails"),
    ]

    /// What else may stand in a policy.
    package static let words = ["$schema", "extends", "resource", "about", "log"]

    /// Everything that may stand in a policy.
    static let keys = words + all.map(\.name)
}
