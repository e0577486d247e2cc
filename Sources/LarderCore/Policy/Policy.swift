import LarderSystem

/// A policy for one resource, which was read from a file and checked.
public struct Policy: Sendable {
    /// The resource's name.
    public let resource: String
    /// The author's description of the resource.
    package let about: String?
    /// The file that the policy was read from, as messages show it.
    package let file: String
    /// The tree in effect: the file merged with the files that it extends.
    package let tree: Node
    /// The part that answers loads: the strategy, or a section in its place.
    package let answerer: Part
    /// The sections, in the order in which they are registered.
    package let sections: [Part]
    /// The parts under each key, by the key's name.
    private let parts: [String: [Part]]
    /// The keys that a policy can have.
    let members: [PolicyMember]
    /// The share of decisions that is logged.
    package internal(set) var logShare = 1.0
    /// A hash of the policy in effect. It depends neither on the layout of the file nor on the values from the
    /// environment.
    public private(set) var revision = ""
    /// The warnings: the policy can be used, but something may not work as its author expects.
    package private(set) var warnings: [Problem] = []

    init(
        resource: String, about: String?, file: String, tree: Node, answerer: Part, parts: [String: [Part]],
        members: [PolicyMember]
    ) {
        self.resource = resource
        self.about = about
        self.file = file
        self.tree = tree
        self.answerer = answerer
        self.parts = parts
        self.members = members
        sections = members.filter { $0.kind == .section }.flatMap { parts[$0.name] ?? [] }
        let members = members.filter { $0.name != PolicyMember.schema.name }
        revision = String(SHA256.hex(canonical(members, isShown: true).bytes).prefix(12))
    }

    /// The tree in effect for people, with `•••` in place of secrets.
    package var shownTree: JSON {
        tree.shown(hiding: warnings.filter { $0.rule == Problem.secretRule }.compactMap(\.position))
    }

    /// The origin; nil if the strategy uses none.
    package var origin: Part? { self[.origin].first }
    /// The wrappers around the origin, the outermost first.
    package var around: [Part] { self[.around] }
    /// The validators. They decide which payloads may be kept and which copies may be shown.
    package var validators: [Part] { self[.validators] }
    /// The store; nil if copies are not kept.
    package var store: Part? { self[.store].first }
    /// The origins that are tried when everything else fails, in order.
    package var fallbacks: [Part] { self[.fallbacks] }

    /// The strategy: the order in which the origin and copies are tried. Nil if a section answers loads.
    package var strategy: Part? { answerer.plugin.kind == .strategy ? answerer : nil }
    /// The section that answers loads in place of a strategy; nil if none does.
    package var answeringSection: Part? { answerer.plugin.kind == .section ? answerer : nil }
    /// Whether the origin is called, by the strategy or by the section that answers loads.
    var usesOrigin: Bool { strategy?.plugin.needs.contains(.origin) ?? (origin != nil) }
    /// Whether the strategy finds and keeps copies in the store.
    package var usesStore: Bool { strategy?.plugin.needs.contains(.store) == true }

    /// The parts under a key, in order.
    subscript(member: PolicyMember) -> [Part] { parts[member.name] ?? [] }

    func warned(of problems: [Problem]) -> Policy {
        var copy = self
        copy.warnings = problems
        return copy
    }

    /// Whether both policies are the same, the values from the environment included.
    func isSame(as other: Policy) -> Bool {
        revision == other.revision
            && fingerprint(of: members.filter { $0.kind != nil })
                == other.fingerprint(of: other.members.filter { $0.kind != nil })
    }

    /// Returns a hash of the content under some keys, with the values from the environment. It is only comparable
    /// within this process.
    func fingerprint(of members: [PolicyMember]) -> Int { canonical(members, isShown: false).hash }

    private func canonical(_ members: [PolicyMember], isShown: Bool) -> CanonicalText {
        var text = CanonicalText(isShown: isShown)
        text.write(sorted: (tree.members ?? []).filter { entry in members.contains { $0.name == entry.name } }) {
            text, name, node in
            if let parts = parts[name] { text.write(parts) { $1.write(to: &$0) } } else { text.write(node) }
        }
        return text
    }

    /// The plugins that the policy names, including those in the settings of others.
    var plugins: [Plugin] {
        var plugins: [Plugin] = []
        func add(_ parts: [Part]) {
            for part in parts {
                plugins.append(part.plugin)
                add(part.nested)
            }
        }
        for member in members { add(self[member]) }
        return plugins
    }
}
