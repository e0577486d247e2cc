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
        let known = Set(own.members.flatMap { own[$0] }.flatMap(\.all).map(\.fingerprint))
        return policy.members.filter { !Self.free.contains($0.name) && policy.differs(from: own, in: $0) }.flatMap {
            member -> [Problem] in
            let node = policy.tree[member.name] ?? policy.tree
            guard keys.contains(member.name) else {
                return [problem("'\(member.name)' may not be changed", of: policy, at: node, path: "$.\(member.name)")]
            }
            if member.kind == nil, node.readsEnvironment {
                return [problem(Self.environment, of: policy, at: node, path: "$.\(member.name)")]
            }
            return policy[member].flatMap { problems(of: $0, in: policy, known: known) }
        }
    }

    /// The keys that change nothing while an app runs, and those that are merged already.
    private static let free: Set<String> = [
        ReservedKey.schema.rawValue, ReservedKey.extends.rawValue, ReservedKey.about.rawValue,
    ]
    private static let environment = "a variable of the environment may not be read"

    /// Returns the problems of a part and of those among its settings. A part that the app's own policy has, too, has none.
    private func problems(of part: Part, in policy: Policy, known: Set<Int>) -> [Problem] {
        if known.contains(part.fingerprint) { return [] }
        func problem(_ message: String) -> Problem {
            self.problem(message, of: policy, at: part.node, path: part.path)
        }
        if part.plugin.kind == .origin, !part.originTraits.isLocal {
            return [problem("another origin may not be used")]
        }
        if part.node.readsEnvironment || part.name.readsEnvironment { return [problem(Self.environment)] }
        if part.plugin.settings.contains(where: { $0.type.hasSuffix("path") && part.node[$0.name] != nil }) {
            return [problem("a file may not be read")]
        }
        return part.nested.flatMap { problems(of: $0, in: policy, known: known) }
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

extension Node {
    /// Whether a text in it reads the environment.
    fileprivate var readsEnvironment: Bool {
        switch content {
        case .string(let text): (written ?? text).contains("${")
        case .list(let items): items.contains(where: \.readsEnvironment)
        case .object(let members): members.contains { $0.value.readsEnvironment }
        default: false
        }
    }
}
