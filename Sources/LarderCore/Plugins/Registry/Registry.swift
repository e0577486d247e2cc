/// The plugins that policies may name.
///
/// ```swift
/// var registry = Registry.standard
/// try registry.register(.origin("videos") { call in try await api.videos() })
/// ```
public struct Registry: Sendable {
    /// A plugin that cannot be registered.
    public struct Conflict: Error, Sendable, CustomStringConvertible {
        /// The reason, in words.
        public let description: String

        /// Makes the error with a reason.
        init(description: String) {
            self.description = description
        }
    }

    private var plugins: [PluginKind: [Plugin]] = [:]
    /// The kinds of plugins that policies may name: Larder's own, then those of modules in the order of registration.
    package private(set) var kinds: [PluginKind] = PluginKind.core

    /// Makes an empty registry.
    public init() {}

    /// Makes a registry of these plugins.
    ///
    /// - Throws: ``Conflict`` if two plugins of one kind have the same name, or a plugin cannot be registered.
    public init(_ plugins: [Plugin]) throws(Conflict) {
        for plugin in plugins { try register(plugin) }
    }

    /// Makes a plugin known to policies.
    ///
    /// - Throws: ``Conflict`` when there is one of its kind and name, or the name is empty or a key that every policy
    ///   has. Also when two of its settings share a name or one is called `use`, and when its kind, a counter or a
    ///   level cannot have the name it has.
    public mutating func register(_ plugin: Plugin) throws(Conflict) {
        if plugin.name.isEmpty { throw Conflict(description: "\(plugin.kind.withArticle) has an empty name") }
        try checkKind(of: plugin)
        if self[plugin.kind, plugin.name] != nil {
            throw Conflict(
                description:
                    "there are two plugins of the kind \(plugin.kind) called '\(plugin.name)'; use replacing(_:) to replace one"
            )
        }
        var names: Set<String> = ["use"]
        for setting in plugin.settings where !names.insert(setting.name).inserted {
            throw Conflict(
                description:
                    "\(plugin.kind) '\(plugin.name)' cannot have a second or reserved setting called '\(setting.name)'")
        }
        for setting in plugin.settings {
            guard case .formerValues(let other) = setting.role, !names.contains(other) else { continue }
            throw conflict(
                plugin, item: "setting '\(setting.name)'",
                reason: "there is no setting '\(other)' whose values it could list")
        }
        try checkNames(of: plugin)
        add(plugin)
    }

    /// Checks that each metric of a plugin has a name that nothing else has in dumps and text formats.
    private func checkNames(of plugin: Plugin) throws(Conflict) {
        for metric in plugin.metrics.all {
            if let fault = metric.fault { throw conflict(plugin, item: metric.quoted, reason: fault) }
        }
        var claims = FamilyClaims()
        for metric in plugins.values.joined().flatMap(\.metrics.all) { _ = claims.claim(metric) }
        for metric in plugin.metrics.all where !claims.claim(metric) {
            throw conflict(plugin, item: metric.quoted, reason: "that name is already used with another meaning")
        }
    }

    private func conflict(_ plugin: Plugin, item: String, reason: String) -> Conflict {
        Conflict(description: "\(plugin.kind) '\(plugin.name)' cannot have the \(item): \(reason)")
    }

    /// The counters that the plugins declare.
    package var counters: [Counter] { kinds.flatMap { self[$0].flatMap(\.counters) } }

    /// The levels that the plugins declare.
    package var levels: [Level] { kinds.flatMap { self[$0].flatMap(\.levels) } }

    /// Adds a plugin without checking it. For plugins that are known to be correct.
    package mutating func add(_ plugin: Plugin) {
        plugins[plugin.kind, default: []].append(plugin)
        for kind in [plugin.kind] + plugin.settings.compactMap(\.kind) where !kinds.contains(kind) {
            kinds.append(kind)
        }
    }

    /// Returns the kind of this name; nil if no plugin is of that kind and no setting names it.
    package func kind(named name: String) -> PluginKind? { kinds.first { $0.name == name } }

    /// Checks that a plugin can have its kind and, if it is a section, its name.
    private func checkKind(of plugin: Plugin) throws(Conflict) {
        let isOwn = PluginKind.core.contains(plugin.kind)
        if plugin.isCustom, isOwn {
            throw Conflict(description: "\(plugin): a custom plugin cannot be of the kind \(plugin.kind)")
        }
        if let fault = plugin.kind.fault { throw Conflict(description: "\(plugin): \(fault)") }
        let file: ReservedKey.File? =
            switch plugin.kind {
            case .section: .policy
            case .pantrySection: .process
            default: nil
            }
        if let file, ReservedKey.allCases.contains(where: { $0.files.contains(file) && $0.rawValue == plugin.name }) {
            throw Conflict(description: "\(plugin): the key '\(plugin.name)' has another meaning")
        }
    }

    /// Returns a registry with these plugins, too, such as all those of a module: `Registry.standard.adding(.sync)`.
    ///
    /// - Throws: ``Conflict`` if one of them cannot be registered.
    public func adding(_ plugins: [Plugin]) throws(Conflict) -> Registry {
        var copy = self
        for plugin in plugins { try copy.register(plugin) }
        return copy
    }

    /// Returns a registry in which `plugin` replaces the plugin of its kind and name, if there is one.
    public func replacing(_ plugin: Plugin) throws(Conflict) -> Registry {
        var copy = self
        let place = copy.plugins[plugin.kind]?.firstIndex { $0.name == plugin.name }
        if let place { copy.plugins[plugin.kind]?.remove(at: place) }
        try copy.register(plugin)
        if let place, let last = copy.plugins[plugin.kind]?.popLast() {
            copy.plugins[plugin.kind]?.insert(last, at: place)
        }
        return copy
    }

    /// The plugins of a kind, in the order of registration. The first one is the default for a part that a policy may
    /// leave out.
    public subscript(kind: PluginKind) -> [Plugin] {
        plugins[kind] ?? []
    }

    /// The plugin of this kind and name; nil if it is not registered.
    public subscript(kind: PluginKind, name: String) -> Plugin? {
        plugins[kind]?.first { $0.name == name }
    }
}

extension SettingDeclaration {
    /// Returns the default as a policy would write it, with the plugins of a registry; nil if there is none.
    package func defaultText(in registry: Registry) -> String? {
        guard isDefaultPart, let kind, let plugin = registry[kind].first else { return `default` }
        return "\"\(plugin.name)\""
    }
}
