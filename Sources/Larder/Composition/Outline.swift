/// The shape of the graph that a policy composes into, for people and programs to read.
public struct Outline: Sendable {
    /// The role this part plays, where that is not plain: `live`, `cached`.
    public var role: String?
    /// What it is.
    public var name: String
    /// What it does, if its name does not say.
    public var note: String?
    /// Its settings as they are in effect; empty for parts that have none.
    public var settings: [EffectiveSetting] = []
    /// The validators that judge here.
    public var judges: [Outline] = []
    /// What it is put around.
    public var children: [Outline] = []

    init(_ name: String, role: String? = nil, note: String? = nil, _ children: [Outline] = []) {
        self.name = name
        self.role = role
        self.note = note
        self.children = children
    }

    init(_ part: Part, role: String? = nil, _ children: [Outline] = []) {
        name = part.plugin.name
        self.role = role
        settings = part.settings
        self.children = children
    }

    /// The graph of `policy`: what the composer makes of it.
    public init(_ policy: Policy) {
        let strategy = Outline(policy.strategy, Outline.sides(of: policy))
        let asked = Outline("asked", note: "refresh and cached-only go past the strategy", [strategy])
        let fallbacks = policy.fallbacks.map { part in
            Outline("decoding", role: "fallback", note: Outline.admission(policy), [Outline(part)])
        }
        let answering = fallbacks.isEmpty ? asked : Outline("fallback", note: "in order", [asked] + fallbacks)
        self.init(policy.resource, note: "revision \(policy.revision)", [Outline("measured", [answering])])
    }

    private static func sides(of policy: Policy) -> [Outline] {
        let needs = policy.strategy.plugin.needs
        var sides: [Outline] = []
        if let origin = policy.origin {
            var live = Outline("measured", note: "each call", [Outline(origin)])
            for wrapper in policy.around.reversed() { live = Outline(wrapper, [live]) }
            live = Outline("decoding", note: admission(policy), [live])
            if !needs.contains(.store) { live.judges = policy.validators.map { Outline($0) } }
            if needs.contains(.store) {
                live = Outline("saving", note: "to \(policy.store?.plugin.name ?? "nothing")", [live])
            }
            sides.append(Outline("shared", role: "live", note: "one flight for each key", [live]))
        }
        if needs.contains(.store) {
            let names = policy.validators.map(\.plugin.name).joined(separator: " ∧ ")
            let permitted = names.isEmpty ? "everything is permitted" : "permitted by \(names)"
            var lookup = Outline("lookup", role: "cached", note: permitted, policy.store.map { [store($0)] } ?? [])
            lookup.judges = policy.validators.map { Outline($0) }
            sides.append(lookup)
        }
        return sides
    }

    private static func store(_ part: Part) -> Outline {
        Outline(part, part.nested.map { store($0) })
    }

    private static func admission(_ policy: Policy) -> String? {
        let names = policy.validators.map(\.plugin.name).joined(separator: " ∧ ")
        return names.isEmpty ? nil : "admitted by \(names)"
    }

    // MARK: Writing

    /// The graph as a tree of lines.
    public var tree: String {
        var lines: [String] = []
        write(to: &lines, first: "", rest: "")
        return lines.joined(separator: "\n")
    }

    private func write(to lines: inout [String], first: String, rest: String) {
        let written = settings.filter { $0.place != nil && !$0.value.hasPrefix("[") }
            .map { "\($0.name) \($0.value.trimmingQuotes)" }
        let details = (written + [note].compactMap { $0 }).joined(separator: ", ")
        let title = (role.map { "\($0): " } ?? "") + name
        lines.append(first + title + (details.isEmpty ? "" : "  (\(details))"))
        for (place, child) in children.enumerated() {
            let isLast = place == children.count - 1
            child.write(to: &lines, first: rest + (isLast ? "└─ " : "├─ "), rest: rest + (isLast ? "   " : "│  "))
        }
    }

    /// The graph in the language of Mermaid.
    public var mermaid: String {
        var lines = ["graph TD"]
        var count = 0
        write(to: &lines, &count)
        return lines.joined(separator: "\n")
    }

    @discardableResult
    private func write(to lines: inout [String], _ count: inout Int) -> String {
        let id = "n\(count)"
        count += 1
        let title = ((role.map { "\($0): " } ?? "") + name).replacing("\"", with: "#quot;")
        lines.append("  \(id)[\"\(title)\"]")
        for child in children {
            let other = child.write(to: &lines, &count)
            lines.append("  \(id) --> \(other)")
        }
        return id
    }

    /// The graph for a program to read.
    public var json: JSON {
        var members = [JSON.Member("name", .string(name))]
        if let role { members.append(JSON.Member("role", .string(role))) }
        if let note { members.append(JSON.Member("note", .string(note))) }
        if !settings.isEmpty { members.append(JSON.Member("settings", .list(settings.map(\.json)))) }
        if !judges.isEmpty { members.append(JSON.Member("judges", .list(judges.map(\.json)))) }
        if !children.isEmpty { members.append(JSON.Member("children", .list(children.map(\.json)))) }
        return .object(members)
    }
}

extension EffectiveSetting {
    /// Where it comes from, given the policy's own file: a file and line, or `default`.
    public var origin: String {
        place.map { "\($0.source.name):\($0.line)" } ?? "default"
    }

    var json: JSON { ["name": .string(name), "value": .string(value), "from": .string(origin)] }
}

extension String {
    fileprivate var trimmingQuotes: String {
        hasPrefix("\"") && hasSuffix("\"") && count > 1 ? String(dropFirst().dropLast()) : self
    }
}
