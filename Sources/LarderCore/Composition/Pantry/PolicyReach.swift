/// The parts of policies that supplied policies may change.
struct PolicyReach: Sendable {
    /// The rule of problems with what may not be changed.
    static let rule = "reach"

    /// The keys in which a supplied policy may differ from the app's own.
    let keys: Set<String>

    /// Returns what `policy` changes in place of the app's `own` and may not change.
    func problems(of policy: Policy, inPlaceOf own: Policy?) -> [Problem] {
        guard let own else {
            return [problem("the app has no resource '\(policy.resource.prefix(64))'", of: policy, at: policy.tree)]
        }
        let known = Known(own)
        return policy.members.filter { !Self.free.contains($0.name) && policy.differs(from: own, in: $0) }.flatMap {
            member -> [Problem] in
            let node = policy.tree[member.name] ?? policy.tree
            guard keys.contains(member.name) else {
                return [problem("'\(member.name)' may not be changed", of: policy, at: node, path: "$.\(member.name)")]
            }
            if member.kind == nil, !node.variables.isSubset(of: own.tree[member.name]?.variables ?? []) {
                return [problem(Self.environment, of: policy, at: node, path: "$.\(member.name)")]
            }
            return policy[member].flatMap { problems(of: $0, in: policy, known: known) }
        }
    }

    /// The parts of the app's own policy.
    private struct Known {
        private let parts: [Part]
        private let fingerprints: Set<Int>

        init(_ own: Policy) {
            parts = own.members.flatMap { own[$0] }.flatMap(\.all)
            fingerprints = Set(parts.map(\.fingerprint))
        }

        func has(_ part: Part) -> Bool { fingerprints.contains(part.fingerprint) }

        /// The content of the own parts of the same plugin: texts, variables, and fingerprints of the parts among the settings.
        /// A value that a policy hands to one plugin is not handed to another one.
        func content(besides part: Part) -> (texts: Set<String>, variables: Set<String>, nested: Set<Int>) {
            let same = parts.filter { $0.plugin.kind == part.plugin.kind && $0.plugin.name == part.plugin.name }
            return (
                Set(same.flatMap(\.node.texts)), Set(same.flatMap { $0.node.variables.union($0.name.variables) }),
                Set(same.flatMap(\.nested).map(\.fingerprint))
            )
        }
    }

    /// The keys that change nothing while an app runs, and those that are merged already.
    private static let free: Set<String> = [
        ReservedKey.schema.rawValue, ReservedKey.extends.rawValue, ReservedKey.about.rawValue,
    ]
    private static let environment = "a variable of the environment may not be read"
    /// The kinds of parts that may stand among the settings of another one. Local origins may, too.
    private static let nestedKinds: Set<PluginKind> = [.wrapper, .strategy, .validator, .eviction]

    /// Returns the problems of a part and of those among its settings. A part that the app's own policy has, too, has none.
    private func problems(of part: Part, in policy: Policy, known: Known) -> [Problem] {
        if known.has(part) { return [] }
        func problem(_ message: String) -> Problem {
            self.problem(message, of: policy, at: part.node, path: part.path)
        }
        if part.plugin.kind == .origin, !part.originTraits.isLocal {
            return [problem("another origin may not be used")]
        }
        let own = known.content(besides: part)
        if !part.node.variables.union(part.name.variables).isSubset(of: own.variables) {
            return [problem(Self.environment)]
        }
        let paths = part.plugin.settings.filter(\.readsFile).compactMap { part.node[$0.name] }.flatMap(\.texts)
        if !own.texts.isSuperset(of: paths) { return [problem("another file may not be read")] }
        if !own.texts.isSuperset(of: part.node.texts.filter { $0.contains("://") }) {
            return [problem("another address may not be used")]
        }
        return part.nested.flatMap { nested in
            let isFree = nested.plugin.kind == .origin || Self.nestedKinds.contains(nested.plugin.kind)
            return isFree || own.nested.contains(nested.fingerprint)
                ? problems(of: nested, in: policy, known: known)
                : [problem("another \(nested.plugin.kind) may not be used")]
        }
    }

    private func problem(_ message: String, of policy: Policy, at node: Node, path: String = "$") -> Problem {
        Problem(message, file: policy.file, at: node.position, path: path, rule: Self.rule)
    }
}

extension Policy {
    /// Whether the content under a key differs from that of another policy, the values from the environment included.
    fileprivate func differs(from other: Policy, in member: PolicyMember) -> Bool {
        fingerprint(of: [member]) != other.fingerprint(of: [member])
    }
}

extension Part {
    /// The part and those among its settings.
    fileprivate var all: [Part] { [self] + nested.flatMap(\.all) }
}

extension SettingDeclaration {
    /// Whether its values name files in the policy's folder, or objects with such values.
    fileprivate var readsFile: Bool { type.hasSuffix("path") || schema.contains(SettingType<String>.path.schema) }
}

extension JSON {
    /// Whether a value is somewhere in this one.
    fileprivate func contains(_ value: JSON) -> Bool {
        switch self {
        case value: true
        case .object(let members): members.contains { $0.value.contains(value) }
        case .list(let items): items.contains { $0.contains(value) }
        default: false
        }
    }
}

extension Node {
    /// The texts in it as the file has them, with `${NAME}` for variables of the environment.
    fileprivate var texts: [String] {
        switch content {
        case .string(let text): [written ?? text]
        case .list(let items): items.flatMap(\.texts)
        case .object(let members): members.flatMap(\.value.texts)
        default: []
        }
    }

    /// The variables of the environment that its texts name.
    fileprivate var variables: Set<String> {
        Set(
            texts.flatMap { text in
                text.split(separator: "${", omittingEmptySubsequences: false).dropFirst().map {
                    String($0.prefix { $0 != "}" && $0 != ":" })
                }
            })
    }
}
