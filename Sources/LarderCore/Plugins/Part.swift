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
    /// The positions of values that are not printed. They may be of other parts too.
    private let secrets: [SourcePosition]

    init(
        _ plugin: Plugin, settings node: Node, named name: Node, path: String, prepared: CheckedSettings,
        isDefault: Bool = false, secrets: [SourcePosition] = []
    ) {
        self.plugin = plugin
        self.node = node
        self.name = name
        self.path = path
        self.prepared = prepared
        self.isDefault = isDefault
        self.secrets = secrets
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
                return EffectiveSetting(
                    name: declaration.name, value: node.shown, shown: node.shown(hiding: secrets),
                    position: node.position)
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
        guard case .origin(_, let make) = recipe else { throw mismatch(.origin) }
        return try make(OriginContext(context.surroundings, of: context.identity(of: self)))
    }

    /// Makes the wrapper of this part around `inner`.
    ///
    /// - Throws: ``Registry/Conflict`` if the part is of another kind; any error of the plugin.
    public func wrapper(around inner: any Loader, in context: Context) throws -> any Loader {
        guard case .wrapper(_, let make) = recipe else { throw mismatch(.wrapper) }
        return try make(Context(context.surroundings, of: context.identity(of: self)), inner)
    }

    /// Makes the strategy of this part over `sides`.
    ///
    /// - Throws: ``Registry/Conflict`` if the part is of another kind; any error of the plugin.
    public func strategy(over sides: Sides) throws -> any Loader {
        guard case .strategy(_, let make) = recipe else { throw mismatch(.strategy) }
        guard let context = sides.scope as? Context, context.identity?.part !== self else { return try make(sides) }
        return try make(sides.with(Context(context.surroundings, of: context.identity(of: self))))
    }

    /// Makes the validator of this part.
    ///
    /// - Throws: ``Registry/Conflict`` if the part is of another kind; any error of the plugin.
    public func validator(in context: Context) throws -> any Validator {
        guard case .validator(_, let make) = recipe else { throw mismatch(.validator) }
        return try make(Context(context.surroundings, of: context.identity(of: self)))
    }

    /// Makes the store of this part. If the store's place cannot be used and the app goes on without it, returns a
    /// store that keeps nothing.
    ///
    /// - Throws: ``Registry/Conflict`` if the part is of another kind; any other error of the plugin.
    public func store(in context: PlacedContext) throws -> any Store {
        guard case .store(_, let recipe) = recipe else { throw mismatch(.store) }
        let (surroundings, identity) = (context.surroundings, context.identity(of: self))
        let keepsEntries = isPersistent && !nested.contains { $0.plugin.kind == .store }
        let make: @Sendable (PlaceSource) throws -> any Store = { source in
            let store = try recipe(StoreContext(surroundings, of: identity, from: source))
            guard keepsEntries, let source = surroundings.dataSource else { return store }
            return SourcedStore(store, of: source)
        }
        let source = context.source.fresh
        do {
            return try make(source)
        } catch {
            if let place = source.awaited.withLock({ $0 }) {
                let store = DeferredStore(plugin.name, waitingFor: place, from: source, in: context.world, make: make)
                store.wait()
                return store
            }
            guard source.ifUnusable == .goOn, source.isRequested.withLock({ $0 }), !(error is Registry.Conflict) else {
                throw error
            }
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

    func mismatch(_ wanted: PluginKind) -> Registry.Conflict {
        Registry.Conflict(description: "\(plugin.kind) '\(plugin.name)' is not of the kind \(wanted)")
    }
}

/// A setting of a part with the value that is in effect.
package struct EffectiveSetting: Sendable {
    /// The setting's name.
    package let name: String
    /// The value, as it is written in the policy or would be; nil for a setting that is left out and has no default. It can
    /// contain a secret, so print ``shown``.
    package let value: JSON?
    /// The value with `•••` in place of secrets.
    package let shown: JSON?
    /// The position in the policy; nil for a default.
    package let position: SourcePosition?

    init(name: String, value: JSON?, shown: JSON? = nil, position: SourcePosition?) {
        (self.name, self.value, self.shown, self.position) = (name, value, shown ?? value, position)
    }

    /// The value on one line, without secrets; `none` if there is none.
    package var text: String { shown?.text(indented: false) ?? "none" }

    /// The name of the plugin if the value is a part with settings of its own; nil otherwise.
    package var partName: String? {
        guard case .object(let members) = shown,
            case .string(let name) = members.first(where: { $0.name == "use" })?.value
        else { return nil }
        return name
    }
}

extension JSON {
    /// The value that `text` writes, or the text itself if it is no JSON.
    package init(written text: String) {
        self = (try? JSONParser.parse(SourceText(name: "default", bytes: Array(text.utf8))).json) ?? .string(text)
    }
}

extension Part: DeclaredPart {
    var inner: [any DeclaredPart] { nested }
    var setsValues: Bool { plugin.metrics.hasValues }
}

extension Context {
    /// Returns the identity of `part`, which is the part of this context or one that its settings name.
    func identity(of part: Part) -> PartIdentity {
        guard let identity else { return PartIdentity(part: part) }
        return identity.part === part ? identity : identity.nested(part)
    }
}
