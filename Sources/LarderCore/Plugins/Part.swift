import LarderSystem

/// A plugin with its settings, which were read from a policy and checked. The composer makes one part of a graph from
/// it.
public final class Part: Sendable {
    /// The plugin.
    public let plugin: Plugin
    /// The settings as the policy has them; an empty object if it gives none.
    package let node: Node
    /// The parts among its settings, such as the tiers of a store.
    package var nested: [Part] { prepared.nested }
    /// The facts about this part that the lint rules check.
    public var traits: Traits { prepared.traits }
    /// The JSON path of the part: `$.store.tiers[0]`.
    package let path: String
    /// The node that holds the plugin's name.
    let name: Node
    var recipe: Recipe { prepared.recipe }
    /// A hash of its declaration, with the values from the environment. It is only comparable within this process.
    var fingerprint: Int { prepared.fingerprint }
    private let prepared: CheckedSettings
    /// Whether the policy leaves it out, so that a plugin's defaults stand in its place.
    package let isDefault: Bool

    /// Makes the part that a reference (`"name"` or `{ "use": "name", … }`) names. Returns nil after reporting what is
    /// wrong with the reference.
    convenience init?(_ kind: PluginKind, node: Node, reading: PolicyDiagnostics) {
        guard let plugin = Self.plugin(kind, node: node, reading: reading) else { return nil }
        let settings = node.members == nil ? Node(.object([]), at: node.position) : node
        self.init(plugin, settings: settings, named: node["use"] ?? node, reading: reading)
    }

    /// Makes the part of a section from the object of its settings. Returns nil after reporting what is wrong with it.
    convenience init?(section plugin: Plugin, _ node: Node, _ reading: PolicyDiagnostics) {
        guard node.members != nil else {
            reading.reject(node, expected: "an object with the settings of \(plugin.kind) '\(plugin.name)', or {}")
            return nil
        }
        self.init(plugin, settings: node, named: Node(.string(plugin.name), at: node.position), reading: reading)
    }

    private init?(_ plugin: Plugin, settings: Node, named name: Node, reading: PolicyDiagnostics) {
        Self.checkNames(of: settings, plugin, reading)
        guard let prepared = reading.prepare(plugin, settings, named: name) else { return nil }
        self.prepared = prepared
        isDefault = false
        self.plugin = plugin
        path = reading.path
        self.name = name
        node = settings
    }

    /// Makes a part of the first registered plugin of a kind, with default settings. Returns nil if there is no such
    /// plugin or it has a required setting.
    fileprivate init?(defaultFor kind: PluginKind, in registry: Registry) {
        guard let plugin = registry[kind].first else { return nil }
        let node = Node(.object([]), at: SourcePosition(SourceText(name: "default", bytes: []), offset: 0))
        let reading = PolicyDiagnostics(registry: registry, folder: "", file: "default")
        guard let (recipe, traits) = plugin.prepare(node, reading) else { return nil }
        isDefault = true
        self.plugin = plugin
        path = "$"
        name = Node(.string(plugin.name), at: node.position)
        self.node = node
        prepared = CheckedSettings(recipe, traits: traits, nested: [], settings: node, named: name)
    }

    private static func plugin(_ kind: PluginKind, node: Node, reading: PolicyDiagnostics) -> Plugin? {
        switch node.content {
        case .string: return named(node, kind: kind, reading: reading)
        case .object:
            guard let use = node["use"] else {
                reading.report("this object does not say which \(kind) to use", at: node.position, expected: "\"use\"")
                return nil
            }
            return reading.inside(".use") { named(use, kind: kind, reading: reading) }
        default:
            reading.reject(node, expected: "\(kind.withArticle): \"name\" or { \"use\": \"name\", … }")
            return nil
        }
    }

