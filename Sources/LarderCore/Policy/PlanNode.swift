extension Plan {
    /// A node in the graph of a plan, for people and programs to read: a step of a layer, or a part of one.
    package struct Node: Sendable {
        /// The role of the node, if it has a special one: `live`, `cached`, `fetch`, `fallback`, `store`, `section`.
        package let role: String?
        /// The name of the plugin or layer.
        package let name: String
        /// A note on what the node does, if the name does not tell it.
        package let note: String?
        /// The plugin with its settings; nil for a layer that every graph has.
        let part: Part?
        /// The validators of this node.
        package let validators: [Node]
        /// The parts of this node, and the nodes that it is put around.
        package let children: [Node]

        /// The effective settings; empty for a layer without settings.
        package var settings: [EffectiveSetting] { part?.settings ?? [] }

        private init(
            _ name: String, role: String? = nil, note: String? = nil, part: Part? = nil, validators: [Part] = [],
            _ children: [Node] = []
        ) {
            self.name = name
            self.role = role
            self.note = note
            self.part = part
            self.validators = validators.map { Node($0) }
            self.children = children
        }

        /// Makes the node of a part, with the parts it is made of and the nodes that it is put around.
        private init(_ part: Part, role: String? = nil, note: String? = nil, around inner: [Node] = []) {
            let nested = part.nested.map { Node($0) }
            let note = note ?? (part.isDefault ? "default" : nil)
            self.init(part.plugin.name, role: role, note: note, part: part, nested + inner)
        }

        private init(_ layer: Layer, of plan: Plan, role: String? = nil) {
            func node(_ inner: Layer, _ role: String? = nil) -> Node { Node(inner, of: plan, role: role) }
            let names = plan.validators.map(\.plugin.name).joined(separator: " ∧ ")
            func decoding(_ inner: Layer, _ role: String? = nil) -> Node {
                let note = names.isEmpty ? nil : "admitted by \(names)"
                return Node("decoding", role: role, note: note, validators: plan.validators, [node(inner)])
            }
            switch layer {
            case .measured(let inner):
                self.init("measured", role: role, [node(inner)])
            case .attached(let part, let inner):
                self.init(part, role: Self.section, around: [node(inner)])
            case .networkRules(let inner):
                self.init("network rules", role: role, note: plan.ruling.joined(separator: ", "), [node(inner)])
            case .fallback(let first, let others):
                let fallbacks = others.map { decoding($0.layer, "fallback") }
                self.init("fallback", role: role, note: "in order", [node(first)] + fallbacks)
            case .strategy(let part, let live, let cached):
                let sides = [live.map { node($0, "live") }, cached.map { node($0, "cached") }]
                self.init(part, role: role, around: sides.compactMap { $0 })
            case .answering(let part, let origin):
                self.init(
                    part, role: Self.section, note: "answers loads", around: origin.map { [node($0, "fetch")] } ?? [])
            case .live(let inner, let isSaved, declaration: _):
                let store = plan.store?.plugin.name ?? "nothing"
                let received = decoding(inner)
                let kept = isSaved ? Node("saving", note: "to \(store)", [received]) : received
                self.init("shared", role: role, note: "one flight for each key", [kept])
            case .wrapper(let part, _, let inner):
                self.init(part, role: role, around: [node(inner)])
            case .measuredOrigin(let part):
                self.init("measured", role: role, note: "each call", [Node(part)])
            case .origin(let part):
                self.init(part, role: role)
            case .lookup:
                let note = names.isEmpty ? "everything is permitted" : "permitted by \(names)"
                let store = plan.store.map { [Node($0)] } ?? []
                self.init("lookup", role: role, note: note, validators: plan.validators, store)
            }
        }

        /// Makes the node of the whole graph.
        init(_ plan: Plan) {
            let root = Node(plan.root, of: plan)
            let parts = root.all.compactMap(\.part)
            let unused = plan.store.flatMap { store in
                parts.contains { $0 === store }
                    ? nil : Node(store, role: "store", note: "not used by the strategy; clearings reach it")
            }
            let sections = plan.besides.map { Node($0, role: Self.section) }
            self.init(
                plan.resource, note: "revision \(plan.revision)", [root] + (unused.map { [$0] } ?? []) + sections)
        }

        private static let section = PluginKind.section.name

        /// This node and all nodes below it, in the order of printing. Validators come before children.
        package var all: [Node] { [self] + (validators + children).flatMap(\.all) }
    }

    /// The graph as nodes, beginning with the resource.
    package var node: Node { Node(self) }

    /// Each part of the graph once, in the order of printing.
    package var parts: [Part] {
        var seen: Set<ObjectIdentifier> = []
        return node.all.compactMap(\.part).filter { seen.insert(ObjectIdentifier($0)).inserted }
    }
}
