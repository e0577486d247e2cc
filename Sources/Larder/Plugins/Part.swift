/// A plugin with its settings, read from a policy and found sound, ready to be made.
public final class Part: Sendable {
    /// The plugin.
    public let plugin: Plugin
    /// Its settings as they stand in the policy; an empty object where none are given.
    public let node: Node
    /// The parts among its settings, as the tiers of a store.
    public let nested: [Part]
    /// What the lint rules want to know of it.
    public let traits: Traits
    /// Where it stands: `$.store.tiers[0]`.
    let path: String
    /// The plugin's name as it is written.
    private let name: Node
    let recipe: Recipe

    /// The part that a reference (`"name"` or `{ "use": "name", … }`) means; nil after reporting what is wrong with it.
    init?(_ kind: PluginKind, _ node: Node, _ reading: Reading) {
        guard let plugin = Self.plugin(kind, node, reading) else { return nil }
        let settings = node.members == nil ? Node(.object([]), at: node.place) : node
        Self.checkNames(of: settings, plugin, reading)
        let (prepared, nested) = reading.collectingParts { plugin.prepare(settings, reading) }
        guard let (recipe, traits) = prepared else { return nil }
        self.nested = nested
        self.plugin = plugin
        path = reading.path
        name = node["use"] ?? node
        self.node = settings
        self.recipe = recipe
        self.traits = traits.with { $0.mayBeShown = !node.isFilled }
    }

    /// The first registered plugin of a kind with its defaults; nil when there is none or it needs a setting.
    package init?(defaultFor kind: PluginKind, in registry: Registry) {
        guard let plugin = registry[kind].first else { return nil }
        let node = Node(.object([]), at: Place(SourceText(name: "default", bytes: []), offset: 0))
        let reading = Reading(registry: registry, folder: "", file: "default")
        guard let (recipe, traits) = plugin.prepare(node, reading) else { return nil }
        nested = []
        self.plugin = plugin
        path = "$"
        name = Node(.string(plugin.name), at: node.place)
        self.node = node
        self.recipe = recipe
        self.traits = traits.with { $0.mayBeShown = true }
    }

    private static func plugin(_ kind: PluginKind, _ node: Node, _ reading: Reading) -> Plugin? {
        switch node.content {
        case .string: return named(node, kind, reading)
        case .object:
            guard let use = node["use"] else {
                reading.report("this object does not say which \(kind) to use", at: node.place, expected: "\"use\"")
                return nil
            }
            return reading.inside(".use") { named(use, kind, reading) }
        default:
            reading.reject(node, expected: "\(kind.withArticle): \"name\" or { \"use\": \"name\", … }")
            return nil
        }
    }

    private static func named(_ reference: Node, _ kind: PluginKind, _ reading: Reading) -> Plugin? {
        guard let name = reference.string else {
            reading.reject(reference, expected: "the name of \(kind.withArticle)")
            return nil
        }
        guard let plugin = reading.registry[kind, name] else {
            let known = reading.registry[kind].map(\.name)
            let other = PluginKind.allCases.first { reading.registry[$0, name] != nil && reference.written == nil }
            let hint = other.map { "; it is the name of \($0.withArticle)" } ?? ""
            reading.report(
                "unknown \(kind) '\((reference.written ?? name).prefix(64))'\(hint)", at: reference.place,
                expected: "one of " + known.map { "'\($0)'" }.joined(separator: ", "),
                suggestion: reference.written == nil ? nearest(to: name, among: known) : nil,
                unknown: reference.written == nil && other == nil ? Problem.UnknownPlugin(kind: kind, name: name) : nil)
            return nil
        }
        return plugin
    }

    /// A setting of another plugin of the kind may be left standing after a swap: it is a warning, not an error.
    private static func checkNames(of settings: Node, _ plugin: Plugin, _ reading: Reading) {
        if plugin.isAssumed { return }
        let known = plugin.names
        for member in settings.members ?? [] where member.name != "use" && !known.contains(member.name) {
            let owner = reading.registry[plugin.kind].first { other in
                other.settings.contains { $0.name == member.name }
            }
            reading.inside(".\(member.name.prefix(64))") {
                if let owner {
                    reading.report(
                        "the setting '\(member.name)' has no effect: it belongs to \(plugin.kind) '\(owner.name)'",
                        .warning, at: member.place, rule: "no-effect")
                } else {
                    reading.report(
                        "unknown setting '\(member.name.prefix(64))' for \(plugin.kind) '\(plugin.name)'",
                        at: member.place,
                        expected: known.isEmpty
                            ? "no settings" : "one of " + known.map { "'\($0)'" }.joined(separator: ", "),
                        suggestion: nearest(to: member.name, among: known))
                }
            }
        }
    }