    private static func named(_ reference: Node, kind: PluginKind, reading: PolicyDiagnostics) -> Plugin? {
        guard let name = reference.string else {
            reading.reject(reference, expected: "the name of \(kind.withArticle)")
            return nil
        }
        guard let plugin = reading.registry[kind, name] else {
            let known = reading.registry[kind].map(\.name)
            let other = reading.registry.kinds.first { reading.registry[$0, name] != nil && reference.written == nil }
            let hint = other.map { "; it is the name of \($0.withArticle)" } ?? ""
            reading.report(
                "unknown \(kind) '\((reference.written ?? name).prefix(64))'\(hint)", at: reference.position,
                expected: "one of " + known.map { "'\($0)'" }.joined(separator: ", "),
                suggestion: reference.written == nil ? closestName(to: name, among: known) : nil,
                unknown: reference.written == nil && other == nil ? Problem.UnknownPlugin(kind: kind, name: name) : nil)
            return nil
        }
        return plugin
    }

    /// Reports settings that the plugin does not have. A setting of another plugin of the same kind is only a warning,
    /// so that a policy can swap `use` alone.
    private static func checkNames(of settings: Node, _ plugin: Plugin, _ reading: PolicyDiagnostics) {
        if plugin.isAssumed { return }
        let known = plugin.names
        let isSection = plugin.kind.isSection
        for member in settings.members ?? []
        where !known.contains(member.name) && (isSection || member.name != "use") {
            let owner = reading.registry[plugin.kind].first { other in
                !isSection && other.settings.contains { $0.name == member.name }
            }
            reading.inside(".\(member.name.prefix(64))") {
                if let owner {
                    reading.report(
                        "the setting '\(member.name)' has no effect: it belongs to \(plugin.kind) '\(owner.name)'",
                        .warning, at: member.position, rule: "no-effect")
                } else {
                    reading.report(
                        "unknown setting '\(member.name.prefix(64))' for \(plugin.kind) '\(plugin.name)'",
                        at: member.position,
                        expected: known.isEmpty
                            ? "no settings" : "one of " + known.map { "'\($0)'" }.joined(separator: ", "),
                        suggestion: closestName(to: member.name, among: known))
                }
            }
        }
    }

    /// The effective settings: those in the policy, and the defaults of the others. A setting that is left out and has
    /// no default has no value. A part that is left out and has no default is not listed.
    package var settings: [EffectiveSetting] {
        if plugin.isAssumed {
            return (node.members ?? []).filter { $0.name != "use" }.map {
                EffectiveSetting(name: $0.name, value: $0.value.shown, position: $0.value.position)
            }
        }
        return plugin.settings.compactMap { declaration in
            if let node = node[declaration.name] {
                return EffectiveSetting(name: declaration.name, value: node.shown, position: node.position)
            }
            if declaration.default == nil, let kind = declaration.kind, declaration.type == kind.name {
                guard let part = nested.first(where: { $0.isDefault && $0.plugin.kind == kind }) else { return nil }
                return EffectiveSetting(name: declaration.name, value: .string(part.plugin.name), position: nil)
            }
            return EffectiveSetting(
                name: declaration.name, value: declaration.default.map { JSON(written: $0) }, position: nil)
        }
    }

    /// The reference as the policy has it: a name, or an object with `use`.
    var reference: String {
        (node["use"] == nil && !plugin.kind.isSection ? name : node).shown.text(indented: false)
    }

    /// Writes the part as an object with `use`.
    func write(to text: inout CanonicalText) {
        if let own = prepared.text {
            text.write(canonical: own)
        } else {
            text.write(part: node, named: name, with: nested)
        }
    }

    /// Makes the origin of this part.
    ///
    /// - Throws: ``Registry/Conflict`` if the part is of another kind; any error of the plugin.
    public func origin(in context: Context) throws -> any Loader {
        guard case .origin(let make) = recipe else { throw mismatch(.origin) }
        return try make(context.of(self))
    }

    /// Makes the wrapper of this part around `inner`.
    ///
    /// - Throws: ``Registry/Conflict`` if the part is of another kind; any error of the plugin.
    public func wrapper(around inner: any Loader, in context: Context) throws -> any Loader {
        guard case .wrapper(let make) = recipe else { throw mismatch(.wrapper) }
        return try make(context.of(self), inner)
    }

