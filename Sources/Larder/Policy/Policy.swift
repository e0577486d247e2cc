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
        revision = String(fingerprint(of: keys.sorted(), as: \.shown).prefix(12))
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

    /// A fingerprint of some parts, the environment's values included. It is compared, never shown.
    static func fingerprint(of parts: [Part]) -> String {
        SHA256.hex(JSON.list(parts.map { $0.canonical(\.json) }).text(indented: false).utf8)
    }

    /// A fingerprint of what some keys say, the environment's values included. It is compared, never shown.
    func fingerprint(of keys: [String]) -> String {
        fingerprint(of: keys, as: \.json)
    }

    private func fingerprint(of keys: [String], as write: (Node) -> JSON) -> String {
        let members = keys.compactMap { key in canonical(key, write).map { JSON.Member(key, $0) } }
        return SHA256.hex(JSON.object(members).text(indented: false).utf8)
    }

    /// What a key says, the same for all that means the same; nil if the policy does not have it.
    private func canonical(_ key: String, _ write: (Node) -> JSON) -> JSON? {
        guard let node = tree[key] else { return nil }
        let parts: [Part?] =
            switch key {
            case "origin": [origin]
            case "around": around
            case "strategy": [strategy]
            case "validators": validators
            case "store": [store]
            case "fallbacks": fallbacks
            default: []
            }
        guard PolicySlot.all.contains(where: { $0.name == key }) else { return write(node).sorted }
        return .list(parts.compactMap { $0?.canonical(write) })
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
}

extension JSON {
    /// The same value, the members of its objects in the order of their names.
    package var sorted: JSON {
        switch self {
        case .object(let members):
            .object(members.map { Member($0.name, $0.value.sorted) }.sorted { $0.name < $1.name })
        case .list(let items): .list(items.map(\.sorted))
        default: self
        }
    }
}