    /// Its settings as they are in effect: the written ones, and the defaults of the others.
    public var settings: [EffectiveSetting] {
        if plugin.isAssumed {
            return (node.members ?? []).filter { $0.name != "use" }.map {
                EffectiveSetting(name: $0.name, value: $0.value.shown.text(indented: false), place: $0.value.place)
            }
        }
        return plugin.settings.compactMap { declaration in
            if let node = node[declaration.name] {
                return EffectiveSetting(
                    name: declaration.name, value: node.shown.text(indented: false), place: node.place)
            }
            return declaration.default.map { EffectiveSetting(name: declaration.name, value: $0, place: nil) }
        }
    }

    /// What stands in the policy, as it is written: a name, or an object with `use`.
    var reference: String { (node["use"] == nil ? name : node).shown.text(indented: false) }

    /// Writes what it says: an object with `use`.
    func write(to text: inout Canonical) {
        let bare = [Node.Member(name: "use", place: name.place, value: name)]
        let members = node["use"] == nil ? bare : node.members ?? bare
        text.write(sorted: members) { text, _, value in write(value, to: &text) }
    }

    private func write(_ value: Node, to text: inout Canonical) {
        if let part = nested.first(where: { $0.node.place == value.place }) {
            part.write(to: &text)
        } else if !nested.isEmpty, case .list(let items) = value.content {
            text.write(items) { write($1, to: &$0) }
        } else {
            text.write(value)
        }
    }

    /// The origin this part stands for.
    public func origin(in context: Context) throws -> any Loader {
        guard case .origin(let make) = recipe else { throw mismatch(.origin) }
        return try make(context)
    }

    /// The wrapper this part stands for, around `inner`.
    public func wrapper(around inner: any Loader, in context: Context) throws -> any Loader {
        guard case .wrapper(let make) = recipe else { throw mismatch(.wrapper) }
        return try make(context, inner)
    }

    /// The strategy this part stands for, over `sides`.
    public func strategy(over sides: Sides) throws -> any Loader {
        guard case .strategy(let make) = recipe else { throw mismatch(.strategy) }
        return try make(sides)
    }

    /// The validator this part stands for.
    public func validator(in context: Context) throws -> any Validator {
        guard case .validator(let make) = recipe else { throw mismatch(.validator) }
        return try make(context)
    }

    /// The store this part stands for; one that keeps nothing, if its place cannot be used and the app goes on without.
    public func store(in context: Context) throws -> any Store {
        guard case .store(let make) = recipe else { throw mismatch(.store) }
        let context = context.ofTier()
        do {
            return try make(context)
        } catch {
            guard let source = context.source, source.ifUnusable == .goOn, source.isAsked.withLock({ $0 }),
                !(error is Registry.Conflict)
            else { throw error }
            source.taken.add(
                CacheProblem(resource: context.resource, part: plugin.name, reason: StoreError.reason(for: error)))
            return EmptyStore()
        }
    }

    /// The eviction this part stands for.
    public func eviction() throws -> any Eviction {
        guard case .eviction(let make) = recipe else { throw mismatch(.eviction) }
        return try make()
    }

    private func mismatch(_ wanted: PluginKind) -> Registry.Conflict {
        Registry.Conflict(description: "\(plugin.kind) '\(plugin.name)' is used as if it were of the kind \(wanted)")
    }
}

/// A setting as it is in effect.
public struct EffectiveSetting: Sendable {
    /// Its name.
    public let name: String
    /// Its value as it is, or would be, written.
    public let value: String
    /// Where it stands; nil for a default.
    public let place: Place?
}

extension SettingType where Value == Part {
    /// A plugin of some kind with its settings, as when a store is made of stores.
    public static func part(_ kind: PluginKind) -> SettingType<Part> {
        SettingType(
            kind.rawValue, expectation: "\(kind.withArticle): \"name\" or { \"use\": \"name\", … }",
            schema: ["$ref": .string("#/$defs/\(kind)")], show: { $0.plugin.name },
            read: { node, reading in
                let part = Part(kind, node, reading)
                if let part { reading.found(part) }
                return part
            })
    }
}