    /// Makes the strategy of this part over `sides`.
    ///
    /// - Throws: ``Registry/Conflict`` if the part is of another kind; any error of the plugin.
    public func strategy(over sides: Sides) throws -> any Loader {
        guard case .strategy(let make) = recipe else { throw mismatch(.strategy) }
        var sides = sides
        if let context = sides.scope as? Context { sides.scope = context.of(self) }
        return try make(sides)
    }

    /// Makes the validator of this part.
    ///
    /// - Throws: ``Registry/Conflict`` if the part is of another kind; any error of the plugin.
    public func validator(in context: Context) throws -> any Validator {
        guard case .validator(let make) = recipe else { throw mismatch(.validator) }
        return try make(context.of(self))
    }

    /// Makes the store of this part. If the store's place cannot be used and the app goes on without it, returns a
    /// store that keeps nothing.
    ///
    /// - Throws: ``Registry/Conflict`` if the part is of another kind; any other error of the plugin.
    public func store(in context: Context) throws -> any Store {
        guard case .store(let recipe) = recipe else { throw mismatch(.store) }
        let context = context.ofTier(self)
        let keepsEntries = isPersistent && !nested.contains { $0.plugin.kind == .store }
        let make: @Sendable (Context) throws -> any Store = { context in
            let store = try recipe(context)
            guard keepsEntries, let source = context.dataSource else { return store }
            return SourcedStore(store, of: source)
        }
        do {
            return try make(context)
        } catch {
            if let source = context.source, let place = source.awaited.withLock({ $0 }) {
                let store = DeferredStore(plugin.name, waitingFor: place, in: context, source, make: make)
                store.wait()
                return store
            }
            guard let source = context.source, source.ifUnusable == .goOn, source.isRequested.withLock({ $0 }),
                !(error is Registry.Conflict)
            else { throw error }
            source.taken.add(
                CacheProblem(resource: context.resource, part: plugin.name, reason: StoreError.reason(for: error)))
            return EmptyStore()
        }
    }

    /// Makes the eviction of this part.
    ///
    /// - Throws: ``Registry/Conflict`` if the part is of another kind; any error of the plugin.
    public func eviction() throws -> any Eviction {
        guard case .eviction(let make) = recipe else { throw mismatch(.eviction) }
        return try make()
    }

    private func mismatch(_ wanted: PluginKind) -> Registry.Conflict {
        Registry.Conflict(description: "\(plugin.kind) '\(plugin.name)' is not of the kind \(wanted)")
    }
}

extension Registry {
    /// Returns the first plugin of a kind with its default settings, for a part that a policy may leave out.
    ///
    /// - Throws: ``Conflict`` if no plugin of the kind is registered, or the first one has a required setting.
    package func defaultPart(of kind: PluginKind) throws(Conflict) -> Part {
        guard let part = Part(defaultFor: kind, in: self) else {
            throw Conflict(description: "no \(kind) is registered that needs no settings")
        }
        return part
    }
}

/// A setting of a part with the value that is in effect.
package struct EffectiveSetting: Sendable {
    /// The setting's name.
    package let name: String
    /// The value, as it is written in the policy or would be; nil for a setting that is left out and has no default.
    package let value: JSON?
    /// The position in the policy; nil for a default.
    package let position: SourcePosition?

    /// The value on one line; `none` if there is none.
    package var text: String { value?.text(indented: false) ?? "none" }
}

extension JSON {
    /// The value that `text` writes, or the text itself if it is no JSON.
    fileprivate init(written text: String) {
        self = (try? JSONParser.parse(SourceText(name: "default", bytes: Array(text.utf8))).json) ?? .string(text)
    }
}

extension SettingType where Value == Part {
    /// A plugin of some kind with its settings, for a plugin that is made of other plugins.
    public static func part(_ kind: PluginKind) -> SettingType<Part> {
        SettingType(
            kind.name, expectation: "\(kind.withArticle): \"name\" or { \"use\": \"name\", … }",
            schema: ["$ref": .string("#/$defs/\(kind)")], show: { $0.plugin.name },
            read: { node, reading in
                let part = Part(kind, node: node, reading: reading)
                if let part { reading.found(part) }
                return part
            }
        ).naming(kind)
    }
}
